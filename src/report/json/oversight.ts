import { text } from '../../core/money.ts';
import { reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { AttemptFacts } from '../figures/facts.ts';
import type { Figures } from '../figures/figures.ts';
import { JUDGED } from '../oversight/order-limits.ts';
import type { OrderVerdict } from '../oversight/order-limits.ts';
import { OUTLIER_RULE, outliersOf } from '../oversight/outliers.ts';
import type { Outlier } from '../oversight/outliers.ts';
import type { Oversight } from '../oversight/oversight.ts';
import type { Report } from './schema.ts';

type OversightJson = NonNullable<Report['oversight']>;

const JUDGED_MAX = 5_000;
const OUTLIERS_MAX = 100;

/** The section of a report for supervisors. Limits and actions are of the whole desk, all else of the report's strategy. */
export function oversightJson(figures: Figures, oversight: Oversight): OversightJson {
  const { facts, input } = figures;
  const strategyOf = (order: string): string | undefined => facts.attempts.get(order)?.intent.strategy;
  const isOurs = (order: string): boolean =>
    input.strategy === undefined || strategyOf(order) === input.strategy;
  const [from, until] = [input.since ?? -Infinity, input.until ?? Infinity];
  const isIn = ({ at }: { readonly at: Instant }): boolean => at >= from && at < until;
  const verdicts = oversight.verdicts.filter((one) => isIn(one) && isOurs(one.client_order_id));
  const judged = [...verdicts.filter(({ verdict }) => verdict !== 'within'), ...verdicts.filter(({ verdict }) => verdict === 'within')]; // prettier-ignore
  const counted = (which: OrderVerdict['verdict']): number =>
    verdicts.filter(({ verdict }) => verdict === which).length;
  const outliers = outliersOf(figures);
  const attempts = Map.groupBy(
    facts.attempts.values(),
    ({ intent: { parent, slice } }) => `${parent} ${slice}`,
  );
  return {
    orders: { within: counted('within'), beyond: counted('beyond'), unknown: counted('unknown') }, // prettier-ignore
    judged_by: JUDGED,
    judged: judged.slice(0, JUDGED_MAX).map(({ at, client_order_id: order, limits_record, ...verdict }) => ({
      at: isoOf(at),
      order,
      strategy: strategyOf(order),
      limits_record,
      ...verdict,
    })),
    judged_left_out: Math.max(0, judged.length - JUDGED_MAX),
    limits: oversight.limits
      .filter(({ since }, i) => since < until && (oversight.limits[i + 1]?.since ?? Infinity) > from)
      .map(({ record, since, by, why, approvals, changes }) => ({ since: isoOf(since), record, by, why, approvals, changes })), // prettier-ignore
    outlier_rule: OUTLIER_RULE,
    outliers: outliers
      .slice(0, OUTLIERS_MAX)
      .map((one) =>
        outlierJson(one, attempts.get(`${one.parent.facts.parent} ${one.slice.facts.slice}`) ?? []),
      ),
    outliers_left_out: Math.max(0, outliers.length - OUTLIERS_MAX),
    refusals: refusalsJson(figures, isIn),
    doubts: oversight.doubts
      .filter((one) => isOurs(one.order) && one.since < until && (one.until ?? Infinity) >= from)
      .map(({ order, since, until: end, proof, source, detail, by, records }) => ({
        order,
        strategy: strategyOf(order),
        pair: facts.attempts.get(order)?.intent.pair,
        since: isoOf(since),
        until: end && isoOf(end),
        source,
        detail,
        by,
        proof: proof ?? 'open',
        records,
      })),
    actions: oversight.actions.filter(isIn).map(({ at, ...action }) => ({ at: isoOf(at), ...action })),
  };
}

function outlierJson(
  { parent: { facts }, slice, bps, slices, medianBps, widthBps }: Outlier,
  attempts: readonly AttemptFacts[],
): OversightJson['outliers'][number] {
  const codes = [
    ...attempts.flatMap(({ reason, intent }) => [reason ?? [], intent.cuts].flat()),
    slice.facts.end?.body.reason ?? [],
  ].flat();
  return {
    strategy: facts.strategy,
    parent: facts.parent,
    slice: slice.facts.slice,
    pair: facts.pair,
    side: facts.side,
    decided_at: isoOf(slice.facts.at),
    amount: text(slice.amount),
    cost_bps: bps,
    median_bps: medianBps.toFixed(4),
    bound_bps: widthBps.toFixed(4),
    slices,
    reasons: [...new Set(codes)],
  };
}

/** Attempts, cuts, slices and looks by reason, from the same facts as the rest of the report. */
function refusalsJson(
  { facts, input, untraded }: Figures,
  isIn: (one: { readonly at: Instant }) => boolean,
): OversightJson['refusals'] {
  const of = { attempts: 0, cuts: 0, slices: 0, looks: 0 };
  const events = [
    ...[...facts.attempts.values()]
      .filter((one) => isIn(one) && (input.strategy ?? one.intent.strategy) === one.intent.strategy)
      .flatMap(({ at, intent, reason, result }) => [
        ...(reason === undefined || result === 'filled' ? [] : [{ ...of, reason, at, attempts: 1 }]),
        ...intent.cuts.map((cut) => ({ ...of, reason: cut, at, cuts: 1 })),
      ]),
    ...untraded.map(({ reason, at, slices }) => ({ ...of, reason, at, slices, looks: slices === 0 ? 1 : 0 })),
  ];
  const sum = (all: typeof events, what: keyof typeof of): number => all.reduce((n, one) => n + one[what], 0);
  return [...Map.groupBy(events, ({ reason }): Reason => reason)]
    .map(([reason, all]) => ({
      reason,
      words: reasons[reason],
      attempts: sum(all, 'attempts'),
      cuts: sum(all, 'cuts'),
      slices: sum(all, 'slices'),
      looks: sum(all, 'looks'),
      first: isoOf(instant(Math.min(...all.map(({ at }) => at)))),
      last: isoOf(instant(Math.max(...all.map(({ at }) => at)))),
    }))
    .toSorted((a, b) => b.attempts + b.slices - (a.attempts + a.slices) || (a.reason < b.reason ? -1 : 1));
}
