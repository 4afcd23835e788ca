import { z } from 'zod';
import type { Instrument, Minimum, Precisions } from '../../core/instrument.ts';
import {
  cost,
  decimalsOf,
  fraction,
  greatest,
  least,
  money,
  ONE,
  price,
  quantity,
  quantityUp,
  quantityDown,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  subtract,
  text,
  worsen,
} from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import { after, instant, parseDuration, parseTime, SECOND_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { uniform } from '../../core/uniform.ts';
import { opposite } from '../../core/venue.ts';
import type { Wait, Wake } from '../../core/wake.ts';
import { atMostOneOf, checkDecimals, checkUnits, oneOf } from '../checks.ts';
import { amountOf, durationText, pairSymbol, plainNumber, positiveText, timeText } from '../fields.ts';
import { defineStrategy } from '../kernel.ts';
import type { CheckWorld, Context, Problem, Step } from '../kernel.ts';
import { missesNote, pausesAfter, pieceOf, piecesOf } from '../worker/pieces.ts';
import { checkTactics, jitterField, tacticFields, tacticsOf } from '../worker/tactic-fields.ts';

/** The fields of a limit document. */
const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: z.enum(['buy', 'sell'], { error: 'expected buy or sell' }).describe('buy or sell'),
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
    interval: durationText
      .default('PT15S')
      .describe('Minimum time between two pieces, and maximum time to try a piece, ISO 8601'),
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

const totalOf = (plan: Params): Quantity | Money =>
  plan.total_quantity === undefined
    ? money(plan.total_notional?.amount ?? '0')
    : quantity(plan.total_quantity.amount);
const readLeft = (plan: Params, left: string): Quantity | Money =>
  plan.total_quantity === undefined ? money(left) : quantity(left);
const unitOf = (plan: Params): string => (plan.total_quantity ?? plan.total_notional)?.currency ?? '';
const startOf = (plan: Params, begunAt: Instant): Instant =>
  plan.start_time === undefined ? begunAt : parseTime(plan.start_time);
const endOf = (plan: Params): Instant | undefined =>
  plan.good_til === undefined ? undefined : parseTime(plan.good_til);

/** Returns the decimals of the total's currency; without an instrument, as many as the total needs. */
const precisionOf = (plan: Params, known: Precisions | undefined): number =>
  (plan.total_quantity === undefined ? known?.quotePrecision : known?.basePrecision) ??
  Math.max(8, decimalsOf(totalOf(plan)));

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
function largestPiece(
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

const state = z.lazy(() =>
  z.strictObject({
    /** Not yet traded, in the currency of the total; pieces in progress count as not traded. */
    left: z.string(),
    /** Number of the next piece. */
    slice: z.int().min(0),
    /** Time before which nothing starts, Unix ms. */
    until: z.number(),
    /** Consecutive pieces that did not trade. */
    misses: z.int().min(0),
  }),
);
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
  pairs: (plan) => [plan.pair],
  check,

  start(plan, begunAt, view): Step<State> {
    const first: State = { left: text(totalOf(plan)), slice: 0, until: startOf(plan, begunAt), misses: 0 };
    const why = unfit(plan, view.instrument(plan.pair));
    return why === undefined ? watch(first, plan) : ended(first, 'invalid_plan', why);
  },

  step(was, wake, plan, context): Step<State> {
    if (wake.on === 'outcome') return settle(was, wake, plan, context);
    const end = endOf(plan);
    if (end !== undefined && wake.at >= end) return over(was, plan);
    if (wake.on !== 'price') return watch(was, plan);
    return startPiece(was, wake, plan, context);
  },

  progress: ({ left }, plan) => ({ total: text(totalOf(plan)), left, currency: unitOf(plan) }),
  slots: () => [],
  ceiling(plan, instrument) {
    const largest = largestPiece(plan, { precision: precisionOf(plan, instrument) });
    const pieces = largest?.gt(0) === true ? piecesOf(totalOf(plan), largest) : 1;
    return { total: text(totalOf(plan)), currency: unitOf(plan), slices: 2 * pieces + SPARE_SLICES };
  },
});

const ended = (was: State, reason: Reason, note?: string): Step<State> => ({
  state: was,
  waits: [],
  finished: reason,
  reason: reason === 'finished' ? undefined : reason,
  note,
});

const over = (was: State, plan: Params): Step<State> =>
  ended(was, 'window_over', `${was.left} of ${text(totalOf(plan))} ${unitOf(plan)} not traded`);

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

/** Starts one piece, to be traded within an interval. The next piece starts no earlier than the end of the interval. */
function startPiece(
  was: State,
  { at, price: mid }: { readonly at: Instant; readonly price: Price },
  plan: Params,
  { view }: Context,
): Step<State> {
  const precision = precisionOf(plan, view.instrument(plan.pair));
  const size = pieceOf<Quantity | Money>(readLeft(plan, was.left), {
    largest: largestPiece(plan, { mid, precision }),
    precision,
    slice: was.slice,
    jitter: plan.jitter,
  });
  const until = after(at, intervalMs(plan, was.slice));
  const end = endOf(plan);
  return {
    state: { ...was, slice: was.slice + 1, until },
    waits: [{ on: 'outcome', leg: LEG, slice: was.slice }],
    intents: [
      {
        leg: LEG,
        slice: was.slice,
        pair: plan.pair,
        side: plan.side,
        size:
          plan.total_quantity === undefined
            ? { by: 'amount', amount: money(text(size)) }
            : { by: 'quantity', quantity: quantity(text(size)) },
        limit: price(plan.limit_price),
        tactics: tacticsOf(plan),
        deadline: end !== undefined && end < until ? end : until,
      },
    ],
  };
}

/** Returns the shortest time from piece number `slice` to the next, whole ms. */
function intervalMs(plan: Params, slice: number): number {
  const ms = parseDuration(plan.interval);
  const longer =
    plan.jitter === undefined ? 0 : (plan.jitter.time_pct / 100) * uniform(plan.jitter.seed, 2 * slice);
  return Math.floor(ms * (1 + longer));
}

/** Subtracts the fill of a piece, and again waits for the price. */
function settle(
  was: State,
  { at, outcome }: Wake & { readonly on: 'outcome' },
  plan: Params,
  { view }: Context,
): Step<State> {
  const done = plan.total_quantity === undefined ? outcome.filledAmount : outcome.filled;
  const left = subtract(readLeft(plan, was.left), done);
  const now: State = { ...was, left: text(left), misses: done.gt(0) ? 0 : was.misses + 1 };
  if (!left.gt(0)) return ended(now, 'finished');
  if (isCrumb(plan, left, view.instrument(plan.pair)))
    return ended(
      now,
      'below_minimum',
      `${now.left} ${unitOf(plan)} left, which is below the minimum of the venue`,
    );
  const end = endOf(plan);
  if (end !== undefined && at >= end) return over(now, plan);
  if (now.misses === 0) return watch(now, plan);
  const until = Math.floor(Math.max(now.until, at) + pausesAfter(now.misses) * parseDuration(plan.interval));
  return watch({ ...now, until }, plan, {
    reason: 'waiting',
    note: missesNote(now.misses, outcome),
  });
}

const PIECES_MAX = 10_000;

/** Checks across the fields of a limit document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems = [
    ...oneOf(plan, 'total_quantity', 'total_notional'),
    ...checkUnits(plan, { base: 'total_quantity', quote: 'total_notional' }, world),
    ...atMostOneOf(plan, 'max_slice_quantity', 'max_slice_notional'),
    ...checkUnits(plan, { base: 'max_slice_quantity', quote: 'max_slice_notional' }, world),
    ...checkTimes(plan),
    ...checkTactics(plan, world),
  ];
  if (plan.max_slice_quantity !== undefined && plan.total_notional !== undefined) {
    const message =
      'with total_notional, the pieces must be sized in quote currency: write max_slice_notional';
    problems.push({ path: ['max_slice_quantity'], message });
  }
  if (problems.length > 0) return problems;
  const known = world.precisions(plan.pair);
  const wrong = [...checkPieces(plan, known), ...checkMinimum(plan, world)];
  return wrong.length > 0 ? wrong : checkSizes(plan, world);
}

function checkTimes(plan: Params): Problem[] {
  const problems: Problem[] = [];
  const { start_time: start, good_til: end } = plan;
  if (start !== undefined && end !== undefined && parseTime(end) <= parseTime(start))
    problems.push({ path: ['good_til'], message: 'good_til must be later than start_time' });
  if (parseDuration(plan.interval) < SECOND_MS)
    problems.push({ path: ['interval'], message: 'the interval must be at least one second (PT1S)' });
  return problems;
}

const fieldOf = (plan: Params): 'max_slice_quantity' | 'max_slice_notional' =>
  plan.max_slice_quantity === undefined ? 'max_slice_notional' : 'max_slice_quantity';

/** Reports what the desk would reject when the strategy begins, as far as its decimals are known, and suggests usable totals. */
function checkSizes(plan: Params, world: CheckWorld): readonly Problem[] {
  const known = world.precisions(plan.pair);
  const names = world.currencies(plan.pair);
  const precision = plan.total_quantity === undefined ? known.quotePrecision : known.basePrecision;
  if (names === undefined || precision === undefined) return [];
  const fields = { base: 'total_quantity', quote: 'total_notional' } as const;
  const instrument = { ...known, minimum: world.minimum(plan.pair) };
  const withTotal = (amount: string): Params => ({
    ...plan,
    total_quantity: plan.total_quantity && { ...plan.total_quantity, amount },
    total_notional: plan.total_notional && { ...plan.total_notional, amount },
  });
  const isUsable = (total: Quantity | Money): boolean =>
    unfit(withTotal(text(total)), instrument) === undefined;
  const decimals = checkDecimals(plan, fields, { world, isUsable });
  if (decimals.length > 0) return decimals;
  const why = unfit(plan, instrument);
  return why === undefined
    ? []
    : [{ path: [fieldOf(plan), 'amount'], message: `${why}: allow larger pieces` }];
}

function checkPieces(plan: Params, known: Precisions): readonly Problem[] {
  const largest = largestPiece(plan, { precision: precisionOf(plan, known) });
  if (largest === undefined) return [];
  const pieces = largest.isZero() ? Number.POSITIVE_INFINITY : piecesOf(totalOf(plan), largest);
  if (pieces <= PIECES_MAX) return [];
  return [
    { path: [fieldOf(plan), 'amount'], message: `more than ${PIECES_MAX} pieces: allow larger pieces` },
  ];
}

/** Rejects a piece below the venue's minimum, and names the smallest usable largest piece. */
function checkMinimum(plan: Params, world: CheckWorld): readonly Problem[] {
  const bound = tightest(plan, world.minimum(plan.pair));
  if (bound === undefined) return [];
  const total = totalOf(plan);
  const smallest = smallestPiece(plan, precisionOf(plan, world.precisions(plan.pair)));
  if (smallest.gte(bound)) return [];
  const unit = unitOf(plan);
  if (total.lt(bound)) {
    const path = [plan.total_quantity === undefined ? 'total_notional' : 'total_quantity', 'amount'];
    const message = `the whole total is below the venue's minimum, which is ${text(roundUp(bound, 8))} ${unit} at limit_price`;
    return [{ path, message }];
  }
  const fix = `allow pieces of ${inField(plan, text(enough(plan, total, bound)))} or more`;
  const message = `pieces as small as ${text(roundDown(smallest, 8))} ${unit} are below the venue's minimum of ${text(roundUp(bound, 8))} ${unit}: ${fix}`;
  return [{ path: [fieldOf(plan), 'amount'], message }];
}

/** Converts the size of a piece to the unit of the field that bounds it, rounded up. */
function inField(plan: Params, size: string): string {
  const { max_slice_quantity: ofBase, max_slice_notional: ofQuote } = plan;
  const isConverted = ofBase === undefined && plan.total_quantity !== undefined;
  const amount = isConverted
    ? text(roundUp(cost(price(plan.limit_price), quantity(size)), 2))
    : text(quantity(size));
  return `${amount} ${(ofBase ?? ofQuote)?.currency ?? ''}`;
}

/**
 * Returns the smallest share of the largest piece that jitter may leave. A smaller piece may require one more piece,
 * and each of two equal pieces is more than half of the largest.
 */
const jitterShare = (plan: Params): Ratio | undefined => {
  const percent = plan.jitter?.size_pct ?? 0;
  return percent === 0 ? undefined : ratioOf((100 - percent) / 200);
};

/**
 * Returns the smallest value for the largest piece at which no piece is below `bound`, with eight decimals. Never more
 * than the total.
 */
function enough<A extends Quantity | Money>(plan: Params, total: A, bound: A): A {
  const left = jitterShare(plan);
  const needed =
    left === undefined
      ? scale(total, fraction(ONE, roundDown(fraction(total, bound), 0)))
      : scale(bound, fraction(ONE, left));
  return least(roundUp(needed, 8), total);
}

/** Returns the smallest size that a piece may be planned with, in the unit of the total. */
function smallestPiece(plan: Params, precision: number): Quantity | Money {
  const total = totalOf(plan);
  const largest = largestPiece(plan, { precision });
  if (largest === undefined || total.lte(largest)) return total;
  if (!largest.gt(0)) return largest;
  const left = jitterShare(plan);
  const each =
    left === undefined
      ? scale(total, fraction(ONE, ratioOf(piecesOf(total, largest))))
      : scale(largest, left);
  return roundDown(each, precision);
}

/** Returns the larger of the venue's minimums, in the unit of the total. An amount becomes a quantity at the limit price. */
function tightest(plan: Params, minimum: Minimum): Quantity | Money | undefined {
  if (plan.total_quantity === undefined) return minimum.notional;
  const ofNotional =
    minimum.notional === undefined ? undefined : quantityUp(minimum.notional, price(plan.limit_price), 18);
  const bounds = [minimum.quantity, ofNotional].filter((bound) => bound !== undefined);
  return bounds.toSorted((a, b) => b.comparedTo(a))[0];
}

/** Returns why the total cannot be traded with the known precision and minimum; `undefined` if it can. */
function unfit(plan: Params, instrument: Precisions & Pick<Instrument, 'minimum'>): string | undefined {
  const total = totalOf(plan);
  const precision = precisionOf(plan, instrument);
  const unit = unitOf(plan);
  if (decimalsOf(total) > precision) return `the total has more decimals than ${unit} has (${precision})`;
  const smallest = smallestPiece(plan, precision);
  const bound = tightest(plan, instrument.minimum);
  if (smallest.gt(0) && (bound === undefined || smallest.gte(bound))) return undefined;
  const most =
    bound === undefined ? '' : `, the venue's minimum is ${text(roundUp(bound, 8))} at limit_price`;
  return `the smallest piece would be ${text(smallest)} ${unit}${most}`;
}

/** Whether `left` can never trade, because even at the limit price it is below the venue's minimum. */
function isCrumb(plan: Params, left: Quantity | Money, { minimum }: Instrument): boolean {
  if (plan.total_quantity === undefined) return minimum.notional !== undefined && left.lt(minimum.notional);
  if (minimum.quantity !== undefined && left.lt(minimum.quantity)) return true;
  // A sell may get a higher price, at which the remainder is enough.
  if (plan.side === 'sell' || minimum.notional === undefined) return false;
  return money(left.times(plan.limit_price).toFixed()).lt(minimum.notional);
}
