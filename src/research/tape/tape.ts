import { createHash } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';
import { price } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { after, instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

/** Market history of one pair in columns. Bars: `close[i]` is known at `times[i] + barMs`. Trades: barMs 0, open = high = low = close. */
export interface Tape {
  /** Such as `btcusd`. */
  readonly pair: string;
  /** Length of a bar, ms; 0 for trades. */
  readonly barMs: number;
  readonly rows: number;
  /** Start of each bar, Unix ms, strictly ascending. For trades, their times, ascending. */
  readonly times: Float64Array;
  /** Quote per base, as in the next three columns. The decimal of a price is the shortest text of its double: `priceAt`. */
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  /** Base currency; NaN if the source has none. */
  readonly volume: Float64Array;
  /** SHA-256 of the columns, hex. */
  readonly hash: string;
  /** Whether the pair was delisted when its last bar ended. It then keeps that price and can no longer be bought. */
  readonly isDelisted?: boolean | undefined;
}

export const columnNames = ['times', 'open', 'high', 'low', 'close', 'volume'] as const;
export type ColumnName = (typeof columnNames)[number];
export type Columns = Pick<Tape, ColumnName>;

/** Returns columns, each made by its name. */
export const columnsBy = (of: (name: ColumnName) => Float64Array): Columns => ({
  times: of('times'),
  open: of('open'),
  high: of('high'),
  low: of('low'),
  close: of('close'),
  volume: of('volume'),
});

/** A fault in a row. Rows count from 0. */
export interface RowFault {
  readonly row: number;
  readonly why: string;
}

/** Unix ms of the year 10000. A later time must be in a finer unit, and no ISO text can represent it. */
const TIME_MAX = 253_402_300_800_000;
const PAIR = /^[a-z0-9]{2,24}$/u;

/**
 * Builds a tape from columns, which are used in place, not copied.
 *
 * @throws OperatorError (`data`) with the fault and its row (counted from 1).
 */
export function tapeOf({
  pair,
  barMs,
  columns,
}: {
  readonly pair: string;
  readonly barMs: number;
  readonly columns: Columns;
}): Tape {
  if (!PAIR.test(pair))
    throw new OperatorError('data', `"${pair}" is not a pair: write it in lower case, such as btcusd`);
  const fault = faultIn(columns, barMs);
  if (fault !== undefined)
    throw new OperatorError('data', `the tape of ${pair}: row ${fault.row + 1}: ${fault.why}`);
  const { times, open, high, low, close, volume } = columns;
  const hash = hashOf(columns);
  return { pair, barMs, rows: times.length, times, open, high, low, close, volume, hash };
}

/** Returns the first invalid row; `undefined` if all are valid. */
export function faultIn(columns: Columns, barMs: number): RowFault | undefined {
  const rows = columns.times.length;
  if (!Number.isSafeInteger(barMs) || barMs < 0)
    return { row: 0, why: `bars of ${barMs} ms: expected whole ms, or 0 for trades` };
  if (rows === 0) return { row: 0, why: 'there are no rows' };
  for (const name of columnNames) {
    if (columns[name].length !== rows)
      return { row: 0, why: `${columns[name].length} values of ${name} for ${rows} times` };
  }
  let before = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    const why = timeFault(columns.times[row] ?? Number.NaN, before, barMs) ?? priceFault(columns, row);
    if (why !== undefined) return { row, why };
    before = columns.times[row] ?? 0;
  }
  return undefined;
}

function timeFault(at: number, before: number, barMs: number): string | undefined {
  if (!Number.isSafeInteger(at) || at < 0 || at >= TIME_MAX)
    return `its time ${at} is not Unix milliseconds of the years 1970 to 9999: is it in another unit?`;
  if (at < before || (at === before && barMs > 0))
    return `its time ${isoOf(instant(at))} is not after the time of the previous row`;
  return at < before + barMs ? `starts before the previous bar, of ${barMs} ms, has ended` : undefined;
}

/** Returns why the prices or the volume of a row are impossible; `undefined` if they are possible. */
export function priceFault(columns: Omit<Columns, 'times'>, row: number): string | undefined {
  const open = columns.open[row] ?? Number.NaN;
  const high = columns.high[row] ?? Number.NaN;
  const low = columns.low[row] ?? Number.NaN;
  const close = columns.close[row] ?? Number.NaN;
  const volume = columns.volume[row] ?? 0;
  if (low > 0 && high < Infinity && high >= open && high >= close && low <= open && low <= close)
    return volume >= 0 ? (volume < Infinity ? undefined : 'its volume is not finite') : volumeFault(volume);
  for (const [name, value] of Object.entries({ open, high, low, close })) {
    if (!(value > 0 && value < Infinity)) return `its ${name} ${value} is not a price above zero`;
  }
  return high < Math.max(open, close, low)
    ? `its high ${high} is below its ${high < low ? `low ${low}` : high < open ? `open ${open}` : `close ${close}`}`
    : `its low ${low} is above its ${low > open ? `open ${open}` : `close ${close}`}`;
}

const volumeFault = (volume: number): string | undefined =>
  Number.isNaN(volume) ? undefined : `its volume ${volume} is below zero`;

/** Returns the SHA-256 of the columns one after another, each as little-endian doubles, hex. */
export function hashOf(columns: Columns): string {
  const hash = createHash('sha256');
  for (const name of columnNames) {
    const { buffer, byteOffset, byteLength } = columns[name];
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest('hex');
}

/** Returns when the close of a row is known. A row must not be used before that. */
export const knownAt = (tape: Pick<Tape, 'times' | 'barMs'>, row: number): Instant =>
  after(instant(tape.times[row] ?? Number.NaN), tape.barMs);

/** Returns the last row whose close is known at `at`; -1 if there is none. */
export function lastKnownRow({ times, barMs }: Pick<Tape, 'times' | 'barMs'>, at: Instant): number {
  const begins = times[0] ?? Infinity;
  const last = times.length - 1;
  let low = -1;
  let high = last;
  if (barMs > 0) {
    // Bars do not overlap, so no row comes later than it would without gaps, and usually there is no gap.
    const most = Math.max(-1, Math.min(last, Math.floor((at - begins) / barMs) - 1));
    if ((times[last] ?? 0) - begins === last * barMs) return most;
    if (most >= 0 && (times[most] ?? Infinity) + barMs <= at) return most;
    high = most;
  }
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((times[middle] ?? Infinity) + barMs <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the decimal of a double in a tape: the shortest text that reads back as the same double, without an exponent. */
export function decimalText(value: number): string {
  const shortest = String(value);
  if (!shortest.includes('e')) return shortest;
  const [mantissa = '', exponent = '0'] = shortest.split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', part = ''] = mantissa.slice(sign.length).split('.');
  const point = whole.length + Number(exponent);
  const digits = whole + part;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return digits.length <= point
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Returns a price of a tape as money. This is the only place where its double becomes a decimal. */
export function priceAt(column: Float64Array, row: number): Price {
  const last = lastPrices.get(column);
  if (last?.row === row) return last.price;
  const value = column[row] ?? Number.NaN;
  const read = price(String(value));
  if (last === undefined) lastPrices.set(column, { row, price: read });
  else [last.row, last.price] = [row, read];
  return read;
}

/** Cached, because the desk, the venue and the search for the next wake mostly read the same row. */
const lastPrices = new WeakMap<Float64Array, { row: number; price: Price }>();
