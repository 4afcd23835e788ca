import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPORT_FILL_COLUMNS } from '../../src/app/research/report-files.ts';
import { HOUR_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import { FILL_COLUMNS, exportRecords } from '../../src/journal/export.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';

let home = '';
let bench: Bench;
const run = async (...line: readonly string[]): Promise<Ran> =>
  await look(home, ['report', '--journal', join(home, 'desk.db'), ...line], { now: after(START, HOUR_MS) });

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'tranche-report-'));
  const journal = sqliteJournal(join(home, 'desk.db'));
  bench = aBench({
    journal,
    policy: { retry: { baseMs: 500, capMs: 30_000, budgetMs: 600_000, requoteMs: 60_000 } },
    strategies: [aTwap('buys', { slices: 4 }), aTwap('dear', { slices: 2, limit_price: '1' })],
  });
  bench.start();
  bench.clock.run(after(START, 9 * MINUTE_MS));
});
afterAll(() => {
  bench.kill();
  bench.journal.close();
  rmSync(home, { recursive: true });
});

describe('tranche report', () => {
  it('summarizes the trades and their cost while the daemon runs', async () => {
    const { code, out, err } = await run();
    expect(code).toBe(0);
    expect(out).toBe('');
    expect(err).toMatch(/^2026-01-05 00:00:00 to 2026-01-05 00:0\d:\d\d UTC, \d+ records, mode paper$/mu);
    expect(err).toMatch(
      /^strategy +traded +fills +delay +trading +opportunity +fees +shortfall +slippage +half spread$/mu,
    );
    expect(err).toMatch(/^buys +buy +1 btc +at \d\d,\d{3}\.\d\d +4 +0\.00 /mu);
    expect(err).toMatch(
      /^Quotes: \d+ requests, .* 4 fills; quotes accepted \d+\.\d\d %; orders filled 100\.00 %/mu,
    );
    expect(err).toMatch(/^\d slices? +dear +limit_price /mu);
    expect(err).toContain('A positive cost is bad for the desk. Costs in basis points');
    expect(err).toContain('Note: Paper: the venue was simulated');
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
    const { code, err } = await run('--out', 'out');
    expect(code).toBe(0);
    expect(err).toContain('written to out: report.html, report.json, fills.csv, fills.parquet');
    expect(readdirSync(folder).toSorted()).toEqual([
      'fills.csv',
      'fills.parquet',
      'report.html',
      'report.json',
    ]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    const csv = [...exportRecords(bench.records(), { format: 'csv', kind: 'fill' })].join('');
    const own = readFileSync(join(folder, 'fills.csv'), 'utf8');
    expect(own.split('\r\n').map((row) => row.split(',').slice(0, FILL_COLUMNS.length).join(',')).join('\r\n')).toBe(csv); // prettier-ignore
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(folder, 'fills.parquet')) });
    expect(Object.keys(rows[0] ?? {})).toEqual([...REPORT_FILL_COLUMNS]);
    expect(rows.map((row): unknown => [Number(Number(row['price']).toPrecision(12)), row['slice']])).toEqual(
      bench.records().flatMap(({ body }) => (body.kind === 'fill' ? [[Number(body.price), body.slice]] : [])),
    );

    const again = await run('--out', 'out');
    expect(again.code).toBe(64);
    expect(again.err).toContain(
      'already contains a report (report.html, report.json, fills.csv, fills.parquet)',
    );
    expect((await run('--out', 'out', '--overwrite')).code).toBe(0);
  });

  it('uses prices from a file for benchmarks and mark-outs', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => `${START + (i - 1) * MINUTE_MS},${60_000 + i}`);
    writeFileSync(join(home, 'prices.csv'), ['timestamp_ms,close', ...rows, ''].join('\n'));
    const { code, out } = await run('--json', '--strategy', 'buys', '--data', 'btcusd=prices.csv');
    expect(code).toBe(0);
    const { prices, parents, groups } = reportSchema.parse(JSON.parse(out));
    expect(prices).toMatchObject([{ pair: 'btcusd', bar_ms: MINUTE_MS, rows: 60 }]);
    expect(Number(parents[0]?.twap?.price)).toBeGreaterThan(60_000);
    expect(groups[0]?.fills.mark_outs.map(({ fills }) => fills)).toEqual([4, 4, 4, 4, 0]);
  });

  it.each([
    ['an unknown strategy', ['--strategy', 'buy'], 64, 'did you mean "buys"?'],
    ['an invalid time', ['--since', 'yesterday'], 64, '--since: expected a day such as'],
    [
      'an end before the start',
      ['--since', '2026-01-05', '--until', '2026-01-04'],
      64,
      '--until must be after --since',
    ],
    ['prices without their pair', ['--data', 'prices.csv'], 64, '--data: expected a pair and a file'],
    ['a missing price file', ['--data', 'btcusd=none.csv'], 65, 'none.csv'],
    ['an output folder inside a file', ['--out', 'desk.db/x'], 74, 'cannot be written'],
  ])('rejects %s', async (_, line, code, words) => {
    const ran = await run(...line);
    expect(ran.err).toContain(words);
    expect(ran.code).toBe(code);
  });

  it('accepts the journal as an argument or as an option, but not as both', async () => {
    const { out } = await run('--json');
    const file = join(home, 'desk.db');
    for (const named of [file, `sqlite:${file}`])
      expect((await look(home, ['report', named, '--json'], { now: after(START, HOUR_MS) })).out).toBe(out);
    const twice = await run(file);
    expect([twice.code, twice.err]).toEqual([64, 'the journal is given twice: omit --journal']);
  });

  it('reports a missing journal and a period without parents', async () => {
    expect((await run('--journal', join(home, 'none.db'))).code).toBe(74);
    const { code, err } = await run('--since', '2027-01-01');
    expect(code).toBe(0);
    expect(err).toContain('No parent started in this period');
  });

  it('changes neither the journal nor its folder', async () => {
    const before = [bench.journal.head(), readdirSync(home).toSorted()];
    await run();
    expect([bench.journal.head(), readdirSync(home).toSorted()]).toEqual(before);
  });
});
