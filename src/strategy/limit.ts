import { z } from 'zod';
import { money, price, quantity, subtract, text } from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import { after, instant, parseDuration } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { uniform } from '../core/uniform.ts';
import type { Wait, Wake } from '../core/wake.ts';
import { defineStrategy } from './kernel.ts';
import type { Context, Step } from './kernel.ts';
import { check, isCrumb, unfit } from './limit-check.ts';
import {
  endOf,
  largestPiece,
  levelOf,
  params,
  precisionOf,
  readLeft,
  startOf,
  totalOf,
  unitOf,
} from './limit-fields.ts';
import type { Params } from './limit-fields.ts';
import { pausesAfter, pieceOf, piecesOf } from './pieces.ts';
import { tacticsOf } from './tactic-fields.ts';

const state = z.lazy(() =>
  z.strictObject({
    /** Not yet traded, in the currency of the total: what was decided counts only once it has traded. */
    left: z.string(),
    /** Number of the next piece. */
    slice: z.int().min(0),
    /** Nothing is started before, Unix ms. */
    until: z.number(),
    /** Pieces in a row that did not trade. */
    misses: z.int().min(0),
  }),
);
type State = z.output<typeof state>;

const LEG = 'all';
/** Besides one order a piece: orders that the venue did not fill, pieces that were cut to funds. */
const SPARE_SLICES = 10;

/**
 * Buys at or below a price, sells at or above it, in pieces one after the other, at most one an interval. It waits for the
 * reference price and asks for no quote before; a quote worse than the limit is never executed.
 */
export const limit = defineStrategy<Params, State>({
  kind: 'limit',
  summary: 'buys at or below a price, sells at or above it, in pieces',
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
function watch(was: State, plan: Params, told: Pick<Step<State>, 'reason' | 'note'> = {}): Step<State> {
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
  return { state: was, waits, ...told };
}

/** The price is good: one piece, to be traded within an interval. The next comes after it at the earliest. */
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

/** From piece number `slice` to the next at the earliest, whole ms. */
function intervalMs(plan: Params, slice: number): number {
  const ms = parseDuration(plan.interval);
  const longer =
    plan.jitter === undefined ? 0 : (plan.jitter.time_pct / 100) * uniform(plan.jitter.seed, 2 * slice);
  return Math.floor(ms * (1 + longer));
}

/** A piece has ended: takes off what was traded, and waits for the price again. */
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
    return ended(now, 'below_minimum', `${now.left} ${unitOf(plan)} left, less than the venue trades`);
  const end = endOf(plan);
  if (end !== undefined && at >= end) return over(now, plan);
  if (now.misses === 0) return watch(now, plan);
  const until = Math.floor(Math.max(now.until, at) + pausesAfter(now.misses) * parseDuration(plan.interval));
  return watch({ ...now, until }, plan, {
    reason: 'waiting',
    note: `${now.misses} pieces in a row did not trade: ${outcome.reason ?? 'no price'}`,
  });
}
