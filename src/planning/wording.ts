import { forTerminal } from '../core/text/escape.ts';
import { add, approximate, NO_QUANTITY, quantity, roundEven, text } from '../core/money.ts';
import { instant, isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Wait } from '../core/wake.ts';
import type { ParentProgress } from '../strategy/kernel.ts';
import { checksOf, figure, isFeasible, reasonOf } from './checks.ts';
import type { Check, CheckOptions } from './checks.ts';
import { ordersAYear } from '../strategy/kinds/rebalance/rebalance-orders.ts';
import { isShort, listingOf, paidFor } from './listing.ts';
import type { Listing, PlannedSlice, PlannedStrategy } from './listing.ts';
import type { Rehearsal } from './rehearse.ts';

/** A plan as text for people and as data. */
export interface Plan extends Listing {
  readonly rehearsal: Rehearsal;
  readonly checks: readonly Check[];
  readonly isFeasible: boolean;
  readonly options: PlanOptions;
}

export interface PlanOptions extends CheckOptions {
  readonly where: string;
  readonly days: number;
  /** Formats a time on the clock of a zone. */
  readonly local: (at: Instant, zone: string) => string;
}

export function planOf(rehearsal: Rehearsal, options: PlanOptions): Plan {
  const listing = listingOf(rehearsal);
  const checks = checksOf(rehearsal, listing, options);
  return { ...listing, rehearsal, checks, isFeasible: isFeasible(checks), options };
}

/**
 * Largest number of rows of one strategy that are all printed. If there are more, only the first and last `ENDS_SHOWN`
 * rows are printed.
 */
const ROWS_MAX = 2_000;
const ENDS_SHOWN = 10;

export function planWords(plan: Plan, { isBrief }: { readonly isBrief: boolean }): string {
  const { checks, options, rehearsal } = plan;
  const head = `plan of ${count(options.days, 'day')} from ${seconds(rehearsal.setup.from)} UTC, ${options.where}; prices stay as they are`;
  const parts = plan.strategies.flatMap((one) => ['', ...strategyLines(one, plan, isBrief)]);
  const numberOf = (verdict: Check['verdict']): number =>
    checks.filter((one) => one.verdict === verdict).length;
  const rest =
    numberOf('not_done') === 0 ? '' : `; ${count(numberOf('not_done'), 'check')} could not be done`;
  const refused = numberOf('refused');
  const end = plan.isFeasible
    ? `feasible${rest}`
    : `NOT feasible: ${count(refused, 'check')} ${refused === 1 ? 'refuses' : 'refuse'} it${rest}`;
  const lines = [head, ...parts, '', ...checks.flatMap(checkLines), '', end];
  return `${lines.map((line) => forTerminal(line).trimEnd()).join('\n')}\n`;
}

const LOCAL_WIDTH = 24;
const SLICE_WIDTH = 8;

function strategyLines(strategy: PlannedStrategy, plan: Plan, isBrief: boolean): readonly string[] {
  const { id, kind, source, slices, times } = strategy;
  const zone = plan.options.zoneOf(strategy);
  const sidesOf = new Set(slices.map(({ intent }) => intent.side));
  const head = [id, kind, ...(sidesOf.size === 1 ? sidesOf : []), source.bound.pairs.join(' ')]
    .filter((part) => part !== '')
    .join('  ');
  const rows = [
    ...slices.map((slice) => ({ at: slice.at, words: sliceWords(slice, source.bound.pairs.length > 1) })),
    ...times.map(({ at, closed, why = '' }) => ({
      at,
      words: closed === undefined ? why : `closed: ${closed}`,
    })),
  ]
    .toSorted((a, b) => a.at - b.at)
    .map(
      ({ at, words }) =>
        `  ${plan.options.local(instant(Math.floor(at / 1_000) * 1_000), zone).padEnd(LOCAL_WIDTH)}  ${seconds(at)}  ${words}`,
    );
  const shown =
    rows.length <= ROWS_MAX
      ? rows
      : [
          ...rows.slice(0, ENDS_SHOWN),
          `  … ${rows.length - 2 * ENDS_SHOWN} more; --json lists all`,
          ...rows.slice(-ENDS_SHOWN),
        ];
  const title = `  ${`local (${zone})`.padEnd(LOCAL_WIDTH)}  ${'UTC'.padEnd(19)}`;
  return [
    head,
    ...(isBrief || rows.length === 0 ? [] : [title, ...shown]),
    ...summaryOf(strategy, plan).map((line) => `  ${line}`),
  ];
}

function sliceWords(slice: PlannedSlice, isSided: boolean): string {
  const { intent, currency, orders, traded } = slice;
  const size = `${isSided ? `${intent.side} ` : ''}${intent.size} ${currency}`;
  const pieces = orders > 1 ? ` in ${orders} orders` : '';
  if (slice.result === undefined || !isShort(slice))
    return `${`slice ${intent.slice}`.padEnd(SLICE_WIDTH)}  ${size}${pieces}`;
  const why = reasonOf(slice);
  return `${`slice ${intent.slice}`.padEnd(SLICE_WIDTH)}  ${size}: trades ${traded.isZero() ? 'nothing' : `${figure(traded)}${pieces}`}, ${why.reason}${why.detail === '' ? '' : ` (${why.detail})`}`;
}

function summaryOf(strategy: PlannedStrategy, plan: Plan): readonly string[] {
  const { slices, passed, beyond, isCut, source, standing, finished, waits } = strategy;
  const lines: string[] = [];
  if (slices.length > 0) {
    const cost = costOf(strategy, plan);
    lines.push(
      `${count(slices.length, 'slice')}, ${totals(slices, strategy.progress)}${cost === undefined ? '' : `; ${costText(cost)}`}`,
    );
  }
  if (source.bound.runsCode) lines.push('its own code decides when it runs: its trades are not planned');
  if (standing !== undefined) lines.push(STANDING[standing]);
  if (finished !== undefined && slices.length === 0 && finished.reason !== 'invalid_plan')
    lines.push(`ends at ${seconds(finished.at)} UTC: ${finished.note}`);
  if (passed > 0)
    lines.push(`${count(passed, 'slot')} before ${seconds(plan.rehearsal.setup.from)} UTC have passed`);
  if (beyond > 0) lines.push(`${count(beyond, 'slot')} come after these ${plan.options.days} days`);
  if (standing !== 'finished')
    lines.push(
      ...source.bound.notes,
      ...(finished === undefined
        ? [...new Set(waits.flatMap((wait) => waitWords(wait, strategy.progress)))]
        : []),
    );
  if (isCut) lines.push('there are more times than the plan covers: plan fewer days');
  return lines;
}

const STANDING = {
  running: 'it is already running: the plan continues from its state',
  edited: 'an earlier version is still running: this plans the new version as if it started now',
  finished: 'it has finished in this journal and does not run again; to repeat it, give it a new id',
} as const;

/** What a plan at constant prices cannot contain. */
function waitWords(wait: Wait, progress: ParentProgress | undefined): readonly string[] {
  switch (wait.on) {
    case 'price':
      return [
        `waits for ${wait.pair} ${wait.is.replaceAll('_', ' ')} ${wait.level}${progress === undefined ? '' : ` with ${progress.left} ${progress.currency} left`}, which prices that stay cannot reach`,
      ];
    case 'inflow':
      return [`waits for more than ${wait.above} ${wait.currency}, which only a deposit can bring`];
    case 'drift':
      return [`a move of prices may trigger trades that this plan does not have${bandWords(wait)}`];
    default:
      return [];
  }
}

/** Volatility for the frequency of rebalancing, a year. */
const VOLATILITY = 0.6;

/** How often a band is left, if each rebalancing returns to the target. */
function bandWords({ targets, cash, threshold, driftType }: Wait & { readonly on: 'drift' }): string {
  const perYear = Object.entries(targets)
    .filter(([currency]) => currency !== cash)
    .map(([, target]) => {
      const weight = Number(target);
      const halfWidth = Number(threshold) * (driftType === 'relative' ? weight : 1);
      if (weight - halfWidth <= 0 || weight + halfWidth >= 1) return 0;
      return ordersAYear({ weight, halfWidth, volatility: VOLATILITY, rebalanceTo: 'target' });
    });
  const most = Math.max(0, ...perYear);
  if (most === 0) return '';
  const often = most < 10 ? Number(most.toPrecision(2)) : Math.round(most);
  return `: at a volatility of ${100 * VOLATILITY} % a year, this band means about ${often} rebalancings a year if they return to the target`;
}

function totals(slices: readonly PlannedSlice[], left: ParentProgress | undefined): string {
  const sums = [...Map.groupBy(slices, ({ intent, currency }) => `${intent.side} ${currency}`)].map(
    ([unit, of], _, { length }) => {
      const [side = '', currency = ''] = unit.split(' ');
      const sum = of.reduce(
        (a, slice) => add(a, isShort(slice) ? slice.traded : quantity(slice.intent.size)),
        NO_QUANTITY,
      );
      return `${length > 1 ? `${side} ` : ''}${text(sum)} ${currency}`;
    },
  );
  const isCut = left !== undefined && slices.some(isShort);
  return `${sums.join(', ')}${isCut ? `; ${left.left} of ${left.total} ${left.currency} is left` : ''}`;
}

interface Cost {
  readonly strategy: string;
  readonly bps: number;
  readonly risk_bps?: number | undefined;
  readonly notional: string;
  readonly cost: string;
  readonly currency: string;
  readonly by: string;
}

/** Expected cost compared with the reference price; positive is bad. */
function costOf({ id, fills, forecast }: PlannedStrategy, { rehearsal }: Plan): Cost | undefined {
  const { model, setup, unpriced } = rehearsal;
  const [first] = fills;
  if (first === undefined || unpriced.size > 0) return undefined;
  const { notional, cost } = paidFor(fills);
  const own = model.pairs[first.pair];
  const isQuoted = setup.facts.prices.get(first.pair)?.halfSpreadBps !== undefined;
  const by = `${round(own?.halfSpreadBps ?? model.halfSpreadBps)} bps half spread${isQuoted ? ' as quoted now' : ''}, ${round(own?.impactBps ?? model.impactBps)} bps a million of impact`;
  const even =
    forecast &&
    `its own model: ${round(forecast.costBps)} ± ${round(forecast.riskBps)} bps; equal slices: ${round(forecast.even.costBps)} ± ${round(forecast.even.riskBps)} bps`;
  return {
    strategy: id,
    bps: Number(
      ((10_000 * approximate(cost)) / Math.max(approximate(notional), Number.MIN_VALUE)).toFixed(2),
    ),
    ...(forecast === undefined ? {} : { risk_bps: forecast.riskBps }),
    notional: text(roundEven(notional, 2)),
    cost: text(roundEven(cost, 2)),
    currency: setup.policy.limits.currency,
    by: even === undefined ? by : `${by}; ${even}`,
  };
}

const costText = ({ bps, cost, notional, currency, by }: Cost): string =>
  `expected cost ${bps} bps, about ${cost} of ${notional} ${currency} (${by})`;

function checkLines({ check, verdict, strategy, says, fix }: Check): readonly string[] {
  const who = strategy === undefined ? '' : `${strategy}: `;
  const line = `${verdict.replace('_', ' ').padEnd(9)} ${check.replace('_', ' ').padEnd(13)}  ${who}${says}`;
  return fix === undefined || verdict === 'ok' ? [line] : [line, `${' '.repeat(25)}change: ${fix}`];
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
const seconds = (at: Instant): string =>
  isoOf(instant(Math.floor(at)))
    .slice(0, 19)
    .replace('T', ' ');
const round = (bps: number): number => Number(bps.toFixed(2));

/** The whole plan as plain data: times in UTC and in the strategy's zone, amounts as text. */
export function planData(plan: Plan): object {
  const { rehearsal, options } = plan;
  return {
    feasible: plan.isFeasible,
    from: isoOf(rehearsal.setup.from),
    until: isoOf(rehearsal.setup.until),
    where: options.where,
    strategies: plan.strategies.map((one) => {
      const zone = options.zoneOf(one);
      const moment = (at: Instant): object => ({
        at: isoOf(instant(Math.floor(at))),
        local: options.local(instant(Math.floor(at)), zone),
      });
      return {
        id: one.id,
        kind: one.kind,
        zone,
        pairs: one.source.bound.pairs,
        notes: summaryOf({ ...one, slices: [] }, plan),
        slots: one.slices.map((slice) => ({ ...moment(slice.at), ...sliceData(slice) })),
        times: one.times.map(({ at, why, closed }) => ({ ...moment(at), why, closed })),
        standing: one.standing,
        slots_passed: one.passed,
        slots_beyond: one.beyond,
      };
    }),
    costs: plan.strategies.flatMap((one) => costOf(one, plan) ?? []),
    checks: plan.checks,
  };
}

const sliceData = (slice: PlannedSlice): object => {
  const { intent, currency, orders, traded } = slice;
  const why = slice.result === undefined || !isShort(slice) ? undefined : reasonOf(slice);
  return {
    until: isoOf(intent.deadline),
    ...(intent.leg === 'all' ? {} : { leg: intent.leg }),
    slice: intent.slice,
    pair: intent.pair,
    side: intent.side,
    [intent.by]: intent.size,
    currency,
    limit_price: intent.limit,
    orders,
    traded: text(traded),
    cuts: slice.cuts.size === 0 ? undefined : [...slice.cuts.keys()],
    reason: why?.reason,
    detail: why?.detail,
  };
};
