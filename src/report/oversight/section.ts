import { reasons } from '../../core/reasons.ts';
import type { Reason } from '../../core/reasons.ts';
import { instant, isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Figures } from '../figures/figures.ts';
import type { Report } from '../json/schema.ts';
import { JUDGED } from './order-limits.ts';
import type { OrderVerdict } from './order-limits.ts';
import type { Oversight } from './oversight.ts';
import { OUTLIER_RULE, outliersOf } from './outliers.ts';

type Section = NonNullable<Report['oversight']>;

const JUDGED_MAX = 5_000;
const OUTLIERS_MAX = 100;

/** The section of a report for supervisors. Limits and actions are of the whole desk, all else of the report's strategy. */
export function oversightOf(figures: Figures, { verdicts, actions, doubts, limits }: Oversight): Section {
  const { facts, input } = figures;
  const [from, until] = [input.since ?? -Infinity, input.until ?? Infinity];
  const isIn = (at: Instant): boolean => at >= from && at < until;
  const isTold = ({ at }: { readonly at: string }): boolean => isIn(instant(Date.parse(at)));
  const isOurs = (strategy: string | undefined): boolean => (input.strategy ?? strategy) === strategy;
  const judged = verdicts.filter((one) => isTold(one) && isOurs(one.strategy));
  const of = (which: OrderVerdict['verdict']): readonly OrderVerdict[] =>
    judged.filter(({ verdict }) => verdict === which);
  const isWithin = ({ verdict }: OrderVerdict): number => (verdict === 'within' ? 1 : 0);
  const outliers = outliersOf(figures);
  return {
    orders: { within: of('within').length, beyond: of('beyond').length, unknown: of('unknown').length },
    judged_by: JUDGED,
    judged: judged.toSorted((a, b) => isWithin(a) - isWithin(b)).slice(0, JUDGED_MAX),
    judged_left_out: Math.max(0, judged.length - JUDGED_MAX),
    limits: limits.periods
      .filter(({ since }, i) => since < until && (limits.periods[i + 1]?.since ?? Infinity) > from)
      .map(({ row }) => row),
    outlier_rule: OUTLIER_RULE,
    outliers: outliers.slice(0, OUTLIERS_MAX),
    outliers_left_out: Math.max(0, outliers.length - OUTLIERS_MAX),
    refusals: refusalsOf(figures, isIn),
    doubts: doubts.all().flatMap(({ order, ...doubt }) => {
      const { strategy, pair } = facts.attempts.get(order)?.intent ?? {};
      const isBefore = Date.parse(doubt.since) < until;
      const isAfter = doubt.until === undefined || Date.parse(doubt.until) >= from;
      return isOurs(strategy) && isBefore && isAfter ? [{ order, strategy, pair, ...doubt }] : [];
    }),
    actions: actions.filter(isTold),
  };
}

/** Attempts, cuts, slices and looks by reason, from the same facts as the rest of the report. */
function refusalsOf(
  { facts, input, untraded }: Figures,
  isIn: (at: Instant) => boolean,
): Section['refusals'] {
  const of = { attempts: 0, cuts: 0, slices: 0, looks: 0 };
  const events = [
    ...[...facts.attempts.values()]
      .filter((one) => isIn(one.at) && (input.strategy ?? one.intent.strategy) === one.intent.strategy)
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
