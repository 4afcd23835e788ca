/** Inputs of the backtest benchmarks: five years of minutes of five assets, and loops that do only the arithmetic. */
import { createHash } from 'node:crypto';
import { lastKnownRow } from '../src/research/tape/tape.ts';
import type { Tape } from '../src/research/tape/tape.ts';
import { instant } from '../src/core/time.ts';

export const MINUTE = 60_000;
export const MINUTES = 2_629_440;
export const ASSETS = ['btc', 'eth', 'ltc', 'xrp', 'sol'] as const;
/** 2018-01-01T00:00:00Z. */
export const STARTS_AT = Date.UTC(2018, 0, 1);
export const CASH = 1_000_000;
export const FEE = 0.0005;
const PRICES = [13_880.5, 741.25, 229.1, 1.985, 31.4];
/** Standard deviation over a minute, of the part that all assets share and of each asset alone. About 60 % a year in total. */
const SHARED = 0.000_6;
const OWN = 0.000_55;

/** Returns a generator of uniform numbers from 0 to 1, determined by the seed. */
function uniform(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * Generates random walks with nearly normal steps, in a market that moves together, rounded to the digits that venues quote. Every
 * price slowly reverts to its start, so that none approaches zero.
 */
export function benchTapes(seed: number, minutes = MINUTES): readonly Tape[] {
  const next = uniform(seed);
  // The sum of three uniform numbers is nearly normal, and needs no logarithm.
  const normal = (): number => (next() + next() + next() - 1.5) * 2;
  const closes = ASSETS.map(() => new Float64Array(minutes));
  const logs = ASSETS.map(() => 0);
  const digits = PRICES.map((price) => 10 ** (5 - Math.ceil(Math.log10(price))));
  for (let row = 0; row < minutes; row++) {
    const shared = normal() * SHARED;
    for (let i = 0; i < ASSETS.length; i++) {
      const log = (logs[i] ?? 0) * (1 - 4e-7) + shared + normal() * OWN;
      logs[i] = log;
      const scale = digits[i] ?? 1;
      const close = closes[i];
      if (close !== undefined) close[row] = Math.round((PRICES[i] ?? 1) * Math.exp(log) * scale) / scale;
    }
  }
  const times = Float64Array.from({ length: minutes }, (_, row) => STARTS_AT + row * MINUTE);
  const volume = new Float64Array(minutes).fill(Number.NaN);
  return ASSETS.map((asset, i) => {
    const close = closes[i] ?? new Float64Array(0);
    const hash = createHash('sha256').update(`${asset} ${seed} ${minutes}`).digest('hex');
    return { pair: `${asset}usd`, barMs: MINUTE, rows: minutes, times, open: close, high: close, low: close, close, volume, hash }; // prettier-ignore
  });
}

/** The result of a run. The same trades give the same numbers, to the last bit. */
export interface Outcome {
  readonly rebalancings: number;
  readonly trades: number;
  readonly value: number;
}

/** A portfolio of equal weights in doubles. */
export class Equal {
  readonly closes: readonly Float64Array[];
  readonly held: Float64Array;
  rebalancings = 0;
  #cash = CASH;

  constructor(tapes: readonly Tape[]) {
    this.closes = tapes.map(({ close }) => close);
    this.held = new Float64Array(tapes.length);
  }

  value(row: number): number {
    let total = this.#cash;
    for (let i = 0; i < this.held.length; i++) total += (this.held[i] ?? 0) * (this.closes[i]?.[row] ?? 0);
    return total;
  }

  /** Trades all assets to equal weights at the prices of a row; the portfolio pays the fee. */
  rebalance(row: number): void {
    const count = this.held.length;
    const total = this.value(row);
    let turnover = 0;
    for (let i = 0; i < count; i++)
      turnover += Math.abs(total / count - (this.held[i] ?? 0) * (this.closes[i]?.[row] ?? 0));
    const each = (total - turnover * FEE) / count;
    for (let i = 0; i < count; i++) this.held[i] = each / (this.closes[i]?.[row] ?? 1);
    this.#cash = 0;
    this.rebalancings++;
  }

  /** Whether a weight is outside the band at a row, in doubles, as in all loops. */
  isBeyond(row: number, threshold: number): boolean {
    const total = this.value(row);
    const low = (1 / this.held.length - threshold) * total;
    const high = (1 / this.held.length + threshold) * total;
    for (let i = 0; i < this.held.length; i++) {
      const worth = (this.held[i] ?? 0) * (this.closes[i]?.[row] ?? 0);
      if (worth < low || worth > high) return true;
    }
    return false;
  }

  outcome(): Outcome {
    const last = (this.closes[0]?.length ?? 1) - 1;
    return { rebalancings: this.rebalancings, trades: this.rebalancings * this.held.length, value: this.value(last) }; // prettier-ignore
  }
}

/** Runs the tight loop: five assets, holdings in constants, ended at a breach. */
export function tightLoop(tapes: readonly Tape[], threshold: number): Outcome {
  const portfolio = new Equal(tapes);
  const rows = tapes[0]?.rows ?? 0;
  portfolio.rebalance(0);
  for (
    let row = nextBreach(portfolio, 1, threshold);
    row < rows;
    row = nextBreach(portfolio, row + 1, threshold)
  )
    portfolio.rebalance(row);
  return portfolio.outcome();
}

function nextBreach({ closes, held }: Equal, from: number, threshold: number): number {
  const [c0, c1, c2, c3, c4] = closes;
  if (c0 === undefined || c1 === undefined || c2 === undefined || c3 === undefined || c4 === undefined)
    return 0;
  const [h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0] = held;
  const floor = 0.2 - threshold;
  const ceiling = 0.2 + threshold;
  const rows = c0.length;
  let row = from;
  for (; row < rows; row++) {
    const a = h0 * (c0[row] ?? 0);
    const b = h1 * (c1[row] ?? 0);
    const c = h2 * (c2[row] ?? 0);
    const d = h3 * (c3[row] ?? 0);
    const e = h4 * (c4[row] ?? 0);
    const total = a + b + c + d + e;
    const low = floor * total;
    const high = ceiling * total;
    if (a < low || a > high || b < low || b > high || c < low || c > high) break;
    if (d < low || d > high || e < low || e > high) break;
  }
  return row;
}

/** Does the same for any number of assets. */
export function genericLoop(tapes: readonly Tape[], threshold: number): Outcome {
  const portfolio = new Equal(tapes);
  const { closes, held } = portfolio;
  const rows = tapes[0]?.rows ?? 0;
  const count = closes.length;
  const [floor, ceiling] = [1 / count - threshold, 1 / count + threshold];
  const worth = new Float64Array(count);
  portfolio.rebalance(0);
  for (let row = 1; row < rows; row++) {
    let total = 0;
    for (let i = 0; i < count; i++) {
      const each = (held[i] ?? 0) * (closes[i]?.[row] ?? 0);
      worth[i] = each;
      total += each;
    }
    const [low, high] = [floor * total, ceiling * total];
    for (let i = 0; i < count; i++) {
      const each = worth[i] ?? 0;
      if (each >= low && each <= high) continue;
      portfolio.rebalance(row);
      break;
    }
  }
  return portfolio.outcome();
}

export const HOUR_ROWS = 60;
const EACH = 100;

/** Buys for 100 each hour at the price known then, visiting only the slice times. The value is the quantity bought. */
export function dcaSlices({ close, rows }: Tape): Outcome {
  let quantity = 0;
  let trades = 0;
  for (let row = HOUR_ROWS - 1; row < rows; row += HOUR_ROWS) {
    quantity += (EACH * (1 - FEE)) / (close[row] ?? 1);
    trades++;
  }
  return { rebalancings: trades, trades, value: quantity };
}

/** Does the same, checking at every minute whether an hour is complete. */
export function dcaEveryBar({ close, times, rows }: Tape): Outcome {
  let quantity = 0;
  let trades = 0;
  let due = (times[0] ?? 0) + HOUR_ROWS * MINUTE;
  for (let row = 0; row < rows; row++) {
    if ((times[row] ?? 0) + MINUTE < due) continue;
    quantity += (EACH * (1 - FEE)) / (close[row] ?? 1);
    trades++;
    due += HOUR_ROWS * MINUTE;
  }
  return { rebalancings: trades, trades, value: quantity };
}

/** Does the same, looking up the price that is known at each slice, as a tape does for a desk. */
export function dcaFound(tape: Tape): Outcome {
  const { close, times, rows } = tape;
  const ends = (times[rows - 1] ?? 0) + MINUTE;
  let quantity = 0;
  let trades = 0;
  for (let due = (times[0] ?? 0) + HOUR_ROWS * MINUTE; due <= ends; due += HOUR_ROWS * MINUTE) {
    quantity += (EACH * (1 - FEE)) / (close[lastKnownRow(tape, instant(due))] ?? 1);
    trades++;
  }
  return { rebalancings: trades, trades, value: quantity };
}
