import { z } from 'zod';
import type { Instrument, Precisions } from '../../core/instrument.ts';
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
  scale,
  share,
  text,
  worsen,
} from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import { instant, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { opposite } from '../../core/venue.ts';
import type { Wait, Wake } from '../../core/wake.ts';
import {
  atMostOneOf,
  checkDecimals,
  checkInterval,
  checkSize,
  checkUnits,
  nearestSizes,
  TOTAL,
} from '../checks.ts';
import { amountOf, pairSymbol, plainNumber, positiveText, sideField, timeText } from '../fields.ts';
import { defineStrategy } from '../kernel.ts';
import type { CheckWorld, Problem, Step } from '../kernel.ts';
import { bookPiece, intervalField, nextPiece, piecesOf, piecesShape } from '../worker/pieces.ts';
import { checkTactics, jitterField, tacticFields } from '../worker/tactic-fields.ts';
import {
  ended,
  intentOf,
  minimumIn,
  precisionIn,
  progressOf,
  started,
  totalOf,
  undone,
} from '../worker/total.ts';
import type { Total } from '../worker/total.ts';
import { checkEnd, startOf } from '../worker/window.ts';

/** The fields of a limit document. */
const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: sideField,
    total_quantity: amountOf('Size of the parent in base currency; give this or total_notional').optional(),
    total_notional: amountOf('Size of the parent in quote currency; give this or total_quantity').optional(),
    ...tacticFields(),
    limit_price: positiveText.describe(
      'Price at or below which a buy trades, or at or above which a sell trades, quote per base',
    ),
    margin_bps: plainNumber
      .min(0)
      .max(1_000)
      .default(0)
      .describe(
        'How much better than limit_price the reference price must be before a quote is requested, basis points; use about the distance of quotes from the reference price',
      ),
    max_slice_quantity: amountOf(
      'Largest piece in base currency; for a total_quantity, instead of max_slice_notional',
    ).optional(),
    max_slice_notional: amountOf(
      'Largest piece in quote currency; the total is traded in as few pieces as this allows. Default: one piece',
    ).optional(),
    interval: intervalField,
    start_time: timeText
      .optional()
      .describe('Start of trading, with its zone; default: when the strategy first runs'),
    good_til: timeText
      .optional()
      .describe('End of trading, with its zone; default: until the total is traded'),
    jitter: jitterField({
      time: 'Largest increase of the time to the next piece and to the next quote, percent',
      size: 'Largest reduction of a piece, percent; the total does not change',
      seed: 'The same seed gives the same pieces',
      all: 'Randomizes the sizes of pieces and the times between pieces, so that others cannot infer them',
    }),
  }),
);
type Params = z.output<typeof params>;

const sumOf = (plan: Params): Total => totalOf(plan.total_quantity, plan.total_notional);
const endOf = (plan: Params): Instant | undefined =>
  plan.good_til === undefined ? undefined : parseTime(plan.good_til);

/** Returns the reference price at which the strategy requests quotes. Twelve decimals, rounded away from the market. */
function levelOf(plan: Params): Price {
  const limit = price(plan.limit_price);
  const level = worsen(opposite(plan.side), limit, ratioOf(plan.margin_bps));
  return plan.side === 'buy' ? roundDown(level, 12) : roundUp(level, 12);
}

/**
 * Returns the largest piece, in the unit of the total; `undefined` when the total is one piece. An amount becomes a
 * quantity at the limit price or, for a sell, at the market price if that is higher, so that no piece is worth more.
 */
function largestPiece(plan: Params, precision: number, mid?: Price): Quantity | undefined {
  const most = plan.max_slice_quantity ?? plan.max_slice_notional;
  if (most === undefined) return undefined;
  if (plan.max_slice_quantity !== undefined || plan.total_quantity === undefined)
    return roundDown(quantity(most.amount), precision);
  const limit = price(plan.limit_price);
  const each = plan.side === 'sell' ? greatest(limit, mid ?? limit) : limit;
  return quantityDown(money(most.amount), each, precision);
}

const state = z.lazy(() => z.strictObject(piecesShape));
type State = z.output<typeof state>;

const LEG = 'all';
/** Orders beyond one per piece, for orders that the venue did not fill and pieces that were cut to the funds. */
const SPARE_SLICES = 10;

/**
 * Buys at or below a price, or sells at or above it, in consecutive pieces, at most one per interval. Waits for the
 * reference price before it requests a quote. A quote worse than the limit is never executed.
 */
export const limit = defineStrategy<Params, State>({
  kind: 'limit',
  summary: 'buys at or below a price or sells at or above it, in pieces',
  params,
  state,
  of: (plan) => ({
    pairs: [plan.pair],
    check: (world) => check(plan, world),

    start(begunAt, view) {
      const total = sumOf(plan);
      const first = { left: text(total.amount), slice: 0, until: startOf(plan, begunAt), misses: 0 };
      const why = unfit(plan, total.amount, view.instrument(plan.pair));
      return why === undefined ? watch(first, plan) : ended(first, 'invalid_plan', why);
    },

    step(was, wake, { view }) {
      if (wake.on === 'outcome') return settle(was, wake, plan, view.instrument(plan.pair));
      const end = endOf(plan);
      if (end !== undefined && wake.at >= end) return over(was, plan);
      if (wake.on !== 'price') return watch(was, plan);
      const { by } = sumOf(plan);
      const precision = precisionIn(sumOf(plan), view.instrument(plan.pair));
      const largest = largestPiece(plan, precision, wake.price);
      const { interval, jitter } = plan;
      const piece = nextPiece(was, wake.at, { largest, precision, jitter, interval, end });
      return started(piece.now, intentOf(plan, { leg: LEG, slice: was.slice, by, ...piece }));
    },

    progress: ({ left }) => progressOf(sumOf(plan), left),
    ceiling(instrument) {
      const total = sumOf(plan);
      const largest = largestPiece(plan, precisionIn(total, instrument));
      const pieces = largest?.gt(0) === true ? piecesOf(total.amount, largest) : 1;
      return { total: text(total.amount), currency: total.currency, slices: 2 * pieces + SPARE_SLICES };
    },
  }),
});

const over = (was: State, plan: Params): Step<State> =>
  ended(was, 'window_over', undone(sumOf(plan), was.left));

/** Waits for the price, and for the end. */
function watch(was: State, plan: Params, report: Pick<Step<State>, 'reason' | 'note'> = {}): Step<State> {
  const end = endOf(plan);
  const waits: Wait[] = end === undefined ? [] : [{ on: 'at', at: end }];
  if (end === undefined || was.until < end) {
    waits.push({
      on: 'price',
      pair: plan.pair,
      is: plan.side === 'buy' ? 'at_or_below' : 'at_or_above',
      level: text(levelOf(plan)),
      notBefore: instant(was.until),
    });
  }
  return { state: was, waits, ...report };
}

/** Books a piece, and waits for the price again. */
function settle(
  was: State,
  wake: Wake & { readonly on: 'outcome' },
  plan: Params,
  instrument: Instrument,
): Step<State> {
  const { by, currency } = sumOf(plan);
  const { now, report } = bookPiece(was, wake, { by, interval: plan.interval });
  const left = quantity(now.left);
  if (!left.gt(0)) return ended(now, 'finished');
  // A sell may get a higher price than its limit, at which the remainder is enough.
  const least = minimumIn({ by }, instrument.minimum, plan.side === 'sell' ? undefined : plan.limit_price);
  if (least !== undefined && left.lt(least))
    return ended(
      now,
      'below_minimum',
      `${now.left} ${currency} left, which is below the minimum of the venue`,
    );
  const end = endOf(plan);
  return end !== undefined && wake.at >= end ? over(now, plan) : watch(now, plan, report);
}

/** Most pieces of a document. */
const PIECES_MAX = 10_000;

/** Checks across the fields of a limit document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const largest = { base: 'max_slice_quantity', quote: 'max_slice_notional' } as const;
  const problems = [
    ...checkSize(plan, TOTAL, world),
    ...atMostOneOf(plan, largest.base, largest.quote),
    ...checkUnits(plan, largest, world),
    ...checkEnd({ start_time: plan.start_time, end_time: plan.good_til }, 'good_til'),
    ...checkInterval(plan),
    ...checkTactics(plan, world),
  ];
  if (plan.max_slice_quantity !== undefined && plan.total_notional !== undefined) {
    const message =
      'with total_notional, the pieces must be sized in quote currency: write max_slice_notional';
    problems.push({ path: ['max_slice_quantity'], message });
  }
  return problems.length > 0 ? problems : checkPieces(plan, world);
}

/** Reports what the desk would reject when the strategy begins, as far as it is known, and suggests usable sizes. */
function checkPieces(plan: Params, world: CheckWorld): readonly Problem[] {
  const total = sumOf(plan);
  const facts = { ...world.precisions(plan.pair), minimum: world.minimum(plan.pair) };
  const precision = precisionIn(total, facts);
  const field = plan.max_slice_quantity === undefined ? 'max_slice_notional' : 'max_slice_quantity';
  const path = [field, 'amount'];
  const largest = largestPiece(plan, precision);
  if (largest !== undefined && (largest.isZero() || piecesOf(total.amount, largest) > PIECES_MAX))
    return [{ path, message: `more than ${PIECES_MAX} pieces: allow larger pieces` }];
  const isUsable = (amount: Quantity): boolean => unfit(plan, amount, facts) === undefined;
  const decimals = checkDecimals(plan, TOTAL, { world, isUsable });
  if (decimals.length > 0) return decimals;
  const why = unfit(plan, total.amount, facts);
  if (why === undefined) return [];
  const least = minimumIn(total, facts.minimum, plan.limit_price);
  const given = plan[field];
  if (given === undefined || (least !== undefined && total.amount.lt(least))) {
    const whole = plan.total_quantity === undefined ? TOTAL.quote : TOTAL.base;
    return [{ path: [whole, 'amount'], message: `the whole total is below the venue's minimum: ${why}` }];
  }
  const withPiece = (amount: Quantity): Params => ({ ...plan, [field]: { ...given, amount: text(amount) } });
  const fits = nearestSizes(
    quantity(given.amount),
    8,
    (amount) => unfit(withPiece(amount), total.amount, facts) === undefined,
  );
  return [
    {
      path,
      message: `${why}: allow pieces of ${text(fits.at(-1) ?? total.amount)} ${given.currency} or more`,
    },
  ];
}

/**
 * Returns the smallest size that a piece may be planned with, in the unit of the total. Jitter makes a piece smaller,
 * which may require one more piece, and each of two equal pieces is more than half of the largest.
 */
function smallestPiece(plan: Params, total: Quantity, precision: number): Quantity {
  const largest = largestPiece(plan, precision);
  if (largest === undefined || total.lte(largest)) return total;
  if (!largest.gt(0)) return largest;
  const percent = plan.jitter?.size_pct ?? 0;
  return percent === 0
    ? share(total, piecesOf(total, largest), precision)
    : roundDown(scale(largest, ratioOf((100 - percent) / 200)), precision);
}

/** Returns why a total cannot be traded with the known precision and minimum; `undefined` if it can. */
function unfit(
  plan: Params,
  total: Quantity,
  facts: Precisions & Pick<Instrument, 'minimum'>,
): string | undefined {
  const { by, currency } = sumOf(plan);
  const precision = precisionIn({ by, amount: total, currency }, facts);
  if (decimalsOf(total) > precision) return `the total has more decimals than ${currency} has (${precision})`;
  const smallest = smallestPiece(plan, total, precision);
  const least = minimumIn({ by }, facts.minimum, plan.limit_price);
  if (smallest.gt(0) && (least === undefined || smallest.gte(least))) return undefined;
  const bound =
    least === undefined ? '' : `, the venue's minimum is ${text(roundUp(least, 8))} at limit_price`;
  return `the smallest piece would be ${text(smallest)} ${currency}${bound}`;
}
