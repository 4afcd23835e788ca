import { inspect } from 'node:util';
import { FencedOut, OperatorError } from '../../../src/core/errors.ts';
import { instant } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { Trace, site } from '../chance.ts';
import type { Chance } from '../chance.ts';
import { clockText } from '../scenario.ts';
import type { Violation } from '../scenario.ts';
import { EPOCH, between } from '../whole/draws.ts';
import { openOf } from '../whole/judge.ts';
import { Judge } from './judge.ts';
import type { Stillness } from './machine.ts';
import { DESK, Owner } from './owner.ts';
import { Servers } from './servers.ts';
import { LIFE_MAX_MS, settingOf } from './setting.ts';
import type { Setting } from './setting.ts';

/** Wherever a request leaves and an answer comes in. */
const YIELD = site('yield', { kill: 0.02, stopped: 0.02, suspended: 0.03, paused: 0.06 });
/** From the request of a quote to the departure of its order. */
const CRITICAL = site('critical', { kill: 0.02, stopped: 0.03, suspended: 0.05, paused: 0.3 });
const isCritical = (point: string): boolean =>
  /^quote |^insert (?:intent|quote) |^order .* leaves$/u.test(point);
const WEATHER = site('weather', {
  kill: 0.3,
  stopped: 0.2,
  suspended: 0.2,
  paused: 0.3,
  'cut from the store': 0.3,
  'cut from the venue': 0.2,
  'cut from both': 0.2,
  'clock jumps': 0.2,
  'server restarts': 0.2,
  'failover, the primary is dead': 0.2,
  'failover, the primary is cut off': 0.3,
  'no quotes': 0.1,
});
const EVENTS_MAX = 5;
const STEP_MS = 5_000;
const STILL_MAX_MS = 240_000;
/** A server that was promoted may lack orders; after so long the account shows them all. */
const LOOK_MS = 60_000;
const REST_MS = 10 * 60_000;
/** In so long a desk reads its account again and again. */
const READS_MS = 4 * 60_000;

interface Cut {
  readonly owner: number;
  readonly to: 'venue' | 'store' | 'both';
  readonly until: number;
}

/** True time, one venue, a database with a standby, and some owners of one desk. */
export class World {
  readonly truth = new VirtualClock(instant(0));
  readonly violations: Violation[] = [];
  readonly probes = new Set<string>();
  readonly trace = new Trace();
  crashes = 0;
  events = 0;
  /** Takeovers from an owner that had not released the desk. */
  takeovers = 0;
  readonly #chance: Chance;
  readonly #setting: Setting;
  readonly #servers: Servers;
  readonly #exchange: Exchange;
  readonly #judge: Judge;
  readonly #owners: readonly Owner[];
  readonly #cuts: Cut[] = [];
  readonly #tell: ((line: string) => void) | undefined;
  #isAtRest = false;
  #isUntilDone = true;
  #armedAt = 0;

  constructor(chance: Chance, tell?: (line: string) => void) {
    this.#chance = chance;
    this.#tell = tell;
    const setting = settingOf(chance);
    this.#setting = setting;
    this.#exchange = new Exchange({ options: setting.venue, startedAt: instant(EPOCH) });
    this.#judge = new Judge({
      exchange: this.#exchange,
      total: setting.total,
      now: () => EPOCH + this.truth.now(),
      blame: (invariant, detail) => {
        this.#blame(invariant, detail);
      },
    });
    this.#servers = new Servers({
      truth: this.truth,
      chance,
      isSynchronous: setting.isSynchronous,
      onCommit: (commit) => {
        this.#note(`${commit.did} by ${commit.lease.owner} in epoch ${commit.lease.epoch}`);
        if (commit.did === 'acquire' && commit.before.until > 0) {
          this.takeovers++;
          this.probes.add('a lease ran out and the desk was taken over');
        }
        this.#judge.committed(commit);
      },
    });
    this.#owners = Array.from(
      { length: setting.owners },
      (_, number) =>
        new Owner({
          number,
          truth: this.truth,
          chance,
          setting,
          servers: this.#servers,
          exchange: this.#exchange,
          isOpen: (owner, to) => this.#isOpen(owner, to),
          isUntilDone: () => this.#isUntilDone,
          yieldAt: (owner, point) => {
            this.#yieldAt(owner, point);
          },
          onLease: (lease) => {
            this.#note(`-- ${lease.owner} owns the desk, epoch ${lease.epoch} in ${lease.timeline}`);
          },
          onOrder: (request, lease) => {
            this.#note(`order ${request.clientId} of epoch ${lease.epoch} on ${request.quoteId}`);
            if (this.#servers.current.ownershipOf(DESK).epoch !== lease.epoch)
              this.probes.add('an order of an earlier owner reached the venue');
            this.#judge.ordered(request, lease);
          },
          onEnd: (owner, error) => {
            this.#ended(owner, error);
          },
        }),
    );
  }

  get virtualMs(): number {
    return this.truth.now();
  }

  run(): void {
    const { faultyMs } = this.#setting;
    this.#makeWeather(faultyMs);
    for (const owner of this.#owners)
      this.truth.push(owner.number * 2_000, () => {
        if (!owner.isRunning) owner.start();
      });
    this.#runUntil(faultyMs);
    if (this.violations.length === 0) this.#heal();
    this.#runUntil(this.truth.now() + REST_MS);
    if (this.violations.length > 0) return;
    if (!this.#isAtRest) {
      this.#blame('I10', `not at rest: ${this.#owners.map(({ desk }) => openOf(desk)).join(' | ')}`);
      return;
    }
    if (this.#servers.hasFailedOver && !this.#setting.isSynchronous) this.#lookAgain();
    this.#settle();
    if (this.violations.length === 0) this.#judge.judge(this.#servers.current.linesOf(DESK));
  }

  /** What an owner did whose records were lost is found by whoever reads the account again. */
  #lookAgain(): void {
    this.#isAtRest = false;
    this.#isUntilDone = false;
    const [owner] = this.#owners;
    for (const each of this.#owners) each.kill();
    owner?.start();
    this.#runUntil(this.truth.now() + READS_MS);
    owner?.kill();
    this.#isAtRest = true;
  }

  /** Whoever stood still wakes up, and what was on its way arrives. */
  #settle(): void {
    const still = Math.max(...this.#owners.map(({ machine }) => machine.stillMs));
    this.truth.run(instant(this.truth.now() + still + LIFE_MAX_MS));
  }

  #runUntil(end: number): void {
    while (this.truth.now() < end && this.violations.length === 0 && !this.#isAtRest) {
      this.events += this.truth.run(instant(Math.min(this.truth.now() + STEP_MS, end)));
      this.#look();
    }
  }

  /** All is well from here on; but who stands still wakes up only now, with all that he was about to do. */
  #heal(): void {
    this.#note('-- healed');
    this.#chance.isHealed = true;
    this.#cuts.length = 0;
    this.#servers.heal();
    this.#exchange.setAvailability('all', 'available');
    const latest = this.#servers.current.linesOf(DESK).reduce((most, { at }) => Math.max(most, at), 0);
    const ahead = Math.max(0, latest - EPOCH - this.truth.now());
    for (const { machine } of this.#owners) machine.wall.offsetMs = ahead;
  }

  /** A person looks every few seconds. */
  #look(): void {
    const now = this.truth.now();
    for (const { desk, operator$, lease } of this.#owners) {
      if (desk === undefined || lease === undefined || desk.control !== 'halted') continue;
      const { state } = desk;
      if (lease.epoch !== this.#servers.current.ownershipOf(DESK).epoch || now < this.#armedAt) continue;
      if (state.attempts.size > 0 || now < this.#servers.soleSince + LOOK_MS) continue;
      this.#armedAt = now + 2 * STEP_MS;
      operator$.next({ do: 'rearm', by: 'test', why: 'looked at it' });
      this.probes.add('armed again');
    }
  }

  // --- processes

  #ended(owner: Owner, error: unknown): void {
    if (error === undefined) {
      this.#note(`-- ${owner.number} is done`);
      this.#isAtRest ||= this.#chance.isHealed;
      this.truth.push(60_000, () => {
        if (!owner.isRunning && !this.#isAtRest) owner.start();
      });
      return;
    }
    if (error instanceof FencedOut) this.probes.add('an owner was fenced out');
    this.#note(`-- ${owner.number} ended: ${error instanceof Error ? error.message : ''}`);
    const isKnown = error instanceof OperatorError && (error.exit === 'again' || error.exit === 'storage');
    if (!isKnown) this.#blame('crash', `owner ${owner.number} threw ${inspect(error)}`);
    this.#restart(owner);
  }

  #restart(owner: Owner): void {
    this.crashes++;
    const waitMs = between(this.#chance.draw('restart', this.crashes), 500, 20_000, 2);
    this.truth.push(waitMs, () => {
      if (!owner.isRunning && !this.#isAtRest) owner.start();
    });
  }

  #kill(owner: Owner): void {
    if (!owner.isRunning) return;
    this.#note(`-- ${owner.number} is killed`);
    owner.kill();
    this.#restart(owner);
  }

  #standStill(owner: Owner, ms: number, how: Stillness): void {
    if (!owner.isRunning || owner.machine.stillMs > 0) return;
    this.#note(`-- ${owner.number} is ${how} for ${Math.round(ms)} ms`);
    owner.machine.standStill(ms, how);
    this.probes.add(`a machine was ${how}`);
  }

  #yieldAt(owner: Owner, point: string): void {
    this.trace.add(point);
    this.#tell?.(`${clockText(this.truth.now())} ${point}`);
    const isNear = isCritical(point);
    const fault = this.#chance.at(isNear ? CRITICAL : YIELD, point);
    if (fault === undefined) return;
    if (fault.kind === 'kill') this.#kill(owner);
    else {
      if (point.startsWith('order') && point.endsWith('leaves'))
        this.probes.add('stood still between check and send');
      this.#standStill(
        owner,
        between(fault.value, 500, STILL_MAX_MS, isNear ? 1 : 2),
        fault.kind as Stillness,
      );
    }
  }

  // --- the weather

  #makeWeather(lengthMs: number): void {
    for (let n = 0; n < EVENTS_MAX; n++) {
      const fault = this.#chance.at(WEATHER, n);
      if (fault === undefined) continue;
      const drawn = this.#chance.draw('weather length', n);
      this.truth.push(between(fault.value, 500, lengthMs), () => {
        if (!this.#chance.isHealed) this.#happens(fault.kind, drawn, n);
      });
    }
  }

  #happens(kind: string, drawn: number, n: number): void {
    const ms = between(drawn, 1_000, 90_000, 2);
    const who = Math.floor(this.#chance.draw('weather owner', n) * this.#owners.length);
    const owner = this.#chance.draw('weather on the owner', n) < 0.7 ? this.#current() : this.#owners[who];
    if (owner === undefined) return;
    this.#note(`-- ${kind} at ${owner.number} for ${Math.round(ms)} ms`);
    switch (kind) {
      case 'kill':
        this.#kill(owner);
        return;
      case 'stopped':
      case 'suspended':
      case 'paused':
        this.#standStill(owner, between(drawn, 1_000, STILL_MAX_MS, 2), kind);
        return;
      case 'clock jumps':
        owner.machine.wall.offsetMs += (drawn - 0.5) * 180_000;
        return;
      case 'no quotes':
        this.#exchange.setAvailability('all', 'unavailable');
        this.truth.push(ms, () => {
          this.#exchange.setAvailability('all', 'available');
        });
        return;
      case 'server restarts':
        this.#servers.restart(ms / 3);
        this.probes.add('the server was restarted');
        return;
      case 'failover, the primary is dead':
      case 'failover, the primary is cut off':
        this.#failOver(kind.endsWith('cut off') ? { owners: new Set([owner.number]), ms } : undefined, drawn);
        return;
      default:
        this.#cuts.push({ owner: owner.number, to: kind.slice('cut from '.length).replace('the ', '') as Cut['to'], until: this.truth.now() + ms }); // prettier-ignore
        this.probes.add('an owner was cut off');
    }
  }

  #failOver(
    cutOff: { readonly owners: ReadonlySet<number>; readonly ms: number } | undefined,
    drawn: number,
  ): void {
    const lost = Math.floor(drawn * 8);
    this.#servers.failOver(lost, cutOff);
    this.probes.add(
      this.#setting.isSynchronous ? 'a failover that lost nothing' : 'a failover that may have lost records',
    );
    if (cutOff !== undefined) this.probes.add('a primary was cut off with an owner');
  }

  /** Who owns the desk, as far as the database knows. */
  #current(): Owner | undefined {
    const { owner } = this.#servers.current.ownershipOf(DESK);
    return this.#owners.find(({ number }) => owner.startsWith(`${number}.`)) ?? this.#owners[0];
  }

  #isOpen(owner: number, to: 'venue' | 'store'): boolean {
    const now = this.truth.now();
    return !this.#cuts.some(
      (cut) => cut.owner === owner && (cut.to === to || cut.to === 'both') && now < cut.until,
    );
  }

  // --- notes

  #note(line: string): void {
    this.trace.add(line);
    this.#tell?.(`${clockText(this.truth.now())} ${line}`);
  }

  #blame(invariant: string, detail: string): void {
    this.#tell?.(`${clockText(this.truth.now())} VIOLATION ${invariant} ${detail}`);
    this.violations.push({ invariant, detail, atMs: this.truth.now(), event: this.events });
  }
}
