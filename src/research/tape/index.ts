import type { Tape } from './tape.ts';

/**
 * The lowest and the highest price that was known during each block of time, in a hierarchy, so that a search checks a
 * whole block at once and opens only blocks that may matter.
 *
 * Blocks are counted from 1970 and are 2^k ms wide, so blocks of different tapes nest, regardless of their bars and
 * gaps. The price that was known when a block began also counts in the block, because the last price holds until there
 * is a new one.
 */
export interface PriceIndex {
  /** Hash of its tape. */
  readonly tape: string;
  readonly rows: number;
  readonly barMs: number;
  /** The narrowest blocks are `2 ** exponent` ms wide; the blocks of each next level are four times as wide. */
  readonly exponent: number;
  /** For each level, narrowest first, the number of its first block since 1970. */
  readonly first: readonly number[];
  /**
   * For each level, the bounds of its blocks as floats rounded outwards, with lower and upper bounds alternating. The
   * last pair bounds all later time, in which the last price holds.
   */
  readonly bounds: readonly Float32Array[];
  /** For each of the narrowest blocks, the first row that is known at its beginning or later; at the end, the number of rows. */
  readonly starts: Int32Array;
}

/** Input of an index. It contains only closes, because decisions use nothing else. */
export type Closes = Pick<Tape, 'times' | 'close' | 'barMs' | 'rows' | 'hash'>;

/** For bars of a minute, the narrowest block is 8.7 minutes wide, the widest 25 days. */
export const LEVELS = 7;
const FAN_OUT = 4;
/** Smallest average number of rows in the narrowest blocks; the average is at most four times as large. */
const ROWS_MIN = 4;

/** Builds the index of a tape, which takes about 20 ms for a million rows. */
export function indexPrices(tape: Closes): PriceIndex {
  const { times, barMs, rows, hash } = tape;
  const begins = (times[0] ?? 0) + barMs;
  const ends = (times[rows - 1] ?? 0) + barMs;
  const exponent = exponentFor(ends - begins, rows);
  const base = rows === 0 ? nothing : baseLevel(tape, exponent);
  const first = [base.first];
  const bounds = [base.bounds];
  for (let level = 1; level < LEVELS; level++) {
    const below = first[level - 1] ?? 0;
    first.push(Math.floor(below / FAN_OUT));
    bounds.push(levelAbove(bounds[level - 1] ?? nothing.bounds, below));
  }
  return { tape: hash, rows, barMs, exponent, first, bounds, starts: base.starts };
}

/** Returns the position of the bounds of a block. `block` counts from 1970, and is not before the first one. */
export const boundsAt = (bounds: Float32Array, first: number, block: number): number =>
  Math.min(2 * (block - first), bounds.length - 2);

/** Returns an odd exponent, so that levels, which differ by a factor of four, match on all tapes. */
function exponentFor(spanMs: number, rows: number): number {
  let exponent = 1;
  while (2 ** exponent * rows < ROWS_MIN * spanMs) exponent += 2;
  return exponent;
}

interface Base {
  readonly first: number;
  readonly bounds: Float32Array;
  readonly starts: Int32Array;
}

const nothing: Base = { first: 0, bounds: new Float32Array(0), starts: new Int32Array(1) };

function baseLevel({ times, close, barMs, rows }: Closes, exponent: number): Base {
  const width = 2 ** exponent;
  const first = Math.floor(((times[0] ?? 0) + barMs) / width);
  const blocks = Math.floor(((times[rows - 1] ?? 0) + barMs) / width) - first + 1;
  const bounds = new Float32Array(2 * (blocks + 1));
  const starts = new Int32Array(blocks + 1);
  let row = 0;
  let last = close[0] ?? 0;
  for (let block = 0; block < blocks; block++) {
    const end = (first + block + 1) * width - barMs;
    let lowest = last;
    let highest = last;
    starts[block] = row;
    while (row < rows && (times[row] ?? 0) < end) {
      last = close[row++] ?? 0;
      if (last < lowest) lowest = last;
      if (last > highest) highest = last;
    }
    bounds[2 * block] = floatBelow(lowest);
    bounds[2 * block + 1] = floatAbove(highest);
  }
  bounds[2 * blocks] = floatBelow(last);
  bounds[2 * blocks + 1] = floatAbove(last);
  starts[blocks] = rows;
  return { first, bounds, starts };
}

/** Builds the next level. `first` is the number of the first block of the level below. */
function levelAbove(below: Float32Array, first: number): Float32Array {
  const blocks = Math.max(0, below.length / 2 - 1);
  const offset = first % FAN_OUT;
  const above = new Float32Array(blocks === 0 ? 0 : 2 * (Math.ceil((blocks + offset) / FAN_OUT) + 1));
  for (let i = 0; i < above.length; i += 2) {
    above[i] = Infinity;
    above[i + 1] = -Infinity;
  }
  for (let block = 0; block < blocks; block++) {
    const into = 2 * Math.floor((block + offset) / FAN_OUT);
    above[into] = Math.min(above[into] ?? 0, below[2 * block] ?? 0);
    above[into + 1] = Math.max(above[into + 1] ?? 0, below[2 * block + 1] ?? 0);
  }
  above.set(below.subarray(2 * blocks), Math.max(0, above.length - 2));
  return above;
}

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** Returns the next 32-bit float in a direction. Only for floats above zero, whose bits ascend with their value. */
function neighbour(value: number, step: 1 | -1): number {
  float[0] = value;
  bits[0] = (bits[0] ?? 0) + step;
  return float[0];
}

/** Returns the largest 32-bit float that is not above `value`, which is zero or more. */
export function floatBelow(value: number): number {
  const near = Math.fround(value);
  return near > value ? neighbour(near, -1) : near;
}

/** Returns the smallest 32-bit float that is not below `value`, which is zero or more; infinity when there is none. */
export function floatAbove(value: number): number {
  const near = Math.fround(value);
  return near < value ? neighbour(near, 1) : near;
}
