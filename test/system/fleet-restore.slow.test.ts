import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import type { PostgresServer } from '../journal/postgres-server.ts';
import { aFleet, killOwner } from './support/fleet.ts';

const missing = noPostgres();

/** Copies with owners and permissions, as a file system copy does. */
function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** Copies the files of a server that is down. */
async function backUp({ home, kill, start }: PostgresServer): Promise<void> {
  await kill();
  copy(join(home, 'data'), join(home, 'backup'));
  await start();
}

/** Sets the server back to the copy: the same cluster, on the same timeline. */
async function restore({ home, kill, start }: PostgresServer): Promise<void> {
  await kill();
  rmSync(join(home, 'data'), { recursive: true });
  copy(join(home, 'backup'), join(home, 'data'));
  await start();
}

describe.skipIf(missing !== undefined)(
  `a store restored from an older copy${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('starts the desk halted on a machine that never ran it, and books missing fills from the account', async () => {
      const fleet = await aFleet(['a']);
      const one = fleet.daemon('one');
      await fleet.tradesAt(['a'], one);
      const two = fleet.daemon('two');
      await two.said('fleet ready');
      await fleet.seen.orders(4);
      await backUp(fleet.server);
      await fleet.seen.orders(fleet.seen.orderCount() + 6);

      // The machine of the desk is lost, and the store is restored.
      const [desk] = await fleet.desksOf('one');
      one.signal('SIGKILL');
      killOwner(desk?.owner);
      await one.ended();
      const orders = fleet.seen.orderCount();
      await restore(fleet.server);

      await fleet.tradesAt(['a'], two);
      await two.said(/"alert":"journal_rolled_back"[^\n]*it had reached record/u);
      await fleet.command('drain', 'two');
      expect(await two.ended()).toMatchObject({ code: 0 });
      expect(fleet.seen.orderCount()).toBe(orders);
      await fleet.everyOrderOnce();
    });
  },
);
