import { describe, expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { quantity } from '../../src/core/money.ts';
import { after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import type { ReportInput } from '../../src/report/figures/figures.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { MINUTE, NINE, aFill, aLife, aWake, minutes, records, wanted } from './records.ts';

const HOUR = 60 * MINUTE;
const reads = (balances: Record<string, string>): RecordBody => ({
  kind: 'balances',
  balances,
  newest_id: '0',
  read_at: NINE,
});

/** Bars of an hour: the first close is known at nine. */
const hours = (closes: readonly number[]): ReturnType<typeof minutes> => {
  const tape = minutes('btcusd', closes);
  return { ...tape, barMs: HOUR, times: Float64Array.from(closes, (_, i) => NINE + (i - 1) * HOUR) };
};

type Portfolio = NonNullable<Report['portfolios'][number]>;
type Story = readonly (readonly [number, RecordBody])[];

/** What is reported of a story that begins with a read of the account. */
function reported(
  closes: readonly number[],
  story: Story,
  { charges, ...document }: { readonly charges?: ReportInput['charges'] } & Record<string, unknown> = {},
): Portfolio {
  const life = { target_weights: { btc: '0.5', usd: '0.5' }, drift_threshold: '0.1', ...document };
  const end = aWake({ reason: 'inside_band' });
  const all = records([0, aLife('rebalance', life)], ...story, [(closes.length - 1) * HOUR, end]);
  const [first] = reportOf(figuresOf(all, { version: 't', prices: [hours(closes)], charges })).portfolios;
  if (first === undefined) throw new Error('no portfolio');
  return first;
}

const portfolio = (closes: readonly number[], document: Record<string, unknown>, ...more: Story): Portfolio =>
  reported(closes, [[0, reads({ btc: '1', usd: '100' })], ...more], document);

const FLAT = Array.from({ length: 13 }, () => 100);

describe('the course of a portfolio', () => {
  it('excludes deposits from its return', () => {
    const { course, end } = portfolio(FLAT, {}, [5 * HOUR + 1, reads({ btc: '1', usd: '150' })]);
    expect(end?.value).toBe('250');
    expect(course).toMatchObject({ step_ms: HOUR, flows: 50, return: 0, drawdown: 0, target_return: 0 });
    expect(course?.points.map(({ value, index }) => [value, index])).toEqual(
      FLAT.map((_, i) => [i < 6 ? 200 : 250, 1]),
    );
  });

  // Money-weighted by hand: V_0·x + flow·x^(163 / 288) = V_T, as the flow comes 125 of 288 hours after the start.
  it.each([
    [1_000_000, 1_000_000, -0.304334734],
    [100_000, 3_000_000, -0.384727952],
  ])('is the return of the money in it on a day on which %d gets %d more and the price falls', (start, flow, rate) => {
    const [before, more] = [start / 100, flow / 100];
    const { course } = reported(
      Array.from({ length: 12 * 24 + 1 }, (_, i) => (i <= 125 ? 100 : 75.5)),
      [
        [0, reads({ btc: `${before}` })],
        [125 * HOUR, reads({ btc: `${before}`, usd: `${flow}` })],
        [125 * HOUR, aFill(125 * HOUR, { quantity: `${more}`, price: '100', amount: `${flow}`, fees: '100' })],
      ],
      { target_weights: { btc: '1' } },
    );
    const value = start + flow;
    expect(course).toMatchObject({ step_ms: 24 * HOUR, flows: flow, cash_flows: [{ at: '2026-12-06T14:00:00.000Z', value: start, amount: flow }] });
    for (const each of [course?.return, -(course?.drawdown ?? 0)]) expect(each).toBeCloseTo((0.755 * value - 100) / value - 1, 8);
    expect(course?.money_weighted_return).toBeCloseTo(rate, 3);
    // The fee was paid by the money after the deposit, not by that before it.
    expect(Number(course?.gap.fees)).toBeCloseTo((-100 * start) / value, 1);
  }); // prettier-ignore

  it('pays interest, which is no withdrawal, as a read shows it or as the venue charged it', () => {
    const story: Story = [[0, reads({ btc: '3', usd: '-100' })], [5 * HOUR + 1, reads({ btc: '3', usd: '-101' })]];
    const charges = [5 * HOUR, 11 * HOUR].map((at) => ({ at: after(NINE, at), currency: 'usd', amount: quantity('1') }));
    for (const [{ course, paid, end, gains }, usd] of [[reported(FLAT, story), 1], [reported(FLAT, story, { charges }), 2]] as const) {
      expect([paid.interest, end?.value, course?.cash_flows]).toEqual([`${usd}`, `${200 - usd}`, []]);
      expect([course?.return, course?.money_weighted_return]).toEqual([-usd / 200, -usd / 200]);
      expect(gains?.map(({ gain, flows }) => [gain, flows])).toEqual([['0', '0'], [`-${usd}`, '0']]);
      expect(Number(course?.gap.interest)).toBeCloseTo(-usd, 4);
    }
    // A debt that grows while another balance rises is a trade that the journal lacks.
    const traded = reported(FLAT, [[0, reads({ btc: '3', usd: '-100' })], [5 * HOUR + 1, reads({ btc: '4', usd: '-200' })]]);
    expect([traded.paid.interest, traded.course?.return, traded.course?.cash_flows.length]).toEqual(['0', 0, 1]);
  }); // prettier-ignore

  it('follows the prices, and measures the fall from its peak', () => {
    const { course } = portfolio([...FLAT, 120, 60, 90], {});
    // 200 in value, then 220, 160 and 190.
    expect(course?.return).toBeCloseTo(-0.05, 9);
    expect(course?.drawdown).toBeCloseTo(60 / 220, 9);
    expect(course?.drawdown_at).toBe('2026-12-01T23:00:00.000Z');
    expect(course?.target_return).toBeCloseTo(1.1 * 0.75 * 1.25 - 1, 9);
  });

  it('ends with a point at the end of its period, and weights the last step by its length', () => {
    // Every hour until 21:00, and 15 minutes more, in which btc doubles.
    const closes = [...FLAT.slice(1), 110, 220];
    const tape = hours(closes);
    const early = {
      ...tape,
      times: tape.times.map((at, i) => (i === closes.length - 1 ? at - 45 * MINUTE : at)),
    };
    const story = records(
      [0, aLife('rebalance', { target_weights: { btc: '0.25', usd: '0.75' }, drift_threshold: '0.1' })],
      [0, reads({ btc: '1', usd: '100' })],
      [12 * HOUR + 15 * MINUTE, aWake({ reason: 'inside_band' })],
    );
    const [first] = reportOf(figuresOf(story, { version: 't', prices: [early] })).portfolios;
    const { course, end } = first ?? {};
    expect(course?.points).toHaveLength(14);
    expect(course?.points.at(-1)).toMatchObject({ at: '2026-12-01T21:15:00.000Z', value: 320 });
    expect([end?.at, end?.value]).toEqual([course?.points.at(-1)?.at, '320']);
    expect(course?.return).toBeCloseTo(0.6, 8);
    expect(course?.drift_max).toBeCloseTo(220 / 320 - 0.25, 8);
    // Own returns less those of the targets, the last over a quarter of a step.
    const differences = [...FLAT.slice(2).map(() => 0), 10 / 200 - 0.025, 110 / 210 - 0.25];
    const steps = differences.map((_, i) => (i === 12 ? 0.25 : 1));
    const all = 12.25;
    const mean = (10 / 200 - 0.025 + 110 / 210 - 0.25) / all;
    const squares = differences.reduce((sum, d, i) => sum + (d - mean * (steps[i] ?? 0)) ** 2, 0);
    const perYear = 365.25 * 24;
    const expected = Math.sqrt((squares / (all - (12 + 0.0625) / all)) * perYear);
    expect(course?.tracking_error).toBeCloseTo(expected, 6);
  });

  it('ends its days and months at midnight UTC, whenever its period begins', () => {
    // Forty days of hours from nine in the morning on. btc rises in the last hours of the year, between nine and midnight.
    const endOfYear = 30 * 24 + 15;
    const closes = Array.from({ length: 40 * 24 + 1 }, (_, i) => (i < endOfYear ? 100 : 120));
    const { course } = portfolio(closes, {});
    const times = course?.points.map(({ at }) => at) ?? [];
    expect(times.slice(0, 3)).toEqual(['2026-12-01T09:00:00.000Z', '2026-12-02T00:00:00.000Z', '2026-12-03T00:00:00.000Z']);
    expect(times.slice(-2)).toEqual(['2027-01-10T00:00:00.000Z', '2027-01-10T09:00:00.000Z']);
    expect(course?.tearsheet.months).toMatchObject([
      { month: '2026-12', return: 0.1, covers_ms: 30 * 24 * HOUR + 15 * HOUR },
      { month: '2027-01', return: 0, covers_ms: 9 * 24 * HOUR + 9 * HOUR },
    ]);
  }); // prettier-ignore

  it('counts the points outside the band, for absolute and relative drift', () => {
    const closes = [...FLAT, 140, 160];
    // Weights of btc at the end: 140/240 and 160/260, 0.083 and 0.115 off a half.
    expect(portfolio(closes, {}).course?.outside).toBeCloseTo(1 / 15, 9);
    expect(portfolio(closes, { drift_type: 'relative' }).course?.outside).toBeCloseTo(2 / 15, 9);
    expect(portfolio(closes, { drift_type: 'relative' }).end?.drift).toBe('0.230769');
  });

  it('excludes cash that is set aside', () => {
    const { end } = portfolio(FLAT, { cash_buffer: { amount: '60', currency: 'usd' } });
    expect(end).toMatchObject({ value: '140', weights: { btc: '0.714286', usd: '0.285714' } });
  });

  it('has a turnover of half the bought and sold amount, divided by its mean value', () => {
    const fill = aFill(5 * HOUR, { quantity: '0.2', amount: '20', price: '100', fees: '1' });
    const { course, traded, end, decisions } = portfolio(
      FLAT,
      {},
      [5 * HOUR, aWake({ on: 'drift', intents: [wanted({ leg: '1.btcusd.buy', size: '0.2' })] })],
      [5 * HOUR, fill],
    );
    expect([traded, end?.value, decisions]).toEqual(['20', '199', 1]);
    const mean = (5 * 200 + 8 * 199) / 13;
    expect(course?.turnover).toBeCloseTo(20 / 2 / mean, 8);
    // The fee is the desk's own: no deposit.
    expect(course).toMatchObject({ flows: 0 });
    expect(course?.return).toBeCloseTo(-0.005, 9);
  });

  it('gains nothing from a trade for a currency outside it, and bears the cost of a trade among its own', () => {
    const swap = { strategy: 'other', parent: 'q', quantity: '0.5', price: '100' };
    const { course, end, traded } = portfolio(
      FLAT,
      {},
      // Bought with euros; sold for usd, ten below the price.
      [3 * HOUR, aFill(3 * HOUR, { ...swap, pair: 'btceur', quote: 'eur', amount: '45' })],
      [5 * HOUR, aFill(5 * HOUR, { ...swap, slice: 1, side: 'sell', amount: '40' })],
      // A coin of no portfolio, sold for usd with a fee.
      [7 * HOUR, aFill(7 * HOUR, { ...swap, slice: 2, pair: 'dogeusd', base: 'doge', side: 'sell', amount: '30', fees: '1' })], // prettier-ignore
    );
    expect([traded, end?.value]).toEqual(['0', '269']);
    expect(course).toMatchObject({ flows: 79, target_return: 0 });
    expect(course?.return).toBeCloseTo(-10 / 250, 9);
    expect(course?.drawdown).toBeCloseTo(10 / 250, 9);
  });

  it('counts only the rebalancings and trades of the period', () => {
    const [early, late] = [2 * HOUR, 8 * HOUR].map((at, i) => {
      const [parent, leg] = [`p${i}`, `${i + 1}.btcusd.buy`];
      const trade: readonly (readonly [number, RecordBody])[] = [
        [at, aWake({ on: 'drift', intents: [wanted({ parent, leg, size: '0.2' })] })],
        [at, aFill(at, { parent, quantity: '0.2', amount: '20', price: '100' })],
      ];
      return trade;
    });
    const story = records(
      [0, aLife('rebalance', { target_weights: { btc: '0.5', usd: '0.5' }, drift_threshold: '0.1' })],
      [0, reads({ btc: '1', usd: '100' })],
      ...(early ?? []),
      ...(late ?? []),
      [12 * HOUR, aWake({ reason: 'inside_band' })],
    );
    const told = (input: object): unknown =>
      reportOf(figuresOf(story, { version: 't', prices: [hours(FLAT)], ...input })).portfolios.map(
        ({ decisions, traded }) => [decisions, traded],
      );
    expect(told({})).toEqual([[2, '40']]);
    expect(told({ since: after(NINE, 5 * HOUR) })).toEqual([[1, '20']]);
    expect(told({ until: after(NINE, 5 * HOUR) })).toEqual([[1, '20']]);
    expect(told({ since: after(NINE, 9 * HOUR) })).toEqual([[0, '0']]);
  });

  it('omits moments without a price for every asset', () => {
    const tape = hours(FLAT);
    const gap = { ...tape, times: tape.times.map((at, i) => (i > 3 ? at + 5 * HOUR : at)) };
    const story = records(
      [0, aLife('rebalance', { target_weights: { btc: '0.5', usd: '0.5' }, drift_threshold: '0.1' })],
      [0, reads({ btc: '1', usd: '100' })],
      [12 * HOUR, aWake({ reason: 'inside_band' })],
    );
    const [first] = reportOf(figuresOf(story, { version: 't', prices: [gap] })).portfolios;
    // Known at nine to twelve, for three hours after that, and again from 18:00 on.
    expect(first?.course?.points.map(({ at }) => Number(at.slice(11, 13)))).toEqual([9, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21]); // prettier-ignore
  });
});
