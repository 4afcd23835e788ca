import { z } from 'zod';
import { add, fraction, money, ONE, quantity, ratio, size, subtract, text } from '../core/money.ts';
import type { Ratio } from '../core/money.ts';
import { drifts, largestDrift } from '../core/portfolio.ts';
import type { Targets } from '../core/portfolio.ts';
import type { Reason } from '../core/reasons.ts';
import { after, parseDuration, parseTime } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wait, Wake } from '../core/wake.ts';
import { closureAt } from './calendar.ts';
import { amountOf, currencySymbol, durationText, fractionText, timeText } from './fields.ts';
import { defineStrategy } from './kernel.ts';
import type { CheckWorld, Problem, Step, View } from './kernel.ts';
import { tradesFor } from './rebalance-trades.ts';
import type { Trade } from './rebalance-trades.ts';
import { nextTime, occurrencesOf, scheduleFields } from './schedule.ts';

const params = z.strictObject({
  target_weights: z
    .record(currencySymbol, fractionText)
    .describe('Target share of portfolio value of each currency, in quotes; the shares sum to 1'),
  cash: currencySymbol
    .default('usd')
    .describe('Currency that is bought and sold against, and that values the portfolio'),
  drift_type: z
    .enum(['absolute', 'relative'])
    .default('absolute')
    .describe('absolute: weight minus target. relative: that, divided by the target'),
  drift_threshold: fractionText.describe(
    'Drift beyond which the portfolio is rebalanced, a fraction: 2 % is "0.02"',
  ),
  rebalance_to: z
    .enum(['target', 'band_edge'])
    .default('target')
    .describe('target: back to the target weights. band_edge: only as far as the edge of the band'),
  only_drifted: z.boolean().default(false).describe('Trade only the currencies outside their band'),
  min_trade_notional: amountOf('Smaller trades are left out; in cash').default({
    amount: '10',
    currency: 'usd',
  }),
  max_turnover: fractionText
    .optional()
    .describe('Largest traded share of portfolio value in one rebalancing, one-way'),
  valuation_tolerance: fractionText
    .default('0.1')
    .describe(
      "Largest relative difference between our valuation and the venue's own; beyond it nothing trades",
    ),
  schedule: scheduleFields
    .optional()
    .describe('Look at the portfolio at these times; give this or continuous'),
  continuous: z.boolean().optional().describe('Look at the portfolio at every price; give this or schedule'),
  min_interval: durationText
    .default('PT1M')
    .describe('Least time between two decisions when continuous, ISO 8601'),
  leg_timeout: durationText
    .default('PT2M')
    .describe('How long a trade of a rebalancing may be tried, ISO 8601'),
  start_time: timeText
    .optional()
    .describe('Not before, with its zone; left out: when the strategy is first run'),
  end_time: timeText.optional().describe('No new decision from here on, with its zone'),
  duration: durationText.optional().describe('No new decision after this long from the start, ISO 8601'),
});
type Params = z.output<typeof params>;

const leg = z.strictObject({
  leg: z.string(),
  pair: z.string(),
  side: z.enum(['buy', 'sell']),
  quantity: z.string(),
  ended: z.boolean(),
});
type Leg = z.output<typeof leg>;

const state = z.strictObject({
  /** Rebalancings decided so far. */
  decisions: z.int().min(0),
  /** Trades of the one under way: decided once, then only finished. Sells come first. */
  legs: z.array(leg),
});
type State = z.output<typeof state>;

const targetsOf = (plan: Params): Targets =>
  new Map(Object.entries(plan.target_weights).map(([currency, weight]) => [currency, ratio(weight)]));

/**
 * Keeps target weights of portfolio value `V = Σ balance_i · mid_i` (cash at 1). Sells precede buys. Each leg is a
 * parent of its own; what was decided is in the state, so that a restart finishes it and does not decide anew.
 */
export const rebalance = defineStrategy<Params, State>({
  kind: 'rebalance',
  summary: 'keeps target weights of portfolio value within a band',
  params,
  state,
  pairs: (plan) => assetsOf(plan).map((asset) => asset + plan.cash),
  needsValuation: (plan) => plan.cash === 'usd',
  isReplaceable: true,
  check,

  start(plan, begunAt): Step<State> {
    const first: State = { decisions: 0, legs: [] };
    const from = plan.start_time === undefined ? begunAt : parseTime(plan.start_time);
    return { state: first, waits: idle(plan, begunAt, from) };
  },

  step(was, wake, plan, { begunAt, view }): Step<State> {
    if (wake.on === 'outcome') return settle(was, wake, plan, begunAt);
    const { at } = wake;
    const over = endOf(plan, begunAt);
    if (over !== undefined && at >= over) return { state: was, waits: [], finished: 'window_over' };
    const skip = (reason: Reason, note?: string): Step<State> => ({
      state: was,
      waits: idle(plan, begunAt, pauseUntil(plan, at)),
      reason,
      note,
    });
    if (plan.schedule !== undefined) {
      const late = wake.on === 'at' ? at - wake.due : 0;
      if (late > parseDuration(plan.schedule.misfire_after) && plan.schedule.misfire === 'skip')
        return skip('misfire');
      const closure = closureAt(plan.schedule, at);
      if (closure !== undefined) return skip('blackout', closure.why);
    }
    const decided = decide(plan, view);
    if ('reason' in decided) return skip(decided.reason, decided.note);
    return begin(
      { decisions: was.decisions + 1, legs: decided.legs.map((trade) => legOf(trade, was.decisions + 1)) },
      plan,
      {
        at,
        begunAt,
        capped: decided.capped,
      },
    );
  },

  slots: () => [],
  occurrences: ({ schedule }, from, count) =>
    schedule === undefined ? undefined : occurrencesOf(schedule, { from, count }),
});

const assetsOf = (plan: Params): readonly string[] =>
  Object.keys(plan.target_weights).filter((c) => c !== plan.cash);

const legOf = (trade: Trade, decision: number): Leg => ({
  leg: `${decision}.${trade.pair}.${trade.side}`,
  pair: trade.pair,
  side: trade.side,
  quantity: text(trade.quantity),
  ended: false,
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
      cash: plan.cash,
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
  const { holdings } = view;
  if (holdings === undefined) return { reason: 'no_balances' };
  const missing = assetsOf(plan).filter((asset) => view.reference(asset + plan.cash) === undefined);
  if (missing.length > 0)
    return { reason: 'no_reference', note: missing.map((asset) => asset + plan.cash).join(', ') };
  const targets = targetsOf(plan);
  const valued = view.value(targets, plan.cash);
  if (valued === undefined) return { reason: 'no_balances', note: 'the portfolio is worth nothing' };

  const guard = checkValuation(plan, view);
  if (guard !== undefined) return guard;

  const all = drifts(valued.weights, targets, plan.drift_type);
  const worst = largestDrift(all);
  const figures = [...all].map(([currency, drift]) => `${currency} ${percent(drift)}`).join(', ');
  if (worst.lte(ratio(plan.drift_threshold))) return { reason: 'inside_band', note: figures };
  const result = tradesFor({
    valued,
    targets,
    cash: plan.cash,
    drifts: all,
    threshold: ratio(plan.drift_threshold),
    driftType: plan.drift_type,
    rebalanceTo: plan.rebalance_to,
    onlyDrifted: plan.only_drifted,
    tradeMin: money(plan.min_trade_notional.amount),
    turnoverMax: plan.max_turnover === undefined ? undefined : ratio(plan.max_turnover),
    market: (asset) => {
      const pair = asset + plan.cash;
      const mid = view.reference(pair)?.mid;
      return mid === undefined ? undefined : { pair, mid, precision: view.instrument(pair).basePrecision };
    },
  });
  if (result.trades.length === 0) return { reason: 'below_min_trade', note: figures };
  return { legs: result.trades, capped: result.capped };
}

const percent = (drift: Ratio): string => `${drift.times(100).toFixed(3)} %`;

/** `V` of everything in the account against the venue's own figure. Fails closed. */
function checkValuation(plan: Params, view: View): Decision | undefined {
  if (plan.cash !== 'usd') return undefined; // the venue values in USD only
  if (view.valuation === undefined) return { reason: 'valuation_unavailable' };
  const ours = view.accountValue(plan.cash);
  const away = size(
    fraction(subtract(ours.value, view.valuation), view.valuation.isZero() ? money('1') : view.valuation),
  );
  if (away.lte(ratio(plan.valuation_tolerance))) return undefined;
  const unpriced = ours.unpriced.length === 0 ? '' : `; no price for ${ours.unpriced.join(', ')}`;
  return {
    reason: 'valuation_mismatch',
    note: `ours ${ours.value.toFixed(2)}, the venue's ${view.valuation.toFixed(2)} usd${unpriced}`,
  };
}

interface Moment {
  readonly at: Instant;
  readonly begunAt: Instant;
  readonly capped?: boolean;
}

/** Starts the sells, or the buys when no sell is left; back to idle when nothing is. */
function begin(now: State, plan: Params, { at, begunAt, capped = false }: Moment): Step<State> {
  const open = now.legs.filter((one) => !one.ended);
  const side = open.some((one) => one.side === 'sell') ? 'sell' : 'buy';
  const turn = open.filter((one) => one.side === side);
  if (turn.length === 0) {
    return { state: { ...now, legs: [] }, waits: idle(plan, begunAt, pauseUntil(plan, at)) };
  }
  return {
    state: now,
    waits: turn.map((one) => ({ on: 'outcome', leg: one.leg, slice: 0 })),
    intents: turn.map((one) => ({
      leg: one.leg,
      slice: 0,
      pair: one.pair,
      side: one.side,
      size: { by: 'quantity', quantity: quantity(one.quantity) },
      deadline: after(at, parseDuration(plan.leg_timeout)),
    })),
    reason: capped ? 'turnover_capped' : undefined,
  };
}

/** One leg has ended: waits for its companions, then starts the other side. */
function settle(was: State, wake: Wake & { on: 'outcome' }, plan: Params, begunAt: Instant): Step<State> {
  const told = was.legs.find((one) => one.leg === wake.outcome.leg);
  const isNews = told !== undefined && !told.ended;
  const legs = was.legs.map((one) => (one === told ? { ...one, ended: true } : one));
  const open = legs.filter((one) => !one.ended);
  const underWay = was.legs.some((one) => !one.ended && one.side === 'sell') ? 'sell' : 'buy';
  const companions = open.filter((one) => one.side === underWay);
  // An outcome that was heard before, or of no leg of ours, starts nothing: what is open has been started already.
  if (companions.length === 0 && (isNews || open.length === 0)) {
    return begin({ ...was, legs }, plan, { at: wake.at, begunAt });
  }
  return {
    state: { ...was, legs },
    waits: companions.map((one) => ({ on: 'outcome', leg: one.leg, slice: 0 })),
    reason: 'waiting',
  };
}

function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [];
  const sum = Object.values(plan.target_weights).reduce(
    (total, weight) => add(total, ratio(weight)),
    ratio('0'),
  );
  if (!sum.eq(ONE)) {
    const away = subtract(ONE, sum);
    const fix = away.gt(0) ? `add ${text(away)}` : `take ${text(size(away))} away`;
    problems.push({ path: ['target_weights'], message: `the weights sum to ${text(sum)}, not 1: ${fix}` });
  }
  if (assetsOf(plan).length === 0) {
    problems.push({ path: ['target_weights'], message: `name at least one currency besides ${plan.cash}` });
  }
  if ((plan.schedule === undefined) === (plan.continuous !== true)) {
    const both = plan.schedule !== undefined;
    problems.push({
      path: both ? ['continuous'] : [],
      message: both
        ? 'give either schedule or continuous: true, not both'
        : 'give schedule, or continuous: true',
    });
  }
  if (plan.min_trade_notional.currency !== plan.cash) {
    problems.push({
      path: ['min_trade_notional', 'currency'],
      message: `min_trade_notional is counted in the cash currency: write ${plan.cash}`,
    });
  }
  if (plan.end_time !== undefined && plan.duration !== undefined) {
    problems.push({ path: ['duration'], message: 'give either end_time or duration, not both: remove one' });
  }
  if (plan.start_time !== undefined && plan.end_time !== undefined) {
    if (parseTime(plan.end_time) <= parseTime(plan.start_time))
      problems.push({ path: ['end_time'], message: 'end_time must be later than start_time' });
  }
  for (const asset of assetsOf(plan)) {
    const known = world.currencies(asset + plan.cash);
    if (known !== undefined && known.base !== asset) {
      problems.push({ path: ['target_weights', asset], message: `there is no pair ${asset}/${plan.cash}` });
    }
  }
  return problems;
}
