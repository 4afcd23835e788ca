import { EMPTY, catchError, defer, exhaustMap, from, interval } from 'rxjs';
import type { Subscription } from 'rxjs';
import { DAY_MS, MINUTE_MS, after, instant, isoOf, monotonic } from '../../core/time.ts';
import { memoryOutbox } from '../../core/outbox.ts';
import type { Instant } from '../../core/time.ts';
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
  /** URL of the journal. */
  readonly url: string;
  readonly clock: Pick<Clock, 'wall' | 'monotonic' | 'scheduler'>;
  readonly random: Random;
  /** Returns one line for each matter that awaits a person. */
  readonly waiting: () => readonly string[];
  /** Returns the results of the desk's twin since a time, in lines; empty if no day was compared. */
  readonly twinLines: (since: Instant) => readonly string[];
  /** Returns whether a quote or an order is in flight. */
  readonly isBusy: () => boolean;
}

/** Notifications of a running desk. */
export interface Notifications {
  /** Called when a record has become durable. */
  take(stored: StoredRecord): void;
  figures(): readonly ChannelFigures[];
  /** Stops, after it has sent the pending notices that can be sent immediately. */
  close(): Promise<void>;
}

/** Key under which the time of the last digest is stored. */
const LAST_DIGEST = 'last_digest';
/** Interval between checks for a due digest. */
const LOOK_MS = MINUTE_MS / 6;
/** Delay before the retry of a failed digest. */
const DIGEST_AGAIN_MS = 10 * MINUTE_MS;
/** Longest period that a digest covers. */
const DIGEST_MAX_MS = 7 * DAY_MS;

/** Longest time that a shutdown waits for channels. */
const CLOSING_MS = 5_000;

/** Creates the notifications of a desk. Their failures never stop trading; they become warnings. */
export function notifications(
  { channels, windowMs, dashboard, digest }: NotifyConfig,
  {
    desk,
    mode,
    journal,
    env,
    alert,
    warn,
    url,
    waiting,
    twinLines,
    isBusy,
    clock,
    random,
  }: NotificationsParts,
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
    const words = dayWords(await readDay(url, journal, span), waiting(), { name: foreign });
    const lines = [...words, ...twinLines(span.from)];
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
  /**
   * Starts at the first record of this process. The chain has been verified by then, so neither reads nor writes wait
   * for the verification.
   */
  const begin = (head: number): void => {
    try {
      notifier.recover(head, (seq) => recordsUpTo(head, journal.read(seq)));
    } catch (error) {
      warn('notices of the previous process could not be read', { error });
    }
    // The first digest covers the period that starts now.
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
