import { spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeParquetFile } from '../../src/app/research/parquet.ts';
import { REPORT_FILL_COLUMNS, writeReport } from '../../src/app/research/report-files.ts';
import { add, money, NO_MONEY, text } from '../../src/core/money.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import {
  MINUTE,
  aFill,
  aLife,
  aSlice,
  aWake,
  anEnd,
  anIntent,
  idOf,
  records,
  wanted,
} from '../report/records.ts';

/** Three fills with amounts that no double holds, one of them adopted: nothing is known of its prices. */
const STORY = records(
  [0, aLife('twap', { total_quantity: { amount: '3', currency: 'btc' } })],
  [0, aWake({ intents: [wanted({ decision_price: '100' })] })],
  [0, anIntent({ reference_price: '100.1' })],
  [20, aFill(20, { quantity: '1', price: '100.123456789012345678', amount: '100.123456789012345678', fees: '0.000000000000000001' })],
  [20, anEnd(idOf('p', 0), 'filled')],
  [20, aSlice()],
  [MINUTE, aWake({ intents: [wanted({ slice: 1, decision_price: '101' })] })],
  [MINUTE, anIntent({ slice: 1, reference_price: '101' })],
  [MINUTE + 20, aFill(MINUTE + 20, { slice: 1, quantity: '1', price: '100.9', amount: '100.9' })],
  [MINUTE + 20, aSlice({ slice: 1 })],
  [2 * MINUTE, aFill(2 * MINUTE, { parent: 'other', quantity: '0.1', price: '123456789012.3', amount: '12345678901.23', decision_price: '' })],
); // prettier-ignore

let home = '';
let file = '';
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tranche-parquet-'));
  file = join(home, 'fills.parquet');
  await writeReport(figuresOf(STORY, { version: 't' }), home);
});
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

/** Exact sums of columns, as the reader's own decimals: no column is converted. */
const READERS = {
  pandas: `
import pandas
frame = pandas.read_parquet(file)
sums = {name: frame[name].dropna().sum() for name in names}
assert frame['executed_at'].dtype.kind == 'M'`,
  polars: `
import polars
frame = polars.read_parquet(file)
assert all(frame[name].dtype == polars.Decimal(38, 18) for name in names), frame.schema
sums = {name: frame[name].sum() for name in names}`,
  duckdb: `
import duckdb
row = duckdb.sql('SELECT ' + ', '.join(f'sum({name})' for name in names) + f" FROM '{file}'").fetchone()
sums = dict(zip(names, row))`,
} as const;

const NAMES = ['quantity', 'amount', 'fees', 'reference_price', 'spread', 'cost'] as const;
const python = (code: string): SpawnSyncReturns<string> =>
  spawnSync('python3', ['-c', code], { encoding: 'utf8', timeout: 120_000 });

describe('fills.parquet', () => {
  it.for(Object.entries(READERS))(
    'is read by %s without a cast, to the last digit of each amount',
    { timeout: 150_000 },
    ([name, read], { skip }) => {
      if (python(`import ${name}${name === 'pandas' ? ', pyarrow' : ''}`).status !== 0)
        skip(`skipped: python3 with ${name} is missing`);
      const code = `import decimal, json\ndecimal.getcontext().prec = 60\nfile, names = ${JSON.stringify(file)}, ${JSON.stringify(NAMES)}\n${read}\nassert all(isinstance(one, decimal.Decimal) for one in sums.values()), sums\nprint(json.dumps({name: format(one, 'f') for name, one in sums.items()}))`;
      const { status, stdout, stderr } = python(code);
      expect([status, stderr]).toEqual([0, '']);
      const sums = JSON.parse(stdout) as Readonly<Record<string, string>>;
      expect(
        Object.fromEntries(Object.entries(sums).map(([column, sum]) => [column, text(money(sum))])),
      ).toEqual({
        quantity: '2.1',
        amount: '12345679102.253456789012345678',
        fees: '0.000000000000000001',
        reference_price: '201.1',
        spread: '-0.076543210987654322',
        cost: '1.023456789012345678',
      });
    },
  );

  it('has the columns and rows of fills.csv, whose costs sum to the trading cost of the report', () => {
    const [head, ...rows] = readFileSync(join(home, 'fills.csv'), 'utf8').trimEnd().split('\r\n');
    expect(head).toBe(REPORT_FILL_COLUMNS.join(','));
    const judged = rows.map((row) => row.split(',').slice(-3));
    expect(judged).toEqual([
      ['100.1', '0.023456789012345678', '0.123456789012345678'],
      ['101', '-0.1', '0.9'],
      ['', '', ''],
    ]);
    const figures = figuresOf(STORY, { version: 't' });
    const sum = judged.reduce((all, [, , cost]) => add(all, money(cost === '' || cost === undefined ? '0' : cost)), NO_MONEY); // prettier-ignore
    expect(text(sum)).toBe(text(figures.totals[0]?.costs.shortfall.trading ?? NO_MONEY));
  });

  it('refuses an amount that its decimals cannot hold, and leaves no file', async () => {
    const wide = join(home, 'wide.parquet');
    const columns = [{ name: 'amount', type: 'DECIMAL' as const, nullable: true }];
    await expect(writeParquetFile(wide, columns, [{ amount: `1${'0'.repeat(20)}` }])).rejects.toThrow(/more digits than a decimal of Parquet/u); // prettier-ignore
    await writeParquetFile(wide, columns, [{ amount: `-${'9'.repeat(20)}` }, {}]);
  });
});
