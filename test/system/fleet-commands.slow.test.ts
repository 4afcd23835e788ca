import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFolder } from './support/desk.ts';
import { aFleet, keepToken, killOwner } from './support/fleet.ts';
import { jsonLines } from './support/program.ts';
import { until } from './support/until.ts';

const missing = noPostgres();

describe.skipIf(missing !== undefined)(
  `commands for the desks of a fleet${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('reach the owner through the store and record the person, and a halt also applies to the next owner', async () => {
      const fleet = await aFleet(['a', 'b']);
      const folder = aFolder();
      const token = 'canary-fleet-operator-2b7f4410';
      keepToken(join(folder, 'token'), token);
      const roles = [{ role: 'operator', on: ['b'] }];
      const daemonSettings = {
        listen: '127.0.0.1:0',
        tokens: [{ name: 'olga', token_file: 'token', roles }],
      };
      writeFileSync(join(folder, 'fleet.yaml'), JSON.stringify(daemonSettings));
      const one = fleet.daemon('one', { settings: join(folder, 'fleet.yaml') });
      const { url } = await one.event('fleet_ready');
      await fleet.tradesAt(['a', 'b'], one);

      expect(await fleet.ask('a', 'pause', '--why', 'lunch', '--by', 'ann')).toMatchObject({ code: 0 });
      expect((await fleet.records('a', 'control')).at(-1)).toMatchObject({
        state: 'paused',
        by: 'tranche (ann)',
        why: 'lunch',
        token: { name: 'tranche', kind: 'machine' },
      });
      expect(await fleet.ask('a', 'resume', '--by', 'ann')).toMatchObject({ code: 0 });
      const unknown = await fleet.ask('a', 'stop', 'nothing', '--why', 'w');
      expect(unknown.code).toBe(75);
      expect(unknown.stdout).toMatch(/no strategy nothing runs/u);
      expect((await fleet.ask('nobody', 'pause')).code).toBe(69);

      // The same over HTTP, under the name of the token and with its role on each desk.
      expect((await fetch(`${String(url)}/readyz`)).status).toBe(200);
      const send = async (desk: string) =>
        await fetch(`${String(url)}/api/v1/fleet/command`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-tranche': '1' },
          body: JSON.stringify({ desk, command: 'pause', body: { why: 'tea' } }),
        });
      expect((await send('b')).status).toBe(200);
      expect((await fleet.records('b', 'control')).at(-1)).toMatchObject({
        state: 'paused',
        by: 'olga',
        token: { name: 'olga', kind: 'person' },
      });
      expect((await send('a')).status).toBe(403);
      expect((await fleet.records('a', 'control')).at(-1)).toMatchObject({ state: 'active' });
      expect(await fleet.ask('b', 'resume', '--by', 'ann')).toMatchObject({ code: 0 });

      // A version names the person who put it, also in the record of its reload.
      fleet.addStrategy('a', 'more');
      await fleet.put('a', '--by', 'carl', '--why', 'a second order');
      const reload = await one.event('reload');
      expect(reload).toMatchObject({ desk: 'a' });
      expect((await fleet.records('a', 'reload')).at(-1)).toMatchObject({
        by: 'tranche (carl)',
        why: 'version 2: a second order',
      });
      // So does the record of the settings in force.
      const settings = await fleet.records('a', 'settings');
      expect(settings[0]?.['changes']).toContainEqual({ path: 'fleet.version', after: '1' });
      expect(settings.at(-1)).toMatchObject({
        cause: 'reload',
        by: 'tranche (carl)',
        changes: [
          { path: 'fleet.person', after: 'carl' },
          { path: 'fleet.version', before: '1', after: '2' },
        ],
      });

      // The owner is running and records the halt in its journal before the command ends.
      expect(await fleet.ask('a', 'halt', '--why', 'look', '--by', 'ann')).toMatchObject({ code: 0 });
      expect((await fleet.records('a', 'control')).at(-1)).toMatchObject({
        state: 'halted',
        by: 'tranche (ann)',
      });
      const status = await fleet.ask('a', 'status');
      expect(jsonLines(status.stdout)[0]).toMatchObject({ desk: 'a', state: 'halted' });

      // The machine dies. A halt of a desk without an owner applies to its next owner.
      const owners = (await fleet.desksOf('one')).map(({ owner }) => owner);
      one.signal('SIGKILL');
      for (const owner of owners) killOwner(owner);
      await one.ended();
      const halted = await fleet.ask('b', 'halt', '--why', 'night', '--by', 'ann');
      expect(halted.code).toBe(75);
      expect(halted.stdout).toMatch(/The halt stays in force/u);
      const before = (await fleet.records('b', 'intent')).length;
      const two = fleet.daemon('two');
      await fleet.tradesAt(['a', 'b'], two);
      await until(
        () => two.eventsOf('control').some(({ desk }) => desk === 'b'),
        () => 'desk b has no record of the halt',
      );
      expect((await fleet.records('b', 'control')).at(-1)).toMatchObject({
        state: 'halted',
        by: 'tranche (ann)',
        why: 'night',
      });
      expect((await fleet.records('b', 'intent')).length).toBe(before);

      const rearm = ['rearm', '--why', 'looked', '--by', 'ann', '--with-open-doubts'];
      expect(await fleet.ask('b', ...rearm)).toMatchObject({ code: 0 });
      await fleet.seen.orders(fleet.seen.orderCount() + 3);
      two.signal('SIGTERM');
      expect((await two.ended()).code).not.toBe(70);
      await fleet.noLeaseIsLeft();
      await fleet.everyOrderOnce();
    });
  },
);
