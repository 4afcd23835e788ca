import { z } from 'zod';
import { add, money, ONE, ratio, scale, size, subtract, text } from '../../../core/money.ts';
import {
  drifts,
  isOutside,
  priceIn,
  targetsOf as readTargets,
  tradedPair,
} from '../../../core/risk/portfolio.ts';
import type { Basis, Targets } from '../../../core/risk/portfolio.ts';
import type { Reason } from '../../../core/reasons.ts';
import { after, parseDuration } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Intent, Wait, Wake } from '../../../core/wake.ts';
import { closureAt, notOpenWords } from '../../calendar/calendar.ts';
import { atMostOneOf } from '../../checks.ts';
import { amountOf, currencySymbol, durationText, fractionText, timeText } from '../../fields.ts';
import { defineStrategy } from '../../kernel.ts';
import type { CheckWorld, Problem, Step, View } from '../../kernel.ts';
import {
  blockedBy,
  blockedShape,
  isStanding,
  restUntil,
  saidOf,
  sooner,
  undecided,
} from './rebalance-blocked.ts';
import { sizeOf } from '../../worker/total.ts';
import { checkEnd, endOf, startOf } from '../../worker/window.ts';
import { reachableWeights } from './rebalance-delisted.ts';
import { towardsTargets } from './rebalance-distance.ts';
import { ended, legOf, legShape, nextTurn, turnUnderWay } from './rebalance-legs.ts';
import type { TurnSizing } from './rebalance-legs.ts';
import { isSpreading, legsField, settleSlice, spreadLeg, workLegs } from './rebalance-spread.ts';
import type { SliceDue } from './rebalance-spread.ts';
import { tradesFor } from './rebalance-trades.ts';
import type { AssetMarket, Trade } from './rebalance-trades.ts';
import { hasTimes, nextTime, occurrencesOf, openScheduleFields } from '../../calendar/schedule.ts';

/** The fields of a rebalance document. */
const params = z.lazy(() =>
  z.strictObject({
    target_weights: z
      .record(currencySymbol, fractionText)
      .describe('Target share of portfolio value of each currency, as quoted strings; the shares sum to 1'),
    cash: currencySymbol
      .default('usd')
      .describe(
        'Currency against which the others are bought and sold, and in which the portfolio is valued',
      ),
    drift_type: z
      .enum(['absolute', 'relative'])
      .default('absolute')
      .describe('absolute: weight minus target. relative: weight minus target, divided by the target'),
    drift_threshold: fractionText.describe(
      'Drift beyond which the portfolio is rebalanced, as a fraction: "0.02" is 2 %',
    ),
    rebalance_to: z
      .enum(['target', 'band_edge'])
      .default('target')
      .describe('target: trades back to the target weights. band_edge: trades only to the edge of the band'),
    only_drifted: z.boolean().default(false).describe('Trade only the currencies outside their band'),
    sells: z
      .boolean()
      .default(true)
      .describe('false: nothing is sold; cash above its band buys what lacks most'),
    cash_buffer: amountOf(
      'Cash kept outside the portfolio: it is neither valued nor spent. If the account holds less, assets are sold',
    ).optional(),
    via: z
      .record(currencySymbol, currencySymbol)
      .default({})
      .describe(
        'Currencies that have no pair against cash, each with the currency that it is traded against. For example, sol: btc trades solbtc, and then btc against cash. The second currency must also be a target and have a pair against cash',
      ),
    min_trade_notional: amountOf('Trades below this are skipped; in cash').default({
      amount: '10',
      currency: 'usd',
    }),
    max_turnover: fractionText
      .optional()
      .describe('Largest traded share of portfolio value in one rebalancing, one-way'),
    valuation_tolerance: fractionText
      .default('0.1')
      .describe(
        "Largest relative difference between the desk's and the venue's valuation; if the difference is larger, nothing trades",
      ),
    schedule: openScheduleFields
      .optional()
      .describe(
        'Check the portfolio at these times; without cron and every: at every new price, except in its closed hours',
      ),
    min_interval: durationText
      .default('PT1M')
      .describe(
        'Minimum time between two decisions without a schedule, ISO 8601; rises to at most an hour while limits block all trades',
      ),
    legs: legsField(),
    leg_timeout: durationText
      .default('PT2M')
      .describe(
        'Maximum time to try a trade of a rebalancing, ISO 8601; with legs, a slice is tried until the next slice starts',
      ),
    start_time: timeText.optional().describe('Start, with its zone; default: when the strategy first runs'),
    end_time: timeText.optional().describe('End of decisions, with its zone'),
    duration: durationText.optional().describe('Time from the start to the end of decisions, ISO 8601'),
  }),
);
type Params = z.output<typeof params>;

/** The schedule, if it has times: otherwise the portfolio is checked at every new price. */
const timesOf = ({ schedule }: Params): Params['schedule'] =>
  schedule !== undefined && hasTimes(schedule) ? schedule : undefined;

const targetsOf = ({ target_weights: targets }: Params): Targets => readTargets({ targets });

const assetsOf = (plan: Params): readonly string[] =>
  Object.keys(plan.target_weights).filter((currency) => currency !== plan.cash);
const basisOf = ({ cash, via, cash_buffer: buffer }: Params): Basis => ({
  cash,
  ...(Object.keys(via).length === 0 ? {} : { via }),
  ...(buffer === undefined ? {} : { aside: buffer.amount }),
});
const pairsOf = (plan: Params): readonly string[] =>
  assetsOf(plan).map((asset) => tradedPair(asset, basisOf(plan)));

/** Returns the document with the weights that it can still reach. */
function reachable(plan: Params, view: View): Params {
  const weights = reachableWeights(plan.target_weights, basisOf(plan), view);
  return weights === plan.target_weights ? plan : { ...plan, target_weights: weights };
}

const state = z.lazy(() =>
  z.strictObject({
    /** Rebalancings decided so far. */
    decisions: z.int().min(0),
    /** Trades of the current rebalancing. They are decided once, and then only completed. Sells come first. */
    legs: z.array(legShape).readonly(),
    /** Why the last rebalancings traded nothing; omitted if they traded. */
    blocked: blockedShape.optional(),
  }),
);
type State = z.output<typeof state>;

/**
 * Keeps target weights of portfolio value `V = Σ balance_i · mid_i` (cash at 1). Sells precede buys. Each leg is a
 * parent of its own. The state holds the decisions, so that a restart completes them instead of deciding again.
 */
export const rebalance = defineStrategy<Params, State>({
  kind: 'rebalance',
  summary: 'keeps target weights of the portfolio value within a band',
  params,
  state,
  of: (document) => ({
    pairs: pairsOf(document),
    needsValuation: document.cash === 'usd',
    runFault: ({ legs }, at) => {
      const schedule = timesOf(document);
      if (schedule === undefined)
        return 'it already checks every price: only a rebalance with a schedule can run now';
      if (legs.length > 0) return 'its rebalancing is in progress';
      return notOpenWords({ ...document, schedule }, at);
    },
    isReplaceable: ({ legs }) => !legs.some(isSpreading),
    check: (world) => check(document, world),

    start(begunAt, view) {
      const plan = reachable(document, view);
      return { state: { decisions: 0, legs: [] }, waits: idle(plan, begunAt, startOf(plan, begunAt)) };
    },

    step(was, wake, { begunAt, view }) {
      const plan = reachable(document, view);
      if (wake.on === 'outcome') return settle(was, wake, { plan, begunAt, view });
      const { at } = wake;
      if (was.legs.some(isSpreading)) return work(was, { plan, begunAt, view }, { at });
      const over = endOf(plan, begunAt);
      if (over !== undefined && at >= over) return { state: was, waits: [], finished: 'window_over' };
      const usual = idle(plan, begunAt, pauseUntil(plan, at));
      const portfolio = { at, view, targets: targetsOf(plan), basis: basisOf(plan) };
      const skip = (reason: Reason, note?: string): Step<State> => ({
        state: reason === 'inside_band' || reason === 'below_min_trade' ? unblocked(was) : was,
        // A weight that no purchase moves would end the usual wait again and again.
        waits: plan.sells
          ? usual
          : usual.flatMap((wait) => (wait.on === 'drift' ? sooner(plan, { times: 1 }, portfolio) : wait)),
        reason,
        note,
      });
      const fail = (reason: Reason, note?: string): Step<State> => {
        const blocked = undecided(reason, was.blocked);
        if (blocked === was.blocked || timesOf(plan) !== undefined) return skip(reason, note);
        const waits = idle(plan, begunAt, restUntil(plan, blocked, at));
        return { state: { ...was, blocked }, waits, reason, note, ...saidOf(blocked) };
      };
      const schedule = timesOf(plan);
      const late = wake.on === 'at' ? at - wake.due : 0;
      if (schedule?.misfire === 'skip' && late > parseDuration(schedule.misfire_after))
        return skip('missed_slot');
      const closed = plan.schedule && closureAt(plan.schedule, at);
      if (closed !== undefined) {
        if (schedule !== undefined) return skip('blackout', closed.why);
        const waits = idle(plan, begunAt, closed.until);
        return { state: was, waits, reason: 'blackout', note: closed.why };
      }
      const decided = decide(plan, view);
      if ('reason' in decided) {
        const isFine = decided.reason === 'inside_band' || decided.reason === 'below_min_trade';
        return (isFine ? skip : fail)(decided.reason, decided.note);
      }
      const decisions = was.decisions + 1;
      const legs = decided.legs.map((trade) =>
        legOf(trade, decisions, view.orderMax(trade.pair, trade.side)),
      );
      const now: State = { ...was, decisions, legs };
      // A decision made at this moment already used these prices.
      return begin(now, { plan, begunAt, view }, { at, capped: decided.capped, isDecidedNow: true });
    },

    notes: [
      document.legs === undefined
        ? `a trade may be tried for at most ${document.leg_timeout}; the next check decides its remainder again`
        : `each trade is spread over ${document.legs.duration} in up to ${document.legs.slices} slices, sells first; the next check decides its remainder again`,
      document.sells
        ? 'if a sell trades less, all buys for cash are cut by as much; a buy stops at its target if its price has moved'
        : 'nothing is sold: cash above its target buys what lacks most',
      `no trade borrows${document.cash_buffer === undefined ? '' : `, and no trade spends the buffer of ${document.cash_buffer.amount} ${document.cash_buffer.currency}`}`,
    ],
    occurrences(from, count) {
      const schedule = timesOf(document);
      return schedule && occurrencesOf(schedule, { from, count });
    },
  }),
});

/** Returns when the next decision may come. A schedule sets its own pace; without one, a strategy pauses between decisions. */
const pauseUntil = (plan: Params, at: Instant): Instant =>
  timesOf(plan) === undefined ? after(at, parseDuration(plan.min_interval)) : at;

/**
 * Returns the waits of an idle strategy: for the next time of its schedule or for the portfolio to leave its band, and
 * for its end.
 */
function idle(plan: Params, begunAt: Instant, from: Instant): readonly Wait[] {
  const over = endOf(plan, begunAt);
  const waits: Wait[] = over === undefined ? [] : [{ on: 'at', at: over }];
  const schedule = timesOf(plan);
  if (schedule !== undefined) {
    const at = nextTime(schedule, from);
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

/** Values the portfolio, checks the value against the venue's valuation, and computes the trades. */
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
      .map(([currency, drift]) => `${currency} ${drift.times(100).toFixed(3)} %`)
      .join(', ');
  const isDue = plan.sells
    ? isOutside(valued, targets, band)
    : drifts(valued.weights, targets, plan.drift_type).get(plan.cash)?.gt(band.threshold) === true;
  if (!isDue) return { reason: 'inside_band', note: figures() };
  const result = tradesFor({
    valued,
    targets,
    basis,
    ...band,
    rebalanceTo: plan.rebalance_to,
    onlyDrifted: plan.only_drifted,
    sells: plan.sells,
    tradeMin: money(plan.min_trade_notional.amount),
    turnoverMax: plan.max_turnover === undefined ? undefined : ratio(plan.max_turnover),
    market: (asset) => marketOf(asset, basis, view),
  });
  if (result.trades.length === 0) return { reason: 'below_min_trade', note: figures() };
  return { legs: result.trades, capped: result.capped };
}

/** Returns why a portfolio has no value. */
function unvalued(plan: Params, view: View): Decision {
  const missing = pairsOf(plan).filter((pair) => view.reference(pair) === undefined);
  return missing.length > 0
    ? { reason: 'no_reference', note: missing.join(', ') }
    : { reason: 'no_balances', note: 'the portfolio is worth nothing' };
}

function marketOf(asset: string, basis: Basis, view: View): AssetMarket | undefined {
  const midOf = (pair: string) => view.reference(pair)?.mid;
  const pair = tradedPair(asset, basis);
  const mid = midOf(pair);
  const each = basis.via?.[asset] === undefined ? mid : priceIn(asset, basis, midOf);
  if (mid === undefined || each === undefined) return undefined;
  return { pair, mid, each, precision: view.instrument(pair).basePrecision };
}

/** Compares `V` of everything in the account with the venue's valuation. Fails closed. */
function checkValuation(plan: Params, view: View): Decision | undefined {
  if (plan.cash !== 'usd') return undefined; // the venue values in USD only
  if (view.valuation === undefined)
    return { reason: 'valuation_mismatch', note: 'the venue returned no valuation' };
  const ours = view.accountValue(basisOf(plan));
  const tolerance = ratio(plan.valuation_tolerance);
  const away = size(subtract(ours.value, view.valuation));
  if (away.lte(scale(view.valuation.isZero() ? money('1') : size(view.valuation), tolerance)))
    return undefined;
  const unpriced = ours.unpriced.length === 0 ? '' : `; no price for ${ours.unpriced.join(', ')}`;
  return {
    reason: 'valuation_mismatch',
    note: `ours ${ours.value.toFixed(2)}, the venue's ${view.valuation.toFixed(2)} usd${unpriced}`,
  };
}

/** Values that stay the same within a step. */
interface Setting {
  readonly plan: Params;
  readonly begunAt: Instant;
  readonly view: View;
}

interface Beginning {
  readonly at: Instant;
  readonly capped?: boolean;
  /** Whether the trades were decided at the prices of this step. */
  readonly isDecidedNow?: boolean;
}

/** Returns how the trades of a turn are sized. Trades of an earlier decision are cut by the current portfolio. */
function sizingOf({ plan, view }: Setting, isDecidedNow: boolean): TurnSizing {
  const basis = basisOf(plan);
  const targets = targetsOf(plan);
  return {
    precisionOf: (pair) => view.instrument(pair).basePrecision,
    restrict: (due) =>
      isDecidedNow
        ? due
        : towardsTargets(due, {
            basis,
            targets,
            valued: view.value(targets, basis),
            market: (asset) => marketOf(asset, basis, view),
          }),
  };
}

/** Starts the trades of the first unfinished turn; becomes idle when none is left. */
function begin(
  was: State,
  setting: Setting,
  { at, capped = false, isDecidedNow = false }: Beginning,
): Step<State> {
  const { plan, view } = setting;
  const { legs, turn } = nextTurn(was.legs, sizingOf(setting, isDecidedNow));
  const now: State = { ...was, legs };
  if (turn.length === 0) return rest(now, setting, at);
  const { legs: slow } = plan;
  if (slow !== undefined) {
    const spread = new Map(turn.map((one) => [one.leg, spreadLeg(one, at, { legs: slow, view })]));
    const begun = legs.map((one) => spread.get(one.leg) ?? one);
    return work({ ...was, legs: begun }, setting, { at, capped, isDecidedNow: true });
  }
  const deadline = after(at, parseDuration(plan.leg_timeout));
  return {
    state: now,
    waits: turn.map((one) => ({ on: 'outcome', leg: one.leg, slice: 0 })),
    intents: turn.map((one) => intentOf({ ...one, slice: 0, deadline }, plan)),
    reason: capped ? 'turnover_capped' : undefined,
  };
}

/**
 * Returns the intent of a trade. It leaves the cash buffer in the account, and spends nothing that is not there. A trade
 * above a limit per order is split into orders within it.
 */
function intentOf({ leg, slice, pair, side, due, deadline, bridge, split }: SliceDue, plan: Params): Intent {
  const keep = side === 'buy' && bridge === undefined ? (plan.cash_buffer?.amount ?? '0') : '0';
  const tactics = { keep, ...(split === undefined ? {} : { split }) };
  return { leg, slice, pair, side, size: sizeOf('quantity', due), tactics, deadline };
}

/** Starts the slices of spread trades whose slots have come. */
function work(
  was: State,
  setting: Setting,
  { at, capped = false, isDecidedNow = false }: Beginning,
): Step<State> {
  const { plan } = setting;
  if (plan.legs === undefined) return begin(was, setting, { at });
  const sizing = { ...sizingOf(setting, isDecidedNow), legs: plan.legs };
  const { legs, starting, waits, missed } = workLegs(was.legs, at, sizing);
  const now: State = { ...was, legs };
  const told = missed.length === 0 ? {} : { missed };
  if (waits.length === 0) return { ...told, ...begin(now, setting, { at }) };
  const waiting = starting.length === 0 ? 'waiting' : undefined;
  return {
    state: now,
    waits,
    intents: starting.map((one) => intentOf(one, plan)),
    ...told,
    reason: capped ? 'turnover_capped' : missed.length > 0 ? 'missed_slot' : waiting,
  };
}

/**
 * Becomes idle after the last trade, for the usual time or, while limits block all trades, longer each time. A schedule
 * is not affected.
 */
function rest(was: State, { plan, begunAt, view }: Setting, at: Instant): Step<State> {
  const over: State = { ...unblocked(was), legs: [] };
  const end = endOf(plan, begunAt);
  // Slices may last beyond the end, and the strategy then does not wait for the end again.
  if (plan.legs !== undefined && end !== undefined && at >= end)
    return { state: over, waits: [], finished: 'window_over' };
  const blocked = timesOf(plan) === undefined ? blockedBy(was.legs, was.blocked) : undefined;
  if (blocked === undefined) return { state: over, waits: idle(plan, begunAt, pauseUntil(plan, at)) };
  const until = restUntil(plan, blocked, at);
  const waits = idle(plan, begunAt, until);
  const isLonger = isStanding(blocked) && until > pauseUntil(plan, at);
  return {
    state: { ...over, blocked },
    waits: isLonger
      ? [...waits, ...sooner(plan, blocked, { at, view, targets: targetsOf(plan), basis: basisOf(plan) })]
      : waits,
    ...saidOf(blocked),
  };
}

const unblocked = ({ decisions, legs }: State): State => ({ decisions, legs });

/** Handles the end of a leg. Waits for the other legs of its turn, then starts the next turn. */
function settle(was: State, { at, outcome }: Wake & { on: 'outcome' }, setting: Setting): Step<State> {
  const told = was.legs.find((one) => one.leg === outcome.leg);
  const isNews = told !== undefined && !told.ended;
  if (told?.spread !== undefined || was.legs.some(isSpreading)) {
    const settled = was.legs.map((one) =>
      one === told && isSpreading(one) ? settleSlice(one, one.spread, outcome) : one,
    );
    return work({ ...was, legs: settled }, setting, { at });
  }
  const underWay = turnUnderWay(was.legs);
  const legs = was.legs.map((one) =>
    one === told && isNews ? ended(one, outcome.filled, outcome.reason) : one,
  );
  const companions = legs.filter((one) => !one.ended && one.turn === underWay);
  // An outcome that is already booked, or that belongs to another leg, starts nothing.
  if (companions.length === 0 && (isNews || legs.every((one) => one.ended))) {
    return begin({ ...was, legs }, setting, { at });
  }
  return {
    state: { ...was, legs },
    waits: companions.map((one) => ({ on: 'outcome', leg: one.leg, slice: 0 })),
    reason: 'waiting',
  };
}

/** Checks across the fields of a rebalance document. */
function check(plan: Params, world: CheckWorld): readonly Problem[] {
  const problems: Problem[] = [];
  const sum = Object.values(plan.target_weights).reduce(
    (total, weight) => add(total, ratio(weight)),
    ratio('0'),
  );
  if (!sum.eq(ONE)) {
    const away = subtract(ONE, sum);
    const fix = away.gt(0) ? `add ${text(away)}` : `subtract ${text(size(away))}`;
    problems.push({ path: ['target_weights'], message: `the weights sum to ${text(sum)}, not 1: ${fix}` });
  }
  if (assetsOf(plan).length === 0) {
    problems.push({ path: ['target_weights'], message: `name at least one currency besides ${plan.cash}` });
  }
  for (const field of ['min_trade_notional', 'cash_buffer'] as const) {
    if ((plan[field]?.currency ?? plan.cash) === plan.cash) continue;
    const message = `${field} must be in the cash currency: write ${plan.cash}`;
    problems.push({ path: [field, 'currency'], message });
  }
  problems.push(...atMostOneOf(plan, 'end_time', 'duration'));
  problems.push(...checkEnd(plan));
  return [...problems, ...checkVia(plan), ...checkPairs(plan, world)];
}

function checkPairs(plan: Params, world: CheckWorld): readonly Problem[] {
  return assetsOf(plan).flatMap((asset) => {
    const known = world.currencies(tradedPair(asset, basisOf(plan)));
    if (known === undefined || known.base === asset) return [];
    const message = `there is no pair ${asset}/${plan.via[asset] ?? plan.cash}`;
    return [{ path: ['target_weights', asset], message }];
  });
}

/** Checks the bridging currencies, each of which must itself have a pair against cash. */
function checkVia(plan: Params): readonly Problem[] {
  const assets = assetsOf(plan);
  return Object.entries(plan.via).flatMap(([asset, bridge]) => {
    const path = ['via', asset];
    if (!assets.includes(asset))
      return [{ path, message: `${asset} is not among target_weights: remove it here, or give it a weight` }];
    if (bridge === plan.cash)
      return [{ path, message: `${bridge} is the cash currency: remove ${asset} from via` }];
    if (bridge === asset || !assets.includes(bridge))
      return [
        {
          path,
          message: `name another currency of target_weights than ${asset}; it may have a weight of "0"`,
        },
      ];
    if (plan.via[bridge] !== undefined)
      return [{ path, message: `${bridge} has no pair against ${plan.cash}: name a currency that has one` }];
    return [];
  });
}
