import type { Instrument, Minimum, Precisions } from '../core/instrument.ts';
import {
  cost,
  decimalsOf,
  fraction,
  least,
  money,
  ONE,
  price,
  quantity,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  text,
} from '../core/money.ts';
import type { Money, Quantity, Ratio } from '../core/money.ts';
import { parseDuration, parseTime, SECOND_MS } from '../core/time.ts';
import { atMostOneOf, checkDecimals, checkUnits, oneOf } from './checks.ts';
import type { CheckWorld, Problem } from './kernel.ts';
import { largestPiece, precisionOf, totalOf, unitOf } from './limit-fields.ts';
import type { Params } from './limit-fields.ts';
import { piecesOf } from './pieces.ts';
import { checkTactics } from './tactic-fields.ts';

/** More would be a stream, not an instruction. */
const PIECES_MAX = 10_000;

/** What is wrong across the fields of a limit document. */
export function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems = [
    ...oneOf(plan, 'total_quantity', 'total_notional'),
    ...checkUnits(plan, { base: 'total_quantity', quote: 'total_notional' }, world),
    ...atMostOneOf(plan, 'max_slice_quantity', 'max_slice_notional'),
    ...checkUnits(plan, { base: 'max_slice_quantity', quote: 'max_slice_notional' }, world),
    ...checkTimes(plan),
    ...checkTactics(plan, world, parseDuration(plan.interval)),
  ];
  if (plan.max_slice_quantity !== undefined && plan.total_notional !== undefined) {
    const message = 'the pieces of a total_notional are counted in quote currency: write max_slice_notional';
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
    problems.push({ path: ['interval'], message: 'the interval is at least a second: PT1S' });
  return problems;
}

const fieldOf = (plan: Params): 'max_slice_quantity' | 'max_slice_notional' =>
  plan.max_slice_quantity === undefined ? 'max_slice_notional' : 'max_slice_quantity';

/** What the desk would refuse when the strategy begins, as far as its decimals are known, with totals that would do. */
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
  return [{ path: [fieldOf(plan), 'amount'], message: `more than ${PIECES_MAX} pieces: allow larger ones` }];
}

/** A piece below the venue's minimum is refused here, with the smallest largest piece that would do. */
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

/** A size of a piece in the unit of the field that bounds it, rounded up. */
function inField(plan: Params, size: string): string {
  const { max_slice_quantity: ofBase, max_slice_notional: ofQuote } = plan;
  const isConverted = ofBase === undefined && plan.total_quantity !== undefined;
  const amount = isConverted
    ? text(roundUp(cost(price(plan.limit_price), quantity(size)), 2))
    : text(quantity(size));
  return `${amount} ${(ofBase ?? ofQuote)?.currency ?? ''}`;
}

/**
 * What jitter leaves of the largest piece at least: what one makes smaller may make another piece necessary, and of two
 * equal ones each is more than half of the largest.
 */
const jitterShare = (plan: Params): Ratio | undefined => {
  const percent = plan.jitter?.size_pct ?? 0;
  return percent === 0 ? undefined : ratioOf((100 - percent) / 200);
};

/** The smallest largest piece of which none is below `bound`, eight decimals. Never more than the total. */
function enough<A extends Quantity | Money>(plan: Params, total: A, bound: A): A {
  const left = jitterShare(plan);
  const needed =
    left === undefined
      ? scale(total, fraction(ONE, roundDown(fraction(total, bound), 0)))
      : scale(bound, fraction(ONE, left));
  return least(roundUp(needed, 8), total);
}

/** The least that a piece may be planned with, in the unit of the total. */
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

/** The larger of the venue's minimums, in the unit of the total: an amount becomes a quantity at the limit price. */
function tightest(plan: Params, minimum: Minimum): Quantity | Money | undefined {
  if (plan.total_quantity === undefined) return minimum.notional;
  const ofNotional =
    minimum.notional === undefined
      ? undefined
      : quantity(minimum.notional.div(plan.limit_price).toFixed(18, 'up'));
  const bounds = [minimum.quantity, ofNotional].filter((bound) => bound !== undefined);
  return bounds.toSorted((a, b) => b.comparedTo(a))[0];
}

/** Why the total cannot be traded, now that precision and minimum are known; `undefined` when it can. */
export function unfit(
  plan: Params,
  instrument: Precisions & Pick<Instrument, 'minimum'>,
): string | undefined {
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

/** Whether `left` can never be traded: even at the limit price it is worth less than the venue's minimum. */
export function isCrumb(plan: Params, left: Quantity | Money, { minimum }: Instrument): boolean {
  if (plan.total_quantity === undefined) return minimum.notional !== undefined && left.lt(minimum.notional);
  if (minimum.quantity !== undefined && left.lt(minimum.quantity)) return true;
  // A sell may find a higher price, at which what is left is enough.
  if (plan.side === 'sell' || minimum.notional === undefined) return false;
  return money(left.times(plan.limit_price).toFixed()).lt(minimum.notional);
}
