import { bandOf, builtAt, stepWords } from './built.ts';
import { countOf } from '../../core/text/count-of.ts';
import { percents, several, short } from '../html/charts.ts';
import { markup, percent, table, timeCell } from '../html/markup.ts';
import type { Markup, Piece } from '../html/markup.ts';
import { chart } from '../html/svg.ts';
import type { Point } from '../html/svg.ts';
import type { Report } from '../json/schema.ts';

type Portfolio = Report['portfolios'][number];
type Course = NonNullable<Portfolio['course']>;
type Performance = Course['tearsheet']['portfolio'];

/** A portfolio compared with its targets: value, figures, drawdowns, months, weights. Empty without an equity curve. */
export function tearsheet(portfolio: Portfolio, id: string): Markup {
  const { course } = portfolio;
  if (course === undefined) return markup``;
  return markup`${growthChart(portfolio, course, id)}
${figures(course)}
${drawdownChart(course, id)}
${drawdowns(course)}
${months(course)}
${weightCharts(portfolio, course, id)}`;
}

const lineOf = ({ points }: Course, of: (point: Course['points'][number]) => number): readonly Point[] =>
  points.map((point) => [Date.parse(point.at), of(point)]);

function growthChart({ cash }: Portfolio, course: Course, id: string): Markup {
  const { points, tearsheet: own } = course;
  const start = points[0]?.value ?? 0;
  return chart({
    id: `${id}v`,
    title: `Value, ${cash}`,
    across: `${course.flows === 0 ? '' : 'deposits and withdrawals taken out; '}logarithmic: equal distances are equal returns`,
    says: `From ${short(start)} to ${short(start * (points.at(-1)?.index ?? 1))}; return ${percents(course.return)}, bought and held ${percents(own.buy_and_hold.return)}, targets held ${percents(own.targets_held.return)}`,
    lines: [
      { name: 'targets held without cost', colour: 5, shape: 'dashes', points: lineOf(course, ({ target_index: index }) => start * index) },
      { name: 'bought and held', colour: 2, points: lineOf(course, ({ hold_index: index }) => start * index) },
      { name: 'portfolio', colour: 1, points: lineOf(course, ({ index }) => start * index) },
    ],
    x: 'time',
    value: short,
    isLog: true,
    height: 300,
  }); // prettier-ignore
}

interface Row {
  readonly name: string;
  readonly of: (one: Performance) => string;
  readonly definition: string;
}

const two = (value: number | undefined): string =>
  value === undefined ? '–' : value.toFixed(2).replace('-', '\u2212');
const ROWS: readonly Row[] = [
  { name: 'Return', of: ({ return: each }) => percent(each), definition: 'Last index / first − 1, valued at each deposit and withdrawal (time-weighted, GIPS)' },
  { name: 'CAGR', of: ({ cagr }) => percent(cagr), definition: '(1 + return)^(1 / years) − 1, a year of 365.25 days (empyrical annual_return, QuantStats cagr)' },
  { name: 'Volatility, per year', of: ({ volatility }) => percent(volatility), definition: 'Standard deviation of the returns (n − 1) · √(returns in a year) (empyrical annual_volatility)' },
  { name: 'Sharpe ratio', of: ({ sharpe }) => two(sharpe), definition: 'Mean return / standard deviation · √(returns in a year), risk-free rate 0 (Sharpe 1994; empyrical sharpe_ratio)' },
  { name: 'Sortino ratio', of: ({ sortino }) => two(sortino), definition: 'Mean return / √(Σ min(return, 0)² / n) · √(returns in a year), target 0 (Sortino and Price 1994; empyrical sortino_ratio)' },
  { name: 'Largest drawdown', of: ({ drawdown }) => percent(drawdown), definition: 'Largest fall from a peak, of the peak, at the points (empyrical max_drawdown)' },
  { name: 'Calmar ratio', of: ({ calmar }) => two(calmar), definition: 'CAGR / largest drawdown, over the whole period (Young 1991; empyrical calmar_ratio)' },
]; // prettier-ignore

const HOURS = 3_600_000;
const YEAR_HOURS = 365.25 * 24;

function figures({ tearsheet: { portfolio, buy_and_hold: held, targets_held: kept }, points, step_ms: stepMs, ...course }: Course): Markup {
  const hours = (Date.parse(points.at(-1)?.at ?? '') - Date.parse(points[0]?.at ?? '')) / HOURS;
  const warning = hours < YEAR_HOURS ? ' The period is shorter than a year: its annual figures are extrapolated.' : '';
  const flows = course.cash_flows.length === 0 ? '' : ` Money-weighted return of the portfolio: ${percent(course.money_weighted_return)}, the internal rate of its value and flows over the period.`;
  return table({
    caption: 'Performance',
    note: `One return every ${stepWords(stepMs)}. Bought and held: the target weights, bought at the first point without cost. Targets held: the target weights, restored at every point without cost.${flows}${warning}`,
    head: ['Figure', '#Portfolio', '#Bought and held', '#Targets held', 'Definition and source'],
    rows: ROWS.map(({ name, of, definition }) => [name, of(portfolio), of(held), of(kept), markup`<small class="words">${definition}</small>`]),
  });
} // prettier-ignore

function drawdownChart(course: Course, id: string): Markup {
  return chart({
    id: `${id}d`,
    title: 'Drawdown',
    says: `Largest fall ${percents(course.drawdown)}, at one point every ${stepWords(course.step_ms)}`,
    lines: [
      { name: 'drawdown', colour: 2, shape: 'area', points: lineOf(course, ({ drawdown }) => drawdown) },
    ],
    x: 'time',
    value: percents,
    zero: true,
    height: 150,
  });
}

/** To the minute, because a point at midnight is the end of the day before. */
const minuteOf = (iso: string): Markup => timeCell(`${iso.slice(0, 16)}Z`);
const daysOf = (from: string, to: string): string =>
  String(Math.round(((Date.parse(to) - Date.parse(from)) / (24 * HOURS)) * 10) / 10);

function drawdowns({ tearsheet: { drawdowns: all }, points }: Course): Markup {
  return table({
    caption: 'Deepest drawdowns',
    note: 'From the last point at the peak to the first point back at the peak',
    head: ['Depth', 'Peak, UTC', 'Lowest, UTC', 'Recovered, UTC', '#Days down', '#Days in all'],
    rows: all.map(({ depth, peak_at: peak, lowest_at: lowest, recovered_at: recovered }) => [
      percent(depth),
      minuteOf(peak),
      minuteOf(lowest),
      recovered === undefined ? 'not yet' : minuteOf(recovered),
      daysOf(peak, lowest),
      `${daysOf(peak, recovered ?? points.at(-1)?.at ?? peak)}${recovered === undefined ? ' so far' : ''}`,
    ]),
  });
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function months({ tearsheet: { months: all } }: Course): Markup {
  const cell = (value: number | undefined, isPart = false): Piece =>
    value === undefined
      ? ''
      : markup`<span class="${value < 0 ? 'bad' : value > 0 ? 'good' : ''}">${percent(value, 1).replace('\u00a0%', '')}</span>${isPart ? PART : ''}`;
  const whole = (of: (typeof all)[number][], by: 'return' | 'targets_held'): number =>
    of.reduce((product, each) => product * (1 + each[by]), 1) - 1;
  return table({
    caption: 'Returns by month, %',
    note: `UTC${partsNote(all)}. Last column: the targets, held without cost`,
    head: ['Year', ...MONTHS.map((name) => `#${name}`), '#Year', '#Targets'],
    rows: [...Map.groupBy(all, ({ month }) => month.slice(0, 4))].map(([year, of]) => [
      year,
      ...MONTHS.map((_, i) => {
        const one = of.find(({ month }) => Number(month.slice(5)) === i + 1);
        return cell(one?.return, one?.covers_ms !== undefined);
      }),
      ...(['return', 'targets_held'] as const).map((by) => cell(whole(of, by), isPartOfYear(of))),
    ]),
  });
}

/** Marks a month or a year that the period covers only in part. */
const PART = '°';

const isPartOfYear = (of: Months): boolean =>
  of.length < 12 || of.some(({ covers_ms: part }) => part !== undefined);

type Months = Course['tearsheet']['months'];
function partsNote(all: Months): string {
  const parts = all.flatMap(({ month, covers_ms: ms }) =>
    ms === undefined ? [] : [`${month} (${lengthOf(ms)})`],
  );
  return parts.length === 0
    ? `; ${PART} a part of the year`
    : `; ${PART} a part, of months ${parts.join(' and ')}`;
}
const lengthOf = (ms: number): string =>
  ms < 24 * HOURS
    ? countOf(Math.round((10 * ms) / HOURS) / 10, 'hour')
    : countOf(Math.round((10 * ms) / (24 * HOURS)) / 10, 'day');

/** From the first point at which every weight is within its band, because the purchase of the portfolio would stretch the axes. */
function weightCharts(portfolio: Portfolio, course: Course, id: string): Markup {
  const { targets, cash } = portfolio;
  const currencies = [...new Set([...Object.keys(targets), cash])];
  const bands = currencies.map((currency) => ({
    currency,
    band: { name: 'band', ...bandOf(portfolio, currency) },
  }));
  const built = builtAt(course);
  const points = course.points.slice(built);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return markup``;
  const charts = bands.map(({ currency, band }, i) => {
    const weights = points.map((point): Point => [Date.parse(point.at), point.weights[currency] ?? 0]);
    const [low, high] = [
      weights.reduce((least, [, weight]) => Math.min(least, weight), 1),
      weights.reduce((most, [, weight]) => Math.max(most, weight), 0),
    ];
    const target = Number(targets[currency] ?? 0);
    return chart({
      id: `${id}w${i}`,
      title: `Weight of ${currency}`,
      says: `Target ${percents(target)}, band ${percents(band.low)} to ${percents(band.high)}; between ${percents(low)} and ${percents(high)}`,
      lines: [
        { name: 'weight', colour: 1, points: weights },
        { name: 'target', colour: 5, shape: 'dashes', points: [first, last].map(({ at }): Point => [Date.parse(at), target]) },
      ],
      band,
      x: 'time',
      value: percents,
      height: 160,
      isSmall: currencies.length > 2,
    }); // prettier-ignore
  });
  const left =
    built === 0
      ? ''
      : markup`<p class="soft">Weights from ${minuteOf(first.at)}: before, the portfolio was not within its bands.</p>`;
  return markup`${several(charts)}${left}`;
}
