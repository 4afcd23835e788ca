import type { Subscription } from 'rxjs';
import type { StoredRecord } from '../../core/record.ts';
import type { Desk } from '../../engine/desk.ts';
import type { Observer } from '../../engine/observer.ts';
import type { ChannelFigures } from '../../operate/notify/notifier.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/yaml.ts';
import type { Notifications, NotificationsParts } from '../notify/notifications.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import { systemClock, systemRandom } from './clock.ts';
import { notReady } from './readiness.ts';

/** The channels in use, which a reload replaces. */
export interface ChannelsInUse {
  /** Receives a record that has become durable. */
  take(stored: StoredRecord): void;
  figures(): readonly ChannelFigures[];
  /** Replaces the channels. The outbox keeps the notices that the former channels have not sent, and the new channels send them. */
  use(notify: NotifyConfig | undefined): void;
  close(): Promise<void>;
}

/** Opens the config's channels. Loads their code only if there are channels, so that other starts take less time. */
export async function channelsInUse(
  { config, env }: { readonly config: Config; readonly env: Environment },
  parts: Pick<NotificationsParts, 'journal' | 'alert' | 'warn' | 'isBusy'>,
): Promise<ChannelsInUse> {
  const open = async (notify: NotifyConfig | undefined): Promise<Notifications | undefined> => {
    if (notify === undefined || notify.channels.length === 0) return undefined;
    const { notifications } = await import('../notify/notifications.ts');
    return notifications(notify, {
      ...parts,
      clock: systemClock,
      random: systemRandom,
      desk: config.desk,
      mode: config.mode,
      env,
    });
  };
  let current = await open(config.operate?.notify);
  const change = async (before: Promise<void>, notify: NotifyConfig | undefined): Promise<void> => {
    await before;
    const last = current;
    // The new channels begin after the last record seen, so they find the records written in the meantime in the journal.
    current = undefined;
    try {
      await last?.close();
      current = await open(notify);
    } catch (error) {
      parts.warn('the new channels of operate.notify cannot be used', { error });
    }
  };
  let changing: Promise<void> = Promise.resolve();
  return {
    take(stored) {
      current?.take(stored);
    },
    figures: () => current?.figures() ?? [],
    use(notify) {
      changing = change(changing, notify);
    },
    async close() {
      await changing;
      await current?.close();
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
