import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aDesk } from './support/desk.ts';
import type { DeskFolder } from './support/desk.ts';
import { twapOf } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-execute-90ab31fe';
const execute = async (desk: DeskFolder, ...line: readonly string[]): ReturnType<DeskFolder['command']> =>
  await desk.command('execute', ...line, '--config', 'desk.yaml');
const long = twapOf({ id: 'btc', slices: 60, everyMs: 2_000 });

describe('tranche execute', () => {
  it('places one order on a running desk, within its limits and in its journal, after a confirmation', async () => {
    const venue = await aServedVenue(TOKEN);
    const desk = aDesk({ venue, strategies: [long] });
    const daemon = desk.run();
    await daemon.said(/btc {2}buy \d/u);

    const asked = await execute(desk, 'sell', '0.5', 'eth', '--limit', '1000');
    expect(asked.code).toBe(64);
    expect(asked.stderr).toContain(
      'this would sell 0.5 eth in ethusd at 1000 or better, in one order within PT5M',
    );

    const placed = await execute(desk, 'sell', '0.5', 'eth', '--limit', '1000', '--why', 'fees', '--yes', '--json'); // prettier-ignore
    expect(placed).toMatchObject({ code: 0, stderr: '' });
    const { strategy: id, file } = JSON.parse(placed.stdout) as { strategy: string; file: string };
    await daemon.said(new RegExp(`${id} {2}sell 0\\.5 eth`, 'u'));
    expect(existsSync(file)).toBe(true);
    daemon.signal('SIGTERM');
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });

    const records = await desk.records();
    expect(records.filter(({ kind }) => kind === 'reload')).toMatchObject([
      { why: `execute ${id}: fees`, changes: [{ strategy: id, what: 'begins' }] },
    ]);
    expect(records.filter(({ kind, strategy }) => kind === 'strategy' && strategy === id)).toMatchObject([
      { document: { kind: 'twap', pair: 'ethusd', side: 'sell', limit_price: '1000' } },
    ]);
    expectSameStory(await desk.fills(), await readTrades(venue));
  });

  it('writes no file if the order is impossible or another change waits for a reload', async () => {
    const venue = await aServedVenue(TOKEN);
    const desk = aDesk({ venue, strategies: [long] });
    const daemon = desk.run();
    await daemon.said(/btc {2}buy \d/u);
    const folder = join(desk.folder, 'strategies');
    const before = readdirSync(folder);

    const vague = await execute(desk, 'sell', '0.5', 'eth', '--limit', 'cheap', '--yes');
    expect(vague.code).toBe(78);
    const unknown = await execute(desk, 'sell', '1', 'doge', '--yes');
    expect([unknown.code, unknown.stderr]).toEqual([
      64,
      expect.stringContaining('no pair of this desk has doge'),
    ]);
    const wrong = await execute(desk, 'sell', 'all', 'eth', '--yes');
    expect([wrong.code, wrong.stderr]).toEqual([
      64,
      expect.stringContaining('expected an amount such as 0.5'),
    ]);
    expect(readdirSync(folder)).toEqual(before);

    writeFileSync(join(folder, 'other.yaml'), JSON.stringify({ ...long, id: 'other' }));
    const waiting = await execute(desk, 'sell', '0.5', 'eth', '--yes');
    expect([waiting.code, waiting.stderr]).toEqual([78, expect.stringContaining('other begins')]);
    expect(readdirSync(folder)).toEqual([...before, 'other.yaml']);
    daemon.signal('SIGTERM');
    expect((await daemon.ended()).code).toBe(0);
    const stopped = await execute(desk, 'sell', '0.5', 'eth', '--yes');
    expect([stopped.code, stopped.stderr]).toEqual([69, expect.stringContaining('no daemon runs')]);
  });
});
