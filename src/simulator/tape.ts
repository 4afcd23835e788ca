import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { OperatorError } from '../core/errors.ts';
import { price } from '../core/money.ts';
import { instant, isoOf, MINUTE_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { PriceSource } from './walk.ts';

/** Market history of one pair: closes of bars, each known at the end of its bar. */
export interface PriceTape extends PriceSource {
  /** When the first close is known. */
  readonly startsAt: Instant;
  /** When the last close is known; it holds from then on. */
  readonly endsAt: Instant;
  readonly rows: number;
  /** Length of a bar: the most frequent distance between two rows. */
  readonly barMs: number;
}

const HEADERS = ['timestamp_ms,close', 'timestamp_ms,open,high,low,close,volume'] as const;
/** A plain decimal, as `money.ts` reads it, and never negative. */
const NUMBER = /^\d{1,20}(?:\.\d{1,18})?(?:[eE][+-]?[0-2]?\d)?$/u;
const BYTES_MAX = 2 ** 30;

/**
 * Reads a CSV file, plain or gzip: `timestamp_ms,close` or `timestamp_ms,open,high,low,close,volume` with that header.
 *
 * @throws OperatorError (`data`) that names the file, and the row when one is damaged.
 */
export async function loadTape(file: string): Promise<PriceTape> {
  let bytes: Buffer;
  try {
    const raw = await readFile(file);
    const isGzip = raw[0] === 0x1f && raw[1] === 0x8b;
    bytes = isGzip ? gunzipSync(raw, { maxOutputLength: BYTES_MAX }) : raw;
  } catch (cause) {
    throw new OperatorError(
      'data',
      `cannot read ${file}: ${cause instanceof Error ? cause.message : 'unknown'}`,
      cause,
    );
  }
  return parseTape(bytes, file);
}

/** As `loadTape`, from the bytes of a CSV. `name` stands in messages. */
export function parseTape(csv: Buffer | string, name: string): PriceTape {
  const rows = readRows(csv, name);
  const { times, closes } = rows;
  const barMs = mostFrequentGap(times);
  const known = (row: number): Instant => instant((times[row] ?? 0) + barMs);
  return {
    startsAt: known(0),
    endsAt: known(times.length - 1),
    rows: times.length,
    barMs,
    midAt: (market) => price(closes[lastAtOrBefore(times, market - barMs)] ?? ''),
  };
}

interface Rows {
  readonly times: readonly number[];
  readonly closes: readonly string[];
}

function readRows(csv: Buffer | string, name: string): Rows {
  const times: number[] = [];
  const closes: string[] = [];
  const fail = (row: number, why: string): never => {
    throw new OperatorError('data', `${name}: row ${row}: ${why}`);
  };
  let columns = 0;
  let line = 0;
  const take = (row: readonly string[]): null => {
    line += 1;
    if (line === 1) columns = readHeader(row, name);
    else {
      const at = Number(row[0]);
      if (!/^\d{1,15}$/u.test(row[0] ?? '')) fail(line, `expected Unix milliseconds, got "${row[0] ?? ''}"`);
      if (at <= (times.at(-1) ?? -1))
        fail(line, `its time ${isoOf(instant(at))} is not after that of the row before`);
      for (const cell of row.slice(1)) if (!NUMBER.test(cell)) fail(line, `expected a number, got "${cell}"`);
      const close = row[columns === 2 ? 1 : 4] ?? '';
      if (Number(close) <= 0) fail(line, `a close must be above zero, got "${close}"`);
      times.push(at);
      closes.push(close);
    }
    return null;
  };
  try {
    parse(csv, { bom: true, relax_column_count: false, onRecord: take });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw new OperatorError('data', `${name}: row ${line + 1}: ${cause.message}`, cause);
  }
  if (times.length === 0) throw new OperatorError('data', `${name}: holds no prices`);
  return { times, closes };
}

function readHeader(row: readonly string[], name: string): number {
  const header = row.join(',');
  if (HEADERS.some((known) => known === header)) return row.length;
  throw new OperatorError(
    'data',
    `${name}: row 1: expected the header "${HEADERS.join('" or "')}", got "${header}"`,
  );
}

/** Bars may be missing, so the shortest distance could be damage and the longest is a gap: the usual one is the bar. */
function mostFrequentGap(times: readonly number[]): number {
  const counts = new Map<number, number>();
  for (let row = 1; row < times.length; row++) {
    const gap = (times[row] ?? 0) - (times[row - 1] ?? 0);
    counts.set(gap, (counts.get(gap) ?? 0) + 1);
  }
  let best = MINUTE_MS;
  let most = 0;
  for (const [gap, count] of counts) {
    if (count > most || (count === most && gap < best)) [best, most] = [gap, count];
  }
  return best;
}

/** Row of the last time at or before `at`; the first row when all are later. */
function lastAtOrBefore(times: readonly number[], at: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((times[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
