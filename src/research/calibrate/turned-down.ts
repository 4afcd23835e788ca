import { approximate, slippageBps } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ExecutionModel } from '../run/model.ts';
import { gapMaxOf } from '../run/model.ts';
import { TapeReader } from '../run/tape-market.ts';
import { knownAt } from '../tape/tape.ts';
import type { Tape } from '../tape/tape.ts';
import type { Ask, Asked } from './asks.ts';
import { FLOORS, roundedFit, tooFew } from './fitted-setting.ts';
import type { Learnt } from './fitted-setting.ts';
import { shareOf } from './robust.ts';

/** An order that the venue responded to, and how far the price had moved against the dealer since the quote, bps. */
interface Answered {
  readonly isFilled: boolean;
  /** `undefined` if no tape has a price at that time. */
  readonly move: number | undefined;
}

/** Threshold of last look that no price move reaches, for a model without last look. */
const NEVER_BPS = 10_000;
const NEEDS_PRICES = 'needs prices between quote and order: add --data PAIR=FILE';

/**
 * Estimates rejections of orders. With prices, refusals after a move against the dealer are distinguished from refusals
 * without a reason. The threshold is the one that misclassifies the fewest orders. Without prices, all refusals count
 * as refusals without a reason.
 */
export function fitRefusals(asked: Asked, model: ExecutionModel, tapes: readonly Tape[]): readonly Learnt[] {
  const prices = new Map(tapes.map((tape) => [tape.pair, priceIn(tape, gapMaxOf(model, tape))]));
  const orders = asked.asks.flatMap((ask) => answered(ask, prices.get(ask.intent.pair)));
  const of = 'orders';
  if (orders.length < FLOORS.rejected_share) {
    const why = tooFew('rejected_share', orders.length, of);
    return [{ name: 'last_look_bps', why }, { name: 'rejected_share', why }]; // prettier-ignore
  }
  const refused = orders.filter(({ isFilled }) => !isFilled).length;
  const threshold = thresholdOf(orders);
  const blind = orders.filter(({ move }) => move === undefined).length;
  if (threshold !== undefined) {
    const { value, low, high, above, count } = threshold;
    // A refusal without a known price may have been a last look, and would be counted twice here.
    const rest = orders.filter(({ move }) => move !== undefined && move <= value);
    const left = rest.filter(({ isFilled }) => !isFilled).length;
    const still = 'orders without such a move';
    const note =
      blind === 0 ? undefined : `${blind} orders are excluded: --data has no price for their pair and time`;
    return [
      roundedFit({ name: 'last_look_bps', value, low, high, count, of: 'orders after a move against the dealer', note: `${above} of ${refused} refusals followed a larger move; the interval is the largest filled to the smallest refused move` }, 4),
      rest.length < FLOORS.rejected_share
        ? { name: 'rejected_share', why: tooFew('rejected_share', rest.length, still) }
        : roundedFit({ name: 'rejected_share', ...shareOf(left, rest.length), count: rest.length, of: still, note }, 6),
    ]; // prettier-ignore
  }
  const share = roundedFit({ name: 'rejected_share' as const, ...shareOf(refused, orders.length), count: orders.length, of }, 6); // prettier-ignore
  if (refused === 0) return [{ name: 'last_look_bps', why: `none of ${orders.length} orders was refused` }, share]; // prettier-ignore
  const why = blind === orders.length ? NEEDS_PRICES : 'refusals do not follow price moves';
  const note = `all refusals count as unexplained: ${why}`;
  return [{ name: 'last_look_bps', value: NEVER_BPS, low: 0, high: NEVER_BPS, count: refused, of: 'refusals', note: `so large that it never applies: ${note}` }, { ...share, note }]; // prettier-ignore
}

interface Threshold {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
  readonly above: number;
}

/** Returns the threshold with the fewest fills above it and refusals below it, halfway between its two neighbours. */
function thresholdOf(orders: readonly Answered[]): Threshold | undefined {
  const moved = orders
    .flatMap(({ isFilled, move }) => (move !== undefined && move > 0 ? [{ isFilled, move }] : []))
    .toSorted((a, b) => a.move - b.move);
  const fills = moved.filter(({ isFilled }) => isFilled).length;
  let [wrong, best, split] = [fills, fills, 0];
  for (const [i, { isFilled }] of moved.entries()) {
    wrong += isFilled ? -1 : 1;
    if (wrong < best) [best, split] = [wrong, i + 1];
  }
  const above = moved.slice(split);
  const refused = above.filter(({ isFilled }) => !isFilled);
  if (refused.length < FLOORS.last_look_bps || refused.length * 2 < above.length) return undefined;
  const low = moved.slice(0, split).findLast(({ isFilled }) => isFilled)?.move ?? 0;
  const high = refused[0]?.move ?? low;
  return { value: (low + high) / 2, low, high, count: moved.length, above: refused.length };
}

type PriceAt = (at: Instant) => Price | undefined;

/** Returns a function that looks up prices. It returns none before the tape, after the tape, or in a long gap. */
function priceIn(tape: Tape, gapMaxMs: number): PriceAt {
  const reader = new TapeReader(tape, gapMaxMs);
  const last = knownAt(tape, tape.rows - 1) + tape.barMs;
  return (at) => (at <= last ? reader.fresh(at)?.mid : undefined);
}

function answered(ask: Ask, priceAt: PriceAt | undefined): readonly Answered[] {
  const { quote, result, reason, end, isDry, intent } = ask;
  if (isDry || quote === undefined) return [];
  const isFilled = result === 'filled';
  if (!isFilled && !(result === 'rejected' && reason === 'order_canceled')) return [];
  const { quoted_at: quotedAt } = quote.body;
  if (priceAt === undefined || quotedAt === undefined || end === undefined)
    return [{ isFilled, move: undefined }];
  // The order arrived halfway between its departure and its response.
  const arrivedAt = instant(quote.at + Math.max(0, end.at - quote.at) / 2);
  const [then, now] = [priceAt(quotedAt), priceAt(arrivedAt)];
  if (then === undefined || now === undefined) return [{ isFilled, move: undefined }];
  return [{ isFilled, move: approximate(slippageBps(intent.side, now, then)) }];
}
