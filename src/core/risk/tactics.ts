import type { z } from 'zod';
import { greatest, least, ratio, scale, slippageBps, worsen } from '../money.ts';
import type { Price } from '../money.ts';
import { stop } from './refusal.ts';
import type { tactics } from '../record-fields.ts';
import type { Refusal } from './refusal.ts';
import { uniform } from '../uniform.ts';
import type { Side } from '../venue.ts';

/**
 * How a slice is quoted, apart from its limit price. Plain data that the journal stores, so that a running slice keeps
 * its tactics. Amounts are text.
 */
export type Tactics = Readonly<z.output<ReturnType<typeof tactics>>>;

/** The current reference prices of a slice. */
export interface KnownPrices {
  /** Current reference price. */
  readonly mid: Price;
  /** Reference price when the first slice of the parent was decided. */
  readonly arrival: Price | undefined;
}

const HALF = ratio('0.5');
const TWO = ratio('2');

/**
 * Why the tactics of its slice reject a quote; `undefined` if they accept it. A missing reference rejects.
 */
export function tacticRefusal(
  tactics: Tactics | undefined,
  quoted: { readonly side: Side; readonly price: Price },
  known: KnownPrices,
): Refusal | undefined {
  const { side, price } = quoted;
  if (tactics?.slippage_bps !== undefined) {
    const limit = `${tactics.slippage_bps} bps from arrival`;
    const reference = known.arrival;
    if (reference === undefined) return stop('no_reference', limit, 'no price was known then');
    const moved = slippageBps(side, price, reference);
    if (!moved.lte(tactics.slippage_bps))
      return stop('tactics_refused', limit, `${moved.toFixed(2)} bps from ${reference.toFixed()}`);
  }
  if (tactics?.spread_bps === undefined) return undefined;
  const spread = scale(slippageBps(side, price, known.mid), TWO);
  return spread.lte(tactics.spread_bps)
    ? undefined
    : stop(
        'tactics_refused',
        `${tactics.spread_bps} bps of spread`,
        `${spread.toFixed(2)} bps around ${known.mid.toFixed()}`,
      );
}

/** The worst price that the limit and the tactics allow now; `undefined` if neither sets one. */
export function tacticalLimit(
  side: Side,
  limit: Price | undefined,
  { tactics, known }: { readonly tactics: Tactics | undefined; readonly known: KnownPrices },
): Price | undefined {
  const reference = known.arrival;
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
 * How long a slice waits before its next quote request, milliseconds: `leastMs`, plus a share drawn from the seed
 * if there is jitter. `turn` numbers the waits.
 */
export function requoteMs(tactics: Tactics | undefined, leastMs: number, turn: number): number {
  const jitter = tactics?.jitter;
  return jitter === undefined ? leastMs : leastMs * (1 + (jitter.pct / 100) * uniform(jitter.seed, turn));
}
