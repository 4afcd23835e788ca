import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonic } from '../../core/time.ts';
import { OperatorError } from '../../core/errors.ts';
import { placeOfJournal } from '../../journal/journal-place.ts';
import type { Journal } from '../../journal/journal.ts';
import { OwnerReader } from '../../journal/postgres/desk-owner.ts';
import type { HeldDesk } from '../../journal/postgres/desk-owner.ts';
import { factsOf } from '../../journal/postgres/postgres-errors.ts';
import { isPostgres } from '../../journal/postgres/postgres-url.ts';
import { DeskHeld, isOfPlace } from '../../journal/postgres/take-desk.ts';
import { haltFileOf, leaveHalt } from '../../journal/sidecar/halt-file.ts';
import { takeLock } from '../../journal/sqlite/lock.ts';
import type { Log } from '../../operate/log.ts';
import { standbyWords } from '../../operate/standby.ts';
import type { Config } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { version } from '../version.ts';
import { systemClock } from './clock.ts';
import { writeControlFile } from './control-file.ts';
import { LOOPBACK, MACHINE, bearersOf, identityOf } from './serve.ts';

export interface StandbyWorld {
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly say: (line: string) => void;
  /** Called once for each time that the process begins to stand by. */
  readonly onStandby: (owner: HeldDesk) => void;
  /** Aborted when a signal stops the process. */
  readonly stop: AbortSignal;
  /** Calls `listener` for signals. Returns a function that removes it. */
  readonly onSignal: (listener: (signal: string) => void) => () => void;
}

/** Interval at which a standby reads the lease of its desk. */
const LOOK_MS = 250;

/** Number of reads, of five seconds each, that a start waits for a server that does not respond. */
const FIRST_READS = 6;

/**
 * Opens the journal of a desk as its owner. While another process holds a desk in PostgreSQL, this process is a
 * standby: it serves readiness and the owner's address, and nothing else. Returns `undefined` if `stop` ends the wait.
 *
 * @throws OperatorError, the errors of `openJournal`.
 */
export async function openAsOwner(
  config: Config,
  open: () => Journal,
  world: StandbyWorld,
): Promise<Journal | undefined> {
  if (!isPostgres(config.journal)) return open();
  for (;;) {
    if (!(await standBy(config, world))) return undefined;
    try {
      return open();
    } catch (error) {
      // Another standby was faster.
      if (!(error instanceof DeskHeld)) throw error;
    }
  }
}

/** Waits until no other process holds the desk. Returns `false` if `stop` ends the wait. */
async function standBy(config: Config, world: StandbyWorld): Promise<boolean> {
  const { log, say, stop } = world;
  const stopped = new Promise<undefined>((resolve) => {
    stop.addEventListener('abort', () => {
      resolve(undefined);
    });
  });
  const cleanup = new AsyncDisposableStack();
  try {
    const files = placeOfJournal(config.journal) ?? '';
    const lock = takeLock(files);
    // Another process of this machine uses the files: `openJournal` reports it.
    if (lock === undefined) return true;
    cleanup.defer(() => {
      lock.release();
    });
    const reader = new OwnerReader(config.journal);
    cleanup.defer(() => {
      reader.close();
    });
    let held = stop.aborted ? undefined : await Promise.race([firstRead(reader), stopped]);
    if (stop.aborted) return false;
    // The process of a lease from these files is dead, because this process has their lock.
    if (held === undefined || isOfPlace(held.owner, files)) return true;
    const state = { owner: held, trouble: undefined as string | undefined };
    cleanup.defer(
      world.onSignal((signal) => {
        if (signal === 'SIGUSR2') noteHalt(config);
      }),
    );
    await serveStandby(config, state, cleanup);
    const words = standbyWords({ desk: config.desk, owner: () => state.owner });
    log.info('standby', { desk: config.desk, ...held });
    say(words);
    world.onStandby(held);
    while (held !== undefined) {
      state.owner = held;
      await Promise.race([sleep(LOOK_MS), stopped]);
      if (stop.aborted) break;
      try {
        held = await Promise.race([reader.read(), stopped]);
        state.trouble = undefined;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (state.trouble === undefined) log.warn('the standby cannot read the lease of its desk', { why });
        state.trouble = why;
      }
    }
    log.info(stop.aborted ? 'stopped' : 'takeover', { desk: config.desk });
    return !stop.aborted;
  } finally {
    await cleanup.disposeAsync();
  }
}

/**
 * Reads the lease for the first time. Waits for a server that does not respond here, where signals are heard, because
 * opening a journal blocks the process. `openJournal` reports every error that the server states.
 */
async function firstRead(reader: OwnerReader): Promise<HeldDesk | undefined> {
  for (let reads = 1; ; reads++) {
    try {
      return await reader.read();
    } catch (error) {
      const { code, message } = factsOf(error instanceof OperatorError ? error.cause : error);
      if (code !== undefined) return undefined;
      if (reads === FIRST_READS || !/timeout/iu.test(message)) throw error;
    }
  }
}

/** A standby that was halted takes over halted. */
function noteHalt({ journal }: Config): void {
  const file = haltFileOf(journal);
  if (file !== undefined) leaveHalt(file, { level: 'halt', by: 'signal', why: 'SIGUSR2 to the standby' });
}

/** Serves at the addresses at which the desk will serve, and publishes them to commands on this machine. */
async function serveStandby(
  config: Config,
  state: { readonly owner: HeldDesk; readonly trouble: string | undefined },
  cleanup: AsyncDisposableStack,
): Promise<void> {
  const { desk, mode, operate } = config;
  const local = new Secret(randomBytes(32).toString('base64url'));
  const bearers = [
    { name: MACHINE, role: 'admin', kind: 'machine', token: local } as const,
    ...bearersOf(operate?.tokens ?? [], config.venue.token),
  ];
  let url: string | undefined;
  if (operate !== undefined) {
    const { startOperate } = await import('../../operate/server.ts');
    const { standbyMetrics } = await import('../../operate/standby.ts');
    const standby = { desk, owner: () => state.owner, bearers };
    const places = operate.tls === undefined ? [operate] : [operate, { ...operate, ...LOOPBACK }];
    for (const place of places) {
      const server = await startOperate({
        ...place,
        tls: identityOf(place.tls),
        version,
        metrics: standbyMetrics({ desk, mode }),
        standby: { ...standby, now: () => monotonic(systemClock.monotonic()) },
        ready: () => (state.trouble === undefined ? [] : [`the database does not respond: ${state.trouble}`]),
      });
      cleanup.defer(async () => {
        await server.close();
      });
      ({ url } = server);
    }
  }
  const control = { url, token: local.reveal(), pid: process.pid, desk };
  cleanup.defer(writeControlFile(config.journal, control));
}
