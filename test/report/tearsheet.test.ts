import { describe, expect, it } from 'vitest';
import { DAY_MS, instant } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { driftOf } from '../../src/report/tearsheet/built.ts';
import { fallsOf, monthsOf, performanceOf, YEAR_MS } from '../../src/report/tearsheet/performance.ts';
import type { EquityCurve } from '../../src/report/portfolio/equity-curve.ts';
import { MINUTE, NINE, aFill, aLife, aWake, minutes, records, wanted } from './records.ts';

const START = Date.UTC(2024, 0, 1);
const curveOf = (indexes: readonly number[], start = START): Pick<EquityCurve, 'points' | 'stepMs'> => ({
  points: indexes.map((index, i) => ({
    at: instant(start + i * DAY_MS),
    index,
    value: index,
    target_index: 1,
    hold_index: 1,
    drawdown: 0,
    weights: [],
    drift: 0,
    difference: 0,
  })),
  stepMs: DAY_MS,
});
/** Deterministic returns that rise more than they fall, with declines of several weeks. */
const RETURNS = Array.from(
  { length: 900 },
  (_, i) => 0.0007 + 0.021 * Math.sin(i * i * 0.7) + 0.006 * Math.sin(i / 40),
);
const INDEXES = [1];
for (const each of RETURNS) INDEXES.push((INDEXES.at(-1) ?? 1) * (1 + each));

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
const mean = (all: readonly number[]): number => sum(all) / all.length;
const std = (all: readonly number[]): number =>
  Math.sqrt(sum(all.map((each) => (each - mean(all)) ** 2)) / (all.length - 1));
const cumulative = (returns: readonly number[]): readonly number[] =>
  returns.map((_, i) => returns.slice(0, i + 1).reduce((a, each) => a * (1 + each), 1));

/** The formulas of empyrical (stats.py), written independently of the product; `annualization` is their `ann_factor`, the risk-free rate 0. */
const empyrical = {
  annual_return: (returns: readonly number[], annualization: number): number =>
    (cumulative(returns).at(-1) ?? 1) ** (1 / (returns.length / annualization)) - 1,
  annual_volatility: (returns: readonly number[], annualization: number): number =>
    std(returns) * annualization ** (1 / 2),
  sharpe_ratio: (returns: readonly number[], annualization: number): number =>
    (mean(returns) / std(returns)) * Math.sqrt(annualization),
  downside_risk: (returns: readonly number[], annualization: number): number =>
    Math.sqrt(mean(returns.map((each) => Math.min(each, 0) ** 2))) * Math.sqrt(annualization),
  sortino_ratio: (returns: readonly number[], annualization: number): number =>
    (mean(returns) * annualization) / empyrical.downside_risk(returns, annualization),
  max_drawdown: (returns: readonly number[]): number => {
    const all = [1, ...cumulative(returns)];
    const peaks = all.map((_, i) => Math.max(...all.slice(0, i + 1)));
    return Math.min(...all.map((each, i) => (each - (peaks[i] ?? 1)) / (peaks[i] ?? 1)));
  },
  calmar_ratio: (returns: readonly number[], annualization: number): number =>
    empyrical.annual_return(returns, annualization) / Math.abs(empyrical.max_drawdown(returns)),
};

/** The formulas of QuantStats (stats.py) that are written differently. */
const quantstats = {
  cagr: (returns: readonly number[], periods: number): number =>
    Math.abs((cumulative(returns).at(-1) ?? 1) - 1 + 1) ** (1 / (returns.length / periods)) - 1,
  sortino: (returns: readonly number[], periods: number): number => {
    const downside = Math.sqrt(
      sum(returns.filter((each) => each < 0).map((each) => each ** 2)) / returns.length,
    );
    return (mean(returns) / downside) * Math.sqrt(periods);
  },
  max_drawdown: (indexes: readonly number[]): number =>
    Math.min(...indexes.map((each, i) => each / Math.max(...indexes.slice(0, i + 1)))) - 1,
};

describe('performance figures', () => {
  const own = performanceOf(curveOf(INDEXES), 'index');
  const perYear = YEAR_MS / DAY_MS;

  it.each([
    ['CAGR', own.cagr, empyrical.annual_return(RETURNS, perYear)],
    ['volatility', own.volatility, empyrical.annual_volatility(RETURNS, perYear)],
    ['Sharpe', own.sharpe, empyrical.sharpe_ratio(RETURNS, perYear)],
    ['Sortino', own.sortino, empyrical.sortino_ratio(RETURNS, perYear)],
    ['Calmar', own.calmar, empyrical.calmar_ratio(RETURNS, perYear)],
    ['largest drawdown', -own.drawdown, empyrical.max_drawdown(RETURNS)],
    ['CAGR of QuantStats', own.cagr, quantstats.cagr(RETURNS, perYear)],
    ['Sortino of QuantStats', own.sortino, quantstats.sortino(RETURNS, perYear)],
    ['largest drawdown of QuantStats', -own.drawdown, quantstats.max_drawdown(INDEXES)],
  ])('match the published formula for %s to nine digits', (_, value, published) => {
    expect(value).toBe(Number(published.toPrecision(9)));
    expect(Math.abs(published)).toBeGreaterThan(0.01);
  });

  it('exclude a shorter last step from deviations, and include it in growth, drawdown and time', () => {
    const whole = curveOf(INDEXES);
    const [at, index] = [START + 900 * DAY_MS + DAY_MS / 4, (INDEXES.at(-1) ?? 1) * 0.2];
    const [last] = curveOf([index], at).points;
    const longer = performanceOf({ ...whole, points: [...whole.points, ...(last === undefined ? [] : [last])] }, 'index'); // prettier-ignore
    expect([longer.volatility, longer.sharpe, longer.sortino]).toStrictEqual([own.volatility, own.sharpe, own.sortino]); // prettier-ignore
    expect(longer.return).toBeCloseTo(index - 1, 8);
    expect(longer.cagr).toBeCloseTo(index ** (perYear / 900.25) - 1, 8);
    expect(longer.drawdown).toBeGreaterThan(own.drawdown);
  });

  it('are omitted if they are undefined', () => {
    expect(performanceOf(curveOf([1, 1.1, 1.2]), 'index')).toMatchObject({ volatility: undefined, sharpe: undefined, sortino: undefined, calmar: undefined, drawdown: 0 }); // prettier-ignore
    const flat = performanceOf(curveOf(Array.from({ length: 20 }, () => 1)), 'index');
    expect(flat).toMatchObject({ return: 0, cagr: 0, volatility: 0, sharpe: undefined, sortino: undefined, calmar: undefined }); // prettier-ignore
  });
});

describe('drawdowns', () => {
  it('last from the last moment at the peak to the first recovery, and have no end while they are open', () => {
    const day = (i: number): number => START + i * DAY_MS;
    expect(fallsOf(curveOf([1, 2, 2, 1.5, 1, 1.8, 2, 3, 2.7]).points, 'index')).toStrictEqual([
      { depth: 0.5, peakAt: day(2), lowestAt: day(4), recoveredAt: day(6) },
      { depth: 1 - 2.7 / 3, peakAt: day(7), lowestAt: day(8), recoveredAt: undefined },
    ]);
  });
});

describe('monthly returns', () => {
  it('multiply to the return of the period, and midnight belongs to the day before', () => {
    const indexes = Array.from({ length: 75 }, (_, i) => 1 + i / 100);
    const months = monthsOf(curveOf(indexes, Date.UTC(2024, 0, 20)).points, 'index');
    // 1 February at midnight is the end of January: twelve days after the start.
    expect(months.map(({ month }) => month)).toStrictEqual(['2024-01', '2024-02', '2024-03', '2024-04']);
    expect(months.map(({ coversMs }) => coversMs && coversMs / DAY_MS)).toEqual([
      12,
      undefined,
      undefined,
      2,
    ]);
    expect(months[0]?.return).toBeCloseTo(0.12, 12);
    expect(months[1]?.return).toBeCloseTo(1.41 / 1.12 - 1, 12);
    expect(months.reduce((all, each) => all * (1 + each.return), 1)).toBeCloseTo(1.74, 12);
  });
});

describe('the tearsheet of a portfolio', () => {
  const HOUR = 60 * MINUTE;
  const closes = [100, 100, 100, 100, 110, 120, 90, 100, 110, 105, 115, 120, 130];
  /** All cash at first; half of it is btc from the third hour on, without cost. */
  const story = records(
    [0, aLife('rebalance', { target_weights: { btc: '0.5', usd: '0.5' }, drift_threshold: '0.1' }, 'halves')],
    [0, { kind: 'balances', balances: { usd: '200' }, newest_id: '0', read_at: NINE }],
    [3 * HOUR, aWake({ strategy: 'halves', on: 'drift', intents: [wanted({ leg: '1.btcusd.buy', size: '1' })] })],
    [3 * HOUR, aFill(3 * HOUR, { strategy: 'halves', quantity: '1', amount: '100', price: '100' })],
    [12 * HOUR, aWake({ strategy: 'halves', reason: 'inside_band' })],
  ); // prettier-ignore
  const tape = { ...minutes('btcusd', closes), barMs: HOUR, times: Float64Array.from(closes, (_, i) => NINE + (i - 1) * HOUR) }; // prettier-ignore
  const figures = figuresOf(story, { version: 't', prices: [tape] });
  const report = reportOf(figures);
  const html = reportHtml(report, figures);
  const [aPortfolio] = report.portfolios;
  if (aPortfolio === undefined) throw new Error('there is no portfolio');

  it('compares the portfolio with its targets, both bought and held and restored at every point', () => {
    const { course } = report.portfolios[0] ?? {};
    const restored = closes
      .slice(1)
      .reduce((all, close, i) => all * (1 + (close / (closes[i] ?? 1) - 1) / 2), 1);
    expect(course?.points.at(-1)?.hold_index).toBeCloseTo(1.15, 8);
    expect(course?.points.at(-1)?.target_index).toBeCloseTo(restored, 8);
    expect(course?.tearsheet.portfolio.return).toBeCloseTo(0.15, 8);
    expect(course?.tearsheet.buy_and_hold.return).toBeCloseTo(0.15, 8);
    expect(course?.tearsheet.drawdowns).toStrictEqual([
      { depth: 0.136363636, peak_at: '2026-12-01T14:00:00.000Z', lowest_at: '2026-12-01T15:00:00.000Z', recovered_at: '2026-12-01T20:00:00.000Z' },
    ]); // prettier-ignore
    expect(course?.tearsheet.months).toMatchObject([{ month: '2026-12', return: 0.15 }]);
    expect(course?.tearsheet.months[0]?.targets_held).toBeCloseTo(restored - 1, 8);
  });

  it('shows weights from the first point within the bands, so that the build-up does not stretch the axis', () => {
    const says = /Weight of btc<\/title>\s*<desc[^>]*>([^<]*)/u.exec(html)?.[1];
    expect(says).toBe('Target 50 %, band 40 % to 60 %; between 47 % and 57 %');
    expect(html).toContain('Weights from');
  });

  it('states first the value, the return and the trading cost in money', () => {
    const cards = /<dl class="cards">(.*?)<\/dl>/su.exec(html)?.[1]?.replaceAll(/<[^>]*>/gu, ' ').replaceAll(/\s+/gu, ' ') ?? ''; // prettier-ignore
    const end = report.portfolios[0]?.end;
    expect(cards.trim()).toMatch(new RegExp(`^Value at the end ${Number(end?.value).toFixed(0)} usd, from 200 Return 15.00 % bought and held 15.00 % targets held `, 'u')); // prettier-ignore
    expect(cards).toMatch(/Implementation shortfall 0\.00 bps, 0\.0000 usd/u);
  });

  it('distinguishes the largest drift after the build-up from that of the build-up', () => {
    expect(html).toMatch(
      /While it was bought: largest distance from the targets<\/th>\s*<td class="n">50\.00/u,
    );
    expect(html).toMatch(
      /Largest drift since it was bought, 2026-12-01 12:00:00<\/th>\s*<td class="n">6\.52/u,
    );
    const { course } = aPortfolio;
    if (course === undefined) throw new Error('there is no course');
    expect(course.since_built).toMatchObject({ at: '2026-12-01T12:00:00.000Z', outside: 0 });
    expect(driftOf(course)).toMatchObject({ drift: course.since_built, bought: { driftMax: 0.5 } });
    const { since_built: _, ...never } = course;
    expect(driftOf(never)).toEqual({ drift: never, bought: undefined, trackingError: course.tracking_error });
  });

  it('is named after its strategy, precedes the costs, and defines each figure', () => {
    expect(html).toContain('<h1>Portfolio report: halves</h1>');
    expect(html.indexOf('aria-label="Portfolio"')).toBeLessThan(html.indexOf('aria-label="Cost"'));
    for (const source of ['sharpe_ratio', 'sortino_ratio', 'calmar_ratio', 'annual_return', 'max_drawdown'])
      expect(html).toContain(source);
    expect(html).toContain('The period is shorter than a year');
  });
});
