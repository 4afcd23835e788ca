import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFleet } from './support/fleet.ts';
import { askServer } from './support/postgres-pair.ts';

const missing = noPostgres();

/** As if the process that owns the desk hung, though it renews its lease. */
const SILENCE = `CREATE FUNCTION tranche.silence() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
  CREATE TRIGGER silence BEFORE INSERT OR UPDATE ON tranche.desk_status FOR EACH ROW EXECUTE FUNCTION tranche.silence()`;

describe.skipIf(missing !== undefined)(
  `a desk that keeps its lease and reports nothing${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('is killed by its daemon and started again, and executes each order once', async () => {
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
