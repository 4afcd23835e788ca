import type { Band } from './band.ts';

/** Goes through rows of several tapes side by side, one after another, and asks at each whether a weight may leave its band. */
export interface BandScan {
  /** Takes what is held. `false`: it cannot be looked for this way, for something is owed. */
  hold(held: Float64Array, cash: number): boolean;
  /**
   * How many rows there are from `from` before the first one, and before `to`, at which a weight may be outside its band. That it
   * is not outside before is certain.
   */
  pass(columns: readonly Float64Array[], from: number, to: number): number;
}

/** Most assets that a scan goes through. */
export const SCANNED_MAX = 8;

/**
 * The same bound as that of `mayLeaveAt`, for a portfolio that owes nothing. There the sum of all values without their signs is
 * their sum `S`, and `v − u·S < −slack·S` is `v < (u − slack)·S`: the bounds are moved inwards once, and a row is compared with them
 * as a loop would that knows no rounding. Moving them rounds once more, within what `SLACK` has room for.
 *
 * A loop over a number of assets that is not known takes ten times as long as one that has each of them in a constant, so
 * that there is one for two assets, for five and for eight. Whoever has fewer fills up with assets that are worth nothing.
 */
export function bandScan({ upper, lower, slack }: Band): BandScan | undefined {
  const assets = upper.length - 1;
  if (assets > SCANNED_MAX || !Number.isFinite(slack)) return undefined;
  const places = assets <= 2 ? 2 : assets <= 5 ? 5 : SCANNED_MAX;
  const slots: Slots = {
    held: new Float64Array(places),
    most: new Float64Array(places).fill(2),
    least: new Float64Array(places).fill(-1),
    cash: 0,
    above: 0,
    below: 0,
  };
  const cashMost = (upper[assets] ?? 0) - slack;
  const cashLeast = (lower[assets] ?? 0) + slack;
  for (let i = 0; i < assets; i++) {
    slots.most[i] = (upper[i] ?? 0) - slack;
    slots.least[i] = (lower[i] ?? 0) + slack;
  }
  const run = places === 2 ? two : places === 5 ? five : eight;
  const filled: Float64Array[] = [];
  return {
    hold(held, cash) {
      let isOwned = cash >= 0;
      for (let i = 0; i < assets; i++) {
        slots.held[i] = held[i] ?? 0;
        if (!((held[i] ?? 0) >= 0)) isOwned = false;
      }
      slots.cash = cash;
      // `cash < most·S` and `cash > least·S`, as bounds of `S`.
      slots.above = cashMost > 0 ? cash / cashMost : Infinity;
      slots.below = cashLeast > 0 ? cash / cashLeast : cashLeast < 0 ? Infinity : 0;
      return isOwned;
    },
    pass(columns, from, to) {
      for (let i = 0; i < places; i++) filled[i] = columns[i < assets ? i : 0] ?? NO_COLUMN;
      return run(filled, slots, from, to) - from;
    },
  };
}

const NO_COLUMN = new Float64Array(0);

interface Slots {
  readonly held: Float64Array;
  readonly most: Float64Array;
  readonly least: Float64Array;
  cash: number;
  /** Bounds of the sum, between which the weight of cash is within its own. */
  above: number;
  below: number;
}

// Each finds the first row that may not be passed, or `to`. Written so that NaN is not passed.

// prettier-ignore
function two(columns: readonly Float64Array[], { held, most, least, cash, above, below }: Slots, from: number, to: number): number {
  const c0 = columns[0] ?? NO_COLUMN, c1 = columns[1] ?? NO_COLUMN;
  const h0 = held[0] ?? 0, h1 = held[1] ?? 0;
  const m0 = most[0] ?? 0, m1 = most[1] ?? 0;
  const l0 = least[0] ?? 0, l1 = least[1] ?? 0;
  let row = from;
  for (; row < to; row++) {
    const a = h0 * (c0[row] ?? 0);
    const b = h1 * (c1[row] ?? 0);
    const s = cash + a + b;
    if (!(a < m0 * s && a > l0 * s && b < m1 * s && b > l1 * s)) break;
    if (!(s > above && s < below)) break;
  }
  return row;
}

// prettier-ignore
function five(columns: readonly Float64Array[], { held, most, least, cash, above, below }: Slots, from: number, to: number): number {
  const c0 = columns[0] ?? NO_COLUMN, c1 = columns[1] ?? NO_COLUMN, c2 = columns[2] ?? NO_COLUMN;
  const c3 = columns[3] ?? NO_COLUMN, c4 = columns[4] ?? NO_COLUMN;
  const h0 = held[0] ?? 0, h1 = held[1] ?? 0, h2 = held[2] ?? 0, h3 = held[3] ?? 0, h4 = held[4] ?? 0;
  const m0 = most[0] ?? 0, m1 = most[1] ?? 0, m2 = most[2] ?? 0, m3 = most[3] ?? 0, m4 = most[4] ?? 0;
  const l0 = least[0] ?? 0, l1 = least[1] ?? 0, l2 = least[2] ?? 0, l3 = least[3] ?? 0, l4 = least[4] ?? 0;
  let row = from;
  for (; row < to; row++) {
    const a = h0 * (c0[row] ?? 0);
    const b = h1 * (c1[row] ?? 0);
    const c = h2 * (c2[row] ?? 0);
    const d = h3 * (c3[row] ?? 0);
    const e = h4 * (c4[row] ?? 0);
    const s = cash + a + b + c + d + e;
    if (!(a < m0 * s && a > l0 * s && b < m1 * s && b > l1 * s && c < m2 * s && c > l2 * s)) break;
    if (!(d < m3 * s && d > l3 * s && e < m4 * s && e > l4 * s)) break;
    if (!(s > above && s < below)) break;
  }
  return row;
}

// prettier-ignore
function eight(columns: readonly Float64Array[], { held, most, least, cash, above, below }: Slots, from: number, to: number): number {
  const c0 = columns[0] ?? NO_COLUMN, c1 = columns[1] ?? NO_COLUMN, c2 = columns[2] ?? NO_COLUMN, c3 = columns[3] ?? NO_COLUMN;
  const c4 = columns[4] ?? NO_COLUMN, c5 = columns[5] ?? NO_COLUMN, c6 = columns[6] ?? NO_COLUMN, c7 = columns[7] ?? NO_COLUMN;
  const h0 = held[0] ?? 0, h1 = held[1] ?? 0, h2 = held[2] ?? 0, h3 = held[3] ?? 0;
  const h4 = held[4] ?? 0, h5 = held[5] ?? 0, h6 = held[6] ?? 0, h7 = held[7] ?? 0;
  const m0 = most[0] ?? 0, m1 = most[1] ?? 0, m2 = most[2] ?? 0, m3 = most[3] ?? 0;
  const m4 = most[4] ?? 0, m5 = most[5] ?? 0, m6 = most[6] ?? 0, m7 = most[7] ?? 0;
  const l0 = least[0] ?? 0, l1 = least[1] ?? 0, l2 = least[2] ?? 0, l3 = least[3] ?? 0;
  const l4 = least[4] ?? 0, l5 = least[5] ?? 0, l6 = least[6] ?? 0, l7 = least[7] ?? 0;
  let row = from;
  for (; row < to; row++) {
    const a = h0 * (c0[row] ?? 0);
    const b = h1 * (c1[row] ?? 0);
    const c = h2 * (c2[row] ?? 0);
    const d = h3 * (c3[row] ?? 0);
    const e = h4 * (c4[row] ?? 0);
    const f = h5 * (c5[row] ?? 0);
    const g = h6 * (c6[row] ?? 0);
    const h = h7 * (c7[row] ?? 0);
    const s = cash + a + b + c + d + e + f + g + h;
    if (!(a < m0 * s && a > l0 * s && b < m1 * s && b > l1 * s && c < m2 * s && c > l2 * s)) break;
    if (!(d < m3 * s && d > l3 * s && e < m4 * s && e > l4 * s && f < m5 * s && f > l5 * s)) break;
    if (!(g < m6 * s && g > l6 * s && h < m7 * s && h > l7 * s)) break;
    if (!(s > above && s < below)) break;
  }
  return row;
}
