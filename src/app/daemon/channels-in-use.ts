import { setTimeout as delay } from 'node:timers/promises';
import type { Subscription } from 'rxjs';
import { memoryOutbox } from '../../core/outbox.ts';
import type { StoredRecord } from '../../core/record.ts';
import type { Desk } from '../../engine/desk.ts';
import type { Observer } from '../../engine/observer.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ChannelFigures, Notifier } from '../../operate/notify/notifier.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/yaml.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import { systemClock, systemRandom } from './clock.ts';
import { notReady } from './readiness.ts';

export interface ChannelParts {
  readonly journal: Pick<Journal, 'select' | 'read' | 'outbox'>;
  readonly alert: Observer['alert'];
  readonly warn: Observer['warn'];
}

/** The channels in use, which a reload replaces. Their failures never stop trading; they become warnings. */
export interface ChannelsInUse {
  /** Receives a record that has become durable. */
  take(stored: StoredRecord): void;
  figures(): readonly ChannelFigures[];
  /** Replaces the channels. */
  use(notify: NotifyConfig | undefined): Promise<void>;
  /** Stops, after it has sent the waiting notices that can be sent immediately. */
  close(): Promise<void>;
}

/** Longest time that a shutdown waits for channels. */
const CLOSING_MS = 5_000;

/** Opens the config's channels. Loads their code only if there are channels, so that other starts take less time. */
export async function channelsInUse(
  { config, env }: { readonly config: Config; readonly env: Environment },
  { journal, alert, warn }: ChannelParts,
): Promise<ChannelsInUse> {
  let notifier: Notifier | undefined;
  let running: Subscription | undefined;
  const use = async (notify: NotifyConfig | undefined): Promise<void> => {
    if (notifier === undefined && (notify?.channels.length ?? 0) === 0) return;
    const [{ Notifier: Made }, { channelsOf }] = await Promise.all([
      import('../../operate/notify/notifier.ts'),
      import('../notify/channels.ts'),
    ]);
    notifier ??= new Made({
      desk: config.desk,
      mode: config.mode,
      outbox: journal.outbox ?? memoryOutbox(),
      clock: systemClock,
      random: systemRandom,
      onFailing(channel, why) {
        alert('channel_failing', { channel, why });
      },
      warn,
    });
    notifier.use(channelsOf(notify?.channels ?? [], env), notify?.dashboard);
  };
  await use(config.operate?.notify);
  return {
    take(stored) {
      if (notifier === undefined) return;
      if (running === undefined) {
        // The chain has been verified by the first record, so neither reads nor writes wait for the verification.
        try {
          notifier.recover(stored.seq - 1, (after, before) =>
            before === undefined ? journal.read(after) : journal.select({ after, before, order: 'oldest' }),
          );
        } catch (error) {
          warn('notices of the previous process could not be read', { error });
        }
        running = notifier.running$.subscribe();
      }
      notifier.take(stored);
    },
    figures: () => notifier?.figures() ?? [],
    async use(notify) {
      try {
        await use(notify);
      } catch (error) {
        warn('the new channels of operate.notify cannot be used', { error });
      }
    },
    async close() {
      if (running === undefined) return;
      running.unsubscribe();
      await Promise.race([notifier?.close(), delay(CLOSING_MS, undefined, { ref: false })]);
    },
  };
}

/** Returns the heartbeat of a desk, which a reload replaces. */
export function heartbeatInUse(
  desk: Desk,
  { waits, warn }: { readonly waits: { readonly isReady: boolean }; readonly warn: Observer['warn'] },
): { use(notify: NotifyConfig | undefined): Promise<void>; close(): void } {
  let current: Subscription | undefined;
  return {
    async use(notify) {
      current?.unsubscribe();
      current = undefined;
      const wanted = notify?.heartbeat;
      if (wanted === undefined) return;
      const { heartbeat } = await import('../notify/heartbeat.ts');
      const isWell = (): boolean => waits.isReady && notReady(desk).length === 0;
      current = heartbeat(wanted, { clock: systemClock, isWell, warn }).subscribe();
    },
    close() {
      current?.unsubscribe();
    },
  };
}
