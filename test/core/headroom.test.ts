import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money, price, quantity, ratio, scale, text } from '../../src/core/money.ts';
import {
  headroomAt,
  holdingsOf,
  leverageOf,
  settlementPrices,
  settlementWords,
} from '../../src/core/risk/headroom.ts';
import type { Holding } from '../../src/core/risk/headroom.ts';

const held = (currency: string, amount: string, each: string): Holding => ({
  currency,
  amount: quantity(amount),
  price: price(each),
});
const LEVEL = ratio('0.1');
/** 4 btc, bought with 10 000 usd of its own and 150 000 of credit at 40 000. */
const long = [held('usd', '-150000', '1'), held('btc', '4', '40000')];

describe('the headroom of an account', () => {
  it('is what it may borrow until its equity is the level times its exposure, or what it must repay', () => {
    const leverage = leverageOf(long);
    expect(leverage).toEqual({ equity: money('10000'), exposure: money('150000') });
    expect(text(headroomAt(leverage, LEVEL))).toBe('-50000');
    expect(text(headroomAt({ equity: money('-1'), exposure: money('150000') }, LEVEL))).toBe('-150000');
    expect(text(headroomAt({ equity: money('20000'), exposure: money('0') }, LEVEL))).toBe('200000');
  });

  it('names the price below which a holding, and above which a debt is settled', () => {
    expect(settlementWords([held('usd', '-150000', '1'), held('btc', '5', '40000')], LEVEL)).toEqual([
      'btc below 33000 usd',
    ]);
    expect(settlementWords([held('usd', '55000', '1'), held('btc', '-1', '40000')], LEVEL)).toEqual([
      'btc above 50000 usd',
    ]);
    expect(settlementWords([held('usd', '55000', '1'), held('btc', '1', '40000')], LEVEL)).toEqual([]);
    // Without any value of its eth, the account is still above the level.
    const hedged = [held('usd', '-1000', '1'), held('btc', '1', '40000'), held('eth', '1', '3000')];
    expect(settlementWords(hedged, LEVEL)).toEqual([]);
  });

  it('is exactly at the level if one price moves to where the venue settles', () => {
    const amount = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => quantity(`${n}e-3`));
    const each = fc.integer({ min: 1, max: 10_000_000 }).map((n) => price(`${n}e-2`));
    const holding = (currency: string): fc.Arbitrary<Holding> =>
      fc.record({ currency: fc.constant(currency), amount, price: each });
    const account = fc.tuple(
      amount.map((cash): Holding => ({ currency: 'usd', amount: cash, price: price('1') })),
      holding('btc'),
      holding('eth'),
    );
    fc.assert(
      fc.property(account, fc.integer({ min: 1, max: 500 }), (holdings, permille) => {
        const level = ratio(`${permille}e-3`);
        for (const { currency, price: at } of settlementPrices(holdings, level)) {
          const moved = holdings.map((one) => (one.currency === currency ? { ...one, price: at } : one));
          const { equity, exposure } = leverageOf(moved);
          if (!exposure.gt(0)) continue;
          expect(equity.minus(scale(exposure, level)).abs().toNumber()).toBeLessThan(1e-9);
        }
      }),
    );
  });

  it('is unknown if a balance has no price', () => {
    const usdOf = (currency: string) => (currency === 'usd' ? price('1') : undefined);
    const balances = (other: string) =>
      new Map([
        ['usd', quantity('100')],
        ['xyz', quantity(other)],
      ]);
    expect(holdingsOf(balances('0'), usdOf)).toEqual([held('usd', '100', '1')]);
    expect(holdingsOf(balances('5'), usdOf)).toBeUndefined();
  });
});
