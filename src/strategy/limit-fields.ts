import { z } from 'zod';
import type { Precisions } from '../core/instrument.ts';
import {
  decimalsOf,
  greatest,
  money,
  price,
  quantity,
  quantityDown,
  ratioOf,
  roundDown,
  roundUp,
  worsen,
} from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import { parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { opposite } from '../core/venue.ts';
import { amountOf, durationText, pairSymbol, plainNumber, positiveText, timeText } from './fields.ts';
import { jitterField, tacticFields } from './tactic-fields.ts';

/** The fields of a limit document. */
export const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
    total_quantity: amountOf('Size of the parent in base currency; give this or total_notional').optional(),
    total_notional: amountOf('Size of the parent in quote currency; give this or total_quantity').optional(),
    ...tacticFields(),
    limit_price: positiveText.describe('Buys at or below it, sells at or above it, quote per base'),
    margin_bps: plainNumber
      .min(0)
      .max(1_000)
      .default(0)
      .describe(
        'How much better than limit_price the reference price must be before a quote is requested, basis points: about the distance of quotes from the reference price',
      ),
    max_slice_quantity: amountOf(
      'Largest piece in base currency; for a total_quantity, instead of max_slice_notional',
    ).optional(),
    max_slice_notional: amountOf(
      'Largest piece in quote currency; the total is traded in as few pieces as it allows. Default: one piece',
    ).optional(),
    interval: durationText
      .default('PT15S')
      .describe('Least time between two pieces, and how long a piece may be tried, ISO 8601'),
    start_time: timeText
      .optional()
      .describe('Start of trading, with its zone; default: when the strategy first runs'),
    good_til: timeText
      .optional()
      .describe('End of trading, with its zone; default: when the total is traded'),
    jitter: jitterField({
      time: 'Largest increase of the time to the next piece and to the next quote, percent',
      size: 'How much smaller a piece may be, percent; the total stays',
      seed: 'The same seed gives the same pieces',
      all: 'Randomizes pieces and the time between them, so that others cannot infer them',
    }),
  }),
);
export type Params = z.output<typeof params>;

export const totalOf = (plan: Params): Quantity | Money =>
  plan.total_quantity === undefined
    ? money(plan.total_notional?.amount ?? '0')
    : quantity(plan.total_quantity.amount);
export const readLeft = (plan: Params, left: string): Quantity | Money =>
  plan.total_quantity === undefined ? money(left) : quantity(left);
export const unitOf = (plan: Params): string => (plan.total_quantity ?? plan.total_notional)?.currency ?? '';
export const startOf = (plan: Params, begunAt: Instant): Instant =>
  plan.start_time === undefined ? begunAt : parseTime(plan.start_time);
export const endOf = (plan: Params): Instant | undefined =>
  plan.good_til === undefined ? undefined : parseTime(plan.good_til);

/** Decimals of the total's currency; without an instrument, those that the total needs. */
export const precisionOf = (plan: Params, known: Precisions | undefined): number =>
  (plan.total_quantity === undefined ? known?.quotePrecision : known?.basePrecision) ??
  Math.max(8, decimalsOf(totalOf(plan)));

/** The reference price at which quotes are asked for. Twelve decimals, rounded away from the market. */
export function levelOf(plan: Params): Price {
  const limit = price(plan.limit_price);
  const level = worsen(opposite(plan.side), limit, ratioOf(plan.margin_bps));
  return plan.side === 'buy' ? roundDown(level, 12) : roundUp(level, 12);
}

/**
 * The largest piece, in the unit of the total; `undefined` when the total goes in one. An amount becomes a quantity at the
 * limit price, or for a sell at the market when that is higher: so that no piece is worth more.
 */
export function largestPiece(
  plan: Params,
  { mid, precision }: { readonly mid?: Price | undefined; readonly precision: number },
): Quantity | Money | undefined {
  if (plan.max_slice_quantity !== undefined)
    return roundDown(quantity(plan.max_slice_quantity.amount), precision);
  if (plan.max_slice_notional === undefined) return undefined;
  const most = money(plan.max_slice_notional.amount);
  if (plan.total_quantity === undefined) return roundDown(most, precision);
  const limit = price(plan.limit_price);
  return quantityDown(most, plan.side === 'sell' ? greatest(limit, mid ?? limit) : limit, precision);
}
