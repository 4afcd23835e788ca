import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPORT_FILL_COLUMNS } from '../../src/app/research/report-files.ts';
import { HOUR_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import { FILL_COLUMNS, exportRecords } from '../../src/journal/export.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import { START, aTwap, started } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';
import { expectRan, expectRefused } from '../support/command.ts';
import { aSharedFolder, put } from '../support/folder.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';

const home = aSharedFolder();
let bench: Bench;
const run = async (...line: readonly string[]): Promise<Ran> =>
  await look(home, ['report', '--journal', join(home, 'desk.db'), ...line], { now: after(START, HOUR_MS) });

beforeAll(() => {
  bench = started(
    {
      journal: sqliteJournal(join(home, 'desk.db')),
      policy: { retry: { baseMs: 500, capMs: 30_000, budgetMs: 600_000, requoteMs: 60_000 } },
      strategies: [aTwap('buys', { slices: 4 }), aTwap('dear', { slices: 2, limit_price: '1' })],
    },
    9 * MINUTE_MS,
  );
});
afterAll(() => {
  bench.kill();
  bench.journal.close();
});

describe('tranche report', () => {
  it('summarizes the trades and their cost while the daemon runs', async () => {
    expectRefused(
      await run(),
      0,
      /^2026-01-05 00:00:00 to 2026-01-05 00:0\d:\d\d UTC, \d+ records, mode paper$/mu,
      /^strategy +traded +fills +delay +trading +opportunity +fees +shortfall +slippage +half spread$/mu,
      /^buys +buy +1 btc +at \d\d,\d{3}\.\d\d +4 +0\.00 /mu,
      /^Quotes: \d+ requests, .* 4 fills; quotes accepted \d+\.\d\d %; orders filled 100\.00 %/mu,
      /^\d slices? +dear +limit_price /mu,
      'A positive cost is bad for the desk. Costs in basis points',
      'Note: Paper: the venue was simulated',
    );
  });

  it('prints report.json on stdout according to its schema', async () => {
    const { code, out, err } = await run('--json', '--strategy', 'buys');
    expect([code, err]).toEqual([0, '']);
    const report = reportSchema.parse(JSON.parse(out));
    expect(report.groups.map(({ strategy }) => strategy)).toEqual(['buys']);
    expect(report.made_from.head).toBe(bench.journal.head().hash);
    expect(report.fills).toBe(4);
  });

  it('writes files that only their owner can read, and overwrites them only with --overwrite', async () => {
    const folder = join(home, 'out');
    const names = ['report.html', 'report.json', 'fills.csv', 'fills.parquet'];
    expectRan(await run('--out', 'out'), 0, `written to out: ${names.join(', ')}`);
    expect(readdirSync(folder).toSorted()).toEqual(names.toSorted());
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    const csv = [...exportRecords(bench.records(), { format: 'csv', kind: 'fill' })].join('');
    const own = readFileSync(join(folder, 'fills.csv'), 'utf8');
    expect(own.split('\r\n').map((row) => row.split(',').slice(0, FILL_COLUMNS.length).join(',')).join('\r\n')).toBe(csv); // prettier-ignore
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(folder, 'fills.parquet')) });
    expect(Object.keys(rows[0] ?? {})).toEqual([...REPORT_FILL_COLUMNS]);
    expect(rows.map((row): unknown => [Number(Number(row['price']).toPrecision(12)), row['slice']])).toEqual(
      bench.bodies('fill').map(({ price, slice }) => [Number(price), slice]),
    );
    expectRan(await run('--out', 'out'), 64, `already contains a report (${names.join(', ')})`);
    expectRan(await run('--out', 'out', '--overwrite'), 0);
  });

  it('uses prices from a file for benchmarks and mark-outs', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => `${START + (i - 1) * MINUTE_MS},${60_000 + i}`);
    put(home, { 'prices.csv': ['timestamp_ms,close', ...rows, ''].join('\n') });
    const { code, out } = await run('--json', '--strategy', 'buys', '--data', 'btcusd=prices.csv');
    expect(code).toBe(0);
    const { prices, parents, groups } = reportSchema.parse(JSON.parse(out));
    expect(prices).toMatchObject([{ pair: 'btcusd', bar_ms: MINUTE_MS, rows: 60 }]);
    expect(Number(parents[0]?.twap?.price)).toBeGreaterThan(60_000);
    expect(groups[0]?.fills.mark_outs.map(({ fills }) => fills)).toEqual([4, 4, 4, 4, 0]);
  });

  it('accepts the journal as an argument or as an option', async () => {
    const { out } = await run('--json');
    const file = join(home, 'desk.db');
    for (const named of [file, `sqlite:${file}`])
      expect((await look(home, ['report', named, '--json'], { now: after(START, HOUR_MS) })).out).toBe(out);
  });

  it('reports a period without parents', async () => {
    expectRan(await run('--since', '2027-01-01'), 0, 'No parent started in this period');
  });

  it('changes neither the journal nor its folder', async () => {
    const before = [bench.journal.head(), readdirSync(home).toSorted()];
    await run();
    expect([bench.journal.head(), readdirSync(home).toSorted()]).toEqual(before);
  });
});
