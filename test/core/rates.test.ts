import { describe, expect, it } from 'vitest';
import { price, ratio } from '../../src/core/money.ts';
import { contradictionOf, pairsOfRate, rateOf } from '../../src/core/rates.ts';
import type { RateSource } from '../../src/core/rates.ts';

const source = (
  mids: Readonly<Record<string, string>>,
  stated: Readonly<Record<string, readonly [string, string]>> = {},
): RateSource => ({
  midOf: (pair) => (mids[pair] === undefined ? undefined : price(mids[pair])),
  stated: new Map(
    Object.entries(stated).map(([currency, [usd, gap]]) => [
      currency,
      { usd: price(usd), gapBpsMax: ratio(gap) },
    ]),
  ),
  between: ['btc', 'eur'],
});

describe('the rate between two currencies', () => {
  const one = { usdt: ['1', '200'] } as const;
  it.each([
    ['is the price of their pair', 'eur', 'usd', source({ eurusd: '1.08' }), '1.08', 'eurusd'],
    ['is the inverse price of their pair', 'usd', 'eur', source({ eurusd: '1.25' }), '0.8', 'eurusd'],
    ['is the stated rate if no pair provides one', 'usdt', 'usd', source({}, one), '1', 'stated'],
    ['is the inverse of the stated rate', 'usd', 'usdt', source({}, { usdt: ['0.5', '1'] }), '2', 'stated'],
    [
      'is the market price if both are known',
      'usdt',
      'usd',
      source({ usdtusd: '0.999' }, one),
      '0.999',
      'usdtusd',
    ],
    [
      'combines a stated rate with a pair',
      'usdt',
      'eur',
      source({ eurusd: '1.25' }, one),
      '0.8',
      'stated, eurusd',
    ],
    [
      'goes through one intermediate currency',
      'usdt',
      'usd',
      source({ btcusdt: '50000', btcusd: '49000' }),
      '0.98',
      'btcusdt, btcusd',
    ],
  ])('%s', (_, from, into, known, each, by) => {
    const rate = rateOf(from, into, known);
    expect(rate).toMatchObject({ by });
    expect(rate?.each.toFixed()).toBe(each);
  });

  it('is unknown if no source provides it', () => {
    expect(rateOf('usdt', 'usd', source({ btcusdt: '50000' }))).toBeUndefined();
  });
});

describe('a stated rate', () => {
  it('is contradicted by a market price that differs by more than its tolerance', () => {
    const away = source({ usdcusd: '0.875' }, { usdc: ['1', '200'] });
    expect(contradictionOf('usdc', away)).toEqual({
      currency: 'usdc',
      stated: '1',
      market: '0.875',
      by: 'usdcusd',
      limitBps: '200',
    });
    expect(contradictionOf('usdc', source({ usdcusd: '0.99' }, { usdc: ['1', '200'] }))).toBe('none');
  });

  it('is contradicted by two pairs that together imply another rate', () => {
    const away = source({ btcusd: '20000', btcusdc: '22800' }, { usdc: ['1', '200'] });
    expect(contradictionOf('usdc', away)).toHaveProperty('by', 'btcusdc, btcusd');
  });

  it('is neither confirmed nor contradicted while no market price is known', () => {
    expect(contradictionOf('usdc', source({}, { usdc: ['1', '200'] }))).toBeUndefined();
  });
});

describe('the pairs whose prices are requested for a rate', () => {
  const asked = (pairs: readonly string[] | undefined, from: string, into: string, isStated = false) =>
    pairsOfRate(
      from,
      into,
      { has: (pair) => pairs?.includes(pair) ?? true, isComplete: pairs !== undefined },
      source({}, isStated ? { usdt: ['1', '200'] } : {}),
    );
  it('are existing pairs, preferably one instead of two, and none if the rate is stated', () => {
    expect(asked(['usdtusd'], 'usdt', 'usd')).toEqual(['usdtusd']);
    expect(asked(['eurusd'], 'usd', 'eur')).toEqual(['eurusd']);
    expect(asked(['btcusdt', 'btcusd'], 'usdt', 'usd')).toEqual(['btcusdt', 'btcusd']);
    expect(asked(['btcusdt'], 'usdt', 'usd', true)).toEqual([]);
    expect(asked(['btcusdt'], 'usdt', 'usd')).toBeUndefined();
  });

  it('are the usual pair if the list of pairs is unknown, and none if the rate is stated', () => {
    expect(asked(undefined, 'usdt', 'usd')).toEqual(['usdtusd']);
    expect(asked(undefined, 'usd', 'eur')).toEqual(['eurusd']);
    expect(asked(undefined, 'usdt', 'usd', true)).toEqual([]);
  });
});
