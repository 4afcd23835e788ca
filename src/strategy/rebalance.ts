import { z } from 'zod';
import { fraction, money, ratio, scale, size, subtract } from '../core/money.ts';
import type { Ratio } from '../core/money.ts';
import { drifts, isOutside, priceIn, tradedPair } from '../core/portfolio.ts';
import type { Basis } from '../core/portfolio.ts';
import type { Reason } from '../core/reasons.ts';
import { after, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wait, Wake } from '../core/wake.ts';
import { closureAt } from './calendar.ts';
import { defineStrategy } from './kernel.ts';
import type { Step, View } from './kernel.ts';
import {
  blockedBy,
  blockedShape,
  isStanding,
  restUntil,
  saidOf,
  sooner,
  undecided,
} from './rebalance-blocked.ts';
import { check } from './rebalance-check.ts';
import { assetsOf, basisOf, params, targetsOf } from './rebalance-fields.ts';
import type { Params } from './rebalance-fields.ts';
import { ended, legOf, legShape, nextTurn, turnOf, turnUnderWay } from './rebalance-legs.ts';
import type { Leg } from './rebalance-legs.ts';
import { towardsTargets } from './rebalance-distance.ts';
import type { Markets } from './rebalance-distance.ts';
import { tradesFor } from './rebalance-trades.ts';
import type { Market, Trade } from './rebalance-trades.ts';
import { nextTime, occurrencesOf } from './schedule.ts';

const state = z.lazy(() =>
  z.strictObject({
    /** Rebalancings decided so far. */
    decisions: z.int().min(0),
    /** Trades of the one under way: decided once, then only finished. Sells come first. */
    legs: z.array(legShape).readonly(),
    /** Why the last ones traded nothing; left out when they did. */
    blocked: blockedShape.optional(),
  }),
);
type State = z.output<typeof state>;

/**
 * Keeps target weights of portfolio value `V = Σ balance_i · mid_i` (cash at 1). Sells precede buys. Each leg is a
 * parent of its own; what was decided is in the state, so that a restart finishes it and does not decide anew.
 */
export const rebalance = defineStrategy<Params, State>({
  kind: 'rebalance',
  summary: 'keeps target weights of the portfolio value within a band',
  params,
  state,
  pairs: (plan) => assetsOf(plan).map((asset) => tradedPair(asset, basisOf(plan))),
  needsValuation: (plan) => plan.cash === 'usd',
  isReplaceable: () => true,
  check,

  start(plan, begunAt): Step<State> {
    const first: State = { decisions: 0, legs: [] };
    const from = plan.start_time === undefined ? begunAt : parseTime(plan.start_time);
    return { state: first, waits: idle(plan, begunAt, from) };
  },

  step(was, wake, plan, { begunAt, view }): Step<State> {
    if (wake.on === 'outcome') return settle(was, wake, { plan, begunAt, view });
    const { at } = wake;
    const over = endOf(plan, begunAt);
    if (over !== undefined && at >= over) return { state: was, waits: [], finished: 'window_over' };
    const skip = (reason: Reason, note?: string): Step<State> => ({
      state: reason === 'inside_band' || reason === 'below_min_trade' ? unblocked(was) : was,
      waits: idle(plan, begunAt, pauseUntil(plan, at)),
      reason,
      note,
    });
    const fail = (reason: Reason, note?: string): Step<State> => {
      const blocked = undecided(reason, was.blocked);
      if (blocked === was.blocked || plan.schedule !== undefined) return skip(reason, note);
      const waits = idle(plan, begunAt, restUntil(plan, blocked, at));
      return { state: { ...was, blocked }, waits, reason, note, ...saidOf(blocked) };
    };
    if (plan.schedule !== undefined) {
      const late = wake.on === 'at' ? at - wake.due : 0;
      if (late > parseDuration(plan.schedule.misfire_after) && plan.schedule.misfire === 'skip')
        return skip('misfire');
      const closure = closureAt(plan.schedule, at);
      if (closure !== undefined) return skip('blackout', closure.why);
    }
    const closed = plan.hours === undefined ? undefined : closureAt(plan.hours, at);
    if (closed !== undefined) {
      const waits = idle(plan, begunAt, closed.until);
      return { state: was, waits, reason: 'blackout', note: closed.why };
    }
    const decided = decide(plan, view);
    if ('reason' in decided) {
      const isFine = decided.reason === 'inside_band' || decided.reason === 'below_min_trade';
      return (isFine ? skip : fail)(decided.reason, decided.note);
    }
    const decisions = was.decisions + 1;
    const legs = decided.legs.map((trade) => legOf(trade, decisions));
    const now: State = { ...was, decisions, legs };
    // What was decided at this very moment is measured by these prices already.
    return begin(now, { plan, begunAt, view }, { at, capped: decided.capped, isDecidedNow: true });
  },

  slots: () => [],
  notes: (plan) => [
    `a trade is tried for ${plan.leg_timeout} at most; what it lacks is decided anew at the next look`,
    'when a sell lacks something, all buys for cash are cut by as much; a buy whose price has moved stops at its target',
    `no trade borrows${plan.cash_buffer === undefined ? '' : `, and none spends the buffer of ${plan.cash_buffer.amount} ${plan.cash_buffer.currency}`}`,
  ],
  occurrences: ({ schedule }, from, count) =>
    schedule === undefined ? undefined : occurrencesOf(schedule, { from, count }),
});

function endOf(plan: Params, begunAt: Instant): Instant | undefined {
  if (plan.end_time !== undefined) return parseTime(plan.end_time);
  if (plan.duration === undefined) return undefined;
  return after(
    plan.start_time === undefined ? begunAt : parseTime(plan.start_time),
    parseDuration(plan.duration),
  );
}

/** A schedule paces itself; continuous watching rests between decisions. */
const pauseUntil = (plan: Params, at: Instant): Instant =>
  plan.schedule === undefined ? after(at, parseDuration(plan.min_interval)) : at;

/** What an idle strategy waits for: the next time of its schedule, or the portfolio leaving its band; and its end. */
function idle(plan: Params, begunAt: Instant, from: Instant): readonly Wait[] {
  const over = endOf(plan, begunAt);
  const waits: Wait[] = over === undefined ? [] : [{ on: 'at', at: over }];
  if (plan.schedule !== undefined) {
    const at = nextTime(plan.schedule, from);
    if (at !== undefined && (over === undefined || at < over)) waits.push({ on: 'at', at });
  } else {
    waits.push({
      on: 'drift',
      targets: plan.target_weights,
      ...basisOf(plan),
      driftType: plan.drift_type,
      threshold: plan.drift_threshold,
      notBefore: from,
    });
  }
  return waits;
}

type Decision =
  | { readonly legs: readonly Trade[]; readonly capped: boolean }
  | { readonly reason: Reason; readonly note?: string };

/** Values the portfolio, checks the value against the venue's own, and works the trades out. */
function decide(plan: Params, view: View): Decision {
  if (view.holdings === undefined) return { reason: 'no_balances' };
  const basis = basisOf(plan);
  const targets = targetsOf(plan);
  const valued = view.value(targets, basis);
  if (valued === undefined) return unvalued(plan, view);

  const guard = checkValuation(plan, view);
  if (guard !== undefined) return guard;

  const band = { driftType: plan.drift_type, threshold: ratio(plan.drift_threshold) };
  const figures = (): string =>
    [...drifts(valued.weights, targets, plan.drift_type)]
      .map(([currency, drift]) => `${currency} ${percent(drift)}`)
      .join(', ');
  if (!isOutside(valued, targets, band)) return { reason: 'inside_band', note: figures() };
  const result = tradesFor({
    valued,
    targets,
    basis,
    ...band,
    rebalanceTo: plan.rebalance_to,
    onlyDrifted: plan.only_drifted,
    tradeMin: money(plan.min_trade_notional.amount),
    turnoverMax: plan.max_turnover === undefined ? undefined : ratio(plan.max_turnover),
    market: (asset) => marketOf(asset, basis, view),
  });
  if (result.trades.length === 0) return { reason: 'below_min_trade', note: figures() };
  return { legs: result.trades, capped: result.capped };
}

/** Why a portfolio has no value. */
function unvalued(plan: Params, view: View): Decision {
  const basis = basisOf(plan);
  const missing = assetsOf(plan)
    .map((asset) => tradedPair(asset, basis))
    .filter((pair) => view.reference(pair) === undefined);
  return missing.length > 0
    ? { reason: 'no_reference', note: missing.join(', ') }
    : { reason: 'no_balances', note: 'the portfolio is worth nothing' };
}

function marketOf(asset: string, basis: Basis, view: View): Market | undefined {
  const midOf = (pair: string) => view.reference(pair)?.mid;
  const pair = tradedPair(asset, basis);
  const mid = midOf(pair);
  const each = basis.via?.[asset] === undefined ? mid : priceIn(asset, basis, midOf);
  if (mid === undefined || each === undefined) return undefined;
  return { pair, mid, each, precision: view.instrument(pair).basePrecision };
}

const percent = (drift: Ratio): string => `${drift.times(100).toFixed(3)} %`;

/** `V` of everything in the account against the venue's own figure. Fails closed. */
function checkValuation(plan: Params, view: View): Decision | undefined {
  if (plan.cash !== 'usd') return undefined; // the venue values in USD only
  if (view.valuation === undefined) return { reason: 'valuation_unavailable' };
  const ours = view.accountValue(basisOf(plan));
  const tolerance = ratio(plan.valuation_tolerance);
  const away = size(subtract(ours.value, view.valuation));
  // Multiplied out first: what is a hair beyond, or is held against nothing, is divided.
  if (view.valuation.gt(0) && away.lte(scale(view.valuation, tolerance))) return undefined;
  if (
    fraction(away, view.valuation.isZero() ? money('1') : view.valuation)
      .abs()
      .lte(tolerance)
  )
    return undefined;
  const unpriced = ours.unpriced.length === 0 ? '' : `; no price for ${ours.unpriced.join(', ')}`;
  return {
    reason: 'valuation_mismatch',
    note: `ours ${ours.value.toFixed(2)}, the venue's ${view.valuation.toFixed(2)} usd${unpriced}`,
  };
}

/** What stays the same from step to step. */
interface Setting {
  readonly plan: Params;
  readonly begunAt: Instant;
  readonly view: View;
}

interface Beginning {
  readonly at: Instant;
  readonly capped?: boolean;
  readonly isDecidedNow?: boolean;
}

/** What a trade must leave of the currency that it pays with: the buffer of cash, and of everything else no debt. */
const keepOf = (plan: Params, { side, bridge }: Leg): string =>
  side === 'buy' && bridge === undefined ? (plan.cash_buffer?.amount ?? '0') : '0';

/** What the trades of a later turn are held against. */
function marketsOf(plan: Params, view: View): Markets {
  const basis = basisOf(plan);
  const targets = targetsOf(plan);
  return {
    basis,
    targets,
    valued: view.value(targets, basis),
    baseOf: (pair) => view.instrument(pair).base,
    market: (asset) => marketOf(asset, basis, view),
  };
}

/** Starts the trades of the first turn that has not ended; back to idle when none is left. */
function begin(
  was: State,
  setting: Setting,
  { at, capped = false, isDecidedNow = false }: Beginning,
): Step<State> {
  const { plan, view } = setting;
  const { legs, turn } = nextTurn(was.legs, {
    precisionOf: (pair) => view.instrument(pair).basePrecision,
    restrict: (due) => (isDecidedNow ? due : towardsTargets(due, marketsOf(plan, view))),
  });
  const now: State = { ...was, legs };
  if (turn.length === 0) return rest(now, setting, at);
  return {
    state: now,
    waits: turn.map((one) => ({ on: 'outcome', leg: one.leg, slice: 0 })),
    intents: turn.map((one) => ({
      leg: one.leg,
      slice: 0,
      pair: one.pair,
      side: one.side,
      size: { by: 'quantity', quantity: one.due },
      tactics: { keep: keepOf(plan, one) },
      deadline: after(at, parseDuration(plan.leg_timeout)),
    })),
    reason: capped ? 'turnover_capped' : undefined,
  };
}

/** After the last trade: as long as always, or longer each time when limits stood in the way of all. A schedule goes its way. */
function rest(was: State, { plan, begunAt, view }: Setting, at: Instant): Step<State> {
  const over: State = { ...unblocked(was), legs: [] };
  const blocked = plan.schedule === undefined ? blockedBy(was.legs, was.blocked) : undefined;
  if (blocked === undefined) return { state: over, waits: idle(plan, begunAt, pauseUntil(plan, at)) };
  const until = restUntil(plan, blocked, at);
  const waits = idle(plan, begunAt, until);
  const isLonger = isStanding(blocked) && until > pauseUntil(plan, at);
  return {
    state: { ...over, blocked },
    waits: isLonger ? [...waits, ...sooner(plan, blocked, { at, view })] : waits,
    ...saidOf(blocked),
  };
}

const unblocked = ({ decisions, legs }: State): State => ({ decisions, legs });

/** One leg has ended: waits for its companions, then starts the next turn. */
function settle(was: State, { at, outcome }: Wake & { on: 'outcome' }, setting: Setting): Step<State> {
  const told = was.legs.find((one) => one.leg === outcome.leg);
  const isNews = told !== undefined && !told.ended;
  const underWay = turnUnderWay(was.legs);
  const legs = was.legs.map((one) =>
    one === told && isNews ? ended(one, outcome.filled, outcome.reason) : one,
  );
  const companions = legs.filter((one) => !one.ended && turnOf(one) === underWay);
  // An outcome that was heard before, or of no leg of ours, starts nothing: what is open has been started already.
  if (companions.length === 0 && (isNews || legs.every((one) => one.ended))) {
    return begin({ ...was, legs }, setting, { at });
  }
  return {
    state: { ...was, legs },
    waits: companions.map((one) => ({ on: 'outcome', leg: one.leg, slice: 0 })),
    reason: 'waiting',
  };
}
