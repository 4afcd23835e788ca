/**
 * Measures reading one million rows of CSV into a tape, against csv-parse and plain `split`, which all return the same columns of
 * doubles. The import also checks each row, finds gaps and duplicates, and hashes the columns. Rounds alternate. Exit code 1 when
 * the target is missed, or when the columns differ.
 *
 * Run: `node bench/import.ts [--rows N] [--json]`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { generateTape } from '../src/research/tape/generate.ts';
import { importTape } from '../src/research/import/read.ts';
import { openTape } from '../src/research/tape/store.ts';
import { columnNames, hashOf } from '../src/research/tape/tape.ts';
import type { Columns } from '../src/research/tape/tape.ts';
import { instant, MINUTE_MS } from '../src/core/time.ts';
import { median, table } from './measure.ts';

const ROUNDS = 5;
const TARGET_ROWS_PER_S = 1_000_000;
const argument = process.argv.indexOf('--rows');
const ROWS = argument < 0 ? 1_000_000 : Number(process.argv[argument + 1]);

const made = generateTape({ pair: 'btcusd', rows: ROWS, barMs: MINUTE_MS, startsAt: instant(Date.UTC(2021, 0)), seed: 'bench', startPrice: 60_000, volatility: 0.03, correlation: 0 }); // prettier-ignore
const lines = ['timestamp_ms,open,high,low,close,volume'];
for (let row = 0; row < ROWS; row++) lines.push(columnNames.map((name) => String(made[name][row])).join(','));
const bytes = Buffer.from(`${lines.join('\n')}\n`);
lines.length = 0;

const emptyColumns = (): Columns => {
  const [times, open, high, low, close, volume] = columnNames.map(() => new Float64Array(ROWS));
  if (!times || !open || !high || !low || !close || !volume) throw new Error('six columns');
  return { times, open, high, low, close, volume };
};

function byCsvParse(): Columns {
  const columns = emptyColumns();
  const arrays = columnNames.map((name) => columns[name]);
  let row = -1;
  parse(bytes, {
    onRecord: (cells: readonly string[]) => {
      if (row >= 0)
        for (let n = 0; n < 6; n++) (arrays[n] ?? arrays[0] ?? new Float64Array())[row] = Number(cells[n]);
      row += 1;
      return undefined;
    },
  });
  return columns;
}

function bySplit(): Columns {
  const columns = emptyColumns();
  const arrays = columnNames.map((name) => columns[name]);
  const all = bytes.toString('latin1').split('\n');
  for (let row = 0; row < ROWS; row++) {
    const cells = (all[row + 1] ?? '').split(',');
    for (let n = 0; n < 6; n++) (arrays[n] ?? arrays[0] ?? new Float64Array())[row] = Number(cells[n]);
  }
  return columns;
}

const byImport = async (): Promise<Columns> =>
  (await importTape([{ name: 'bench.csv', bytes }], { pair: 'btcusd' })).tape;

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-import-'));
const file = join(folder, 'bench.csv');
writeFileSync(file, bytes);
const options = { cwd: folder, cacheFolder: 'tapes', pair: 'btcusd' } as const;
const kept = await openTape(['bench.csv'], options);
const readers: Readonly<Record<string, () => Columns | Promise<Columns>>> = {
  'csv-parse, columns only': byCsvParse,
  'split, columns only': bySplit,
  'import, checked and hashed': byImport,
  'cached, by the same CSV': async () => (await openTape(['bench.csv'], options)).tape,
  'tape file': async () => (await openTape([kept.file ?? ''], { cwd: folder })).tape,
};
const wrong = new Set<string>();
const times = new Map(Object.keys(readers).map((name): [string, number[]] => [name, []]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, read] of Object.entries(readers)) {
    const begun = performance.now();
    const columns = await read();
    const ms = performance.now() - begun;
    // The first round warms up, and checks that all readers return the same columns.
    if (round > 0) times.get(name)?.push(ms);
    else if (hashOf(columns) !== made.hash) wrong.add(name);
  }
}
rmSync(folder, { recursive: true, force: true });

const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
const library = medians.get('csv-parse, columns only') ?? Number.NaN;
const ours = medians.get('import, checked and hashed') ?? Number.NaN;
const others = [...medians].filter(([name]) => name.endsWith('columns only'));
const [fastest = ['none', Number.NaN] as const] = others.toSorted(([, a], [, b]) => a - b);
const results = [...medians].map(([reader, ms]) => ({
  reader,
  medianMs: Math.round(ms * 10) / 10,
  rowsPerS: Math.round((ROWS / ms) * 1000),
  timesCsvParse: Math.round((library / ms) * 10) / 10,
}));
const rowsPerS = (ROWS / ours) * 1000;
const isWithinTwice = ours <= 2 * fastest[1];
const reached = wrong.size === 0 && (rowsPerS >= TARGET_ROWS_PER_S || isWithinTwice);
if (process.argv.includes('--json'))
  console.log(JSON.stringify({ bench: 'import', rows: ROWS, bytes: bytes.length, rowsPerS: Math.round(rowsPerS), target: TARGET_ROWS_PER_S, fastestOther: fastest[0], timesFastestOther: fastest[1] / ours, reached, wrong: [...wrong], results })); // prettier-ignore
else {
  console.log(table(results));
  console.log(
    `${ROWS} rows, ${bytes.length} bytes; target: ${TARGET_ROWS_PER_S} rows/s (${rowsPerS >= TARGET_ROWS_PER_S ? 'met' : 'missed'}), or within twice the time of the fastest other, ${fastest[0]} (${isWithinTwice ? 'met' : 'missed'}): ${reached ? 'reached' : 'MISSED'}${wrong.size > 0 ? `; other columns by ${[...wrong].join(', ')}` : ''}`,
  );
}
process.exitCode = reached ? 0 : 1;
