import type { Values } from './band.ts';
import type { History, Valuation } from './history.ts';
import { boundsAt, LEVELS } from '../tape/index.ts';
import type { PriceIndex } from '../tape/index.ts';

export interface BlockValues {
  /** Number of levels of blocks. */
  readonly levels: number;
  /** Writes the bounds of each asset's value during a block. */
  read(level: number, block: number, held: Float64Array): void;
}

/** Computes bounds of the values of assets over blocks of time; the narrowest blocks are `2 ** exponent` ms wide. */
export function blockValues(
  histories: readonly History[],
  valuations: readonly Valuation[],
  { exponent, values: { low, high } }: { readonly exponent: number; readonly values: Values },
): BlockValues {
  const levels = levelsFor(histories, exponent);
  const stands = Array.from({ length: levels }, (_, level) =>
    histories.map(({ index }) => standOf(index, level - (index.exponent - exponent) / 2)),
  );
  const places = stands.map((here) => placesOf(valuations.map(({ pair }) => here[pair] ?? NO_STAND)));
  const widths = stands.map((here) => valuations.map(({ pair }) => here[pair]?.width ?? 1));
  const onwards = valuations.flatMap(({ onward }, i) => (onward === undefined ? [] : [{ i, onward }]));
  const onwardIn = (level: number, block: number, held: Float64Array): void => {
    for (const { i, onward } of onwards) {
      const { bounds, first, width } = stands[level]?.[onward] ?? NO_STAND;
      const place = boundsAt(bounds, first, Math.floor(block / width));
      const [lowest = 0, highest = Infinity] = [bounds[place], bounds[place + 1]];
      const isOwned = (held[i] ?? 0) >= 0;
      low[i] = (low[i] ?? 0) * (isOwned ? lowest : highest);
      high[i] = (high[i] ?? 0) * (isOwned ? highest : lowest);
    }
  };
  const read = (level: number, block: number, held: Float64Array): void => {
    const { bounds, first } = places[level] ?? NO_PLACES;
    const width = widths[level] ?? [];
    for (let i = 0; i < bounds.length; i++) {
      const own = bounds[i] ?? NO_BOUNDS;
      const place = boundsAt(own, first[i] ?? 0, Math.floor(block / (width[i] ?? 1)));
      const lowest = own[place] ?? 0;
      const highest = own[place + 1] ?? Infinity;
      const units = held[i] ?? 0;
      low[i] = units * (units >= 0 ? lowest : highest);
      high[i] = units * (units >= 0 ? highest : lowest);
    }
    if (onwards.length > 0) onwardIn(level, block, held);
  };
  return { levels, read };
}

/** Number of blocks on the highest level above which a search needs another level. */
const BLOCKS_MAX = 512;

/** Returns as many levels as a tape's index has, or more if long tapes are searched together with fine ones. */
function levelsFor(histories: readonly History[], exponent: number): number {
  const known = histories.map(({ tape: { times, rows } }) => [times[0] ?? 0, times[rows - 1] ?? 0] as const);
  const spanMs = Math.max(0, ...known.map(([, last]) => last)) - Math.min(...known.map(([first]) => first));
  let levels = LEVELS;
  while (spanMs > BLOCKS_MAX * 2 ** exponent * 4 ** (levels - 1)) levels++;
  return levels;
}

/** Bounds of the prices of several assets over blocks of time, with lower and upper bounds alternating. */
interface Places {
  readonly bounds: readonly Float32Array[];
  /** Number of the first block of each asset. */
  readonly first: readonly number[];
}

/** The bounds of a history on one level of a search. */
interface Stand {
  readonly bounds: Float32Array;
  /** Number of the first block. */
  readonly first: number;
  /** Number of blocks of the search in one block of this level. */
  readonly width: number;
}

const NO_BOUNDS = new Float32Array(0);
const NO_STAND: Stand = { bounds: NO_BOUNDS, first: 0, width: 1 };

const placesOf = (stands: readonly Stand[]): Places => ({
  bounds: stands.map(({ bounds }) => bounds),
  first: stands.map(({ first }) => first),
});
const NO_PLACES = placesOf([]);

/**
 * Returns the bounds of a history on a level of the search. Below its own levels, these are its narrowest blocks; above them, the
 * bounds of its whole span.
 */
function standOf({ first, bounds }: PriceIndex, level: number): Stand {
  const own = Math.min(Math.max(level, 0), LEVELS - 1);
  const [begin = 0, here = NO_BOUNDS] = [first[own], bounds[own]];
  if (level <= own) return { bounds: here, first: begin, width: 4 ** Math.max(0, -level) };
  const times = 4 ** (level - own);
  const last = Math.floor((begin + here.length / 2 - 2) / times);
  const wide = new Float32Array(2 * (last - Math.floor(begin / times) + 2));
  const all = here.subarray(0, -2);
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = all.reduce((a, b) => Math.max(a, b), 0);
  for (let i = 0; i < wide.length; i++) wide[i] = i % 2 === 0 ? least : most;
  wide.set(here.subarray(-2), wide.length - 2);
  return { bounds: wide, first: Math.floor(begin / times), width: 1 };
}
