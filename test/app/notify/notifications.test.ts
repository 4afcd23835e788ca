import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { weekdays } from '../../../src/core/hours.ts';
import { DAY_MS, HOUR_MS, SECOND_MS, after, instant } from '../../../src/core/time.ts';
import { notifications } from '../../../src/app/notify/notifications.ts';
import type { Notifications } from '../../../src/app/notify/notifications.ts';
import { Secret } from '../../../src/app/config/secret.ts';
import { topics } from '../../../src/operate/notify/notice.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { aFill, appendNow } from '../../journal/records.ts';
import { NINE } from '../../operate/notify/notices.ts';
import { until } from '../../system/support/until.ts';
import { receiver } from './receiver.ts';

interface Told {
  readonly title: string;
  readonly notices: readonly {
    readonly kind: string;
    readonly details: readonly { readonly lines: readonly string[] }[];
  }[];
}

describe('the notifications of a desk', () => {
  it('contain one digest per day with the events since the last one, never repeated, even across a restart', async () => {
    const server = await receiver();
    const clock = new VirtualClock(NINE);
    const journal = memoryJournal();
    const digest = { at: '18:00', timeZone: 'UTC', days: new Set(weekdays) };
    const common = { topics: new Set(topics), severity: 'info', quiet: [] } as const;
    const hook = { ...common, name: 'hook', way: 'webhook', format: 'json', key: undefined, url: new Secret(`${server.url}/hook`) } as const; // prettier-ignore
    const begin = (): Notifications => {
      const made = notifications(
        { dashboard: undefined, windowMs: 30 * SECOND_MS, channels: [{ ...hook, topics: new Set(['digest']) }], digest, heartbeat: undefined },
        { desk: 'main', mode: 'paper', journal, url: 'memory:', env: {}, clock, random: { next: () => 0.5 }, alert: () => undefined, warn: (text) => { throw new Error(text); }, waiting: () => ['request r-1 waits'], twinLines: (since) => [`twin since ${since}`], isBusy: () => false },
      ); // prettier-ignore
      onTestFinished(async () => {
        await made.close();
      });
      return made;
    };
    const pass = async (ms: number): Promise<void> => {
      for (const end = clock.now() + ms; clock.now() < end;) {
        clock.run(after(instant(clock.now()), 5 * SECOND_MS));
        await turn();
      }
    };
    const fill = (to: Journal): void => {
      const [stored] = appendNow(to, [aFill()], clock.wall());
      if (stored !== undefined) desk.take(stored);
    };
    /** Advances the clock second by second until the server has received `count` messages. */
    const reach = async (count: number): Promise<void> => {
      const isSo = (): boolean => {
        clock.run(after(instant(clock.now()), SECOND_MS));
        return server.posts.length >= count;
      };
      await until(isSo, () => `${server.posts.length} messages instead of ${count}`);
    };
    const digests = (): readonly Told[] => server.posts.map(({ body }) => JSON.parse(body) as Told);

    let desk = begin();
    fill(journal);
    await pass(8 * HOUR_MS);
    expect(digests()).toEqual([]);
    await pass(HOUR_MS);
    await reach(1);
    const lines = digests()[0]?.notices[0]?.details[0]?.lines ?? [];
    expect(lines[1]).toBe('Traded, 1 fill:');
    expect(lines.slice(-3)).toEqual(['Waits:', '- request r-1 waits', `twin since ${NINE}`]);
    await desk.close();

    desk = begin();
    fill(journal);
    fill(journal);
    await pass(2 * HOUR_MS);
    expect(digests()).toHaveLength(1);
    await pass(DAY_MS - 2 * HOUR_MS);
    await reach(2);
    expect(digests()).toHaveLength(2);
    expect(digests()[1]?.notices[0]?.details[0]?.lines[1]).toBe('Traded, 1 fill:');
  });
});
