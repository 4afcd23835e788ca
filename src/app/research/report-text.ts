import { countOf } from '../../core/text/count-of.ts';
import { amountsApart, withSeparators } from '../../core/text/with-separators.ts';
import { fixed } from '../../report/figures/digits.ts';
import { priced, valued } from '../../report/html/markup.ts';
import type { Report } from '../../report/json/schema.ts';
import { driftOf, stepWords } from '../../report/tearsheet/built.ts';
import { plain, shortBps, table } from '../cli/summary.ts';

/** Number of reasons in a summary; the report has all. */
const REASONS_SHOWN = 8;

/** Returns the summary of a report for a terminal: the main figures, and the warnings that a reader needs to judge them. */
export function reportLines(report: Report): readonly string[] {
  const { period, made_from: source } = report;
  return [
    period === undefined
      ? 'The journal is empty.'
      : `${shortTime(period.from)} to ${shortTime(period.until)} UTC, ${countOf(source.records, 'record')}, mode ${source.modes.join(', ') || 'unknown'}`,
    ...costLines(report),
    ...quotingLines(report),
    ...untradedLines(report),
    ...portfolioLines(report),
    ...oversightLines(report),
    '',
    report.signs.costs,
    ...report.warnings.map((line) => `Note: ${amountsApart(line)}`),
  ];
}

function costLines({ groups }: Report): readonly string[] {
  if (groups.length === 0) return [];
  const rows = groups.map(({ strategy, side, traded, base, average_price: average, costs, fills }) => [
    strategy,
    side,
    `${withSeparators(traded)} ${base}`,
    average === undefined ? '' : `at ${plain(priced(average))}`,
    counted(fills.fills),
    ...(['delay', 'trading', 'opportunity', 'fees', 'total'] as const).map((part) =>
      bpsOrNone(costs.bps?.[part]),
    ),
    bpsOrNone(costs.arrival_slippage_bps),
    bpsOrNone(fills.spread_bps),
  ]);
  const head = ['strategy', '', 'traded', '', 'fills', 'delay', 'trading', 'opportunity', 'fees', 'shortfall', 'slippage', 'half spread']; // prettier-ignore
  return ['', 'Cost in basis points', ...table([head, ...rows])];
}

function quotingLines({ quoting }: Report): readonly string[] {
  if (quoting.requests === 0) return [];
  const {
    requests,
    quotes,
    orders,
    fills,
    accept_ratio: accepted,
    fill_ratio: fill,
    quote_age_ms: age,
  } = quoting;
  const parts = [
    `${countOf(requests, 'request')}, ${countOf(quotes, 'quote')}, ${countOf(orders, 'order')}, ${countOf(fills, 'fill')}`,
    ...(accepted === undefined ? [] : [`quotes accepted ${percent(accepted)}`]),
    ...(fill === undefined ? [] : [`orders filled ${percent(fill)}`]),
    ...(requests === fills ? [] : [`${countOf(requests - fills, 'request')} without a fill`]),
    ...(age === undefined
      ? []
      : [`quote age at order ${counted(age.median)} ms median, ${counted(age.p95)} ms p95`]),
    `${counted(quoting.expired)} expired`,
  ];
  return ['', `Quotes: ${parts.join('; ')}`];
}

function untradedLines({ untraded }: Report): readonly string[] {
  if (untraded.length === 0) return [];
  const rows = untraded
    .slice(0, REASONS_SHOWN)
    .map(({ strategy, reason, slices, looks, words }) => [
      slices > 0 ? countOf(slices, 'slice') : countOf(looks, 'look'),
      strategy,
      reason,
      words,
    ]);
  return ['', 'Why not traded', ...table(rows)];
}

/** Rows of each list on a terminal; the report has all. */
const OVERSEEN_SHOWN = 20;

function oversightLines({ oversight }: Report): readonly string[] {
  if (oversight === undefined) return [];
  const { orders, judged, limits, outliers, refusals, doubts, actions } = oversight;
  const list = (lines: readonly string[]): readonly string[] => [
    ...lines.slice(0, OVERSEEN_SHOWN).map((line) => `  ${line}`),
    ...(lines.length > OVERSEEN_SHOWN
      ? [`  and ${counted(lines.length - OVERSEEN_SHOWN)} more with --json or --out`]
      : []),
  ];
  return [
    '',
    `Oversight: orders ${counted(orders.within)} within the limits of their time, ${counted(orders.beyond)} beyond, ${counted(orders.unknown)} unknown`,
    ...list(judged.filter(({ verdict }) => verdict !== 'within').map(({ at, order, verdict, exceeds }) => `${at} ${order} ${verdict} ${exceeds.join('; ')}`)),
    ...list(limits.map(({ since, record, by, why, changes }) => `limits since ${since}, by ${by}: ${why} [${record}]: ${changes.map(({ limit, before = 'none', after = 'none' }) => `${limit} ${before} -> ${after}`).join(', ')}`)),
    ...list(outliers.map((one) => `outlier ${one.strategy} ${one.parent} slice ${one.slice}: ${shortBps(one.cost_bps)} bps, usual ${shortBps(one.median_bps)} within ${shortBps(one.bound_bps)}; ${one.reasons.join(', ') || 'only the price'}`)),
    ...list(refusals.map(({ reason, words, attempts, cuts, slices, looks }) => `${reason}: ${countOf(attempts, 'attempt')}, ${countOf(cuts, 'cut')}, ${countOf(slices, 'slice')}, ${countOf(looks, 'look')}; ${words}`)),
    ...list(doubts.map(({ order, since, until, proof, by, source, records }) => `doubt ${order} ${since} to ${until ?? 'now'}: ${proof}${by === undefined && source === undefined ? '' : ` by ${by ?? source ?? ''}`} [${records.join(', ')}]`)),
    ...list(actions.map(({ at, what, by, why, record }) => `${at} ${what}, by ${by}: ${why} [${record}]`)),
  ]; // prettier-ignore
}

function portfolioLines({ portfolios }: Report): readonly string[] {
  return portfolios.flatMap((portfolio) => {
    const { strategy, cash, end, course, decisions } = portfolio;
    const parts = [
      ...(end === undefined
        ? []
        : [`worth ${shortAmount(end.value)} ${cash}`, `drift ${percent(Number(end.drift))} at the end`]),
      countOf(decisions, 'rebalancing'),
      ...(course === undefined
        ? []
        : [
            `turnover ${percent(course.turnover)}`,
            `return ${percent(course.return)}${course.cash_flows.length === 0 ? '' : ` (money-weighted ${percent(course.money_weighted_return)})`} against ${percent(course.target_return)} of the targets held and ${percent(course.tearsheet.buy_and_hold.return)} bought and held`,
            `drawdown ${percent(course.drawdown)} at one point every ${stepWords(course.step_ms)}`,
            ...driftParts(course),
            ...trackingParts(course),
          ]),
    ];
    return [
      '',
      `Portfolio ${strategy}: ${parts.join('; ')}`,
      ...gainLines(portfolio),
      ...gapLines(portfolio),
    ];
  });
}

type Portfolio = Report['portfolios'][number];
type Course = NonNullable<Portfolio['course']>;

function driftParts(course: Course): readonly string[] {
  const { drift, bought } = driftOf(course);
  const largest = `largest drift ${percent(drift.drift_max)}, mean ${percent(drift.drift_mean)}`;
  return bought === undefined
    ? [largest]
    : [
        `${largest} since it was bought on ${shortTime(bought.at)}`,
        `${percent(bought.driftMax)} from its targets before`,
      ];
}

function trackingParts(course: Course): readonly string[] {
  const { bought, trackingError } = driftOf(course);
  if (course.tracking_error === undefined) return [];
  const whole = `${percent(course.tracking_error)} a year`;
  if (bought === undefined) return [`tracking error ${whole}`];
  return trackingError === undefined
    ? [`tracking error ${whole} with the time of buying`]
    : [
        `tracking error ${percent(trackingError)} a year since it was bought, ${whole} with the time of buying`,
      ];
}

const gainLines = ({ gains = [], cash }: Portfolio): readonly string[] =>
  gains.length === 0
    ? []
    : [
        `  gain by asset: ${gains.map(({ currency, gain }) => `${currency} ${shortAmount(gain)}`).join(', ')} ${cash}`,
      ];

const gapLines = ({ course, cash, paid }: Portfolio): readonly string[] => {
  if (course === undefined) return [];
  const { total, trading, fees, interest, build_up: buildUp, drift } = course.gap;
  const told = [
    `spread and impact ${shortAmount(trading)}`,
    `fees ${shortAmount(fees)}`,
    ...(paid.interest === '0' ? [] : [`interest ${shortAmount(interest)}`]),
    `build-up ${shortAmount(buildUp)}`,
    `drift ${shortAmount(drift)}`,
  ];
  return [
    `  paid: spread and impact ${shortAmount(paid.spread)}, fees ${shortAmount(paid.fees)}, interest ${shortAmount(paid.interest)} ${cash}`,
    `  ${shortAmount(total)} ${cash} against the targets held, compounded to the end: ${told.join(', ')}`,
  ];
};

const counted = (count: number): string => withSeparators(String(count));
const shortTime = (iso: string): string => iso.replace('T', ' ').replace(/(?:\.\d+)?Z$/u, '');
const shortAmount = (text: string): string => plain(valued(text, text));
const bpsOrNone = (text: string | undefined): string => (text === undefined ? '-' : shortBps(text));
const percent = (fraction: number): string => `${withSeparators(fixed(100 * fraction, 2))} %`;
