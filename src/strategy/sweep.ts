import { z } from 'zod';
import type { Instrument } from '../core/instrument.ts';
import {
  greatest,
  least,
  money,
  NO_QUANTITY,
  price,
  priceOf,
  quantity,
  roundUp,
  subtract,
  text,
} from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import type { Reason } from '../core/reasons.ts';
import { after, instant, parseDuration } from '../core/time.ts';
import type { Wait, Wake } from '../core/wake.ts';
import { closureAt } from './calendar.ts';
import { defineStrategy } from './kernel.ts';
import type { Step, View } from './kernel.ts';
import { pausesAfter, pieceOf } from './pieces.ts';
import { nextTime, occurrencesOf } from './schedule.ts';
import { check } from './sweep-check.ts';
import {
  endOf,
  excessOf,
  intervalOf,
  isSale,
  isWorthwhile,
  largestPiece,
  leastNotional,
  pairOf,
  params,
  startOf,
  thresholdOf,
} from './sweep-fields.ts';
import type { Params } from './sweep-fields.ts';

const state = z.lazy(() =>
  z.strictObject({
    /** Sweeps begun: the newest names the parent. */
    sweeps: z.int().min(0),
    /** No sweep begins before, Unix ms. */
    rest: z.number(),
    /** The sweep under way. */
    now: z
      .strictObject({
        /** Not yet traded of what was decided, in `from`. */
        left: z.string(),
        /** Number of the next piece. */
        slice: z.int().min(0),
        /** No piece begins before, Unix ms. */
        until: z.number(),
        /** Pieces in a row that did not trade. */
        misses: z.int().min(0),
      })
      .optional(),
  }),
);
type State = z.output<typeof state>;
type Under = State & { readonly now: NonNullable<State['now']> };

/** A parent has no more pieces than the controls allow one without a plan; what is left then is another sweep. */
const PIECES_MAX = 40;

/** What a step tells besides what it does. */
type Told = Pick<Step<State>, 'reason' | 'note'>;

/**
 * Converts what is above a floor: payments received into cash, or cash into an asset. It waits for the balance to rise and
 * looks at what the account really holds; nothing is counted twice, because a piece is over before the next is sized.
 */
export const sweep = defineStrategy<Params, State>({
  kind: 'sweep',
  summary: 'converts inflows above a floor to another currency',
  params,
  state,
  pairs: (plan) => [pairOf(plan)],
  isReplaceable: () => true,
  check,

  start(plan, begunAt, view): Step<State> {
    const rest = startOf(plan, begunAt);
    return idle({ sweeps: 0, rest }, plan, view);
  },

  step(was, wake, plan, context): Step<State> {
    const { view } = context;
    if (wake.on === 'outcome') return settle(was, wake, plan, view);
    const end = endOf(plan);
    if (end !== undefined && wake.at >= end) return over(was, plan);
    const closed = closedNow(plan, wake);
    if (closed !== undefined) return idle({ ...was, now: undefined }, plan, view, closed);
    if (was.now !== undefined) return nextPiece({ ...was, now: was.now }, plan, view);
    if (wake.on === 'inflow' && plan.collect !== undefined)
      return {
        state: was,
        waits: [{ on: 'at', at: after(wake.at, Math.floor(parseDuration(plan.collect))) }, ...ends(plan)],
        reason: 'waiting',
        note: `${text(wake.balance)} ${plan.from}: waits for more`,
      };
    return begin(was, plan, view);
  },

  slots: () => [],
  occurrences: ({ schedule }, from, count) =>
    schedule === undefined ? undefined : occurrencesOf(schedule, { from, count }),
});

const over = (was: State, plan: Params): Step<State> => {
  const left = was.now === undefined ? '' : `; ${was.now.left} ${plan.from} of the last not traded`;
  return { state: was, waits: [], finished: 'window_over', note: `${was.sweeps} sweeps${left}` };
};

const ends = (plan: Params): readonly Wait[] => {
  const end = endOf(plan);
  return end === undefined ? [] : [{ on: 'at', at: end }];
};

/** Why the calendar lets nothing begin; a time that passed while nothing ran is left out or made up for. */
function closedNow({ schedule }: Params, wake: Wake): Told | undefined {
  if (schedule === undefined) return undefined;
  const lateMs = wake.on === 'at' ? wake.at - wake.due : 0;
  if (lateMs > parseDuration(schedule.misfire_after) && schedule.misfire === 'skip')
    return { reason: 'misfire', note: `${Math.round(lateMs / 1000)} s late` };
  const closure = closureAt(schedule, wake.at);
  return closure === undefined ? undefined : { reason: 'blackout', note: closure.why };
}

/** Between two sweeps: waits for the next time of the schedule, or for the balance. */
function idle(was: State, plan: Params, view: View, told: Told = {}): Step<State> {
  const end = endOf(plan);
  const idleState: State = { sweeps: was.sweeps, rest: was.rest };
  const waits = [...ends(plan)];
  if (plan.schedule !== undefined) {
    const next = nextTime(plan.schedule, instant(Math.max(was.rest, view.at)));
    if (next !== undefined && (end === undefined || next < end)) waits.push({ on: 'at', at: next });
  } else if (end === undefined || was.rest < end) waits.push(...moneyWaits(idleState, plan, view));
  if (waits.length === 0) return { state: idleState, waits, finished: 'finished', ...told };
  return { state: idleState, waits, ...told };
}

/** For more money, or, where what is there is worth too little, for the price at which it is worth enough. */
function moneyWaits(was: State, plan: Params, view: View): readonly Wait[] {
  const pair = pairOf(plan);
  const instrument = view.instrument(pair);
  const mid = view.reference(pair)?.mid;
  const held = view.holdings?.get(plan.from) ?? NO_QUANTITY;
  const excess = excessOf(plan, held, instrument);
  const notBefore = instant(was.rest);
  // What a sale is worth is not known without a price.
  const isJudged = !isSale(plan) || mid !== undefined;
  const isTooSmall = excess.gt(0) && isJudged && !isWorthwhile(plan, excess, { instrument, mid });
  const inflow = (threshold: Quantity): Wait => ({
    on: 'inflow',
    currency: plan.from,
    // What is too small now is not looked at again before there is more of it.
    above: text(isTooSmall ? greatest(threshold, held) : threshold),
    notBefore,
  });
  if (!isSale(plan) || !isTooSmall || mid === undefined)
    return [inflow(thresholdOf(plan, instrument, undefined))];
  const waits = [inflow(thresholdOf(plan, instrument, mid))];
  if (excess.lt(instrument.minimum.quantity ?? NO_QUANTITY)) return waits;
  const level = roundUp(priceOf(leastNotional(plan, instrument), excess), 12);
  return [...waits, { on: 'price', pair, is: 'at_or_above', level: text(level), notBefore }];
}

interface Look {
  readonly instrument: Instrument;
  readonly mid: Price | undefined;
  /** In `from`. */
  readonly excess: Quantity;
}

/** What is there to be swept now, or why that cannot be told. */
function look(plan: Params, view: View): Look | { readonly reason: Reason; readonly note?: string } {
  const pair = pairOf(plan);
  const instrument = view.instrument(pair);
  const mid = view.reference(pair)?.mid;
  if (view.holdings === undefined) return { reason: 'no_balances' };
  if (mid === undefined && isSale(plan)) return { reason: 'no_reference', note: pair };
  const held = view.holdings.get(plan.from) ?? NO_QUANTITY;
  return { instrument, mid, excess: excessOf(plan, held, instrument) };
}

/** Decides a sweep of all that is above keep, if that is worth a trade. */
function begin(was: State, plan: Params, view: View): Step<State> {
  const seen = look(plan, view);
  const { schedule } = plan;
  // A schedule paces itself.
  const restMs = schedule === undefined ? Math.floor(parseDuration(plan.min_interval)) : 0;
  const later: State = { ...was, rest: after(view.at, restMs) };
  if ('reason' in seen) return idle(later, plan, view, seen);
  const { excess } = seen;
  if (!isWorthwhile(plan, excess, seen)) {
    const reason = excess.gt(0) ? 'below_min_trade' : 'below_keep';
    return idle(later, plan, view, { reason, note: `${text(excess)} ${plan.from} above keep` });
  }
  const now = { left: text(excess), slice: 0, until: view.at, misses: 0 };
  return startPiece({ ...later, sweeps: was.sweeps + 1, now }, plan, { view, seen });
}

/** Goes on with what was decided, as far as it is still there and above keep. */
function nextPiece(was: Under, plan: Params, view: View): Step<State> {
  const seen = look(plan, view);
  if ('reason' in seen) {
    const { now } = was;
    const until = after(view.at, intervalOf(plan));
    return {
      state: { ...was, now: { ...now, until } },
      waits: [{ on: 'at', at: until }, ...ends(plan)],
      ...seen,
    };
  }
  const left = least(quantity(was.now.left), seen.excess);
  if (!isWorthwhile(plan, left, seen)) return endSweep(was, plan, view);
  const isFull = was.now.slice >= PIECES_MAX;
  const now = { ...was.now, left: text(left), slice: isFull ? 0 : was.now.slice };
  return startPiece({ ...was, sweeps: was.sweeps + (isFull ? 1 : 0), now }, plan, { view, seen });
}

/** One piece, to be traded within an interval. */
function startPiece(
  was: Under,
  plan: Params,
  { view, seen }: { readonly view: View; readonly seen: Look },
): Step<State> {
  const { instrument, mid } = seen;
  const { now } = was;
  const precision = isSale(plan) ? instrument.basePrecision : instrument.quotePrecision;
  const largest = largestPiece(plan, instrument, mid);
  const size = pieceOf(quantity(now.left), { largest, precision, slice: now.slice });
  const [leg, end] = [String(was.sweeps), endOf(plan)];
  const until = after(view.at, intervalOf(plan));
  return {
    state: { ...was, now: { ...now, slice: now.slice + 1, until } },
    waits: [{ on: 'outcome', leg, slice: now.slice }],
    intents: [
      {
        leg,
        slice: now.slice,
        pair: pairOf(plan),
        side: isSale(plan) ? 'sell' : 'buy',
        size: isSale(plan) ? { by: 'quantity', quantity: size } : { by: 'amount', amount: money(text(size)) },
        limit: plan.limit_price === undefined ? undefined : price(plan.limit_price),
        deadline: end !== undefined && end < until ? end : until,
      },
    ],
  };
}

/** A piece has ended: takes off what was traded, and waits for the next, or for more money. */
function settle(
  was: State,
  { at, outcome }: Wake & { readonly on: 'outcome' },
  plan: Params,
  view: View,
): Step<State> {
  if (was.now === undefined)
    return idle(was, plan, view, { reason: 'waiting', note: `${outcome.leg} is over` });
  const { now } = was;
  const isOurs = outcome.leg === String(was.sweeps);
  const done = isSale(plan) ? outcome.filled : quantity(text(outcome.filledAmount));
  const left = isOurs ? subtract(quantity(now.left), done) : quantity(now.left);
  const misses = isOurs && !done.gt(0) ? now.misses + 1 : 0;
  const until = Math.max(now.until, at) + pausesAfter(misses) * intervalOf(plan);
  const under: Under = {
    ...was,
    now: { ...now, left: text(left), misses, until: misses === 0 ? now.until : until },
  };
  if (!left.gt(0)) return endSweep(under, plan, view);
  const told: Told =
    misses === 0
      ? {}
      : {
          reason: 'waiting',
          note: `${misses} pieces in a row did not trade: ${outcome.reason ?? 'no price'}`,
        };
  return { state: under, waits: [{ on: 'at', at: instant(under.now.until) }, ...ends(plan)], ...told };
}

/** Nothing is left of the sweep, or nothing that is worth a trade. The next begins after the time of its last piece. */
const endSweep = (was: Under, plan: Params, view: View): Step<State> =>
  idle({ ...was, rest: Math.max(was.rest, was.now.until) }, plan, view);
