import type { Band } from './band.ts';

/** Bounds of the prices of several assets over blocks of time, block by block, the lower and the upper in turn. */
export interface Places {
  readonly bounds: readonly Float32Array[];
  /** Number of the first block of each. */
  readonly first: readonly number[];
}

/** Asks whether a weight may leave its band somewhere within bounds of prices. */
export interface BandBoxes {
  /** Takes what is held. `false`: it cannot be asked this way, for something is owed. */
  hold(held: Float64Array, cash: number): boolean;
  /** As `mayLeave` over the bounds in this block. `false` is certain. */
  mayLeave(places: Places, block: number): boolean;
}

/** Most assets that are asked about in this way. */
const BOXED_MAX = 8;

/**
 * What `mayLeave` asks, for a portfolio that owes nothing, with each asset in constants: a loop over a number of assets that is
 * not known takes twice as long. There is one for two assets, for five and for eight; whoever has fewer fills up with assets
 * that are worth nothing.
 *
 * With values from `a` to `z`, and their sum from `least` to `most`, the upper bound holds for certain when
 * `z − u·(least − a + z) < 0`, the lower one when `a − l·(most − z + a) > 0`; both are written as sums of products here. Where nothing
 * is owed no weight is below zero or above one, so that bounds beyond those hold by themselves. Rounding is that of `band.ts`,
 * and of two more products.
 */
export function bandBoxes({ upper, lower, slack }: Band): BandBoxes | undefined {
  const assets = upper.length - 1;
  if (assets > BOXED_MAX || !Number.isFinite(slack)) return undefined;
  const places = assets <= 2 ? 2 : assets <= 5 ? 5 : BOXED_MAX;
  const run = places === 2 ? two : places === 5 ? five : eight;
  const terms: number[] = [];
  for (let i = 0; i < places; i++) {
    const u = i < assets ? (upper[i] ?? 0) : Infinity;
    const l = i < assets ? (lower[i] ?? 0) : -Infinity;
    terms.push(...(u > 1 + slack ? [0, 0, 1] : [1 - u, u, u]), ...(l < -slack ? [0, 0, -1] : [1 - l, l, l]));
  }
  const [u = 0, l = 0] = [upper[assets], lower[assets]];
  const held = new Float64Array(places);
  const box: Box = {
    held,
    terms: Float64Array.from(terms),
    slack,
    cash: 0,
    most: u,
    least: l < -slack ? -1 : l,
  };
  return {
    hold(units, cash) {
      box.cash = cash;
      let isOwned = cash >= 0;
      for (let i = 0; i < assets; i++) {
        held[i] = units[i] ?? 0;
        if (!((units[i] ?? 0) >= 0)) isOwned = false;
      }
      return isOwned;
    },
    mayLeave: (where, block) => run(box, where, block),
  };
}

interface Box {
  readonly held: Float64Array;
  /** For each asset: `1 − u`, `u`, `u`; `1 − l`, `l`, `l`. */
  readonly terms: Float64Array;
  readonly slack: number;
  cash: number;
  /** Bounds of the weight of cash. */
  readonly most: number;
  readonly least: number;
}

const NONE = new Float32Array(0);

/** Where a block stands; after the last one stand the bounds of all time that follows. */
const placeOf = (bounds: Float32Array, first: number, block: number): number =>
  Math.min(2 * (block - first), bounds.length - 2);

// prettier-ignore
function two({ held, terms: t, slack, cash, most: cashMost, least: cashLeast }: Box, { bounds, first }: Places, block: number): boolean {
  const b0 = bounds[0] ?? NONE, p0 = placeOf(b0, first[0] ?? 0, block), h0 = held[0] ?? 0;
  const b1 = bounds[1] ?? NONE, p1 = placeOf(b1, first[1] ?? 0, block), h1 = held[1] ?? 0;
  const a0 = h0 * (b0[p0] ?? 0), z0 = h0 * (b0[p0 + 1] ?? Infinity);
  const a1 = h1 * (b1[p1] ?? 0), z1 = h1 * (b1[p1 + 1] ?? Infinity);
  const least = cash + a0 + a1;
  const most = cash + z0 + z1;
  const e = most * slack;
  if (!((t[0] ?? 0) * z0 + (t[1] ?? 0) * a0 - (t[2] ?? 0) * least < -e && (t[3] ?? 0) * a0 + (t[4] ?? 0) * z0 - (t[5] ?? 0) * most > e)) return true;
  if (!((t[6] ?? 0) * z1 + (t[7] ?? 0) * a1 - (t[8] ?? 0) * least < -e && (t[9] ?? 0) * a1 + (t[10] ?? 0) * z1 - (t[11] ?? 0) * most > e)) return true;
  return !(cash - cashMost * least < -e && cash - cashLeast * most > e);
}

// prettier-ignore
function five({ held, terms: t, slack, cash, most: cashMost, least: cashLeast }: Box, { bounds, first }: Places, block: number): boolean {
  const b0 = bounds[0] ?? NONE, p0 = placeOf(b0, first[0] ?? 0, block), h0 = held[0] ?? 0;
  const b1 = bounds[1] ?? NONE, p1 = placeOf(b1, first[1] ?? 0, block), h1 = held[1] ?? 0;
  const b2 = bounds[2] ?? NONE, p2 = placeOf(b2, first[2] ?? 0, block), h2 = held[2] ?? 0;
  const b3 = bounds[3] ?? NONE, p3 = placeOf(b3, first[3] ?? 0, block), h3 = held[3] ?? 0;
  const b4 = bounds[4] ?? NONE, p4 = placeOf(b4, first[4] ?? 0, block), h4 = held[4] ?? 0;
  const a0 = h0 * (b0[p0] ?? 0), z0 = h0 * (b0[p0 + 1] ?? Infinity);
  const a1 = h1 * (b1[p1] ?? 0), z1 = h1 * (b1[p1 + 1] ?? Infinity);
  const a2 = h2 * (b2[p2] ?? 0), z2 = h2 * (b2[p2 + 1] ?? Infinity);
  const a3 = h3 * (b3[p3] ?? 0), z3 = h3 * (b3[p3 + 1] ?? Infinity);
  const a4 = h4 * (b4[p4] ?? 0), z4 = h4 * (b4[p4 + 1] ?? Infinity);
  const least = cash + a0 + a1 + a2 + a3 + a4;
  const most = cash + z0 + z1 + z2 + z3 + z4;
  const e = most * slack;
  if (!((t[0] ?? 0) * z0 + (t[1] ?? 0) * a0 - (t[2] ?? 0) * least < -e && (t[3] ?? 0) * a0 + (t[4] ?? 0) * z0 - (t[5] ?? 0) * most > e)) return true;
  if (!((t[6] ?? 0) * z1 + (t[7] ?? 0) * a1 - (t[8] ?? 0) * least < -e && (t[9] ?? 0) * a1 + (t[10] ?? 0) * z1 - (t[11] ?? 0) * most > e)) return true;
  if (!((t[12] ?? 0) * z2 + (t[13] ?? 0) * a2 - (t[14] ?? 0) * least < -e && (t[15] ?? 0) * a2 + (t[16] ?? 0) * z2 - (t[17] ?? 0) * most > e)) return true;
  if (!((t[18] ?? 0) * z3 + (t[19] ?? 0) * a3 - (t[20] ?? 0) * least < -e && (t[21] ?? 0) * a3 + (t[22] ?? 0) * z3 - (t[23] ?? 0) * most > e)) return true;
  if (!((t[24] ?? 0) * z4 + (t[25] ?? 0) * a4 - (t[26] ?? 0) * least < -e && (t[27] ?? 0) * a4 + (t[28] ?? 0) * z4 - (t[29] ?? 0) * most > e)) return true;
  return !(cash - cashMost * least < -e && cash - cashLeast * most > e);
}

// prettier-ignore
function eight({ held, terms: t, slack, cash, most: cashMost, least: cashLeast }: Box, { bounds, first }: Places, block: number): boolean {
  const b0 = bounds[0] ?? NONE, p0 = placeOf(b0, first[0] ?? 0, block), h0 = held[0] ?? 0;
  const b1 = bounds[1] ?? NONE, p1 = placeOf(b1, first[1] ?? 0, block), h1 = held[1] ?? 0;
  const b2 = bounds[2] ?? NONE, p2 = placeOf(b2, first[2] ?? 0, block), h2 = held[2] ?? 0;
  const b3 = bounds[3] ?? NONE, p3 = placeOf(b3, first[3] ?? 0, block), h3 = held[3] ?? 0;
  const b4 = bounds[4] ?? NONE, p4 = placeOf(b4, first[4] ?? 0, block), h4 = held[4] ?? 0;
  const b5 = bounds[5] ?? NONE, p5 = placeOf(b5, first[5] ?? 0, block), h5 = held[5] ?? 0;
  const b6 = bounds[6] ?? NONE, p6 = placeOf(b6, first[6] ?? 0, block), h6 = held[6] ?? 0;
  const b7 = bounds[7] ?? NONE, p7 = placeOf(b7, first[7] ?? 0, block), h7 = held[7] ?? 0;
  const a0 = h0 * (b0[p0] ?? 0), z0 = h0 * (b0[p0 + 1] ?? Infinity);
  const a1 = h1 * (b1[p1] ?? 0), z1 = h1 * (b1[p1 + 1] ?? Infinity);
  const a2 = h2 * (b2[p2] ?? 0), z2 = h2 * (b2[p2 + 1] ?? Infinity);
  const a3 = h3 * (b3[p3] ?? 0), z3 = h3 * (b3[p3 + 1] ?? Infinity);
  const a4 = h4 * (b4[p4] ?? 0), z4 = h4 * (b4[p4 + 1] ?? Infinity);
  const a5 = h5 * (b5[p5] ?? 0), z5 = h5 * (b5[p5 + 1] ?? Infinity);
  const a6 = h6 * (b6[p6] ?? 0), z6 = h6 * (b6[p6 + 1] ?? Infinity);
  const a7 = h7 * (b7[p7] ?? 0), z7 = h7 * (b7[p7 + 1] ?? Infinity);
  const least = cash + a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
  const most = cash + z0 + z1 + z2 + z3 + z4 + z5 + z6 + z7;
  const e = most * slack;
  if (!((t[0] ?? 0) * z0 + (t[1] ?? 0) * a0 - (t[2] ?? 0) * least < -e && (t[3] ?? 0) * a0 + (t[4] ?? 0) * z0 - (t[5] ?? 0) * most > e)) return true;
  if (!((t[6] ?? 0) * z1 + (t[7] ?? 0) * a1 - (t[8] ?? 0) * least < -e && (t[9] ?? 0) * a1 + (t[10] ?? 0) * z1 - (t[11] ?? 0) * most > e)) return true;
  if (!((t[12] ?? 0) * z2 + (t[13] ?? 0) * a2 - (t[14] ?? 0) * least < -e && (t[15] ?? 0) * a2 + (t[16] ?? 0) * z2 - (t[17] ?? 0) * most > e)) return true;
  if (!((t[18] ?? 0) * z3 + (t[19] ?? 0) * a3 - (t[20] ?? 0) * least < -e && (t[21] ?? 0) * a3 + (t[22] ?? 0) * z3 - (t[23] ?? 0) * most > e)) return true;
  if (!((t[24] ?? 0) * z4 + (t[25] ?? 0) * a4 - (t[26] ?? 0) * least < -e && (t[27] ?? 0) * a4 + (t[28] ?? 0) * z4 - (t[29] ?? 0) * most > e)) return true;
  if (!((t[30] ?? 0) * z5 + (t[31] ?? 0) * a5 - (t[32] ?? 0) * least < -e && (t[33] ?? 0) * a5 + (t[34] ?? 0) * z5 - (t[35] ?? 0) * most > e)) return true;
  if (!((t[36] ?? 0) * z6 + (t[37] ?? 0) * a6 - (t[38] ?? 0) * least < -e && (t[39] ?? 0) * a6 + (t[40] ?? 0) * z6 - (t[41] ?? 0) * most > e)) return true;
  if (!((t[42] ?? 0) * z7 + (t[43] ?? 0) * a7 - (t[44] ?? 0) * least < -e && (t[45] ?? 0) * a7 + (t[46] ?? 0) * z7 - (t[47] ?? 0) * most > e)) return true;
  return !(cash - cashMost * least < -e && cash - cashLeast * most > e);
}
