import { inspect } from 'node:util';
import { Subject } from 'rxjs';
import { OperatorError } from '../../../src/core/errors.ts';
import { money, price, quantity } from '../../../src/core/money.ts';
import { after, instant, MINUTE_MS } from '../../../src/core/time.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import type { Command, Halt, HaltPort } from '../../../src/engine/ports.ts';
import type { Line } from '../../../src/journal/proof/chain.ts';
import { DrillOverrides } from '../../../src/simulator/faults/drill-overrides.ts';
import { Exchange } from '../../../src/simulator/exchange/exchange.ts';
import { site, Trace } from '../chance.ts';
import type { Chance } from '../chance.ts';
import { ByteVenue } from './byte-venue.ts';
import { EPOCH, between } from './draws.ts';
import { linesOf } from './disk-journal.ts';
import type { AppendFate } from './disk-journal.ts';
import { Disk, unframe } from './disk.ts';
import type { DiskFault } from './disk.ts';
import { forgotten, openOf, turned } from './judge.ts';
import { showsOurIds } from './manners.ts';
import { Names } from './names.ts';
import { Network } from './network.ts';
import { Clerk, People } from './people.ts';
import { mixedPlansOf, plansOf } from './plans.ts';
import { ProcessClock } from './process-clock.ts';
import { isStorage, refusalOfSecond, startProcess } from './process.ts';
import type { SimulatedProcess } from './process.ts';
import { settingOf, TOKEN } from './setting.ts';
import type { Setting } from './setting.ts';
import { Shelf, isTrue } from './shelf.ts';
import { ELEMENTAL, PEOPLED, weatherOf } from './weather.ts';
import type { Event } from './weather.ts';
import { Witness } from './witness.ts';
import type { Sender } from './witness.ts';

const YIELD = site('yield', { kill: 0.05, suspend: 0.03, 'suspend, clock frozen': 0.03 });
const TIMER = site('timer', { kill: 0.004 });
const DISK = site('disk', {
  enospc: 0.05,
  eio: 0.03,
  short: 0.03,
  'sync failed, data kept': 0.03,
  'sync failed, data lost': 0.03,
  'slow sync': 0.1,
  'slow sync beside': 0.1,
});
/** What a crash leaves: left out, all that was written. */
const CRASH = site('crash', { 'power cut': 0.3, torn: 0.3, 'rolled back': 0.15, 'bit turned': 0.1 });

/** Most processes in the faulty phase: a crash loop ends. */
const BOOTS_MAX = 14;
const STEP_MS = 5_000;
/** What the desk gets to come to rest once nothing fails any more, on top of a quarter more than its plan. */
export const REST_MS = 5 * 60_000;
/** A journal that was put back is started on only once nothing that was sent before can still arrive. */
const ROLLED_BACK_MS = 60_000;
const ENDS_MAX = 6;
/** In so long a desk reads its account again and again. */
const READS_MS = 4 * 60_000;

interface Outage {
  readonly kind: string;
  readonly until: number;
}

/** Figures that stay bounded, however long a run is. */
const CAPS = { timers: 400, openRequests: 60, journalBytes: 2_000_000 } as const;

export interface WorldOptions {
  /** People edit, stop and pause its strategies, pay in and out, and end doubts; and there are more kinds. */
  readonly hasPeople?: boolean | undefined;
  readonly tell?: ((line: string) => void) | undefined;
  /** Steps at which the process dies. */
  readonly crashAt?: ReadonlySet<number> | undefined;
}

/** One whole world: true time, a venue, a network, a disk, and process after process of the product. */
export class World {
  /** True time, from 0: small numbers, so that parts of a millisecond are not lost. */
  readonly truth = new VirtualClock(instant(0));
  readonly setting: Setting;
  readonly witness: Witness;
  readonly trace = new Trace();
  readonly probes = new Set<string>();
  crashes = 0;
  /** Places passed at which a process can die: before and after each request, at each answer, at each append. */
  steps = 0;
  /** The desk has come to rest, and the journal says so. */
  isAtRest = false;
  readonly #chance: Chance;
  readonly #crashAt: ReadonlySet<number>;
  readonly #exchange: Exchange;
  readonly #venue: ByteVenue;
  readonly #network: Network;
  readonly #disk = new Disk();
  /** Half of the desks keep their states; the others fold all of their journal at every start. */
  readonly #shelf: Shelf | undefined;
  readonly #wall: { offsetMs: number; drift: number };
  readonly #outages: Outage[] = [];
  readonly #names = new Names();
  readonly #operator$ = new Subject<Command>();
  readonly #hints$ = new Subject<unknown>();
  #process: SimulatedProcess | undefined;
  #starting: ProcessClock | undefined;
  #boot = 0;
  /** The process whose disk has failed it. */
  #failedBoot = 0;
  #isRecovering = false;
  #crashesInRecovery = 0;
  #disturbed = false;
  #isRolledBack = false;
  readonly #snapshots: Buffer[] = [];
  #firstSnapshot = 0;
  #rearm: string | undefined;
  /** The file beside the journal that says that the desk is halted. */
  #note: Halt | undefined;
  readonly #halt: HaltPort = {
    isSet: () => this.#note !== undefined,
    read: () => this.#note,
    set: (halt) => {
      this.#note = halt;
    },
    clear: () => {
      this.#note = undefined;
    },
  };
  #isEnding = false;
  #isUntilDone = true;
  readonly #people: People | undefined;

  constructor(chance: Chance, { hasPeople = false, tell, crashAt = new Set() }: WorldOptions = {}) {
    this.#chance = chance;
    this.#crashAt = crashAt;
    this.setting = settingOf(chance, hasPeople ? mixedPlansOf(chance) : plansOf(chance));
    const { setting } = this;
    this.#shelf = setting.statesEvery === undefined ? undefined : new Shelf(setting.statesEvery);
    this.#wall = { offsetMs: setting.wallOffsetMs, drift: setting.wallDrift };
    const { options, drilling } = new DrillOverrides(setting.venue);
    this.#exchange = new Exchange({
      options,
      startedAt: instant(EPOCH + setting.venueSkewMs),
    });
    this.#exchange.listen((change) => {
      if (change.kind === 'balances') this.#hints$.next(undefined);
    });
    this.#holdDeposit();
    this.witness = new Witness({
      exchange: this.#exchange,
      now: () => this.truth.now(),
      trace: this.trace,
      tell,
      token: TOKEN,
      orderTimeMs: setting.policy.orderMarginMs,
      openDoubtsMax: setting.policy.limits.openDoubtsMax,
      orderNotionalMax: setting.orderNotionalMax,
      dayNotionalMax: setting.dayNotionalMax,
      caps: setting.caps,
      windows: { quotesPerSecond: 10, readMs: 10_000 },
      sometimes: (name) => this.#sometimes(name),
      isBroken: () => this.#hasBrokenWord,
    });
    this.#venue = new ByteVenue({
      exchange: this.#exchange,
      chance,
      now: () => this.truth.now(),
      skewMs: setting.venueSkewMs,
      onDuplicate: setting.onDuplicate,
      bookingLagMs: setting.bookingLagMs,
      drilling,
      sometimes: (name) => this.#sometimes(name),
      onWorked: () => {
        this.witness.worked();
      },
    });
    this.#network = new Network({
      truth: this.truth,
      chance,
      venue: this.#venue,
      tap: this.witness,
      isOpen: (way, point) => this.#isOpen(way, point),
      latencyMs: setting.latencyMs,
      tellsDate: setting.tellsDate,
    });
    const around = {
      world: this,
      chance,
      exchange: this.#exchange,
      operator$: this.#operator$,
      desk: () => (this.#process?.clock.isDead === false ? this.#process.desk : undefined),
    };
    if (hasPeople) this.#people = new People(around);
    void new Clerk({ ...around, venueNow: () => this.#venue.wall });
  }

  get #now(): number {
    return this.truth.now();
  }

  get virtualMs(): number {
    return this.#now;
  }

  get hasViolation(): boolean {
    return this.witness.violations.length > 0;
  }

  /** Both phases: things go wrong, then nothing does, and the desk comes to rest. */
  run(): void {
    const { faultyMs } = this.setting;
    for (const event of weatherOf(this.#chance, this.#people === undefined ? ELEMENTAL : PEOPLED, faultyMs)) {
      this.truth.push(event.atMs, () => {
        if (!this.#chance.isHealed) this.#happens(event);
      });
    }
    this.#start();
    this.#runUntil(faultyMs);
    if (!this.hasViolation) this.#heal();
    if (!this.hasViolation && (this.#hasBrokenWord || this.#venue.hasChangedRows)) this.#readOnceMore();
    if (!this.hasViolation) this.#judgeRest();
    if (this.witness.settlements.length > 0) this.#sometimes('the venue settled positions');
  }

  get #hasBrokenWord(): boolean {
    return this.#venue.hasBrokenQuote || this.#venue.hasBrokenBooking;
  }

  #runUntil(end: number): void {
    while (this.truth.now() < end && !this.hasViolation && !this.isAtRest) {
      this.truth.run(instant(Math.min(this.truth.now() + STEP_MS, end)));
      this.#judgeState();
    }
  }

  #sometimes(name: string): void {
    this.probes.add(name);
  }

  // --- the healed phase

  #heal(): void {
    this.witness.note('-- healed');
    this.#chance.isHealed = true;
    this.#outages.length = 0;
    this.#venue.refusesTokenUntil = 0;
    this.#exchange.setAvailability('all', 'available');
    this.#exchange.market.pin('btcusd', undefined);
    this.#people?.heal();
    // The clock is set right; but what has begun by a clock that ran ahead would wait for it.
    const latest = EPOCH + this.truth.now() + this.setting.wallOffsetMs;
    this.#setWall(this.setting.wallOffsetMs + Math.max(0, this.#latestRecord() - latest));
    this.#comeToRest(this.setting.faultyMs * 1.25);
  }

  /** A venue that broke its word, or changes rows, may show what it did when nobody looks any more: a desk that looks again must find it. */
  #readOnceMore(): void {
    const shownUntil = this.#venue.shownUntil();
    this.truth.run(instant(Math.max(this.#now, shownUntil) + 1_000));
    this.isAtRest = false;
    this.#isUntilDone = false;
    this.#start();
    this.#runUntil(this.#now + READS_MS);
    if (!this.hasViolation) this.#kill('after it has looked again');
  }

  #comeToRest(planMs: number): void {
    for (let turn = 0; turn < ENDS_MAX && !this.isAtRest && !this.hasViolation; turn++) {
      const isGoing = this.#process?.clock.isDead === false && !this.#process.clock.isSuspended;
      const goesOn = turn === 0 && isGoing && this.#chance.setting('heals as it runs', 0, 1) === 1;
      if (goesOn) this.#sometimes('healed without a restart');
      else this.#restartForRest();
      const end = this.truth.now() + planMs + REST_MS;
      while (this.truth.now() < end && !this.isAtRest && !this.hasViolation) {
        this.#runUntil(Math.min(end, this.truth.now() + 2 * STEP_MS));
        if (!this.isAtRest && !this.#isWelcomeBack()) break;
      }
    }
    if (!this.isAtRest && !this.hasViolation)
      this.witness.blame('I10', `not at rest: ${openOf(this.#process?.desk)}`);
  }

  #latestRecord(): number {
    return linesOf(this.#disk.durable).lines.reduce((latest, { at }) => Math.max(latest, at), 0);
  }

  /** The operator lets a desk that was stopped go on, once nothing is in doubt. False: it takes a restart. */
  #isWelcomeBack(): boolean {
    const process = this.#process;
    if (process === undefined || process.clock.isDead) return false;
    const { control, state } = process.desk;
    if (control === 'paused') this.#operator$.next({ do: 'resume', by: 'test', why: 'healed' });
    this.#people?.resume(process.desk);
    if (control !== 'halted' || state.attempts.size > 0) return true;
    if (this.#note?.level === 'kill' || state.isTransportClosed) {
      this.#rearm = 'healed';
      return false;
    }
    this.#operator$.next({ do: 'rearm', by: 'test', why: 'healed' });
    this.#sometimes('armed again');
    return true;
  }

  #restartForRest(): void {
    this.#kill('for the healed phase');
    this.#isEnding = true;
    this.truth.run(instant(this.truth.now() + (this.#isRolledBack ? ROLLED_BACK_MS : 1_000)));
    this.#start();
  }

  // --- processes

  #start(): void {
    const boot = ++this.#boot;
    this.#people?.starts();
    const clock = new ProcessClock(this.truth, this.#wall);
    const sender: Sender = {
      boot,
      hasJournal: true,
      wasDisturbed: this.#disturbed,
    };
    this.#isRecovering = true;
    this.#starting = clock;
    clock.onTimer = () => {
      if (this.#chance.at(TIMER, `${boot}.${clock.fired}`) !== undefined) this.#kill('at a timer');
    };
    this.witness.note(`-- process ${boot} starts`);
    try {
      const rearm = this.#rearm;
      this.#rearm = undefined;
      let isUp = false;
      let ended: { error: unknown } | undefined;
      const process = startProcess({
        boot,
        setting: this.setting,
        chance: this.#chance,
        clock,
        disk: this.#disk,
        shelf: this.#shelf,
        onKept: (state, lines) => {
          this.#sometimes('started from a state that was kept');
          if (!isTrue(state, lines))
            this.witness.blame('I12', `the state kept at record ${state.seq} is not what the records say`);
        },
        exchange: this.#exchange,
        operator$: this.#operator$,
        strategies: this.#people?.strategies,
        hints$: this.#hints$,
        rearm,
        isUntilDone: this.#isUntilDone,
        halt: this.#halt,
        clientOf: (options) => this.#network.clientOf(options),
        pointOf: (outgoing) => {
          this.witness.sender = { ...sender, wasDisturbed: this.#disturbed };
          return this.#names.of(outgoing, boot);
        },
        fateOfAppend: (count) => this.#fateOfAppend(boot, count),
        yieldAt: (point) => {
          this.#yieldAt(point, clock);
        },
        onDurable: (lines) => {
          this.#durable(lines);
        },
        onAlert: (id, facts) => {
          this.witness.alerted(id, facts);
        },
        onReady: () => {
          this.#isRecovering = false;
          this.#crashesInRecovery = 0;
        },
        onEnd: (error) => {
          if (isUp) this.#ended(error);
          else ended = { error };
        },
      });
      isUp = true;
      this.#starting = undefined;
      this.#process = process;
      if (ended !== undefined) this.#ended(ended.error);
      else if (clock.isDead) this.#kill('as it started');
    } catch (error) {
      this.#ended(error);
    }
  }

  #ended(error: unknown): void {
    if (error === undefined) {
      this.witness.note('-- stopped in good order');
      const { desk } = this.#process ?? {};
      if (
        desk !== undefined &&
        this.setting.strategies.every(({ id }) => desk.state.lives.get(id)?.finished !== undefined) &&
        desk.state.attempts.size === 0 &&
        desk.state.slices.size === 0 &&
        !desk.state.isUnconfirmed
      ) {
        // prettier-ignore
        this.isAtRest = true;
        return;
      }
      this.#sometimes('drained in good order');
    } else if (isStorage(error)) {
      this.witness.note(`-- the journal failed: ${error instanceof Error ? error.message : ''}`);
      this.#sometimes('ended by the disk');
    } else if (error instanceof OperatorError) {
      this.witness.note(`-- refused: ${error.message}`);
      if (error.exit === 'data')
        this.witness.blame('crash', `an undamaged journal is refused: ${error.message}`);
      if (error.exit === 'config') this.witness.blame('crash', `the start was refused: ${error.message}`);
    } else {
      this.witness.blame('crash', `the desk threw ${inspect(error)}`);
    }
    this.#afterDeath();
  }

  /** The process is gone in the middle of whatever it did. */
  #kill(where: string): void {
    const process = this.#process;
    if (process === undefined || process.isOver) return;
    this.witness.note(`-- killed ${where}`);
    this.crashes++;
    if (this.#isRecovering) {
      this.#crashesInRecovery++;
      if (this.#crashesInRecovery >= 2) this.#sometimes('two crashes inside one recovery');
    }
    process.kill();
    this.#afterDeath();
  }

  #afterDeath(): void {
    this.#disk.owner = undefined;
    const fault = this.#chance.at(CRASH, this.#boot);
    const kind = fault?.kind;
    const value = fault?.value ?? 0;
    this.#disk.crash(kind === 'power cut' ? 0 : kind === 'torn' ? value : 1);
    if (kind === 'torn') this.#sometimes('a torn last record');
    if (kind === 'bit turned') this.#turnBit(value);
    if (kind === 'rolled back') this.#rollBack(value);
    const torn = unframe(this.#disk.durable);
    if (torn.ok) this.#disk.restore(this.#disk.durable.subarray(0, torn.end));
    // Records may be there that nobody was told of: a flush that failed, a process that died before it heard.
    this.witness.relearn(linesOf(this.#disk.durable).lines);
    if (this.#note !== undefined) this.witness.halted(this.#now);
    if (this.#isEnding || this.#chance.isHealed || this.#boot >= BOOTS_MAX) return;
    const waitMs = this.#isRolledBack && kind === 'rolled back' ? ROLLED_BACK_MS : 0;
    this.truth.push(waitMs + between(this.#chance.draw('restart', this.#boot), 50, 20_000, 3), () => {
      if (!this.#chance.isHealed && !this.isAtRest) this.#start();
    });
  }

  #rollBack(value: number): void {
    // Nobody could say which orders a journal does not know any more where rows do not show our ids.
    if (!showsOurIds(this.setting.venue.lists)) return;
    const count = this.#snapshots.length - this.#firstSnapshot;
    if (this.#firstSnapshot === 0 || count < 2) return;
    const older = this.#snapshots[this.#firstSnapshot + Math.floor(value * count)];
    if (older === undefined) return;
    this.#disk.restore(older);
    this.#isRolledBack = true;
    this.#sometimes('a journal put back');
    this.witness.note(`-- the journal is put back to ${older.length} bytes`);
    this.witness.rolledBack();
  }

  /** One bit is not what it was: whoever reads it must refuse, whichever bit it is. */
  #turnBit(value: number): void {
    const frames = unframe(this.#disk.durable);
    if (!frames.ok || frames.payloads.length === 0) return;
    const at = Math.floor(value * frames.payloads.length);
    const taken = turned(frames.payloads, at, this.#chance.draw('bit', this.#boot));
    if (taken !== undefined)
      this.witness.blame('I14', `a turned bit in record ${at} was taken for the truth: ${taken}`);
    this.#sometimes('a turned bit refused');
  }

  #yieldAt(point: string, clock: ProcessClock): void {
    if (clock.isDead) return;
    const isWanted = this.#crashAt.has(++this.steps);
    const fault = isWanted ? { kind: 'kill', value: 0 } : this.#chance.at(YIELD, point);
    if (fault === undefined) return;
    if (clock === this.#starting) {
      // It is not whole yet: it dies as soon as it is.
      if (fault.kind === 'kill') clock.isDead = true;
      return;
    }
    if (clock !== this.#process?.clock) return;
    if (fault.kind === 'kill') {
      if (point.includes('written')) this.#sometimes('killed while a record was being flushed');
      this.#kill(`at ${point}`);
    } else this.#suspend(between(fault.value, 100, 30_000, 2), fault.kind !== 'suspend');
  }

  #suspend(ms: number, isFrozen: boolean): void {
    this.witness.note(`-- suspended for ${Math.round(ms)} ms${isFrozen ? ', the clock stands' : ''}`);
    this.#disturbed = true;
    this.#sometimes('suspended');
    this.#process?.clock.suspend(ms, isFrozen);
  }

  #fateOfAppend(boot: number, count: number): AppendFate {
    const fault = this.#chance.at(DISK, `${boot}.${count}`);
    if (fault === undefined) return { syncMs: 0, isBlocking: false };
    if (fault.kind.startsWith('slow sync')) {
      this.#sometimes('slow flush');
      return { syncMs: between(fault.value, 10, 20_000, 3), isBlocking: fault.kind === 'slow sync' };
    }
    this.#failedBoot = boot;
    return { fault: fault.kind as DiskFault, syncMs: 0, isBlocking: false };
  }

  #durable(lines: readonly Line[]): void {
    this.witness.durable(lines);
    if (this.#firstSnapshot === 0 && lines.some(({ kind }) => kind === 'strategy'))
      this.#firstSnapshot = this.#snapshots.length + 1;
    this.#snapshots.push(this.#disk.durable);
  }

  // --- the wire

  #isOpen(way: 'requests' | 'answers', point: string): boolean {
    for (const { kind, until } of this.#outages) {
      if (this.#now >= until) continue;
      if (kind === 'swizzle') {
        if (this.#chance.draw(`swizzle ${way}`, point) < 0.5) return false;
      } else if (kind === 'blackout' || kind === 'long blackout' || kind === `${way} blocked`) return false;
    }
    return true;
  }

  // --- the weather

  #happens(event: Event): void {
    const { kind, lengthMs, value } = event;
    this.witness.note(`-- ${kind} for ${Math.round(lengthMs)} ms`);
    if (this.#people?.happens(event) === true) return;
    const until = this.#now + lengthMs;
    const process = this.#process;
    const isAlive = process !== undefined && !process.clock.isDead;
    switch (kind) {
      case 'no quotes':
        this.#exchange.setAvailability('all', 'unavailable');
        this.truth.push(lengthMs, () => {
          this.#exchange.setAvailability('all', 'available');
        });
        return;
      case 'trades of others':
        this.#othersTrade(value);
        return;
      case 'token refused':
        this.#venue.refusesTokenUntil = this.truth.now() + lengthMs;
        return;
      case 'price gap':
        this.#exchange.market.pin('btcusd', price(value < 0.5 ? '57000' : '63000'));
        this.truth.push(lengthMs, () => {
          this.#exchange.market.pin('btcusd', undefined);
        });
        return;
      case 'kill':
        this.#kill('by the weather');
        return;
      case 'suspend':
      case 'suspend, clock frozen':
      case 'long suspend':
        if (isAlive) this.#suspend(lengthMs, kind !== 'suspend' && value < 0.6);
        return;
      case 'clock jumps':
      case 'clock jumps a day':
        this.#setWall(
          this.#wall.offsetMs +
            (value < 0.5 ? -1 : 1) * (kind === 'clock jumps' ? 90_000 * value : 86_400_000),
        );
        if (kind === 'clock jumps a day') this.witness.hasDayChanged = true;
        this.#sometimes('the wall clock jumped');
        return;
      case 'pause':
        this.#operator$.next({ do: 'pause', by: 'test', why: 'weather' });
        this.#sometimes('told to pause');
        return;
      case 'halt':
        if (!isAlive) return;
        this.#operator$.next({ do: 'halt', by: 'test', why: 'weather', isKill: value > 0.6 });
        // It counts from this moment, whatever the disk does.
        if (process.desk.control === 'halted') this.witness.halted(this.#now);
        this.#sometimes('told to halt');
        return;
      case 'halt file':
        this.#note = { level: 'halt', by: 'test', why: 'weather' };
        this.witness.halted(this.#now);
        this.#sometimes('halted by a file');
        return;
      case 'drain':
        this.#operator$.next({ do: 'drain', why: 'SIGTERM' });
        return;
      case 'second instance':
        this.#startSecond();
        return;
      default:
        this.#outages.push({ kind, until });
        this.#sometimes('an outage');
    }
  }

  #setWall(offsetMs: number): void {
    this.#wall.offsetMs = offsetMs;
    // How long ago a process stopped in good order is told by the wall clock alone.
    if (this.#process?.clock.isDead !== false)
      for (const times of this.witness.arrivals.values()) times.length = 0;
  }

  /** A desk on credit is short of funds, so that it would notice what it may not spend yet. */
  #holdDeposit(): void {
    const now = instant(EPOCH + this.setting.venueSkewMs);
    if (this.setting.policy.pts.use === 'never' || this.#chance.draw('deposit', 'held') < 0.5) return;
    const heldUntil = after(now, this.#chance.draw('deposit', 'until') * 10 * MINUTE_MS);
    this.#exchange.deposit('desk', 'usd', quantity('20000'), now, heldUntil);
    this.#sometimes('a deposit was held');
  }

  /** Somebody else trades on the account, in sizes that ours could have. */
  #othersTrade(value: number): void {
    const { ledger, registry } = this.#exchange;
    const now = instant(Math.floor(this.#venue.wall));
    this.#exchange.advance(now);
    for (let i = 0; i <= value * 3; i++) {
      const drawn = this.#chance.draw('trade of others', `${this.#now} ${i}`);
      const size = (0.01 * 40 ** drawn).toFixed(4);
      const orderId = registry.nextNumber();
      this.witness.foreign.add(orderId);
      ledger.book('desk', {
        orderId,
        tradeId: registry.nextNumber(),
        at: now,
        clientId: [undefined, 'bob-2026-01-05-17', '', '-'][Math.floor(drawn * 97) % 4],
        pair: 'btcusd',
        base: 'btc',
        quote: 'usd',
        side: value < 0.5 ? 'buy' : 'sell',
        quantity: quantity(size),
        amount: money((Number(size) * 60_000).toFixed(2)),
        fees: money('0'),
        price: price('60000'),
      });
    }
    this.#sometimes('others traded');
  }

  /** Another process on the same journal: it must not get as far as the network. */
  #startSecond(): void {
    if (this.#disk.owner === undefined) return;
    const boot = 1_000;
    const refused = refusalOfSecond({
      boot: boot + this.#boot,
      setting: this.setting,
      chance: this.#chance,
      clock: new ProcessClock(this.truth, this.#wall),
      disk: this.#disk,
      exchange: this.#exchange,
      halt: this.#halt,
      clientOf: (options) => this.#network.clientOf(options),
      pointOf: (outgoing) => {
        this.witness.sender = { boot, hasJournal: false, wasDisturbed: true };
        return this.#names.of(outgoing, boot);
      },
    });
    if (refused === undefined) this.witness.blame('I17', 'a second process has opened the journal');
    else if (!(refused instanceof OperatorError) || refused.exit !== 'again')
      this.witness.blame('I17', `a second process was refused with ${inspect(refused)}`);
    this.#sometimes('a second instance turned away');
  }

  // --- judging

  /** What is in memory is what the journal says; and all of it is bounded. */
  #judgeState(): void {
    const process = this.#process;
    if (process === undefined || process.clock.isDead || this.hasViolation) return;
    if (process.clock.pending > CAPS.timers) this.witness.blame('I13', `${process.clock.pending} timers`);
    if (this.#disk.size > CAPS.journalBytes)
      this.witness.blame('I13', `a journal of ${this.#disk.size} bytes`);
    // A flush that failed may have left its records on the disk: until the process has ended, nobody knows of them.
    const hasFailed = this.#failedBoot === this.#boot;
    if (!hasFailed && this.#chance.draw('judge', Math.floor(this.#now / STEP_MS)) < 0.02)
      this.#judgeMemory(process);
  }

  #judgeMemory({ desk }: SimulatedProcess): void {
    for (const name of forgotten(desk.state, linesOf(this.#disk.durable).lines))
      this.witness.blame('I12', `${name} in memory is not what the journal says`);
  }

  #judgeRest(): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#judgeMemory(process);
    // Ids come twice where a journal was put back before the venue showed what it lacks.
    if (!this.#hasBrokenWord || !this.#isRolledBack) this.witness.judgeBooks();
    if (this.witness.openDoubts > 0) this.witness.blame('I10', `${this.witness.openDoubts} doubts at rest`);
    if (this.#disk.read().includes(TOKEN)) this.witness.blame('I15', 'the token is in the journal');
  }
}
