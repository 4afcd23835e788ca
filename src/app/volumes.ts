import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { OperatorError } from '../core/errors.ts';
import { instant, isoOf } from '../core/time.ts';
import type { Volume } from '../strategy/volume-profile.ts';
import { whyUnreadable } from './files.ts';

/** Volume of market history: bars or trades, from CSV (plain or gzip) or Parquet. */

export interface Volumes {
  readonly of: 'bars' | 'trades';
  readonly rows: number;
  readonly volumes: readonly Volume[];
  /** What the rows tell about: without the holes between bars. In the order of time. */
  readonly seen: readonly Pick<Volume, 'fromMs' | 'untilMs'>[];
  /** Length of a bar, ms; 0 for trades. */
  readonly barMs: number;
}

const BARS = 'timestamp_ms,open,high,low,close,volume';
const TRADES = 'timestamp_ms,price,quantity,side';
const NUMBER = /^\d{1,20}(?:\.\d{1,18})?(?:[eE][+-]?[0-2]?\d)?$/u;
const BYTES_MAX = 2 ** 30;

export interface ReadVolumes {
  /** Longest hole between two bars that is taken, ms. */
  readonly gapMaxMs: number;
  /** As messages name the file. */
  readonly name: string;
}

/** @throws OperatorError (`data`) that names the file, and the line (of a Parquet file: the row) that is wrong. */
export async function readVolumes(file: string, options: ReadVolumes): Promise<Volumes> {
  const { name } = options;
  let bytes: Buffer;
  try {
    const raw = await readFile(file);
    const isGzip = raw[0] === 0x1f && raw[1] === 0x8b;
    bytes = isGzip ? gunzipSync(raw, { maxOutputLength: BYTES_MAX }) : raw;
  } catch (cause) {
    throw new OperatorError('data', `cannot read ${name}: ${whyUnreadable(cause)}`, cause);
  }
  const isParquet = bytes.subarray(0, 4).toString('latin1') === 'PAR1';
  return assemble(isParquet ? await parquetRows(bytes, name) : csvRows(bytes, name), options);
}

const said = (cause: unknown): string => (cause instanceof Error ? cause.message : 'unknown');

/** Rows as text. `places` has the line of each. */
interface Rows {
  readonly header: string;
  readonly rows: readonly (readonly string[])[];
  readonly places: readonly number[];
}

function csvRows(csv: Buffer, name: string): Rows {
  const rows: string[][] = [];
  const places: number[] = [];
  let line = 0;
  try {
    parse(csv, {
      bom: true,
      relax_column_count: false,
      skip_empty_lines: false,
      onRecord: (row: string[], context) => {
        line = context.lines;
        if (rows.length === 0) checkHeader(row.join(','), name);
        rows.push(row);
        places.push(line);
        return null;
      },
    });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw new OperatorError('data', `${name}:${line + 1}: ${cause.message}`, cause);
  }
  const [header = []] = rows;
  return { header: header.join(','), rows: rows.slice(1), places: places.slice(1) };
}

function checkHeader(header: string, name: string): void {
  if (header === BARS || header === TRADES) return;
  throw new OperatorError(
    'data',
    `${name}:1: expected the columns "${BARS}" or "${TRADES}", got "${header}"`,
  );
}

/** The same columns as in a CSV, times as integers or timestamps, numbers as numbers or text. Rows count from 1. */
async function parquetRows(bytes: Buffer, name: string): Promise<Rows> {
  const { parquetReadObjects } = await import('hyparquet');
  const file = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(file).set(bytes);
  let objects: readonly Readonly<Record<string, unknown>>[];
  try {
    objects = await parquetReadObjects({ file });
  } catch (cause) {
    throw new OperatorError('data', `${name}: not a Parquet file that can be read: ${said(cause)}`, cause);
  }
  const columns = Object.keys(objects[0] ?? {});
  const header = [BARS, TRADES].find((known) => known.split(',').every((column) => columns.includes(column)));
  const wanted = header?.split(',') ?? columns;
  checkHeader(wanted.join(','), name);
  const rows = objects.map((object) => wanted.map((column) => cellText(object[column])));
  return { header: wanted.join(','), rows, places: rows.map((_, row) => row + 1) };
}

function cellText(value: unknown): string {
  if (value instanceof Date) return String(value.getTime());
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : '';
}

function assemble({ header, rows, places }: Rows, options: ReadVolumes): Volumes {
  const fail = (row: number, why: string): never => {
    throw new OperatorError('data', `${options.name}:${places[row] ?? 1}: ${why}`);
  };
  if (rows.length < 2)
    throw new OperatorError('data', `${options.name}: holds ${rows.length} rows: too few to learn from`);
  const isBars = header === BARS;
  const times = rows.map((row, n) => timeOf(row, n, fail));
  for (const [n, at] of times.entries()) {
    const before = times[n - 1] ?? Number.NEGATIVE_INFINITY;
    if (isBars ? at <= before : at < before)
      fail(n, `its time ${isoOf(instant(at))} is not after that of the row before`);
  }
  const traded = rows.map((row, n) => volumeOf(row, n, { isBars, fail }));
  if (!isBars) {
    const span = { fromMs: times[0] ?? 0, untilMs: times.at(-1) ?? 0 };
    const volumes = times.map((at, n) => ({ fromMs: at, untilMs: at, volume: traded[n] ?? 0 }));
    return { of: 'trades', rows: rows.length, volumes, seen: [span], barMs: 0 };
  }
  const barMs = usualGap(times);
  for (let n = 1; n < times.length; n++) {
    const gap = (times[n] ?? 0) - (times[n - 1] ?? 0);
    if (gap < barMs)
      fail(n, `begins ${gap / 1000} s after the bar before, and bars are of ${barMs / 1000} s`);
    if (gap - barMs > options.gapMaxMs) {
      const from = isoOf(instant((times[n - 1] ?? 0) + barMs));
      fail(
        n,
        `${missingBars(gap / barMs - 1)} missing before it, from ${from} on; --max-gap says how long a hole is taken`,
      );
    }
  }
  const volumes = times.map((at, n) => ({ fromMs: at, untilMs: at + barMs, volume: traded[n] ?? 0 }));
  return { of: 'bars', rows: rows.length, volumes, seen: volumes, barMs };
}

const missingBars = (count: number): string => (count <= 1 ? 'a bar is' : `${Math.round(count)} bars are`);

type Fail = (row: number, why: string) => never;

function timeOf(row: readonly string[], n: number, fail: Fail): number {
  const [cell = ''] = row;
  return /^\d{1,15}$/u.test(cell) ? Number(cell) : fail(n, `expected Unix milliseconds, got "${cell}"`);
}

function volumeOf(
  row: readonly string[],
  n: number,
  { isBars, fail }: { readonly isBars: boolean; readonly fail: Fail },
): number {
  const numbers = isBars ? row.slice(1) : row.slice(1, 3);
  for (const cell of numbers) if (!NUMBER.test(cell)) fail(n, `expected a number, got "${cell}"`);
  const [cell = ''] = numbers.slice(-1);
  if (!isBars && Number(cell) <= 0) fail(n, `a quantity must be above zero, got "${cell}"`);
  return Number(cell);
}

/** The usual distance between two bars is their length; the shortest of them where two are equally usual. */
function usualGap(times: readonly number[]): number {
  const counts = new Map<number, number>();
  for (let n = 1; n < times.length; n++) {
    const gap = (times[n] ?? 0) - (times[n - 1] ?? 0);
    counts.set(gap, (counts.get(gap) ?? 0) + 1);
  }
  const [usual] = [...counts].toSorted(([a, x], [b, y]) => y - x || a - b);
  return usual?.[0] ?? 0;
}
