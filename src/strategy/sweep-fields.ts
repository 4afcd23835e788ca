import { z } from 'zod';
import type { Instrument } from '../core/instrument.ts';
import {
  add,
  cost,
  fraction,
  greatest,
  holding,
  least,
  money,
  NO_MONEY,
  NO_QUANTITY,
  ONE,
  quantity,
  quantityDown,
  quantityUp,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  subtract,
} from '../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../core/money.ts';
import { parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import {
  amountOf,
  currencySymbol,
  durationText,
  pairSymbol,
  plainNumber,
  positiveText,
  timeText,
} from './fields.ts';
import { scheduleFields } from './schedule.ts';

/** The fields of a sweep document. */
export const params = z.lazy(() =>
  z.strictObject({
    from: currencySymbol.describe('Currency to convert, such as btc from incoming payments'),
    to: currencySymbol.describe('Currency to convert to'),
    pair: pairSymbol
      .optional()
      .describe(
        'Pair of the two; default: the fiat currency or stablecoin of the two, usd first, is the quote currency',
      ),
    keep: amountOf('Reserve that stays in the account, in from. Default: nothing').optional(),
    min_trade_notional: amountOf(
      'Smallest amount above keep to convert, in quote currency. Default: the minimum of the venue',
    ).optional(),
    max_slice_notional: amountOf(
      'Largest piece in quote currency; a sweep is traded in as few equal pieces as it allows. Default: in one',
    ).optional(),
    interval: durationText
      .default('PT15S')
      .describe('Least time between two pieces, and how long a piece may be tried, ISO 8601'),
    limit_price: positiveText
      .optional()
      .describe('Worst acceptable price, quote per base; worse quotes are not executed'),
    collect: durationText
      .optional()
      .describe('How long to wait after an inflow for further ones, to convert them in one trade, ISO 8601'),
    min_interval: durationText
      .default('PT1M')
      .describe('Least time between the starts of two sweeps without a schedule, ISO 8601'),
    schedule: scheduleFields
      .optional()
      .describe('Checks the balance only at these times; default: at every inflow'),
    fee_bps: plainNumber
      .min(0)
      .max(1_000)
      .default(0)
      .describe(
        'Fee that the venue adds to a purchase, basis points; the purchase is reduced so that keep stays whole',
      ),
    start_time: timeText
      .optional()
      .describe('Start of sweeps, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of sweeps, with its zone; default: never'),
  }),
);
export type Params = z.output<typeof params>;

/** What is money is counted in, the strongest first: of two, it is the quote currency of their pair. */
const QUOTES = ['usd', 'usdt', 'usdc', 'jpy', 'chf', 'cad', 'aud', 'gbp', 'eur', 'btc', 'eth'];

export function pairOf({ pair, from, to }: Params): string {
  if (pair !== undefined) return pair;
  const quote = QUOTES.find((one) => one === from || one === to) ?? to;
  return quote === from ? to + from : from + to;
}

/** Whether it sells `from`, rather than buying `to` with it. */
export const isSale = (plan: Params): boolean => pairOf(plan) === plan.from + plan.to;

export const keepOf = (plan: Params): Quantity =>
  plan.keep === undefined ? NO_QUANTITY : quantity(plan.keep.amount);
export const startOf = (plan: Params, begunAt: Instant): Instant =>
  plan.start_time === undefined ? begunAt : parseTime(plan.start_time);
export const endOf = (plan: Params): Instant | undefined =>
  plan.end_time === undefined ? undefined : parseTime(plan.end_time);
export const intervalOf = (plan: Params): number => Math.floor(parseDuration(plan.interval));

/** What a purchase of one costs, its fee on top. */
const withFee = (plan: Params): Ratio => add(ONE, fraction(ratioOf(plan.fee_bps), ratioOf(10_000)));

/** What is above keep, in `from`, cut to its decimals and to what a fee on top leaves. Below zero when less is held. */
export function excessOf(plan: Params, held: Quantity, instrument: Instrument): Quantity {
  const above = subtract(held, keepOf(plan));
  if (isSale(plan)) return roundDown(above, instrument.basePrecision);
  return roundDown(quantity(above.div(withFee(plan)).toFixed(18)), instrument.quotePrecision);
}

/** The largest piece in `from`; `undefined` when a sweep goes in one. `mid` is needed for a sale alone. */
export function largestPiece(
  plan: Params,
  instrument: Instrument,
  mid: Price | undefined,
): Quantity | undefined {
  if (plan.max_slice_notional === undefined) return undefined;
  const most = money(plan.max_slice_notional.amount);
  if (!isSale(plan)) return holding(roundDown(most, instrument.quotePrecision));
  return mid === undefined ? undefined : quantityDown(most, mid, instrument.basePrecision);
}

/** The least notional that a sweep is worth: its own minimum, or the venue's when that is more. */
export const leastNotional = (plan: Params, { minimum }: Instrument): Money =>
  greatest(
    plan.min_trade_notional === undefined ? NO_MONEY : money(plan.min_trade_notional.amount),
    minimum.notional ?? NO_MONEY,
  );

/** Whether so much of `from` is worth a trade. A sale needs the price for it. */
export function isWorthwhile(
  plan: Params,
  excess: Quantity,
  { instrument, mid }: { readonly instrument: Instrument; readonly mid: Price | undefined },
): boolean {
  if (!excess.gt(0)) return false;
  if (!isSale(plan)) return excess.gte(leastNotional(plan, instrument));
  if (mid === undefined || excess.lt(instrument.minimum.quantity ?? NO_QUANTITY)) return false;
  return cost(mid, excess).gte(leastNotional(plan, instrument));
}

/**
 * The balance of `from` above which a look is worthwhile. What a sale is worth depends on the price: without one any amount
 * above keep is looked at.
 */
export function thresholdOf(plan: Params, instrument: Instrument, mid: Price | undefined): Quantity {
  const keep = keepOf(plan);
  const leastValue = leastNotional(plan, instrument);
  const precision = isSale(plan) ? instrument.basePrecision : instrument.quotePrecision;
  const unit = quantity(`1e-${precision}`);
  const needed = isSale(plan)
    ? greatest(
        mid === undefined ? NO_QUANTITY : quantityUp(leastValue, mid, precision),
        mid === undefined ? NO_QUANTITY : (instrument.minimum.quantity ?? NO_QUANTITY),
      )
    : roundUp(holding(scale(leastValue, withFee(plan))), precision);
  // The wait is for more than the threshold, and the least amount itself is enough.
  return add(keep, subtract(needed, least(unit, needed)));
}
