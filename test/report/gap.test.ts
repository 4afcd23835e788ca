import { describe, expect, it } from 'vitest';
import { reportLines } from '../../src/app/research/report-text.ts';
import { add, money, NO_MONEY, subtract, text } from '../../src/core/money.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { MINUTE, NINE, aFill, aLife, aWake, anIntent, minutes, records, wanted } from './records.ts';

const HOUR = 60 * MINUTE;
const CLOSES = [100, 100, 100, 100, 110, 120, 90, 100, 110, 105, 115, 120, 130];
const deposit = {
  kind: 'balances',
  balances: { usd: '148.5', btc: '1' },
  newest_id: '1',
  read_at: NINE,
} as const;

/** All cash at first; after three hours a btc is bought for 101 at a price of 100, with a fee of 0.5 usd; then a deposit of 50. */
const story = records(
  [0, aLife('rebalance', { target_weights: { btc: '0.5', usd: '0.5' }, drift_threshold: '0.1' }, 'halves')],
  [0, { kind: 'balances', balances: { usd: '200' }, newest_id: '0', read_at: NINE }],
  [3 * HOUR, aWake({ strategy: 'halves', on: 'drift', intents: [wanted({ leg: '1.btcusd.buy', size: '1' })] })],
  [3 * HOUR, anIntent({ strategy: 'halves', reference_price: '100' })],
  [3 * HOUR, aFill(3 * HOUR, { strategy: 'halves', quantity: '1', amount: '101', price: '101', fees: '0.5' })],
  [8 * HOUR + 1, deposit],
  [12 * HOUR, aWake({ strategy: 'halves', reason: 'inside_band' })],
); // prettier-ignore
const tape = { ...minutes('btcusd', CLOSES), barMs: HOUR, times: Float64Array.from(CLOSES, (_, i) => NINE + (i - 1) * HOUR) }; // prettier-ignore
const figures = figuresOf(story, { version: 't', prices: [tape] });
const report = reportOf(figures);
const [portfolio] = report.portfolios;
if (portfolio?.course === undefined) throw new Error('there is no course');
const { course, gains = [], rebalancings, start, end } = portfolio;
const sumOf = (amounts: readonly string[]): string =>
  text(amounts.reduce((sum, each) => add(sum, money(each)), NO_MONEY));

describe('the gap between a portfolio and its targets', () => {
  it('is split into parts that sum to it, to the last digit', () => {
    const { total, ...parts } = course.gap;
    expect(sumOf(Object.values(parts))).toBe(total);
    expect(Number(total)).toBeCloseTo(200 * ((course.points.at(-1)?.index ?? 0) - (course.points.at(-1)?.target_index ?? 0)), 3); // prettier-ignore
  });

  it('counts a cost at the value to which it would have grown with the targets', () => {
    const onward = CLOSES.slice(4).reduce((all, close, i) => all * (1 + (close / (CLOSES[i + 3] ?? 1) - 1) / 2), 1); // prettier-ignore
    expect(Number(course.gap.trading)).toBeCloseTo(-1 * onward, 3);
    expect(Number(course.gap.fees)).toBeCloseTo(-0.5 * onward, 3);
  });

  it('counts waiting cash as build-up, and only later differences as drift', () => {
    // The price is constant until btc is bought, so waiting neither gains nor loses.
    expect(course.since_built?.at).toBe('2026-12-01T12:00:00.000Z');
    expect(course.gap.build_up).toBe('0');
    expect(Number(course.gap.drift)).not.toBe(0);
  });
});

describe('the gain of each asset', () => {
  it('sums exactly to the gain of the portfolio without deposits', () => {
    expect(gains.map(({ currency, traded, flows, gain }) => [currency, traded, flows, gain])).toEqual([
      ['btc', '101.5', '0', '28.5'],
      ['usd', '-101.5', '50', '0'],
    ]);
    const whole = subtract(subtract(money(end?.value ?? '0'), money(start?.value ?? '0')), money('50'));
    expect(sumOf(gains.map(({ gain }) => gain))).toBe(text(whole));
    expect(gains.map(({ share }) => share)).toEqual([1, 0]);
  });
});

describe('the gain of rebalancing over buying and holding', () => {
  it('is reported by asset without deposits and withdrawals, and sums to the difference of the two returns', () => {
    // Half of 200 in btc from the first point on, which rises from 100 to 130.
    expect(course.hold_gains).toEqual({ btc: '30', usd: '0' });
    const closed = reportOf(figuresOf(story.filter(({ body }) => body !== deposit), { version: 't', prices: [tape] })); // prettier-ignore
    const html = reportHtml(closed, figures).replaceAll(/<[^>]*>/gu, ' ').replaceAll(/\s+/gu, ' '); // prettier-ignore
    expect(html).toContain('btc 28.5000 30.0000 \u22121.5000');
    expect(html).toContain('Portfolio 28.5000 30.0000 \u22121.5000');
    expect(html).toContain('Return 14.25 % against 15.00 % of the target weights, bought at the first point');
    expect(reportLines(closed).join('\n')).toContain('% of the targets held and 15.00 % bought and held');
    expect(reportHtml(report, figures)).not.toContain('Gain of rebalancing');
  });
});

describe('the rebalancings of a portfolio', () => {
  it('state which asset was furthest from its target, and what they bought, sold and cost', () => {
    expect(rebalancings).toEqual([
      { at: '2026-12-01T12:00:00.000Z', currency: 'btc', weight: '0.000000', bought: '101', sold: '0', cost: '1.5' },
    ]);
    const html = reportHtml(report, figures).replaceAll(/<[^>]*>/gu, ' ').replaceAll(/\s+/gu, ' ');
    expect(html).toContain('2026-12-01 12:00:00 btc 0.00 % 50.00 % 101.0000 0.0000 1.5000');
    // The same cost in the table that also states the value that it would have grown to by the end.
    expect(html).toContain('Trading cost 1.5000 usd and interest 0.0000 when they were paid');
  }); // prettier-ignore

  it('are limited to the fifty with the largest trades, oldest first', () => {
    const days = Array.from({ length: 60 }, (_, i) => i + 1);
    const many = records(
      [0, aLife('rebalance', { target_weights: { btc: '0.5', usd: '0.5' }, drift_threshold: '0.1' }, 'halves')],
      [0, { kind: 'balances', balances: { usd: '200000' }, newest_id: '0', read_at: NINE }],
      ...days.flatMap((day) => [
        [day * HOUR, aWake({ strategy: 'halves', on: 'drift', intents: [wanted({ parent: `p${day}`, leg: `${day}.btcusd.buy`, size: '1' })] })] as const,
        [day * HOUR, aFill(day * HOUR, { strategy: 'halves', parent: `p${day}`, quantity: '1', amount: String(100 + day), price: String(100 + day) })] as const,
      ]),
    ); // prettier-ignore
    const flat = Array.from({ length: 62 }, () => 100);
    const prices = [{ ...minutes('btcusd', flat), barMs: HOUR, times: Float64Array.from(flat, (_, i) => NINE + (i - 1) * HOUR) }]; // prettier-ignore
    const [first] = reportOf(figuresOf(many, { version: 't', prices })).portfolios;
    expect(first?.decisions).toBe(60);
    expect(first?.rebalancings.map(({ bought }) => Number(bought))).toEqual(days.slice(10).map((day) => 100 + day)); // prettier-ignore
  });
});

describe('a portfolio at other costs', () => {
  it('is valued from the same fills with no cost, the actual cost and twice the cost', () => {
    expect(portfolio.at_costs).toEqual([
      { times: 0, sum: '280' },
      { times: 1, sum: end?.value },
      { times: 2, sum: '277' },
    ]);
    const [total] = report.totals;
    expect(total?.at_costs?.map(({ sum }) => sum)).toEqual(['0', '1.5', '3']);
  });
});
