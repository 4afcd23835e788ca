import { EMPTY, catchError, defer, exhaustMap, from, interval } from 'rxjs';
import type { Subscription } from 'rxjs';
import { DAY_MS, MINUTE_MS, after, instant, isoOf, monotonic } from '../../core/time.ts';
import { memoryOutbox } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Observer } from '../../engine/observer.ts';
import type { Clock, Random } from '../../engine/ports.ts';
import type { Journal } from '../../journal/journal.ts';
import { Notifier } from '../../operate/notify/notifier.ts';
import type { ChannelFigures } from '../../operate/notify/notifier.ts';
import { foreign } from '../../operate/notify/notice.ts';
import { channelsOf } from './channels.ts';
import { nextDigest } from './digest-times.ts';
import { readDay } from './read-day.ts';
import type { NotifyConfig } from './notify-config.ts';

export interface NotificationsParts {
  readonly desk: string;
  readonly mode: string;
  readonly journal: Pick<Journal, 'read' | 'outbox'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly alert: Observer['alert'];
  readonly warn: Observer['warn'];
  /** The URL of the journal. */
  readonly url: string;
  readonly clock: Pick<Clock, 'wall' | 'monotonic' | 'scheduler'>;
  readonly random: Random;
  /** What waits for a person now. */
  readonly waiting: () => readonly string[];
  /** Whether a quote or an order is under way. */
  readonly isBusy: () => boolean;
}

/** The notifications of a running desk. */
export interface Notifications {
  /** A record became durable. */
  take(stored: StoredRecord): void;
  figures(): readonly ChannelFigures[];
  /** Tells what is still to tell, as far as that goes at once. */
  close(): Promise<void>;
}

/** Name of the note of when the last digest was made. */
const LAST_DIGEST = 'last_digest';
/** How often it is looked at whether a digest is due. */
const LOOK_MS = MINUTE_MS / 6;
/** When a journal is read again that could not be read. */
const DIGEST_AGAIN_MS = 10 * MINUTE_MS;
/** A digest reaches back so far at most. */
const DIGEST_MAX_MS = 7 * DAY_MS;

/** How long the end of a process waits for channels. */
const CLOSING_MS = 5_000;

/** Whatever becomes of notifications, the desk trades: a fault of theirs is a warning. */
export function notifications(
  { channels, windowMs, dashboard, digest }: NotifyConfig,
  { desk, mode, journal, env, alert, warn, url, waiting, isBusy, clock, random }: NotificationsParts,
): Notifications {
  const notifier = new Notifier({
    desk,
    mode,
    channels: channelsOf(channels, clock, env),
    outbox: journal.outbox ?? memoryOutbox(),
    clock,
    random,
    windowMs,
    dashboard,
    isBusy,
    onFailing(channel, why) {
      alert('channel_failing', { channel, why });
    },
    warn,
  });
  let nextTry = monotonic(0);
  const tellDigest = async (): Promise<void> => {
    const now = clock.wall();
    if (digest === undefined) return;
    const last = Number(notifier.noted(LAST_DIGEST));
    if (nextDigest(digest, instant(last)) > now || clock.monotonic() < nextTry) return;
    const span = { from: instant(Math.max(last, now - DIGEST_MAX_MS)), until: now };
    const { dayWords } = await import('../../report/day/day-words.ts');
    const lines = dayWords(await readDay(url, journal, span), waiting(), foreign);
    notifier.tell({
      kind: 'digest',
      topic: 'digest',
      severity: 'info',
      at: now,
      title: `digest until ${isoOf(now)}`,
      lines,
      page: '/#/cost',
    });
    notifier.note(LAST_DIGEST, String(now));
  };
  const digests = (): Subscription =>
    interval(LOOK_MS, clock.scheduler)
      .pipe(
        exhaustMap(() =>
          defer(() => from(tellDigest())).pipe(
            catchError((error: unknown) => {
              nextTry = after(clock.monotonic(), DIGEST_AGAIN_MS);
              warn('the digest could not be prepared', { error });
              return EMPTY;
            }),
          ),
        ),
      )
      .subscribe();
  let running: Subscription | undefined;
  /** At the first record of this process: by then the chain is proven, so that neither reading nor writing waits for that. */
  const begin = (head: number): void => {
    try {
      notifier.recover(head, (seq) => recordsUpTo(head, journal.read(seq)));
    } catch (error) {
      warn('notices of the previous process could not be read', { error });
    }
    // The first digest tells of the time from now on.
    if (digest !== undefined && notifier.noted(LAST_DIGEST) === undefined)
      notifier.note(LAST_DIGEST, String(clock.wall()));
    running = notifier.running$.subscribe();
    if (digest !== undefined) running.add(digests());
  };
  return {
    take(stored) {
      if (running === undefined) begin(stored.seq - 1);
      notifier.take(stored);
    },
    figures: () => notifier.figures(),
    async close() {
      if (running === undefined) return;
      running.unsubscribe();
      await Promise.race([notifier.close(), sleep(CLOSING_MS)]);
    },
  };
}

function* recordsUpTo(last: number, records: Iterable<StoredRecord>): Generator<StoredRecord> {
  for (const stored of records) {
    if (stored.seq > last) return;
    yield stored;
  }
}

async function sleep(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  setTimeout(() => {
    resolve(undefined);
  }, ms).unref();
  await promise;
}
