import { expect } from 'vitest';
import { cost, price, quantity, roundUp, text } from '../../src/core/money.ts';
import type { Price } from '../../src/core/money.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { Bars, Setting } from './rebalance-year.ts';
import { hoursOf } from './rebalance-year.ts';
import type { Ran } from './bench.ts';
import { closesTape, fillsOf } from './bench.ts';
import { portfolioRun } from './portfolio.ts';
import type { Counted } from './portfolio.ts';

/** The same decimals as usd, so that only the name of the cash differs. */
const usdtOf = (usdRate: string | undefined) => ({
  usdt: { precision: 2, fiat: false, canDeposit: true, canWithdraw: true, ...(usdRate && { usdRate }) },
});

const statedOne = { rates: new Map([['usdt', { usd: price('1'), gapBpsMax: undefined }]]) };

const held = ({ desk }: Ran): Readonly<Record<string, string>> =>
  Object.fromEntries([...(desk.state.balances ?? [])].map(([name, amount]) => [name, text(amount)]));

/** A fill without its ids and names. */
const told = ({ at, side, base, quantity: filled, amount, price: each, fees, notional_usd }: Told) => ({
  at,
  side,
  base,
  filled,
  amount,
  each,
  fees,
  notional_usd,
});
type Told = ReturnType<typeof fillsOf>[number];

/** Runs a portfolio in usd and in usdt with a stated rate of 1, and compares every figure. */
export function expectSameInUsdt(bars: Bars, setting: Setting, shape: Pick<Counted, 'model'> = {}): number {
  const usd = portfolioRun(bars, setting, undefined, shape).ran;
  const usdt = portfolioRun(bars, setting, undefined, {
    ...shape,
    cash: 'usdt',
    policy: statedOne,
    currencies: usdtOf('1'),
  }).ran;
  const [first, second] = [fillsOf(usd).map(told), fillsOf(usdt).map(told)];
  expect(first.length).toBeGreaterThan(20);
  expect(second).toEqual(first);
  const { usdt: cash, ...rest } = held(usdt);
  expect({ ...rest, usd: cash }).toEqual(held(usd));
  return first.length;
}

/** Hourly rates as the tape of usdtusd. */
export function rateTape(bars: Bars, rateAt: (hour: number) => number): Tape {
  const { first, last } = hoursOf(bars);
  const hours = Array.from({ length: last - first + 2 }, (_, n) => first - 1 + n);
  return closesTape('usdtusd', {
    barMs: HOUR_MS,
    times: hours.map((hour) => hour * HOUR_MS),
    closes: hours.map((_, n) => Number(rateAt(n).toPrecision(8))),
  });
}

/** Expects the same trades with a series of rates; only their values in the currency of the limits differ, by the rate. */
export function expectRateAlone(bars: Bars, setting: Setting, tape: Tape): number {
  const one = portfolioRun(bars, setting, undefined, {
    cash: 'usdt',
    policy: statedOne,
    currencies: usdtOf('1'),
  }).ran;
  const series = portfolioRun(bars, setting, undefined, {
    cash: 'usdt',
    currencies: usdtOf(undefined),
    rateTapes: [tape],
  }).ran;
  const rateAt = (at: Instant): Price => {
    let row = 0;
    while (row + 1 < tape.rows && (tape.times[row + 1] ?? 0) + tape.barMs <= at) row++;
    return price(String(tape.close[row]));
  };
  const fills = fillsOf(series).map(told);
  const expected = fillsOf(one)
    .map(told)
    .map((fill) => ({
      ...fill,
      notional_usd: text(roundUp(cost(rateAt(fill.at), quantity(fill.amount)), 8)),
    }));
  expect(fills).toEqual(expected);
  expect(fills.some((fill) => fill.notional_usd !== fill.amount)).toBe(true);
  expect(held(series)).toEqual(held(one));
  return fills.length;
}
