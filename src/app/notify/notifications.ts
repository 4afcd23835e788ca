import type { Subscription } from 'rxjs';
import { memoryOutbox } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Observer } from '../../engine/observer.ts';
import type { Clock, Random } from '../../engine/ports.ts';
import type { Journal } from '../../journal/journal.ts';
import { Notifier } from '../../operate/notify/notifier.ts';
import type { ChannelFigures } from '../../operate/notify/notifier.ts';
import { channelsOf } from './channels.ts';
import type { NotifyConfig } from './notify-config.ts';

export interface NotificationsParts {
  readonly desk: string;
  readonly mode: string;
  readonly journal: Pick<Journal, 'read' | 'outbox'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly alert: Observer['alert'];
  readonly warn: Observer['warn'];
  readonly clock: Pick<Clock, 'wall' | 'monotonic' | 'scheduler'>;
  readonly random: Random;
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

/** Longest time that a shutdown waits for channels. */
const CLOSING_MS = 5_000;

/** Creates the notifications of a desk. Their failures never stop trading; they become warnings. */
export function notifications(
  { channels, dashboard }: NotifyConfig,
  { desk, mode, journal, env, alert, warn, isBusy, clock, random }: NotificationsParts,
): Notifications {
  const notifier = new Notifier({
    desk,
    mode,
    channels: channelsOf(channels, clock, env),
    outbox: journal.outbox ?? memoryOutbox(),
    clock,
    random,
    dashboard,
    isBusy,
    onFailing(channel, why) {
      alert('channel_failing', { channel, why });
    },
    warn,
  });
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
    running = notifier.running$.subscribe();
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
