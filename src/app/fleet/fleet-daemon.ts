import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError, exitCodes } from '../../core/errors.ts';
import { escapeMarks } from '../../core/text/escape.ts';
import { withDesk } from '../../journal/postgres/postgres-url.ts';
import type { Operate } from '../../operate/server.ts';
import { version } from '../version.ts';
import type { RunIo } from '../commands/run.ts';
import { writeDeskFiles } from './desk-files.ts';
import { startDeskProcess } from './desk-process.ts';
import type { DeskProcess } from './desk-process.ts';
import { FleetStore } from './fleet-store.ts';
import type { StoredDesk, VersionFacts } from './fleet-store.ts';
import { Hibernation, RESUME_EARLY_MS, notIdle } from './hibernation/hibernation.ts';
import type { Idleness } from './hibernation/hibernation.ts';
import { isAtLeast, placement } from './placement.ts';
import { SeenHeads, filesOf } from './seen-heads.ts';

export interface FleetOptions {
  /** The store: `postgres://…`. */
  readonly fleet: string;
  readonly name?: string | undefined;
  readonly capacity: number;
  /** Folder on this machine for the files of its desks. */
  readonly folder: string;
  /** Name of the network address of this machine, the same for all daemons behind it. */
  readonly address: string;
  /** Shortest idle time for which a desk hibernates, ms. Omitted: no desk hibernates. */
  readonly hibernateMs?: number | undefined;
  /** File with the address of the daemon's API and its callers. Omitted: the daemon serves no API. */
  readonly settings?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Interval at which a daemon reads the store. */
const LOOK_MS = 1_000;
/** Time without a heartbeat after which other daemons take the desks of a daemon. */
const BEAT_LATE_MS = 10_000;
/** Longest wait for the name of a daemon that died: longer than `BEAT_LATE_MS`, after which the store frees the name. */
const NAME_WAIT_MS = BEAT_LATE_MS + 2_000;
const RETRY_MS_MAX = 30_000;
/** Time without a lease after which a process counts as hung: a working one takes its lease first and renews it every few seconds. */
const HUNG_MS = 30_000;
/** Time without a report after which a process with a lease counts as hung: it blocks the desk and obeys no command. */
const UNHEARD_MS = 90_000;

/** A desk that this daemon starts, and restarts when its process ends. */
interface Running extends Idleness {
  process: DeskProcess | undefined;
  version: number;
  isReleased: boolean;
  /** Number of consecutive processes that ended before they reported. */
  failures: number;
  /** Epoch of the desk when the process started; the process takes a later one. */
  epochBefore: number;
  hasReported: boolean;
  startedAt: number;
  notBefore: number;
  /** Time since which the process has run without a lease in the store; `undefined` while the store shows a lease. */
  unleasedSince: number | undefined;
  /** Time since which the process has held the lease without a report; `undefined` while it reports. */
  unheardSince: number | undefined;
}

/**
 * Takes desks from the store and runs each in a process of its own. The lease alone decides who may trade: the process of a desk takes it
 * or exits. Returns the exit code: 0, 75 if a released desk exited with 75 (an outcome is unknown), or that of an `OperatorError`.
 */
export async function runFleet(options: FleetOptions, io: RunIo): Promise<number> {
  return await new FleetDaemon(options, io).run();
}

class FleetDaemon {
  readonly #options: FleetOptions;
  readonly #io: RunIo;
  readonly #store: FleetStore;
  readonly #me: string;
  readonly #instance = randomUUID();
  readonly #heads: SeenHeads;
  readonly #hibernation: Hibernation;
  readonly #running = new Map<string, Running>();
  #isDraining = false;
  #code = 0;
  /** Number of desks whose processes have not reported yet. */
  #starting = 0;
  /** Time at which the store accepted the last heartbeat. */
  #beatAt = 0;
  #lastTrouble: string | undefined;

  constructor(options: FleetOptions, io: RunIo) {
    this.#options = options;
    this.#io = io;
    this.#store = new FleetStore(options.fleet);
    this.#me = options.name ?? hostname();
    this.#hibernation = new Hibernation(options.hibernateMs);
    this.#heads = new SeenHeads(options.folder, () => performance.now());
  }

  async run(): Promise<number> {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    const forget = this.#io.onSignal((signal) => {
      if (signal === 'SIGTERM' || signal === 'SIGINT') {
        if (this.#isDraining && signal === 'SIGINT') this.#io.exitNow(130);
        this.#drain(signal);
      }
    });
    let served: Operate | undefined;
    try {
      await this.#store.check();
      await this.#takeName();
      served = await this.#serve();
      this.#say('fleet_ready', { daemon: this.#me, ...(served === undefined ? {} : { url: served.url }) });
      while (!this.#isDraining || this.#running.size > 0) {
        const isStoreThere = await this.#look();
        // The claims of this daemon expire with its heartbeats, as they do when a daemon dies.
        if (this.#isDraining && !isStoreThere && this.#isIdle()) break;
        await sleep(LOOK_MS);
      }
      await this.#store.leave(this.#me, this.#instance).catch((error: unknown) => {
        this.#trouble(error);
      });
      return this.#code;
    } finally {
      forget();
      await served?.close();
      await this.#store.close().catch(() => undefined);
    }
  }

  async #serve(): Promise<Operate | undefined> {
    const { settings, fleet, folder } = this.#options;
    if (settings === undefined) return undefined;
    const { readFleetSettings } = await import('./fleet-settings.ts');
    const { serveFleet } = await import('./serve-fleet.ts');
    return await serveFleet(readFleetSettings(settings, this.#io), {
      store: fleet,
      daemon: this.#me,
      folder,
      ready: () => [
        ...(this.#isDraining ? ['the daemon drains'] : []),
        ...(performance.now() - this.#beatAt > BEAT_LATE_MS ? ['the store does not respond'] : []),
      ],
      warn: (line) => {
        this.#io.stderr.write(`warning: ${escapeMarks(line)}\n`);
      },
    });
  }

  #drain(why: string): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#say('fleet_draining', { daemon: this.#me, why });
    for (const desk of this.#running.keys()) this.#release(desk);
  }

  /** Sends the first heartbeat. A daemon that died keeps its name until its last heartbeat is late, so this one waits for the name. */
  async #takeName(): Promise<void> {
    const started = performance.now();
    for (let tries = 0; ; tries += 1) {
      try {
        await this.#beat();
        return;
      } catch (error) {
        const isTaken = error instanceof OperatorError && error.exit === 'again';
        if (!isTaken || this.#isDraining || performance.now() - started > NAME_WAIT_MS) throw error;
        if (tries === 0)
          this.#say('fleet_waiting', {
            daemon: this.#me,
            why: 'another daemon of this name has just been alive',
          });
        await sleep(LOOK_MS);
      }
    }
  }

  async #beat(): Promise<void> {
    const capacity = this.#isDraining ? 0 : this.#options.capacity;
    const { isDraining } = await this.#store.beat({
      daemon: this.#me,
      instance: this.#instance,
      host: hostname(),
      capacity,
      program: version,
    });
    this.#beatAt = performance.now();
    if (isDraining) this.#drain('fleet drain');
  }

  #isIdle(): boolean {
    return [...this.#running.values()].every(({ process }) => process === undefined);
  }

  /**
   * Sends a heartbeat, then follows each desk in the store. While the store is unreachable, the desks continue as long as they can write,
   * and decide themselves what to do. Returns whether the store answered.
   */
  async #look(): Promise<boolean> {
    try {
      await this.#beat();
      const [desks, daemons] = [await this.#store.desks(), await this.#store.daemons()];
      const { take, release } = placement(this.#me, desks, daemons);
      for (const desk of this.#isDraining ? this.#running.keys() : release) this.#release(desk);
      this.#starting = desks.filter(
        ({ desk, isReported }) => !isReported && this.#running.get(desk)?.process !== undefined,
      ).length;
      let isWell = true;
      for (const one of desks) {
        this.#heads.see(one.desk, one.head);
        try {
          await this.#follow(one, !this.#isDraining && take.includes(one.desk));
        } catch (error) {
          // An error of one desk does not stop the others.
          isWell = false;
          this.#trouble(error);
        }
      }
      if (isWell) this.#lastTrouble = undefined;
      return true;
    } catch (error) {
      this.#trouble(error);
      // Without the store no desk can renew its lease, so none counts as hung.
      for (const running of this.#running.values())
        Object.assign(running, { unleasedSince: undefined, unheardSince: undefined });
      if (error instanceof OperatorError && error.exit === 'storage') return false;
      this.#code = error instanceof OperatorError ? exitCodes[error.exit] : exitCodes.software;
      this.#drain('the daemon cannot continue');
      return false;
    }
  }

  async #follow(one: StoredDesk, isToTake: boolean): Promise<void> {
    const { desk, daemon } = one;
    const running = this.#running.get(desk);
    if (running === undefined) {
      // A desk that an earlier run of this daemon claimed is this daemon's.
      const isMine = daemon === this.#me && !this.#isDraining;
      // This daemon now runs an older version than the one that last ran the desk.
      if (isMine && !isAtLeast(version, one.program)) await this.#store.unclaim(desk, this.#me);
      else if (isMine || isToTake) {
        const claim = { daemon: this.#me, program: version };
        if (await this.#store.claim(desk, claim, daemon)) await this.#begin(one);
      } else this.#heads.keep(desk);
      return;
    }
    if (running.isReleased && running.process === undefined) {
      await this.#store.unclaim(desk, this.#me);
      this.#running.delete(desk);
      this.#say('desk_released', { desk });
      return;
    }
    running.hasReported ||= one.isReported && one.epoch > running.epochBefore;
    this.#endHung(one, running);
    // Another daemon took the desk while this one sent no heartbeats.
    if (daemon !== this.#me) this.#release(desk);
    else if (running.isReleased) return;
    else if (running.process === undefined) await this.#startWhenDue(one, running);
    else if (running.endsUntil !== undefined) return;
    else if (this.#hibernation.isToEnd(one, running, performance.now())) {
      running.endsUntil = one.idle?.until;
      running.process.drain();
    } else if (one.version > running.version) {
      const newest = await this.#write(desk);
      running.version = newest.version;
      this.#say('desk_reloading', { desk, ...newest.facts });
      await this.#store.reload(desk, newest.facts);
    }
  }

  /** Kills a hung process. The next process treats its open orders as doubts, as after any crash. */
  #endHung({ desk, isLeased, isReported }: StoredDesk, running: Running): void {
    const { process: child, startedAt } = running;
    const now = performance.now();
    running.unleasedSince = isLeased || child === undefined ? undefined : (running.unleasedSince ?? now);
    running.unheardSince =
      !isLeased || isReported || child === undefined ? undefined : (running.unheardSince ?? now);
    const hasLasted = (since: number | undefined, ms: number): boolean =>
      since !== undefined && now - Math.max(since, startedAt) >= ms;
    const why = hasLasted(running.unleasedSince, HUNG_MS)
      ? `no lease for ${HUNG_MS / 1_000} s`
      : hasLasted(running.unheardSince, UNHEARD_MS)
        ? `no report for ${UNHEARD_MS / 1_000} s`
        : undefined;
    if (why === undefined) return;
    this.#say('desk_hangs', { desk, why });
    child?.kill();
  }

  async #begin(one: StoredDesk): Promise<void> {
    const running: Running = {
      ...notIdle(),
      process: undefined,
      version: 0,
      // A drain may have begun during the claim: the next `#look` releases the desk.
      isReleased: this.#isDraining,
      failures: 0,
      epochBefore: 0,
      hasReported: false,
      startedAt: 0,
      notBefore: 0,
      unleasedSince: undefined,
      unheardSince: undefined,
    };
    this.#running.set(one.desk, running);
    if (!running.isReleased) await this.#startWhenDue(one, running);
  }

  async #startWhenDue(one: StoredDesk, running: Running): Promise<void> {
    const { desk, hibernatesS } = one;
    const { endsUntil } = running;
    if (endsUntil !== undefined) {
      const me = { daemon: this.#me, version: running.version };
      if (await this.#store.hibernate(desk, me, { until: endsUntil, earlyS: RESUME_EARLY_MS / 1_000 }))
        this.#say('desk_hibernating', { desk, idle_until: endsUntil });
      Object.assign(running, notIdle());
      return;
    }
    const isDue = performance.now() >= running.notBefore && !this.#hibernation.isAsleep(one);
    if (!isDue || !this.#hibernation.mayStart(one, this.#starting)) return;
    if (hibernatesS !== undefined && (await this.#store.wake(desk))) this.#say('desk_waking', { desk });
    this.#starting += 1;
    running.epochBefore = one.epoch;
    await this.#start(desk, running);
  }

  async #start(desk: string, running: Running): Promise<void> {
    const { config, version: newest, facts } = await this.#write(desk);
    // A drain may have begun during the read.
    if (running.isReleased) return;
    running.version = newest;
    running.startedAt = performance.now();
    running.hasReported = false;
    this.#heads.handOver(desk);
    this.#say('desk_starting', { desk, ...facts });
    const child = startDeskProcess({
      program: this.#io.program,
      config,
      cwd: join(this.#options.folder, desk),
      env: this.#io.env,
      isJson: this.#options.json === true,
      onLine: (line, stream) => {
        this.#pass(desk, line, stream);
      },
    });
    running.process = child;
    void this.#watch(desk, running, child);
  }

  async #watch(desk: string, running: Running, child: DeskProcess): Promise<void> {
    const code = await child.ended;
    running.process = undefined;
    if (code === 0 && running.endsUntil !== undefined && !running.isReleased) {
      running.failures = 0;
      this.#say('desk_ended', { desk, code });
      return;
    }
    Object.assign(running, notIdle());
    if (running.isReleased && code === exitCodes.again) this.#code = exitCodes.again;
    // A process that had reported restarts without backoff; in a crash loop, the desk itself starts halted.
    running.failures = running.hasReported ? 0 : running.failures + 1;
    // The lease of another owner expires within seconds, so the next try follows soon.
    const wait = code === exitCodes.again ? LOOK_MS : Math.min(RETRY_MS_MAX, LOOK_MS * 2 ** running.failures);
    running.notBefore = performance.now() + wait;
    this.#say('desk_ended', { desk, code: code ?? 'signal' });
  }

  /** Writes the newest version of a desk's files into its folder. */
  async #write(
    desk: string,
  ): Promise<{ readonly config: string; readonly version: number; readonly facts: VersionFacts }> {
    const newest = await this.#store.newest(desk);
    if (newest === undefined) throw new OperatorError('data', `the store has no files of desk ${desk}`);
    const folder = join(this.#options.folder, desk);
    const url = new URL(withDesk(this.#options.fleet, desk));
    url.searchParams.set('desk', desk);
    url.searchParams.set('files', filesOf(this.#options.folder, desk));
    const config = writeDeskFiles(newest.files, {
      folder,
      journal: url.href,
      address: this.#options.address,
      stored: { version: newest.version, author: newest.author, person: newest.person },
    });
    const { author, person, why } = newest;
    return {
      config,
      version: newest.version,
      facts: { version: newest.version, author, person, why },
    };
  }

  #release(desk: string): void {
    const running = this.#running.get(desk);
    if (running === undefined || running.isReleased) return;
    running.isReleased = true;
    running.process?.drain();
  }

  #pass(desk: string, line: string, stream: 'stdout' | 'stderr'): void {
    if (stream === 'stderr') this.#io.stderr.write(`${desk}: ${line}\n`);
    else if (this.#options.json === true && line.startsWith('{'))
      this.#io.stdout.write(`{"desk":${JSON.stringify(desk)},${line.slice(1)}\n`);
  }

  #say(event: string, facts: Readonly<Record<string, unknown>> & object): void {
    if (this.#options.json === true)
      this.#io.stdout.write(`${escapeMarks(JSON.stringify({ event, ...facts }))}\n`);
    const words = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
    this.#io.stderr.write(`${event.replaceAll('_', ' ')}: ${escapeMarks(words.join(', '))}\n`);
  }

  /** Prints an error once, not once a second. */
  #trouble(error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    if (words === this.#lastTrouble) return;
    this.#lastTrouble = words;
    this.#io.stderr.write(`warning: ${escapeMarks(words)}; trying again\n`);
  }
}
