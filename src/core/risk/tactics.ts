import { greatest, least, ratio, scale, slippageBps, worsen } from '../money.ts';
import type { Price } from '../money.ts';
import { stop } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { uniform } from '../uniform.ts';
import type { Side } from '../venue.ts';

/** Prices that a slippage is measured against. */
export const slippageReferences = ['mid', 'decision', 'arrival'] as const;
export type SlippageReference = (typeof slippageReferences)[number];

/**
 * How a slice is quoted, besides its limit price. Plain data, so that the journal can hold it and a running slice keeps
 * it: amounts are text, times are milliseconds.
 */
export interface Tactics {
  /** Largest slippage of a quote against `slippage_reference`, basis points; positive is bad. */
  readonly slippage_bps?: string | undefined;
  readonly slippage_reference?: SlippageReference | undefined;
  /** Largest spread of a quote: twice what it is worse than the middle price, basis points. */
  readonly spread_bps?: string | undefined;
  /** Least time between two quotes of a slice that did not trade. */
  readonly requote_ms?: number | undefined;
  /** Quotes that the slice may ask for in a row without a trade. */
  readonly quotes_max?: number | undefined;
  /** A piece may cost at most this much more than the smallest size that was probed, basis points. */
  readonly impact_bps?: string | undefined;
  /** What stays of the currency that the order pays with. */
  readonly keep?: string | undefined;
  /** Smaller orders are not sent, quote currency. */
  readonly min_notional?: string | undefined;
  /** What is above a limit of one order goes out in pieces within it; left out: it is refused. */
  readonly split?: true | undefined;
  /** Largest random increase of waits between quotes, percent, drawn from the seed. */
  readonly jitter?: { readonly pct: number; readonly seed: number } | undefined;
}

/** What the references of a slice are now. */
export interface KnownPrices {
  /** Reference price of this moment. */
  readonly mid: Price;
  /** Reference price when the slice was decided. */
  readonly decision: Price | undefined;
  /** Reference price when the first slice of the parent was decided. */
  readonly arrival: Price | undefined;
}

const HALF = ratio('0.5');
const TWO = ratio('2');

/** Why a quote is too dear for the tactics of its slice; `undefined` when it is not. A reference that is missing refuses. */
export function tacticRefusal(
  tactics: Tactics | undefined,
  quoted: { readonly side: Side; readonly price: Price },
  known: KnownPrices,
): Refusal | undefined {
  const { side, price } = quoted;
  if (tactics?.slippage_bps !== undefined) {
    const name = tactics.slippage_reference ?? 'mid';
    const limit = `${tactics.slippage_bps} bps from ${name}`;
    const reference = known[name];
    if (reference === undefined) return stop('no_reference', limit, 'no price was known then');
    const moved = slippageBps(side, price, reference);
    if (!moved.lte(tactics.slippage_bps))
      return stop('max_slippage', limit, `${moved.toFixed(2)} bps from ${reference.toFixed()}`);
  }
  if (tactics?.spread_bps === undefined) return undefined;
  const spread = scale(slippageBps(side, price, known.mid), TWO);
  return spread.lte(tactics.spread_bps)
    ? undefined
    : stop(
        'max_spread',
        `${tactics.spread_bps} bps`,
        `${spread.toFixed(2)} bps around ${known.mid.toFixed()}`,
      );
}

/** The worst price that limit and tactics allow at this moment; `undefined` when neither limits. */
export function tacticalLimit(
  side: Side,
  limit: Price | undefined,
  { tactics, known }: { readonly tactics: Tactics | undefined; readonly known: KnownPrices },
): Price | undefined {
  const reference = known[tactics?.slippage_reference ?? 'mid'];
  const bounds = [
    limit,
    tactics?.slippage_bps === undefined || reference === undefined
      ? undefined
      : worsen(side, reference, ratio(tactics.slippage_bps)),
    tactics?.spread_bps === undefined
      ? undefined
      : worsen(side, known.mid, scale(ratio(tactics.spread_bps), HALF)),
  ].filter((bound) => bound !== undefined);
  const [first, ...more] = bounds;
  if (first === undefined) return undefined;
  return side === 'buy' ? least(first, ...more) : greatest(first, ...more);
}

/**
 * How long a slice waits before it asks for its next quote, milliseconds: never less than `leastMs`, and with jitter longer
 * by a part that is drawn from the seed. `turn` tells one wait from another.
 */
export function requoteMs(tactics: Tactics | undefined, leastMs: number, turn: number): number {
  const plainMs = Math.max(leastMs, tactics?.requote_ms ?? 0);
  const jitter = tactics?.jitter;
  return jitter === undefined ? plainMs : plainMs * (1 + (jitter.pct / 100) * uniform(jitter.seed, turn));
}

/** Whether a slice has used all its quotes without a trade. */
export const isBudgetSpent = (tactics: Tactics | undefined, quotes: number): boolean =>
  tactics?.quotes_max !== undefined && quotes >= tactics.quotes_max;
