import { z } from 'zod';
import type { Instrument } from '../../core/instrument.ts';
import {
  add,
  fraction,
  greatest,
  holding,
  least,
  money,
  NO_MONEY,
  NO_QUANTITY,
  ONE,
  priceOf,
  quantity,
  quantityDown,
  quantityUp,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  subtract,
  text,
} from '../../core/money.ts';
import type { Money, Price, Quantity, Ratio } from '../../core/money.ts';
import { after, instant, parseDuration } from '../../core/time.ts';
import type { Size } from '../../core/venue.ts';
import type { Wait, Wake } from '../../core/wake.ts';
import { closureAt, notOpenWords } from '../calendar/calendar.ts';
import { nextTime, occurrencesOf, scheduleFields } from '../calendar/schedule.ts';
import { atMostOneOf, checkInterval, checkPiece } from '../checks.ts';
import {
  amountOf,
  currencySymbol,
  durationText,
  pairSymbol,
  plainNumber,
  positiveText,
  timeText,
} from '../fields.ts';
import { defineStrategy } from '../kernel.ts';
import type { CheckWorld, Problem, Step, View } from '../kernel.ts';
import {
  bookPiece,
  intervalField,
  nextPiece,
  pausedUntil,
  PIECES_MAX,
  piecesShape,
} from '../worker/pieces.ts';
import { intentOf, started } from '../worker/total.ts';
import { checkEnd, endOf, startOf } from '../worker/window.ts';

/** The fields of a sweep document. */
const params = z.lazy(() =>
  z.strictObject({
    from: currencySymbol.describe('Currency to convert, such as btc from incoming payments'),
    to: currencySymbol.describe('Currency to convert to'),
    pair: pairSymbol
      .optional()
      .describe(
        'Pair of the two currencies; by default its quote currency is the fiat currency or stablecoin of the two, and usd takes precedence',
      ),
    keep: amountOf('Reserve that stays in the account, in from. Default: nothing').optional(),
    min_trade_notional: amountOf(
      'Smallest amount above keep to convert, in quote currency. Default: the minimum of the venue',
    ).optional(),
    max_slice_notional: amountOf(
      'Largest piece in quote currency; a sweep is traded in as few equal pieces as this allows. Default: in one',
    ).optional(),
    interval: intervalField,
    limit_price: positiveText
      .optional()
      .describe('Worst acceptable price, quote per base; worse quotes are not executed'),
    collect: durationText
      .optional()
      .describe('Time to wait after an inflow for further inflows, to convert them in one trade, ISO 8601'),
    min_interval: durationText
      .default('PT1M')
      .describe('Minimum time between the starts of two sweeps without a schedule, ISO 8601'),
    schedule: scheduleFields
      .optional()
      .describe('Checks the balance only at these times; default: at every inflow'),
    fee_bps: plainNumber
      .min(0)
      .max(1_000)
      .default(0)
      .describe(
        'Fee that the venue adds to a purchase, basis points; the purchase is reduced so that the balance does not fall below keep',
      ),
    start_time: timeText
      .optional()
      .describe('Start of sweeps, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of sweeps, with its zone; default: never'),
  }),
);
type Params = z.output<typeof params>;

/** Quote currencies in order of precedence. Of two currencies, the earlier one quotes their pair. */
const QUOTES = ['usd', 'usdt', 'usdc', 'jpy', 'chf', 'cad', 'aud', 'gbp', 'eur', 'btc', 'eth'];

function pairOf({ pair, from, to }: Params): string {
  if (pair !== undefined) return pair;
  const quote = QUOTES.find((one) => one === from || one === to) ?? to;
  return quote === from ? to + from : from + to;
}

/** Whether the strategy sells `from`, rather than buying `to` with it. */
const isSale = (plan: Params): boolean => pairOf(plan) === plan.from + plan.to;
const unitOf = (plan: Params): Size['by'] => (isSale(plan) ? 'quantity' : 'amount');

const keepOf = (plan: Params): Quantity =>
  plan.keep === undefined ? NO_QUANTITY : quantity(plan.keep.amount);
/** Returns the cost of a purchase of one unit, including the fee on top. */
const withFee = (plan: Params): Ratio => add(ONE, fraction(ratioOf(plan.fee_bps), ratioOf(10_000)));

/**
 * Returns the balance above `keep`, in `from`, rounded down to its decimals and reduced by a fee on top. Negative if
 * less than `keep` is held.
 */
function excessOf(plan: Params, held: Quantity, instrument: Instrument): Quantity {
  const above = subtract(held, keepOf(plan));
  if (isSale(plan)) return roundDown(above, instrument.basePrecision);
  return roundDown(quantity(above.div(withFee(plan)).toFixed(18)), instrument.quotePrecision);
}

/** What a sweep sees. Amounts are in `from`. */
interface Look {
  readonly instrument: Instrument;
  readonly mid: Price | undefined;
  readonly held: Quantity;
  /** Balance above `keep`. */
  readonly excess: Quantity;
  /** Smallest amount that is worth a trade. For a sale, it depends on the price; without a price, it is zero. */
  readonly least: Quantity;
}

function look(plan: Params, view: View): Look {
  const pair = pairOf(plan);
  const instrument = view.instrument(pair);
  const mid = view.reference(pair)?.mid;
  const held = view.holdings?.get(plan.from) ?? NO_QUANTITY;
  const { minimum, basePrecision } = instrument;
  const value = leastValueOf(plan, instrument);
  const ofSale = mid && greatest(quantityUp(value, mid, basePrecision), minimum.quantity ?? NO_QUANTITY);
  const smallest = isSale(plan) ? (ofSale ?? NO_QUANTITY) : holding(value);
  return { instrument, mid, held, excess: excessOf(plan, held, instrument), least: smallest };
}

/** Returns the smallest value of a sweep, in quote currency: its own minimum, or the venue's if that is larger. */
const leastValueOf = (plan: Params, { minimum }: Instrument): Money =>
  greatest(
    plan.min_trade_notional === undefined ? NO_MONEY : money(plan.min_trade_notional.amount),
    minimum.notional ?? NO_MONEY,
  );

const isWorthwhile = (amount: Quantity, seen: Look): boolean => amount.gt(0) && amount.gte(seen.least);

/** Returns the largest piece in `from`; `undefined` when a sweep is one piece. */
function largestPiece(plan: Params, { instrument, mid }: Look): Quantity | undefined {
  if (plan.max_slice_notional === undefined) return undefined;
  const most = money(plan.max_slice_notional.amount);
  if (!isSale(plan)) return holding(roundDown(most, instrument.quotePrecision));
  return mid === undefined ? undefined : quantityDown(most, mid, instrument.basePrecision);
}

const state = z.lazy(() =>
  z.strictObject({
    /** Number of sweeps begun, which names the newest parent. */
    sweeps: z.int().min(0),
    /** Time before which no sweep begins, Unix ms. */
    rest: z.number(),
    /** The sweep in progress. */
    now: z.strictObject(piecesShape).optional(),
  }),
);
type State = z.output<typeof state>;
type Under = State & { readonly now: NonNullable<State['now']> };

/** The report of a step, in addition to its actions. */
type StepReport = Pick<Step<State>, 'reason' | 'note'>;

/**
 * Converts the balance above a floor: received payments into cash, or cash into an asset. It waits for the balance to
 * rise, and checks the account's actual balance. Nothing is counted twice, because each piece ends before the next is
 * sized.
 */
export const sweep = defineStrategy<Params, State>({
  kind: 'sweep',
  summary: 'converts inflows above a floor to another currency',
  params,
  state,
  of: (plan) => ({
    pairs: [pairOf(plan)],
    runFault: ({ now }, at) => {
      if (plan.schedule === undefined)
        return 'it already sweeps at every inflow: only a sweep with a schedule can run now';
      if (now !== undefined) return 'its sweep is in progress';
      return notOpenWords({ ...plan, schedule: plan.schedule }, at);
    },
    isReplaceable: () => true,
    check: (world) => check(plan, world),
    start: (begunAt, view) => idle({ sweeps: 0, rest: startOf(plan, begunAt) }, plan, view),

    step(was, wake, { view }) {
      if (wake.on === 'outcome') return settle(was, wake, plan, view);
      const end = endOf(plan);
      if (end !== undefined && wake.at >= end) return over(was, plan);
      const closed = closedNow(plan, wake);
      if (closed !== undefined) return idle({ ...was, now: undefined }, plan, view, closed);
      if (was.now !== undefined) return goOn({ ...was, now: was.now }, plan, view);
      if (wake.on === 'inflow' && plan.collect !== undefined)
        return {
          state: was,
          waits: [{ on: 'at', at: after(wake.at, Math.floor(parseDuration(plan.collect))) }, ...ends(plan)],
          reason: 'waiting',
          note: `${text(wake.balance)} ${plan.from}: waits for more`,
        };
      return begin(was, plan, view);
    },

    occurrences: (from, count) => plan.schedule && occurrencesOf(plan.schedule, { from, count }),
  }),
});

const over = (was: State, plan: Params): Step<State> => {
  const left = was.now === undefined ? '' : `; ${was.now.left} ${plan.from} of the last not traded`;
  return { state: was, waits: [], finished: 'window_over', note: `${was.sweeps} sweeps${left}` };
};

const ends = (plan: Params): readonly Wait[] => {
  const end = endOf(plan);
  return end === undefined ? [] : [{ on: 'at', at: end }];
};

/** Returns why nothing can begin now: the calendar is closed, or a scheduled time has passed and `misfire` skips it. */
function closedNow({ schedule }: Params, wake: Wake): StepReport | undefined {
  if (schedule === undefined) return undefined;
  const lateMs = wake.on === 'at' ? wake.at - wake.due : 0;
  if (lateMs > parseDuration(schedule.misfire_after) && schedule.misfire === 'skip')
    return { reason: 'missed_slot', note: `${Math.round(lateMs / 1000)} s late` };
  const closure = closureAt(schedule, wake.at);
  return closure === undefined ? undefined : { reason: 'blackout', note: closure.why };
}

/** Between two sweeps, waits for the next time of the schedule or for the balance. */
function idle(was: State, plan: Params, view: View, report: StepReport = {}): Step<State> {
  const end = endOf(plan);
  const idleState: State = { sweeps: was.sweeps, rest: was.rest };
  const waits = [...ends(plan)];
  if (plan.schedule !== undefined) {
    const next = nextTime(plan.schedule, instant(Math.max(was.rest, view.at)));
    if (next !== undefined && (end === undefined || next < end)) waits.push({ on: 'at', at: next });
  } else if (end === undefined || was.rest < end) waits.push(...moneyWaits(idleState, plan, view));
  if (waits.length === 0) return { state: idleState, waits, finished: 'finished', ...report };
  return { state: idleState, waits, ...report };
}

/**
 * Returns the wait for a larger balance and, if the current one is worth too little to sell, for the price at which it is worth
 * enough.
 */
function moneyWaits(was: State, plan: Params, view: View): readonly Wait[] {
  const { instrument, mid, held, excess, least: smallest } = look(plan, view);
  const { minimum, basePrecision, quotePrecision } = instrument;
  const notBefore = instant(was.rest);
  const isTooSmall = excess.gt(0) && excess.lt(smallest);
  // The price decides what a sale is worth, so any amount above `keep` is checked, unless it is too small now.
  const needed = isSale(plan)
    ? isTooSmall
      ? smallest
      : NO_QUANTITY
    : roundUp(scale(smallest, withFee(plan)), quotePrecision);
  const unit = quantity(`1e-${isSale(plan) ? basePrecision : quotePrecision}`);
  // The wait requires more than the threshold, but the smallest amount itself suffices.
  const threshold = add(keepOf(plan), subtract(needed, least(unit, needed)));
  // An amount that is too small now is not checked again until it grows.
  const above = text(isTooSmall ? greatest(threshold, held) : threshold);
  const inflow: Wait = { on: 'inflow', currency: plan.from, above, notBefore };
  if (!isSale(plan) || !isTooSmall || mid === undefined || excess.lt(minimum.quantity ?? NO_QUANTITY))
    return [inflow];
  const level = text(roundUp(priceOf(leastValueOf(plan, instrument), excess), 12));
  return [inflow, { on: 'price', pair: instrument.pair, is: 'at_or_above', level, notBefore }];
}

/** Returns why the amount to sweep is unknown; `undefined` if it is known. */
function blindness(plan: Params, view: View): StepReport | undefined {
  if (view.holdings === undefined) return { reason: 'no_balances' };
  const pair = pairOf(plan);
  return isSale(plan) && view.reference(pair) === undefined
    ? { reason: 'no_reference', note: pair }
    : undefined;
}

/** Decides a sweep of the whole balance above `keep`, if that is worth a trade. */
function begin(was: State, plan: Params, view: View): Step<State> {
  const seen = look(plan, view);
  const { schedule } = plan;
  // A schedule sets its own pace.
  const restMs = schedule === undefined ? Math.floor(parseDuration(plan.min_interval)) : 0;
  const later: State = { ...was, rest: after(view.at, restMs) };
  const blind = blindness(plan, view);
  if (blind !== undefined) return idle(later, plan, view, blind);
  const { excess } = seen;
  if (!isWorthwhile(excess, seen)) {
    const reason = excess.gt(0) ? 'below_min_trade' : 'kept_back';
    return idle(later, plan, view, { reason, note: `${text(excess)} ${plan.from} above keep` });
  }
  const now = { left: text(excess), slice: 0, until: view.at, misses: 0 };
  return startPiece({ ...later, sweeps: was.sweeps + 1, now }, plan, { view, seen });
}

/** Continues with the decided amount, limited to the current balance above `keep`. */
function goOn(was: Under, plan: Params, view: View): Step<State> {
  const blind = blindness(plan, view);
  if (blind !== undefined) {
    const until = pausedUntil(view.at, view.at, { misses: 1, interval: plan.interval });
    const later = { ...was, now: { ...was.now, until } };
    return { state: later, waits: [{ on: 'at', at: until }, ...ends(plan)], ...blind };
  }
  const seen = look(plan, view);
  const left = least(quantity(was.now.left), seen.excess);
  if (!isWorthwhile(left, seen)) return endSweep(was, plan, view);
  const isFull = was.now.slice >= PIECES_MAX;
  const now = { ...was.now, left: text(left), slice: isFull ? 0 : was.now.slice };
  return startPiece({ ...was, sweeps: was.sweeps + (isFull ? 1 : 0), now }, plan, { view, seen });
}

/** Starts one piece, to be traded within an interval. */
function startPiece(
  was: Under,
  plan: Params,
  { view, seen }: { readonly view: View; readonly seen: Look },
): Step<State> {
  const { basePrecision, quotePrecision } = seen.instrument;
  const piece = nextPiece(was.now, view.at, {
    largest: largestPiece(plan, seen),
    precision: isSale(plan) ? basePrecision : quotePrecision,
    interval: plan.interval,
    end: endOf(plan),
  });
  const { limit_price } = plan;
  const trade = { pair: pairOf(plan), side: isSale(plan) ? 'sell' : 'buy', limit_price } as const;
  const slice = { leg: String(was.sweeps), slice: was.now.slice, by: unitOf(plan), ...piece };
  return started({ ...was, now: piece.now }, intentOf(trade, slice));
}

/** Subtracts the fill of a piece, and waits for the next piece, or for a larger balance. */
function settle(
  was: State,
  { at, outcome }: Wake & { readonly on: 'outcome' },
  plan: Params,
  view: View,
): Step<State> {
  if (was.now === undefined)
    return idle(was, plan, view, { reason: 'waiting', note: `${outcome.leg} is over` });
  // A late trade of an earlier sweep does not count for this one.
  const isOurs = outcome.leg === String(was.sweeps);
  const { now, report } = isOurs
    ? bookPiece(was.now, { at, outcome }, { by: unitOf(plan), interval: plan.interval })
    : { now: { ...was.now, misses: 0 }, report: {} };
  const under: Under = { ...was, now };
  if (!quantity(now.left).gt(0)) return endSweep(under, plan, view);
  return { state: under, waits: [{ on: 'at', at: instant(now.until) }, ...ends(plan)], ...report };
}

/**
 * Ends the sweep, because nothing is left, or nothing that is worth a trade. The next sweep begins after the last
 * piece's interval.
 */
const endSweep = (was: Under, plan: Params, view: View): Step<State> =>
  idle({ ...was, rest: Math.max(was.rest, was.now.until) }, plan, view);

/** Checks across the fields of a sweep document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const { from, to } = plan;
  if (from === to) return [{ path: ['to'], message: `from and to are both ${from}: name two currencies` }];
  const pair = pairOf(plan);
  const known = world.currencies(pair);
  const names =
    (pair === from + to || pair === to + from) &&
    (known === undefined || [known.base, known.quote].every((one) => one === from || one === to));
  if (!names)
    return [
      {
        path: ['pair'],
        message: `${pair} is not a pair of ${from} and ${to}: write ${from}${to} or ${to}${from}`,
      },
    ];
  const quote = pair === from + to ? to : from;
  return [
    ...checkCurrencies(plan, quote),
    ...atMostOneOf(plan, 'schedule', 'collect'),
    ...checkEnd(plan),
    ...checkInterval(plan),
    ...checkPiece(plan.max_slice_notional?.amount, world.minimum(pair)),
  ];
}

function checkCurrencies(plan: Params, quote: string): readonly Problem[] {
  const cases = [
    ['keep', plan.from],
    ['min_trade_notional', quote],
    ['max_slice_notional', quote],
  ] as const;
  return cases.flatMap(([field, expected]) => {
    const given = plan[field]?.currency;
    if (given === undefined || given === expected) return [];
    return [{ path: [field, 'currency'], message: `${field} must be in ${expected}, not ${given}` }];
  });
}
