import type { Subscription } from 'rxjs';
import { memoryOutbox } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Observer } from '../../engine/observer.ts';
import type { Journal } from '../../journal/journal.ts';
import { Notifier } from '../../operate/notify/notifier.ts';
import type { ChannelFigures } from '../../operate/notify/notifier.ts';
import { systemClock, systemRandom } from '../daemon/clock.ts';
import { channelsOf } from './channels.ts';
import type { NotifyConfig } from './notify-config.ts';

export interface NotificationsParts {
  readonly desk: string;
  readonly mode: string;
  readonly journal: Pick<Journal, 'head' | 'read' | 'outbox'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly alert: Observer['alert'];
  readonly warn: Observer['warn'];
}

/** The notifications of a running desk. */
export interface Notifications {
  /** A record became durable. */
  take(stored: StoredRecord): void;
  figures(): readonly ChannelFigures[];
  /** Tells what is still to tell, as far as that goes at once. */
  close(): Promise<void>;
}

/** How long the end of a process waits for channels. */
const CLOSING_MS = 5_000;

/** Whatever becomes of notifications, the desk trades: a fault of theirs is a warning. */
export function notifications(
  { channels, windowMs, dashboard }: NotifyConfig,
  { desk, mode, journal, env, alert, warn }: NotificationsParts,
): Notifications {
  const notifier = new Notifier({
    desk,
    mode,
    channels: channelsOf(channels, systemClock, env),
    outbox: journal.outbox ?? memoryOutbox(),
    clock: systemClock,
    random: systemRandom,
    windowMs,
    dashboard,
    onFailing(channel, why) {
      alert('channel_failing', { channel, why });
    },
    warn,
  });
  try {
    notifier.recover(journal.head().seq, (after) => journal.read(after));
  } catch (error) {
    warn('notices of the process before could not be read', { error });
  }
  let running: Subscription | undefined;
  return {
    take(stored) {
      notifier.take(stored);
      // From the first record on: by then the chain is proven, so that writing beside it waits for nothing.
      running ??= notifier.running$.subscribe();
    },
    figures: () => notifier.figures(),
    async close() {
      if (running === undefined) return;
      running.unsubscribe();
      await Promise.race([notifier.close(), sleep(CLOSING_MS)]);
    },
  };
}

async function sleep(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  setTimeout(() => {
    resolve(undefined);
  }, ms).unref();
  await promise;
}
