import { forTerminal } from '../../core/text/escape.ts';
import { add, text } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ExpectedCost } from '../../planning/check-cost.ts';
import { figure } from '../../planning/plan.ts';
import type { Check, PlannedSlice, PlannedStrategy } from '../../planning/plan.ts';
import { localText } from '../cli/local-time.ts';

/** A plan as text for people and as data. */

export interface CheckedPlan {
  readonly from: Instant;
  readonly until: Instant;
  /** Length in days. */
  readonly days: number;
  readonly where: string;
  readonly strategies: readonly PlannedStrategy[];
  readonly costs: readonly ExpectedCost[];
  readonly checks: readonly Check[];
  readonly feasible: boolean;
  /** Currency of the limits and of the costs. */
  readonly currency: string;
  /** Base and quote of a pair. */
  readonly names: (pair: string) => { readonly base: string; readonly quote: string } | undefined;
}

/**
 * Largest number of rows of one strategy that are all printed. If there are more, only the first and last `ENDS_SHOWN`
 * rows are printed.
 */
const ROWS_MAX = 2_000;
const ENDS_SHOWN = 10;

export function planWords(plan: CheckedPlan, { isBrief }: { readonly isBrief: boolean }): string {
  const head = `plan of ${plan.days} ${plan.days === 1 ? 'day' : 'days'} from ${seconds(plan.from)} UTC, ${plan.where}`;
  const parts = plan.strategies.flatMap((strategy) => ['', ...strategyLines(strategy, plan, isBrief)]);
  const checks = plan.checks.flatMap(checkLines);
  const refused = plan.checks.filter(({ verdict }) => verdict === 'refused').length;
  const undone = plan.checks.filter(({ verdict }) => verdict === 'not_done').length;
  const rest = undone === 0 ? '' : `; ${count(undone, 'check')} could not be done`;
  const end = plan.feasible
    ? `feasible${rest}`
    : `NOT feasible: ${count(refused, 'check')} ${refused === 1 ? 'refuses' : 'refuse'} it${rest}`;
  return `${[head, ...parts, '', ...checks, '', end].map((line) => forTerminal(line).trimEnd()).join('\n')}\n`;
}

function strategyLines(strategy: PlannedStrategy, plan: CheckedPlan, isBrief: boolean): readonly string[] {
  const { id, kind, zone, pairs, slices, times } = strategy;
  const head = [id, kind, slices[0]?.side ?? strategy.ceiling?.side, pairs.join(' ')]
    .filter((part) => part !== undefined && part !== '')
    .join('  ');
  const rows = rowsOf(strategy, plan);
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
    ...summaryLines(strategy, plan).map((line) => `  ${line}`),
    ...(slices.length + times.length === 0 &&
    strategy.ceiling === undefined &&
    strategy.passed + strategy.beyond === 0 &&
    strategy.standing !== 'finished'
      ? ['  no times are known in advance: the strategy trades when its condition is met']
      : []),
  ];
}
const LOCAL_WIDTH = 24;
const SLICE_WIDTH = 8;

interface Row {
  readonly at: Instant;
  readonly words: string;
}

/** Returns the slices and times of one strategy in order. */
function rowsOf(strategy: PlannedStrategy, plan: CheckedPlan): readonly string[] {
  const { zone, slices, times } = strategy;
  const rows: Row[] = [
    ...slices.map((slice): Row => ({
      at: slice.at,
      words: `${`slice ${slice.slice}`.padEnd(SLICE_WIDTH)}  ${sizeText(slice, plan)}${offText(slice.closed)}`,
    })),
    ...times.map(({ at, closed }): Row => ({
      at,
      words: closed === undefined ? 'looks' : offText(closed).trimStart(),
    })),
  ];
  return rows
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, words }) => `  ${clock(at, zone).padEnd(LOCAL_WIDTH)}  ${seconds(at)}  ${words}`);
}

const offText = (closed: string | undefined): string => (closed === undefined ? '' : `  closed: ${closed}`);

function sizeText({ size, pair }: Pick<PlannedSlice, 'size' | 'pair'>, { names }: CheckedPlan): string {
  return size.by === 'quantity'
    ? `${text(size.quantity)} ${names(pair)?.base ?? ''}`
    : `${text(size.amount)} ${names(pair)?.quote ?? ''}`;
}

function summaryLines(strategy: PlannedStrategy, plan: CheckedPlan): readonly string[] {
  const { slices, passed, beyond, ceiling, isCut, notes } = strategy;
  const open = slices.filter(({ closed }) => closed === undefined);
  const lines: string[] = [];
  const [first] = open;
  if (first !== undefined) {
    const cost = plan.costs.find((one) => one.strategy === strategy.id);
    lines.push(
      `${count(open.length, 'slice')}, ${totalText(open, plan)}${cost === undefined ? '' : `; ${costText(cost, plan.currency)}`}`,
    );
  }
  const looks = strategy.times.filter(({ closed }) => closed === undefined).length;
  if (looks > 0) lines.push(`checks ${count(looks, 'time')}; its trades depend on the account and on prices`);
  if (ceiling !== undefined) {
    const at = ceiling.limit === undefined ? '' : ` at ${text(ceiling.limit)} or better`;
    lines.push(`up to ${sizeText(ceiling, plan)}, ${ceiling.side}${at}, when the market allows`);
  }
  lines.push(...estimateLines(strategy, plan));
  if (strategy.standing !== undefined) lines.push(STANDING[strategy.standing]);
  if (passed > 0) lines.push(`${count(passed, 'slot')} before ${seconds(plan.from)} UTC have passed`);
  if (beyond > 0) lines.push(`${count(beyond, 'slot')} come after these ${plan.days} days`);
  lines.push(...notes);
  if (isCut) lines.push('there are more times than the plan covers: plan fewer days');
  return lines;
}

/** Returns what the strategy would trade now, by leg. */
function estimateLines({ estimate }: PlannedStrategy, plan: CheckedPlan): readonly string[] {
  if (estimate === undefined) return [];
  if ('missing' in estimate) return [`its current trades are not estimated: ${estimate.missing}`];
  const { slices, why } = estimate;
  if (slices.length === 0)
    return [`with the current balances and prices it trades nothing: ${why ?? 'no reason'}`];
  const trades = [...Map.groupBy(slices, ({ leg }) => leg ?? '').values()].map((of) => {
    const side = of[0]?.side ?? '';
    const how = [
      of.length === 1 ? '' : ` in ${of.length} slices`,
      of.some(({ isSplit }) => isSplit === true) ? ' in pieces within the limits of one order' : '',
    ].join('');
    return `${side} ${totalText(of, plan)}${how}`;
  });
  return [`with the current balances and prices it trades: ${trades.join(', ')}`];
}

const STANDING = {
  running:
    'it is already running: the plan starts from its beginning; missed or cut slices change later ones',
  edited: 'an earlier version is still running: this plans the new version as if it started now',
  finished: 'it has finished in this journal and does not run again; to repeat it, give it a new id',
} as const;

function totalText(open: readonly PlannedSlice[], plan: CheckedPlan): string {
  const of = (amounts: readonly (Quantity | Money)[]): string =>
    amounts.length === 0 ? '' : figureOf(amounts.reduce((a, b) => add(a, b)));
  const quantities = open.flatMap(({ size }) => (size.by === 'quantity' ? [size.quantity] : []));
  const amounts = open.flatMap(({ size }) => (size.by === 'amount' ? [size.amount] : []));
  const names = plan.names(open[0]?.pair ?? '');
  return [
    ...(quantities.length === 0 ? [] : [`${of(quantities)} ${names?.base ?? ''}`]),
    ...(amounts.length === 0 ? [] : [`${of(amounts)} ${names?.quote ?? ''}`]),
  ].join(' and ');
}
const figureOf = (amount: Quantity | Money): string => text(amount);

function costText({ bps, riskBps, notional, cost, by }: ExpectedCost, currency: string): string {
  const risk = riskBps === undefined ? '' : ` ± ${Number(riskBps.toFixed(1))}`;
  const money =
    cost === undefined || notional === undefined
      ? ''
      : `, about ${figure(cost)} of ${figure(notional)} ${currency}`;
  return `expected cost ${Number(bps.toFixed(2))}${risk} bps${money} (${by})`;
}

function checkLines({ check, verdict, strategy, says, fix }: Check): readonly string[] {
  const who = strategy === undefined ? '' : `${strategy}: `;
  const line = `${verdict.replace('_', ' ').padEnd(9)} ${check.replace('_', ' ').padEnd(13)}  ${who}${says}`;
  return fix === undefined ? [line] : [line, `${' '.repeat(25)}change: ${fix}`];
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
const seconds = (at: Instant): string => isoOf(at).slice(0, 19).replace('T', ' ');
const clock = (at: Instant, zone: string): string => localText(instant(Math.floor(at / 1000) * 1000), zone);

const slotData = (slice: PlannedSlice, zone: string, plan: CheckedPlan): object => ({
  at: isoOf(instant(Math.floor(slice.at))),
  local: localText(instant(Math.floor(slice.at)), zone),
  until: isoOf(instant(Math.floor(slice.until))),
  ...(slice.leg === undefined ? {} : { leg: slice.leg }),
  slice: slice.slice,
  pair: slice.pair,
  side: slice.side,
  ...(slice.size.by === 'quantity'
    ? { quantity: text(slice.size.quantity), currency: plan.names(slice.pair)?.base }
    : { amount: text(slice.size.amount), currency: plan.names(slice.pair)?.quote }),
  ...(slice.limit === undefined ? {} : { limit_price: text(slice.limit) }),
  ...(slice.closed === undefined ? {} : { closed: slice.closed }),
  ...(slice.isSplit === true ? { in_pieces: true } : {}),
});

/** Returns the whole plan as plain data: times in UTC and in the strategy's zone, amounts as text. */
export function planData(plan: CheckedPlan): object {
  const iso = (at: Instant): string => isoOf(instant(Math.floor(at)));
  return {
    feasible: plan.feasible,
    from: iso(plan.from),
    until: iso(plan.until),
    where: plan.where,
    strategies: plan.strategies.map((one) => ({
      id: one.id,
      kind: one.kind,
      zone: one.zone,
      pairs: one.pairs,
      notes: one.notes,
      slots: one.slices.map((slice) => slotData(slice, one.zone, plan)),
      ...(one.estimate === undefined
        ? {}
        : {
            estimate:
              'missing' in one.estimate
                ? { missing: one.estimate.missing }
                : {
                    slots: one.estimate.slices.map((slice) => slotData(slice, one.zone, plan)),
                    why: one.estimate.why,
                  },
          }),
      times: one.times.map(({ at, closed }) => ({
        at: iso(at),
        local: localText(at, one.zone),
        ...(closed === undefined ? {} : { closed }),
      })),
      standing: one.standing,
      slots_passed: one.passed,
      slots_beyond: one.beyond,
    })),
    costs: plan.costs.map(({ strategy, bps, riskBps, notional, cost, by }) => ({
      strategy,
      bps,
      risk_bps: riskBps,
      notional: notional && text(notional),
      cost: cost && text(cost),
      currency: plan.currency,
      by,
    })),
    checks: plan.checks,
  };
}
