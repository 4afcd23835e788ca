import { countWords, requirementOf } from '../core/approvals/approval-settings.ts';
import type { ApprovalSettings } from '../core/approvals/approval-settings.ts';
import {
  add,
  greatest,
  isBelowZero,
  money,
  negate,
  NO_MONEY,
  NO_QUANTITY,
  ratio,
  roundEven,
  text,
} from '../core/money.ts';
import type { Money, Quantity } from '../core/money.ts';
import { isReason, reasons } from '../core/reasons.ts';
import { DOCUMENTED_LEVEL, settlementWords } from '../core/risk/headroom.ts';
import type { Reason } from '../core/reasons.ts';
import { HOUR_MS, instant, isoOf, SECOND_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import { valuedNow } from '../engine/market/headroom.ts';
import { isShort, paidFor } from './listing.ts';
import type { Listing, PlannedSlice, PlannedStrategy } from './listing.ts';
import type { Rehearsal } from './rehearse.ts';

export type CheckName = 'window' | 'minimum' | 'limits' | 'day' | 'funds' | 'settlement' | 'pace' | 'hours' | 'clock_changes' | 'cost' | 'price' | 'approval'; // prettier-ignore

/** The result of one check. Only `refused` makes a plan infeasible; `not_done` states what is missing. */
export interface Check {
  readonly check: CheckName;
  readonly verdict: 'ok' | 'note' | 'refused' | 'not_done';
  /** Omitted: it concerns all strategies together. */
  readonly strategy?: string | undefined;
  /** Why the desk refuses, if it has one reason. */
  readonly reason?: Reason | undefined;
  readonly says: string;
  /** What would help. */
  readonly fix?: string | undefined;
}

interface About {
  readonly check: CheckName;
  readonly fix?: string;
}
const MINIMUM: About = { check: 'minimum', fix: 'use fewer slices, or a larger total' };
const LIMITS: About = { check: 'limits' };
const FUNDS: About = {
  check: 'funds',
  fix: 'bring more of the currency that the trade pays with, or trade less',
};
const CREDIT: About = { check: 'funds', fix: 'bring funds, trade less, or allow more credit in pts' };
const PACE: About = {
  check: 'pace',
  fix: 'spread the slices with other start times or with jitter, or raise pacing.orders_per_second',
};
/** The prices of a plan do not move, so that what they prevent is not a fault of the plan. */
const PRICE: About = { check: 'price' };

/** What a reason concerns, and what helps. Every other reason of a slice is a refusal of the limits. */
const ABOUT: Partial<Record<Reason, About>> = {
  below_minimum: MINIMUM,
  invalid_plan: MINIMUM,
  order_size: { check: 'limits', fix: 'use more, smaller slices or a smaller total, or raise the limit' },
  repeated_execution: { check: 'limits', fix: 'leave more time between the slices, or use fewer' },
  day_limit: { check: 'day', fix: 'trade less on that day, or spread the trades over more days' },
  no_funds: FUNDS,
  kept_back: FUNDS,
  position_limit: { check: 'funds', fix: 'trade less, or change the limit of the balance' },
  pts_terms: CREDIT,
  pts_credit: CREDIT,
  pts_unknown: CREDIT,
  message_throttle: PACE,
  deadline: PACE,
  restricted_hours: {
    check: 'hours',
    fix: 'start it at another time, so that its slices lie outside these hours',
  },
  shortfall: { check: 'cost', fix: 'use more, smaller slices, or a longer window' },
  limit_price: PRICE,
  collar: PRICE,
  price_drift: PRICE,
  tactics_refused: PRICE,
  no_volume: PRICE,
  below_min_trade: PRICE,
  shutdown: PRICE,
};
/** Reasons that the documents and the limits determine, whatever the venue, the market and the account do. */
const CERTAIN: ReadonlySet<Reason | undefined> = new Set([
  'invalid_plan',
  'below_minimum',
  'order_size',
  'day_limit',
  'repeated_execution',
  'parent_cap',
  'restricted_hours',
  'not_allowed',
  'selling_off',
]);
/** Whether a refusal needs neither prices nor funds nor an answer of the venue. */
export const isCertain = ({ verdict, reason }: Check): boolean =>
  verdict === 'refused' && CERTAIN.has(reason);
/** Consequences of a halt or a pause, which has its own line. */
const FOLLOWS: ReadonlySet<Reason | undefined> = new Set(['halted', 'paused']);
/** Cuts after which the rest of the slice follows in other orders. */
const PIECES: ReadonlySet<Reason> = new Set(['venue_maximum', 'size_impact', 'order_size']);

/** What the desk would not do as its strategies say, in the order of its records. */
export function refusalsOf({ strategies, controls }: Listing): readonly Check[] {
  const stopped = controls
    .filter(({ body }) => body.state !== 'active' && body.by === 'tranche')
    .map(({ at, body }): Check => {
      const [, code = ''] = /^(\w+)/u.exec(body.why) ?? [];
      const about = isReason(code) ? ABOUT[code] : undefined;
      const strategy = strategies.find(({ slices }) =>
        slices.some(({ intent }) => intent.parent === body.parent),
      )?.id;
      const what =
        body.state === 'halted' ? 'halt' : body.parent === undefined ? 'pause' : 'pause the parent';
      const says = `the desk would ${what} at ${isoOf(at)}: ${isReason(code) ? `${reasons[code]} (${body.why})` : body.why}`;
      return {
        check: about?.check ?? 'limits',
        verdict: 'refused',
        strategy: body.state === 'halted' ? undefined : strategy,
        reason: isReason(code) ? code : undefined,
        says,
        fix: about?.fix,
      };
    });
  return [...strategies.flatMap((one) => [...endOf(one), ...shortOf(one)]), ...stopped];
}

/** A strategy that ended because it cannot run at all. */
function endOf({ id, finished, times }: PlannedStrategy): readonly Check[] {
  if (finished?.reason === 'invalid_plan')
    return [{ ...MINIMUM, verdict: 'refused', strategy: id, reason: 'invalid_plan', says: finished.note }];
  const failed = times.find(({ why }) => why?.startsWith('strategy_failed') === true);
  return failed === undefined
    ? []
    : [
        {
          check: 'limits',
          verdict: 'refused',
          strategy: id,
          reason: 'strategy_failed',
          says: failed.why ?? '',
        },
      ];
}

/** The reason why a slice trades less than its size, with its figures. */
export function reasonOf({ reason = 'deadline', detail = '', cuts, traded }: PlannedSlice): {
  readonly reason: Reason;
  readonly detail: string;
} {
  // What cut an order says more than what then refused the remainder.
  const cut = traded.isZero() ? undefined : [...cuts].find(([code]) => !PIECES.has(code));
  if (cut !== undefined) return { reason: cut[0], detail: cut[1] };
  // A size that a cut takes below the minimum names the cut.
  const [, code = '', figures = ''] = /; (\w+) (limit=.*)$/u.exec(detail) ?? [];
  return isReason(code) ? { reason: code, detail: figures } : { reason, detail };
}

function shortOf({ id, slices }: PlannedStrategy): readonly Check[] {
  const short = slices.filter((slice) => slice.result !== undefined && isShort(slice));
  return [...Map.groupBy(short, (slice) => reasonOf(slice).reason)].flatMap(
    ([reason, of]): readonly Check[] => {
      const [first] = of;
      if (first === undefined || FOLLOWS.has(reason)) return [];
      const { check, fix } = ABOUT[reason] ?? LIMITS;
      const what = of.every(({ traded }) => traded.isZero()) ? 'nothing' : 'less than planned';
      const count = `${of.length} of ${slices.length} ${slices.length === 1 ? 'slice' : 'slices'} ${of.length === 1 ? 'trades' : 'trade'}`;
      const { detail } = reasonOf(first);
      return [
        {
          check,
          verdict: check === 'price' ? 'note' : 'refused',
          strategy: id,
          reason,
          says: `${count} ${what}, first at ${isoOf(first.at)}: ${reasons[reason]}${detail === '' ? '' : ` (${detail})`}`,
          fix,
        },
      ];
    },
  );
}

export interface CheckOptions {
  /** `operate.approvals`; `undefined`: nothing waits. */
  readonly approvals: ApprovalSettings | undefined;
  /** The zone in which the times of a strategy are shown. */
  readonly zoneOf: (strategy: PlannedStrategy) => string;
}

/** Every check of a plan: what the desk would refuse, what could not be checked, and the sums. */
export function checksOf(rehearsal: Rehearsal, listing: Listing, options: CheckOptions): readonly Check[] {
  const refused = refusalsOf(listing);
  const isFine = (name: CheckName): boolean =>
    !refused.some(({ check, verdict }) => check === name && verdict === 'refused');
  const sums = [
    ...windows(rehearsal, listing),
    ...missing(rehearsal),
    ...sumsOf(rehearsal, listing),
    ...clockChanges(listing, options),
    ...approvals(listing, rehearsal, options),
  ];
  return [...refused, ...sums.filter(({ check, verdict }) => verdict !== 'ok' || isFine(check))].toSorted(
    (a, b) => ORDER.indexOf(a.check) - ORDER.indexOf(b.check),
  );
}
const ORDER: readonly CheckName[] = [
  'window',
  'minimum',
  'limits',
  'day',
  'funds',
  'settlement',
  'pace',
  'hours',
  'clock_changes',
  'cost',
  'price',
  'approval',
];

/** Strategies with nothing left to trade, which is correct for a finished strategy and wrong for a new one. */
const windows = ({ setup }: Rehearsal, { strategies }: Listing): readonly Check[] =>
  strategies
    .filter((one) => one.passed > 0 && one.slices.length + one.beyond === 0 && one.standing === undefined)
    .map(({ id, passed }) => ({
      check: 'window',
      verdict: 'note',
      strategy: id,
      says: `its window has passed: ${passed === 1 ? 'its slot lies' : `all of its ${passed} slots lie`} before ${isoOf(setup.from)}, so it will never trade`,
      fix: 'a later start_time',
    }));

function missing({ setup: { facts }, unpriced, cutAt }: Rehearsal): readonly Check[] {
  const prices = [...unpriced].map((pair): Check => ({
    check: 'price',
    verdict: 'not_done',
    says: `without a price of ${pair}, limits in another unit than its sizes are not checked, and its cost is unknown: give --price ${pair}=…`,
  }));
  const cut: readonly Check[] =
    cutAt === undefined
      ? []
      : [
          {
            check: 'window',
            verdict: 'not_done',
            says: `the plan ends at ${isoOf(cutAt)}, after as many slices as it may have: plan fewer days or one strategy`,
          },
        ];
  return 'missing' in facts.funds
    ? [
        ...prices,
        ...cut,
        { check: 'funds', verdict: 'not_done', says: `not checked: ${facts.funds.missing}` },
      ]
    : [...prices, ...cut];
}

/** The sums that the limits allowed. */
function sumsOf({ setup, desk, unpriced }: Rehearsal, { strategies }: Listing): readonly Check[] {
  const { facts, policy, state } = setup;
  const { limits } = policy;
  const slices = strategies.flatMap((one) => one.slices).toSorted((a, b) => a.at - b.at);
  const fills = strategies.flatMap((one) => one.fills);
  const checks: Check[] = [];
  const ok = (check: CheckName, says: string): unknown => checks.push({ check, verdict: 'ok', says });
  const [first] = slices;
  if (first === undefined) return [];
  ok('minimum', 'every slice reaches the minimum of its pair');
  ok('limits', 'every slice stays within the limits of an order, a minute and a parent');
  if (unpriced.size === 0) {
    const day = dayOf(setup.from);
    const before = state?.totals?.dayNotional(setup.from);
    const days = new Map(before === undefined ? [] : [[day, before]]);
    for (const { executed_at: at, notional_usd: notional } of fills)
      days.set(dayOf(at), add(days.get(dayOf(at)) ?? NO_MONEY, money(notional)));
    const [[most, total] = [day, NO_MONEY]] = [...days].toSorted(([, a], [, b]) => b.comparedTo(a));
    const soFar =
      before === undefined
        ? 'without a journal, trades of today are unknown'
        : `this includes ${figure(before)} traded today`;
    ok(
      'day',
      `at most ${figure(total)} ${limits.currency} in one UTC day (${most})${limits.dayNotionalMax === undefined ? '' : `, of ${figure(limits.dayNotionalMax)}`}; ${soFar}`,
    );
    const paid = paidFor(fills);
    ok(
      'cost',
      `expected cost of all slices: ${text(roundEven(paid.cost, 2))} of ${text(roundEven(paid.notional, 2))} ${limits.currency}, positive is bad`,
    );
  }
  if (!('missing' in facts.funds)) {
    const balances = desk.state.balances ?? facts.funds.balances;
    ok(
      'funds',
      `funds by ${facts.funds.from}: sufficient for every slice; balances go from ${changesOf(facts.funds.balances, balances)}`,
    );
    const level = desk.pts.level ?? ratio(DOCUMENTED_LEVEL);
    const debts = [...balances].filter(([, held]) => isBelowZero(held));
    if (debts.length === 0)
      ok(
        'settlement',
        policy.pts.use === 'never'
          ? 'pts.use is never: own funds pay for every trade, so no debt results'
          : 'no debt is left at the end',
      );
    else
      checks.push({
        check: 'settlement',
        verdict: 'note',
        says: `a debt of ${debts.map(([currency, held]) => `${figure(negate(held))} ${currency}`).join(', ')} is left at the end, if the risk mode of its pairs is Enabled: no settle strategy has closed it by then, and the venue settles positions with ${settlementWords(valuedNow(desk) ?? [], level).join(' or ') || 'no price'}`,
      });
  }
  const peak = peakOf(slices.map(({ at }) => at));
  const waitMs = Math.max(0, ...slices.map(({ at, filledAt = at }) => filledAt - at));
  const most = (route: 'quote' | 'order'): string =>
    `${policy.pace.windows[route]?.max ?? 'any number of'} ${route}s`;
  checks.push({
    check: 'pace',
    verdict: waitMs < SECOND_MS ? 'ok' : 'note',
    says: `${peak.count} ${peak.count === 1 ? 'slice is' : 'slices are'} due in one second at the peak (${isoOf(peak.at)}); ${most('quote')} and ${most('order')} are allowed in a second: the longest wait for an order is ${Number((waitMs / SECOND_MS).toFixed(1))} s`,
  });
  const closed = strategies.flatMap(({ id, slices: own, times }): readonly Check[] => {
    const why = times.flatMap((time) => time.closed ?? []);
    if (why.length === 0) return [];
    const kinds = Map.groupBy(why, (one) => one.replace(/ (?:until|at) .*| ?\(.*| ?\d.*/su, ''));
    const counts = [...kinds].map(([kind, of]) => `${kind} ${of.length}`).join(', ');
    return [
      {
        check: 'hours',
        verdict: 'note',
        strategy: id,
        says: `${why.length} of its times ${why.length === 1 ? 'is' : 'are'} closed: ${counts}${own.length === 0 ? '; it has no slice' : ''}`,
      },
    ];
  });
  if (closed.length === 0)
    ok('hours', 'every slice can trade outside restricted hours, blackouts and closed days');
  return [...checks, ...closed];
}

const dayOf = (at: Instant): string => isoOf(at).slice(0, 10);

/** Largest number of sorted times in any second, and the first of them. */
function peakOf(times: readonly Instant[]): { readonly count: number; readonly at: Instant } {
  let [from, count, start] = [0, 0, times[0] ?? instant(0)];
  for (const [i, at] of times.entries()) {
    while ((times[from] ?? at) <= at - SECOND_MS) from++;
    if (i - from + 1 > count) [count, start] = [i - from + 1, times[from] ?? at];
  }
  return { count, at: instant(Math.floor(start)) };
}

function changesOf(before: ReadonlyMap<string, Quantity>, later: ReadonlyMap<string, Quantity>): string {
  const changed = [...later].filter(([currency, amount]) => !amount.eq(before.get(currency) ?? NO_QUANTITY));
  if (changed.length === 0) return 'their present amounts, unchanged';
  return changed
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([currency, amount]) =>
        `${figure(before.get(currency) ?? NO_QUANTITY)} to ${figure(amount)} ${currency}`,
    )
    .join(', ');
}

/** Changes of clocks between the first and the last time of a strategy, by zone. */
function clockChanges({ strategies }: Listing, { zoneOf }: CheckOptions): readonly Check[] {
  return [...Map.groupBy(strategies, zoneOf)].flatMap(([zone, of]): readonly Check[] => {
    const times = of
      .flatMap(({ slices, times: own }) => [...slices, ...own].map(({ at }) => Math.floor(at)))
      .toSorted((a, b) => a - b);
    const [first, last] = [times[0], times.at(-1)];
    if (first === undefined || last === undefined) return [];
    const found: Check[] = [];
    let local = Temporal.Instant.fromEpochMilliseconds(first - HOUR_MS)
      .toZonedDateTimeISO(zone)
      .getTimeZoneTransition('next');
    for (
      ;
      local !== null && local.epochMilliseconds <= last + HOUR_MS;
      local = local.getTimeZoneTransition('next')
    ) {
      const at = local.epochMilliseconds;
      const minutes =
        (local.offsetNanoseconds - local.subtract({ milliseconds: 1 }).offsetNanoseconds) / 60e9;
      if (minutes === 0) continue;
      const near = times.filter((time) => Math.abs(time - at) <= Math.abs(minutes) * 60_000).length;
      found.push({
        check: 'clock_changes',
        verdict: near > 0 ? 'note' : 'ok',
        says: `the clocks of ${zone} go ${minutes > 0 ? 'forward' : 'back'} ${Math.abs(minutes)} minutes at ${isoOf(instant(at))}: ${near} ${near === 1 ? 'time lies' : 'times lie'} within that span of it; a local time in a gap runs right after it, and a repeated one runs once`,
      });
    }
    return found;
  });
}

/** Strategies that wait for approval, of their text or of their largest parent. */
function approvals(
  { strategies }: Listing,
  { setup }: Rehearsal,
  { approvals: settings }: CheckOptions,
): readonly Check[] {
  return strategies.flatMap(({ id, standing, slices }): readonly Check[] => {
    const says: string[] = [];
    const ofText = requirementOf(settings, { kind: 'strategy' });
    if (ofText !== undefined && standing !== 'running' && standing !== 'finished')
      says.push(`to start with this text, ${countWords(ofText.count)} must approve`);
    const parents = [...Map.groupBy(slices, ({ intent }) => intent.parent).values()].map((of) =>
      of.reduce<Money>((sum, { worst }) => add(sum, worst), NO_MONEY),
    );
    const [one, ...more] = parents;
    const amount = one === undefined ? undefined : greatest(one, ...more);
    const ofParent = amount === undefined ? undefined : requirementOf(settings, { kind: 'parent', amount });
    if (amount !== undefined && ofParent !== undefined)
      says.push(
        `its first slice waits: for a parent of ${text(amount)} ${setup.policy.limits.currency}, ${countWords(ofParent.count)} must approve`,
      );
    return says.map((line): Check => ({ check: 'approval', verdict: 'note', strategy: id, says: line }));
  });
}

/** Whether no check refuses the plan. A check that could not run does not refuse the plan, but is reported. */
export const isFeasible = (checks: readonly Check[]): boolean =>
  checks.every(({ verdict }) => verdict !== 'refused');

/** A figure for people: two decimals for large amounts, more for small ones, no exponents. */
export function figure(amount: Quantity | Money): string {
  return amount.toDecimalPlaces(amount.abs().gte(100) ? 2 : 8).toFixed();
}
