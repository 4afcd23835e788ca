import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noPostgres } from '../journal/postgres-server.ts';
import { aFolder } from './support/desk.ts';
import { aFleet, killOwner } from './support/fleet.ts';
import { ROOT, finish } from './support/program.ts';

const DESKS = ['a', 'b', 'c'] as const;
const missing = noPostgres();

/** This program as a later version whose layout has one more step, as the next release may have. */
function aLaterVersion(): string {
  const folder = aFolder();
  for (const part of ['bin', 'src', 'config'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  edit(
    join(ROOT, 'package.json'),
    join(folder, 'package.json'),
    /"version": "[^"]+"/u,
    '"version": "99.0.0"',
  );
  const schema = 'src/journal/postgres/schema.ts';
  edit(
    join(ROOT, schema),
    join(folder, schema),
    /\n\];\n/u,
    '\n  "ALTER TABLE fleet_daemon ADD COLUMN note text;",\n];\n',
  );
  return join(folder, 'bin/tranche.js');
}

function edit(from: string, to: string, what: RegExp, by: string): void {
  const text = readFileSync(from, 'utf8');
  expect(text).toMatch(what);
  writeFileSync(to, text.replace(what, by));
}

describe.skipIf(missing !== undefined)(
  `the upgrade of a trading fleet${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('replaces one daemon after another, starts no desk under an older version again, and executes each order once', async () => {
      const fleet = await aFleet(DESKS);
      const program = aLaterVersion();
      const [one, two] = [fleet.daemon('one'), fleet.daemon('two')];
      await fleet.tradesAt(DESKS, one, two);

      // The new version migrates the tables under the daemons that run.
      expect(await finish(['journal', 'prepare', fleet.store], { cwd: aFolder(), program })).toMatchObject({
        code: 0,
      });
      // A desk of the older version that dies now starts again on the new tables.
      const [first] = await fleet.desksOf('one');
      const before = one.eventsOf('ready').length;
      killOwner(first?.owner);
      await one.event('ready', { count: before + 1 });

      const [three, four] = [fleet.daemon('three', { program }), fleet.daemon('four', { program })];
      await three.said('fleet ready');
      await four.said('fleet ready');
      await fleet.command('drain', 'one');
      expect(await one.ended()).toMatchObject({ code: 0 });
      await fleet.command('drain', 'two');
      expect(await two.ended()).toMatchObject({ code: 0 });
      await fleet.tradesAt(DESKS, three, four);
      expect((await fleet.list()).map(({ program: version }) => version)).toEqual(DESKS.map(() => '99.0.0'));

      // An older daemon that is started again gets no desk, automatically or by command.
      const older = fleet.daemon('one');
      await older.said('fleet ready');
      expect(await fleet.tried('move', 'a', '--to', 'one')).toMatchObject({
        code: 64,
        stderr: expect.stringContaining('upgrade the daemon first') as string,
      });
      for (const daemon of ['three', 'four']) await fleet.command('drain', daemon);
      expect(await three.ended()).toMatchObject({ code: 0 });
      expect(await four.ended()).toMatchObject({ code: 0 });
      await fleet.noLeaseIsLeft();
      expect(await fleet.desksOf('one')).toEqual([]);
      await fleet.everyOrderOnce();
    });
  },
);
