import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFleet, killOwner } from './support/fleet.ts';

const DESKS = ['a', 'b', 'c', 'd'] as const;
const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `a fleet of two daemons over PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('moves desks by command, at a drain and after a crash, reloads a new version, and executes each order once', async () => {
      const fleet = await aFleet(DESKS);
      const [one, two] = [fleet.daemon('one'), fleet.daemon('two')];
      await fleet.tradesAt(DESKS, one, two);
      const ofOne = (await fleet.desksAt('one', 2)).map(({ desk }) => desk);
      await fleet.tradesAt(ofOne, one);

      // A command moves a desk, and a new version reaches the desk that runs.
      const [moved = '', stays = ''] = ofOne;
      await fleet.command('move', moved, '--to', 'two');
      await fleet.tradesAt([moved], two);
      fleet.addStrategy(stays, 'more');
      await fleet.put(stays);
      await one.event('reload');

      // The machine dies: its daemon and the processes of its desks with it.
      const owners = (await fleet.desksOf('one')).map(({ owner }) => owner);
      one.signal('SIGKILL');
      for (const owner of owners) killOwner(owner);
      await one.ended();
      await fleet.tradesAt([stays], two);

      // A daemon joins, and one drains: its desks move at once.
      const three = fleet.daemon('one');
      await three.said('fleet ready');
      await fleet.command('drain', 'two');
      expect(await two.ended()).toMatchObject({ code: 0 });
      await fleet.tradesAt(DESKS, three);
      await fleet.seen.orders(fleet.seen.orderCount() + 8);
      // Only the daemon dies: its desks stop by themselves, because nobody could move them.
      three.signal('SIGKILL');
      await three.ended();
      await fleet.noLeaseIsLeft();
      await fleet.everyOrderOnce();
    });

    it('stops a desk that hangs and has lost its lease, and starts it again', async () => {
      const fleet = await aFleet(['a']);
      const one = fleet.daemon('one');
      await fleet.tradesAt(['a'], one);
      const [desk] = await fleet.desksOf('one');
      killOwner(desk?.owner, 'SIGSTOP');
      await one.said('desk hangs');
      await one.event('ready', { count: 2 });
      await fleet.seen.orders(fleet.seen.orderCount() + 2);
      await fleet.command('drain', 'one');
      expect(await one.ended()).toMatchObject({ code: 0 });
      await fleet.everyOrderOnce();
    });
  },
);
