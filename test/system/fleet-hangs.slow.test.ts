import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFleet } from './support/fleet.ts';
import type { Fleet } from './support/fleet.ts';
import { askServer, connected } from './support/postgres-pair.ts';
import { until } from './support/until.ts';

const missing = noPostgres();

/** Simulates a process that hangs but still renews the lease of its desk. */
const SILENCE = `CREATE FUNCTION tranche.silence() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
  CREATE TRIGGER silence BEFORE INSERT OR UPDATE ON tranche.desk_status FOR EACH ROW EXECUTE FUNCTION tranche.silence()`;

describe.skipIf(missing !== undefined)(
  `a desk that keeps its lease but reports no status${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('is killed by its daemon, is started again, and executes each order once', async () => {
      const fleet = await aFleet(['a']);
      const one = fleet.daemon('one');
      await fleet.tradesAt(['a'], one);
      await askServer(fleet.server, SILENCE);
      await one.said('no report for 90 s');
      await askServer(fleet.server, 'DROP TRIGGER silence ON tranche.desk_status');
      await one.event('ready', { count: 2 });
      await fleet.seen.orders(fleet.seen.orderCount() + 2);
      await fleet.command('drain', 'one');
      expect(await one.ended()).toMatchObject({ code: 0 });
      await fleet.everyOrderOnce();
    });
  },
);

describe.skipIf(missing !== undefined)(
  `a daemon of a fleet${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('does not start a desk if it is stopped while it claims the desk', async () => {
      const fleet = await aFleet(['a']);
      const lock = await connected(fleet.server.home);
      await lock.query('BEGIN; LOCK TABLE tranche.fleet_desk IN SHARE MODE');
      const one = fleet.daemon('one');
      await one.said('fleet ready');
      await until(
        async () => (await waitingClaims(fleet)) > 0,
        () => 'the daemon claims no desk',
      );
      one.signal('SIGTERM');
      await one.said('fleet draining');
      await lock.query('COMMIT');
      await lock.end();
      expect(await one.ended()).toMatchObject({ code: 0 });
      expect(one.stderr).not.toContain('desk starting');
    });

    it('waits until the name of a dead daemon is free, and then uses it', async () => {
      const fleet = await aFleet(['a'], { startsAt: { a: Date.now() + HOUR_MS } });
      const dies = fleet.daemon('one');
      await dies.said('fleet ready');
      await dies.kill();
      const next = fleet.daemon('one');
      await next.said('fleet waiting');
      await next.said('fleet ready');
      next.signal('SIGTERM');
      expect(await next.ended()).toMatchObject({ code: 0 });
    });
  },
);

/** Statements that wait for a lock on the table of desks. */
const waitingClaims = async ({ server }: Fleet): Promise<number> => {
  const [row] = await askServer(
    server,
    "SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'tranche.fleet_desk'::regclass",
  );
  return Number(row?.['n']);
};
