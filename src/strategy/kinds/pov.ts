import { z } from 'zod';
import type { Instrument } from '../../core/instrument.ts';
import {
  add,
  greatest,
  least,
  money,
  NO_QUANTITY,
  quantity,
  quantityUp,
  ratio,
  roundDown,
  scale,
  subtract,
  text,
} from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import { after, instant, isoOf, parseDuration } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { checkDecimals, oneOf } from '../checks.ts';
import { amountOf, durationText, fractionText, pairSymbol, sideField, timeText } from '../fields.ts';
import { defineStrategy } from '../kernel.ts';
import type { CheckWorld, Context, Problem, Step } from '../kernel.ts';
import { checkTactics, tacticFields } from '../worker/tactic-fields.ts';
import { ended, intentOf, progressOf, started, totalOf, undone } from '../worker/total.ts';
import type { Total } from '../worker/total.ts';
import { checkWindow, lengthMsOf, startOf } from '../worker/window.ts';

/** The fields of a pov document. */
const params = z.lazy(() =>
  z.strictObject({
    pair: pairSymbol.describe('Pair to trade, such as btcusd'),
    side: sideField,
    total_quantity: amountOf(
      'Largest total, in base currency; the strategy trades less if the window ends first',
    ),
    share: fractionText.describe(
      'Share of the market\'s volume that is traded in each interval, as a fraction: "0.05" is 5 %',
    ),
    interval: durationText.default('PT5M').describe('Time between two checks of the volume, ISO 8601'),
    max_slice_quantity: amountOf(
      'Largest slice, in base currency; volume beyond it is not made up later. Default: no cap',
    ).optional(),
    start_time: timeText
      .optional()
      .describe('Time from which volume counts, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of the window, with its zone; give this or duration'),
    duration: durationText.optional().describe('Length of the window, ISO 8601; give this or end_time'),
    ...tacticFields(),
  }),
);
type Params = z.output<typeof params>;

const state = z.lazy(() =>
  z.strictObject({
    /** Next slice to start. */
    next: z.int().min(0),
    /** Not yet traded, in base currency. */
    left: z.string(),
    /** Share of the volume that was too small to trade, in base currency; carried over. */
    carry: z.string(),
    /** The market's volume of the day at the last check, and its time; omitted before the first check. */
    seen: z.strictObject({ volume: z.string(), at: z.number() }).optional(),
  }),
);
type State = z.output<typeof state>;

const LEG = 'all';
const INTERVALS_MAX = 100_000;
/** Decimals of a carried amount. A share of a volume may have more decimals than the currency. */
const CARRY_DECIMALS = 18;

const endOf = (plan: Params, begunAt: Instant): Instant =>
  after(startOf(plan, begunAt), lengthMsOf(plan, startOf(plan, begunAt)));
const sumOf = (plan: Params): Total => totalOf(plan.total_quantity, undefined);

/** Returns the first check after `at`. The last check is at the end of the window. */
function lookAfter(plan: Params, begunAt: Instant, at: Instant): Instant {
  const start = startOf(plan, begunAt);
  if (at < start) return start;
  const everyMs = parseDuration(plan.interval);
  const next = after(start, (Math.floor((at - start) / everyMs) + 1) * everyMs);
  return instant(Math.min(next, endOf(plan, begunAt)));
}

/**
 * Trades a fixed share of the market's volume. At the end of each interval, it trades that share of the volume that the
 * market traded in the interval. It never catches up on missed volume, but carries over amounts below the venue's
 * minimum.
 */
export const pov = defineStrategy<Params, State>({
  kind: 'pov',
  summary: "a fixed share of the market's volume in each interval, buy or sell",
  params,
  state,
  of: (plan) => ({
    pairs: [plan.pair],
    check: (world) => check(plan, world),

    start(begunAt) {
      const first: State = { next: 0, left: text(quantity(plan.total_quantity.amount)), carry: '0' };
      return wait(first, instant(Math.max(startOf(plan, begunAt), begunAt)));
    },

    step(was, wake, context) {
      if (wake.on === 'outcome') {
        const now = { ...was, left: text(subtract(quantity(was.left), wake.outcome.filled)) };
        if (!quantity(now.left).gt(0)) return ended(now, 'finished');
        return wake.at >= endOf(plan, context.begunAt)
          ? ended(now, 'window_over', undone(sumOf(plan), now.left))
          : wait(now, dueAfter(was, plan, context.begunAt));
      }
      return look(was, wake.at, plan, context);
    },

    progress: ({ left }) => progressOf(sumOf(plan), left),
    looks(begunAt) {
      const looks: Instant[] = [];
      const end = endOf(plan, begunAt);
      let at = lookAfter(plan, begunAt, startOf(plan, begunAt));
      for (; at < end; at = lookAfter(plan, begunAt, at)) looks.push(at);
      return looks;
    },
    ceiling: () => ({
      total: plan.total_quantity.amount,
      currency: plan.total_quantity.currency,
      slices: intervalsOf(plan) + 1,
    }),
    notes: [
      `each check trades ${plan.share} of the volume since the previous check${plan.max_slice_quantity === undefined ? '' : `, at most ${plan.max_slice_quantity.amount} ${plan.max_slice_quantity.currency}`}: sizes depend on the market; it needs the volume of the ticker`,
    ],
  }),
});

/** Returns the check after the one that started the slice. That check may already be over, in which case it runs immediately. */
const dueAfter = ({ seen: last }: State, plan: Params, begunAt: Instant): Instant =>
  lookAfter(plan, begunAt, instant(last?.at ?? begunAt));

const wait = (now: State, at: Instant, reason?: Reason, note?: string): Step<State> => ({
  state: now,
  waits: [{ on: 'at', at }],
  reason,
  note,
});

/** Returns the volume of the market since the last check. A smaller volume than before belongs to a new day. */
const tradedSince = (volume: Quantity, before: Quantity): Quantity =>
  volume.lt(before) ? volume : subtract(volume, before);

function look(was: State, at: Instant, plan: Params, { begunAt, view }: Context): Step<State> {
  const end = endOf(plan, begunAt);
  const next = lookAfter(plan, begunAt, at);
  const onward = (now: State, reason?: Reason, note?: string): Step<State> =>
    at >= end ? ended(now, 'window_over', undone(sumOf(plan), now.left)) : wait(now, next, reason, note);
  const volume = view.volume(plan.pair);
  if (volume === undefined) return onward(was, 'no_volume', plan.pair);
  const now: State = { ...was, seen: { volume: text(volume), at } };
  if (was.seen === undefined) return onward(now, 'waiting', 'volume counts from now on');
  const sinceMs = at - was.seen.at;
  // Volume from a time without checks is not caught up on.
  if (sinceMs > 2 * parseDuration(plan.interval))
    return onward(now, 'missed_slot', `no look since ${isoOf(instant(was.seen.at))}`);
  const traded = tradedSince(volume, quantity(was.seen.volume));
  const wanted = add(quantity(was.carry), roundDown(scale(traded, ratio(plan.share)), CARRY_DECIMALS));
  const instrument = view.instrument(plan.pair);
  const smallest = smallestOf(plan, instrument, view.reference(plan.pair)?.mid);
  const cap = plan.max_slice_quantity;
  const most = least(quantity(was.left), ...(cap === undefined ? [] : [quantity(cap.amount)]));
  const due = roundDown(least(wanted, most), instrument.basePrecision);
  if (quantity(was.left).lt(smallest)) return ended(now, 'below_minimum', undone(sumOf(plan), now.left));
  if (due.isZero() || due.lt(smallest))
    return onward({ ...now, carry: text(least(wanted, most)) }, 'below_minimum', `${text(due)} ${instrument.base} of at least ${text(smallest)}`); // prettier-ignore
  if (at >= end) return ended(now, 'window_over', undone(sumOf(plan), now.left));
  const carry = wanted.gt(most) ? NO_QUANTITY : subtract(wanted, due);
  return started(
    { ...now, next: was.next + 1, carry: text(carry) },
    intentOf(plan, { leg: LEG, slice: was.next, by: 'quantity', amount: due, deadline: next }),
  );
}

/** Returns the smallest order that both the venue and the document allow, in base currency. */
function smallestOf(
  { min_trade_notional: own }: Params,
  { minimum, basePrecision }: Instrument,
  mid: Price | undefined,
): Quantity {
  const notionals = [minimum.notional, own && money(own.amount)].filter((one) => one !== undefined);
  const known = mid === undefined ? [] : notionals.map((one) => quantityUp(one, mid, basePrecision));
  return greatest(minimum.quantity ?? NO_QUANTITY, ...known);
}

const intervalsOf = (plan: Params): number =>
  plan.duration === undefined && plan.start_time === undefined
    ? INTERVALS_MAX
    : Math.ceil(lengthMsOf(plan, startOf(plan, instant(0))) / parseDuration(plan.interval));

/** Checks across the fields of a pov document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [...oneOf(plan, 'duration', 'end_time')];
  if (world.hasVolume === false)
    problems.push({
      path: ['share'],
      message:
        "no source reports the volume: set venue.capabilities.ticker: true, because the venue's ticker reports the volume",
    });
  if (problems.length > 0) return problems;
  const base = world.currencies(plan.pair)?.base;
  for (const field of ['total_quantity', 'max_slice_quantity'] as const) {
    const given = plan[field]?.currency;
    if (given !== undefined && base !== undefined && given !== base)
      problems.push({ path: [field, 'currency'], message: `${field} must be in ${base}, not ${given}` });
  }
  const window = checkWindow(plan);
  problems.push(...window);
  if (window.length === 0 && intervalsOf(plan) > INTERVALS_MAX)
    problems.push({
      path: ['interval'],
      message: `more than ${INTERVALS_MAX} intervals: choose a longer one`,
    });
  if (!ratio(plan.share).gt(0) || !ratio(plan.share).lt(1))
    problems.push({ path: ['share'], message: 'expected a share above 0 and below 1, such as "0.05"' });
  const minimum = world.minimum(plan.pair).quantity;
  for (const field of ['total_quantity', 'max_slice_quantity'] as const) {
    const given = plan[field];
    if (given !== undefined && minimum !== undefined && quantity(given.amount).lt(minimum))
      problems.push({
        path: [field, 'amount'],
        message: `${field} is below the venue's minimum of ${text(minimum)}`,
      });
  }
  const field = { base: 'total_quantity', quote: 'total_quantity' } as const;
  return [...problems, ...checkDecimals(plan, field, { world }), ...checkTactics(plan, world)];
}
