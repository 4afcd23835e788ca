import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFleet } from './support/fleet.ts';
import type { Fleet } from './support/fleet.ts';
import { until } from './support/until.ts';

const DESKS = ['soon', 'later'] as const;
const MINUTE_MS = 60_000;
const missing = noPostgres();

/** Desks whose processes have ended until their next task. */
const hibernating = async (fleet: Fleet): Promise<readonly string[]> =>
  (await fleet.list()).flatMap(({ desk, isLeased, hibernatesS = 0 }) =>
    !isLeased && hibernatesS > 0 ? [desk] : [],
  );

describe.skipIf(missing !== undefined)(
  `desks that hibernate${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('end their processes, start again for slices, commands and new versions, and execute each order once', async () => {
      // The first slice of one desk is due during the test, that of the other is not.
      const startsAt = { soon: Date.now() + 3 * MINUTE_MS, later: Date.now() + 60 * MINUTE_MS };
      const fleet = await aFleet(DESKS, { startsAt });
      const args = ['--hibernate', 'PT2M'];
      const one = fleet.daemon('one', { args });
      await one.event('desk_hibernating', { count: 2 });
      expect(await hibernating(fleet)).toEqual(['later', 'soon']);
      const { stdout: status } = await fleet.command('status');
      expect(status).toMatch(/later {2}active {2}no owner, epoch 1 {2}hibernates until /u);

      // A command starts a desk. A paused desk keeps running; an idle desk hibernates again.
      const paused = await fleet.ask('later', 'pause', '--why', 'lunch');
      expect(paused).toMatchObject({ code: 0 });
      expect(paused.stderr).toContain('hibernates: it starts for this command');
      expect(await fleet.ask('later', 'resume', '--why', 'back')).toMatchObject({ code: 0 });
      await one.event('desk_hibernating', { count: 3 });

      // So does a new version, whose strategy begins at once.
      fleet.addStrategy('later', 'more');
      await fleet.put('later');
      await fleet.seen.orders(2);
      expect(Date.now()).toBeLessThan(startsAt.soon);

      // A daemon that takes over does not start hibernating desks at once, but in time for their slices.
      one.signal('SIGKILL');
      const two = fleet.daemon('two', { args });
      await until(
        () => two.eventsOf('fill').some(({ desk }) => desk === 'soon'),
        () => two.lastWords(),
        4 * MINUTE_MS,
      );
      const [first] = await fleet.records('soon', 'fill');
      expect(Number(first?.['executed_at'])).toBeGreaterThanOrEqual(startsAt.soon);
      await fleet.command('drain', 'two');
      expect(await two.ended()).toMatchObject({ code: 0 });
      await fleet.everyOrderOnce();
    });
  },
);
