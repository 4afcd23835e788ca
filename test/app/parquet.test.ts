import { spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
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
import { aSharedFolder } from '../support/folder.ts';

/** Three fills with amounts that a double cannot represent; one is adopted, so that its prices are unknown. */
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

const home = aSharedFolder();
const file = join(home, 'fills.parquet');
beforeAll(async () => {
  await writeReport(figuresOf(STORY, { version: 't' }), home);
});

/** Sums columns exactly in the decimals of each reader, without a conversion. */
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

/** The same in Node with the packages of polars and DuckDB, for machines with access to npm but not to Python packages. */
const NODE_READERS = {
  'nodejs-polars': `
    import polars from 'nodejs-polars';
    const frame = polars.readParquet(file);
    for (const name of names) if (frame.schema[name].toString() !== 'DataType(Decimal(38,18))') throw new Error(name + ': ' + frame.schema[name]);
    const [head, row] = frame.select(...names).sum().writeCSV().toString().trim().split('\\n').map((line) => line.split(','));
    const sums = Object.fromEntries(head.map((name, at) => [name, row[at]]));`,
  '@duckdb/node-api': `
    import { DuckDBInstance } from '@duckdb/node-api';
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const found = await connection.runAndReadAll('SELECT ' + names.map((name) => 'sum(' + name + ') AS ' + name) + " FROM '" + file + "'");
    for (const type of found.columnTypes()) if (!String(type).startsWith('DECIMAL')) throw new Error(String(type));
    const [sums] = found.getRowObjectsJson();`,
} as const;
/** Folder of these packages: `.ci/run` installs them outside the project, because they have 110 MB. */
const NODE_READERS_FOLDER = process.env['PARQUET_READERS'];

const NAMES = ['quantity', 'amount', 'fees', 'reference_price', 'spread', 'cost'] as const;
const SUMS = {
  quantity: '2.1',
  amount: '12345679102.253456789012345678',
  fees: '0.000000000000000001',
  reference_price: '201.1',
  spread: '-0.076543210987654322',
  cost: '1.023456789012345678',
} as const;
const sumsIn = (printed: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(JSON.parse(printed) as Readonly<Record<string, string>>).map(([column, sum]) => [
      column,
      text(money(sum)),
    ]),
  );
/** Folder of the Python packages that `.ci/run` installs outside the project; by default the packages of the machine. */
const PYTHON_PACKAGES = process.env['PARQUET_PYTHONPATH'];
const python = (code: string): SpawnSyncReturns<string> =>
  spawnSync('python3', ['-c', code], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, ...(PYTHON_PACKAGES === undefined ? {} : { PYTHONPATH: PYTHON_PACKAGES }) },
  });

describe('fills.parquet', () => {
  it.for(Object.entries(READERS))(
    'can be read by %s without a cast, with every digit of each amount',
    ([name, read], { skip }) => {
      if (python(`import ${name}${name === 'pandas' ? ', pyarrow' : ''}`).status !== 0)
        skip(`skipped: python3 with ${name} is missing`);
      const code = `import decimal, json\ndecimal.getcontext().prec = 60\nfile, names = ${JSON.stringify(file)}, ${JSON.stringify(NAMES)}\n${read}\nassert all(isinstance(one, decimal.Decimal) for one in sums.values()), sums\nprint(json.dumps({name: format(one, 'f') for name, one in sums.items()}))`;
      const { status, stdout, stderr } = python(code);
      expect([status, stderr]).toEqual([0, '']);
      expect(sumsIn(stdout)).toEqual(SUMS);
    },
  );

  it.for(Object.entries(NODE_READERS))(
    'can be read by %s without a cast, with every digit of each amount',
    ([name, read], { skip }) => {
      if (NODE_READERS_FOLDER === undefined) skip(`skipped: PARQUET_READERS names no folder with ${name}`);
      const script = join(NODE_READERS_FOLDER ?? home, `read-${name.replaceAll('/', '-')}.mjs`);
      writeFileSync(
        script,
        `const file = ${JSON.stringify(file)};\nconst names = ${JSON.stringify(NAMES)};\n${read}\nconsole.log(JSON.stringify(sums));\n`,
      );
      const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
        encoding: 'utf8',
        timeout: 120_000,
      });
      expect([status, stderr]).toEqual([0, '']);
      expect(sumsIn(stdout)).toEqual(SUMS);
    },
  );

  it('has the columns and rows of fills.csv, and its costs sum to the trading cost of the report', () => {
    const [head, ...rows] = readFileSync(join(home, 'fills.csv'), 'utf8').trimEnd().split('\r\n');
    expect(head).toBe(REPORT_FILL_COLUMNS.join(','));
    const judged = rows.map((row) => row.split(',').slice(-4, -1));
    expect(judged).toEqual([
      ['100.1', '0.023456789012345678', '0.123456789012345678'],
      ['101', '-0.1', '0.9'],
      ['', '', ''],
    ]);
    const figures = figuresOf(STORY, { version: 't' });
    const sum = judged.reduce((all, [, , cost]) => add(all, money(cost === '' || cost === undefined ? '0' : cost)), NO_MONEY); // prettier-ignore
    expect(text(sum)).toBe(figures.totals[0]?.costs.trading);
  });

  it('is not written with an amount that exceeds its decimal type', async () => {
    const wide = join(home, 'wide.parquet');
    const columns = [{ name: 'amount', type: 'DECIMAL' as const, nullable: true }];
    await expect(writeParquetFile(wide, columns, [{ amount: `1${'0'.repeat(20)}` }])).rejects.toThrow(/more digits than a decimal of Parquet/u); // prettier-ignore
    await writeParquetFile(wide, columns, [{ amount: `-${'9'.repeat(20)}` }, {}]);
  });
});
