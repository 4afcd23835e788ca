import { EMPTY, exhaustMap, defer, from, timer } from 'rxjs';
import { memoryOutbox } from '../../../core/outbox.ts';
import type { OutboxPort } from '../../../core/outbox.ts';
import { exitCodes } from '../../../core/errors.ts';
import { escapeMarks, forTerminal } from '../../../core/text/escape.ts';
import { isoOf } from '../../../core/time.ts';
import { outboxFile } from '../../../journal/sqlite/outbox-file.ts';
import { Notifier } from '../../../operate/notify/notifier.ts';
import type { Notice } from '../../../operate/notify/notice.ts';
import { conditionsOf } from '../../../operate/watchman/conditions.ts';
import { Watchman } from '../../../operate/watchman/watchman.ts';
import { systemClock, systemRandom } from '../../daemon/clock.ts';
import { channelsOf } from '../../notify/channels.ts';
import { heartbeat } from '../../notify/heartbeat.ts';
import { secretsOf } from '../../notify/notify-config.ts';
import { deskAsker } from '../../watch/ask-desk.ts';
import { readWatchConfig } from '../../watch/watch-config.ts';
import type { WatchConfig, WatchOptions } from '../../watch/watch-config.ts';
import { storeAsker } from '../../watch/watch-store.ts';
import type { StoreAsker } from '../../watch/watch-store.ts';
import type { RunIo } from '../run.ts';

export interface WatchCommandOptions extends WatchOptions {
  /** File that keeps the waiting notices and the state of the watchman across a restart. */
  readonly state?: string | undefined;
  /** Checks once, and sends no messages. */
  readonly once?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export type WatchIo = Pick<RunIo, 'stdout' | 'stderr' | 'env' | 'cwd' | 'onSignal' | 'forget'>;

/** Name of the note that holds the state of the watchman. */
const MEMORY = 'watchman';
/** Number of intervals without a completed round after which the watchman stops its heartbeat. */
const ROUNDS = 3;

/**
 * Monitors desks from outside and notifies people when a desk is silent, cannot trade, or has stalled. Runs until SIGTERM or SIGINT.
 * Exit codes: 0; with `once` also 69 when a desk is silent and 75 when a desk has another problem.
 */
export async function watch(options: WatchCommandOptions, io: WatchIo): Promise<number> {
  const config = readWatchConfig(options, io);
  for (const secret of [...secretsOf(config.notify), ...config.desks.map(({ token }) => token)])
    io.forget(secret);
  return options.once === true ? await lookOnce(config, options, io) : await keepWatch(config, options, io);
}

async function lookOnce(config: WatchConfig, { json }: WatchCommandOptions, io: WatchIo): Promise<number> {
  let code = 0;
  const asker = askerOf(config);
  const probes = await asker.ask();
  await asker.close();
  for (const { name, probe } of probes) {
    const conditions = conditionsOf(probe, config.limits, 0);
    if (json === true)
      io.stdout.write(
        `${escapeMarks(JSON.stringify({ desk: name, conditions: conditions.map(({ kind, severity, says, lines }) => ({ kind, severity, says, lines })) }))}\n`,
      );
    else if (conditions.length === 0) io.stdout.write(`${forTerminal(name)} is healthy\n`);
    else
      for (const { severity, says, lines } of conditions)
        io.stdout.write(`${forTerminal(`${severity}: ${name} ${says}: ${lines.join('; ')}`)}\n`);
    for (const { kind } of conditions)
      code = kind === 'silent' ? exitCodes.unavailable : Math.max(code, code === 0 ? exitCodes.again : code);
  }
  return code;
}

async function keepWatch(config: WatchConfig, options: WatchCommandOptions, io: WatchIo): Promise<number> {
  const cleanup = new AsyncDisposableStack();
  try {
    const outbox: OutboxPort =
      options.state === undefined ? memoryOutbox() : stateFile(options.state, cleanup);
    const say = sayer(options, io);
    const notifier = notifierOf(config, outbox, io);
    const watchman = new Watchman(config.limits);
    watchman.restore(notifier.noted(MEMORY) ?? '[]');
    const asker = askerOf(config);
    cleanup.defer(async () => {
      await asker.close();
    });
    let roundAt = systemClock.monotonic();
    const round = async (): Promise<void> => {
      const probes = await asker.ask();
      const before = watchman.saved();
      for (const { name, probe } of probes)
        for (const notice of watchman.take(name, probe)) {
          say(notice);
          notifier.tell(notice);
        }
      // The outbox stores the note and the notices in one transaction, so a restart neither repeats nor loses a notice.
      if (watchman.saved() !== before) notifier.note(MEMORY, watchman.saved());
      roundAt = systemClock.monotonic();
    };
    const running = timer(0, config.everyMs, systemClock.scheduler)
      .pipe(exhaustMap(() => defer(() => from(round()))))
      .subscribe();
    running.add(notifier.running$.subscribe());
    const beat = config.notify?.heartbeat;
    const isWell = (): boolean =>
      systemClock.monotonic() - roundAt < ROUNDS * config.everyMs + LONGEST_ROUND_MS;
    running.add(
      (beat === undefined
        ? EMPTY
        : heartbeat(beat, { clock: systemClock, isWell, warn: warner(io) })
      ).subscribe(),
    );
    const watched = [...config.desks.map(({ name }) => name), ...(config.store === undefined ? [] : ['all desks of the store'])]; // prettier-ignore
    io.stderr.write(`watching ${watched.map(forTerminal).join(', ')}\n`);
    await signalled(io);
    running.unsubscribe();
    await notifier.close();
    return 0;
  } finally {
    await cleanup.disposeAsync();
  }
}

/** Returns an asker for all desks, which it asks at once. Desks of a store have no connection of their own. */
function askerOf({ desks, store }: WatchConfig): StoreAsker {
  const own = desks.map((desk) => ({ name: desk.name, asker: deskAsker(desk, systemClock) }));
  const fleet = store === undefined ? undefined : storeAsker(store, systemClock);
  return {
    async ask() {
      const probes = own.map(async ({ name, asker }) => ({ name, probe: await asker.ask() }));
      return [...(await Promise.all(probes)), ...((await fleet?.ask()) ?? [])];
    },
    async close() {
      for (const { asker } of own) await asker.close();
      await fleet?.close();
    },
  };
}

/** Longest round, because a desk that is down uses the whole time limit of its answer. */
const LONGEST_ROUND_MS = 40_000;

function stateFile(path: string, cleanup: AsyncDisposableStack): OutboxPort {
  const file = outboxFile(path);
  cleanup.defer(() => {
    file.close();
  });
  return file;
}

function notifierOf({ notify }: WatchConfig, outbox: OutboxPort, io: WatchIo): Notifier {
  const warn = warner(io);
  const notifier = new Notifier({
    desk: 'watchman',
    mode: 'watch',
    channels: channelsOf(notify?.channels ?? [], systemClock, io.env),
    outbox,
    clock: systemClock,
    random: systemRandom,
    windowMs: notify?.windowMs ?? 0,
    dashboard: notify?.dashboard,
    onFailing(channel, why) {
      warn('a channel has not delivered for ten minutes', { channel, why });
      notifier.tell({
        kind: 'channel_failing',
        topic: 'alerts',
        severity: 'warning',
        at: systemClock.wall(),
        title: `channel ${channel} of the watchman has not delivered for ten minutes`,
        lines: [`why: ${why}`],
        about: channel,
      });
    },
    warn,
  });
  notifier.recover(0, () => []);
  return notifier;
}

const warner =
  (io: WatchIo) =>
  (message: string, facts: Readonly<Record<string, unknown>> = {}): void => {
    const { error, ...plain } = facts;
    const why = error instanceof Error ? { ...plain, why: error.message } : plain;
    io.stderr.write(`${forTerminal(`warning: ${message} ${JSON.stringify(why)}`)}\n`);
  };

const sayer =
  ({ json }: WatchCommandOptions, io: WatchIo) =>
  (notice: Notice): void => {
    const { at, severity, kind, title, lines } = notice;
    if (json === true) {
      io.stdout.write(`${escapeMarks(JSON.stringify({ at: isoOf(at), severity, kind, title, lines }))}\n`);
      return;
    }
    io.stdout.write(`${forTerminal(`${isoOf(at)} ${severity}: ${title}: ${lines.join('; ')}`)}\n`);
  };

async function signalled(io: WatchIo): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const forget = io.onSignal((signal) => {
    if (signal === 'SIGTERM' || signal === 'SIGINT') resolve(undefined);
  });
  await promise;
  forget();
}
