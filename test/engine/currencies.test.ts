import { aPolicy } from './harness.ts';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, price, ratio } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { aStrategy, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

/** Prices that stand still, without costs. */
const flat = (startPrice: string) => ({
  startPrice,
  volatilityPctYear: 0,
  halfSpreadBps: 0,
  impactBps: 0,
  maxUsd: '250000',
});
const limitsIn = (currency: string): DeskSettings['limits'] => ({ ...aPolicy().limits, currency });
const stated = (usd: string, gapBps = '200') => ({ usd: price(usd), gapBpsMax: ratio(gapBps) });

/** Buys once, for an amount of the quote currency. */
const aBuy = (quote: string, amount: string, base = 'btc') =>
  aStrategy('buy', 'twap', {
    pair: base + quote,
    side: 'buy',
    total_notional: { amount, currency: quote },
    duration: 'PT10M',
    slices: 1,
  });

const inUsdt: BenchOptions = {
  venue: {
    accounts: [{ balances: { usdt: '1000000', usd: '1000' } }],
    currencies: { usdt: { usdRate: '1', precision: 6 } },
    pairs: { btcusdt: flat('50000') },
  },
  strategies: [aBuy('usdt', '400000')],
};

const ran = (options: BenchOptions, forMs = 11 * MINUTE_MS): Bench => started(options, forMs);
const fills = (bench: Bench) => bench.bodies('fill');
const amounts = (bench: Bench): readonly string[] => fills(bench).map(({ amount }) => amount);
const reasons = (bench: Bench): ReadonlySet<string | undefined> =>
  new Set(bench.bodies('slice').map((body) => body.reason));

/** A venue that lists its pairs. */
const listing =
  (...pairs: readonly (readonly [string, string])[]): NonNullable<BenchOptions['wrap']> =>
  (venue) => ({
    ...venue,
    pairs: () => of(pairs.map(([base, quote]) => ({ pair: base + quote, base, quote }))),
  });

describe('a desk whose pairs and limits use different currencies', () => {
  it('trades in usdt with limits in usd if the config states the value of usdt', () => {
    const bench = ran({ ...inUsdt, policy: { rates: new Map([['usdt', stated('1')]]) } });
    expect(fills(bench).reduce((sum, { amount }) => sum + Number(amount), 0)).toBe(400_000);
    expect(bench.alerts()).not.toContain('rate_unknown');
  });

  it('checks an order in the currency of the limits', () => {
    const limits = { ...limitsIn('usd'), orderNotionalMax: money('100000') };
    const bench = ran({
      ...inUsdt,
      strategies: [aBuy('usdt', '90000')],
      policy: { limits, rates: new Map([['usdt', stated('1.2')]]) },
    });
    expect(fills(bench)).toHaveLength(0);
    expect(reasons(bench)).toEqual(new Set(['order_size']));
  });

  it('cuts an order to the venue maximum in usd, with limits in usdt and only the rate of the venue', () => {
    const bench = ran({ ...inUsdt, policy: { limits: limitsIn('usdt') } });
    expect(amounts(bench)).toEqual(['200000', '200000']);
    expect(bench.records().filter(({ body }) => body.kind === 'maximum')).toMatchObject([
      { body: { usd: '250000', quote_usd: '1' } },
    ]);
  });

  it('takes the rate from a pair that it does not trade', () => {
    const bench = ran({
      venue: {
        accounts: [{ balances: { eur: '100000' } }],
        pairs: { btceur: flat('50000'), eurusd: flat('1.25') },
      },
      strategies: [aBuy('eur', '8000')],
      wrap: listing(['btc', 'eur'], ['eur', 'usd']),
    });
    expect(fills(bench)).toMatchObject([{ amount: '8000', notional_usd: '10000' }]);
  });

  it('does not start without a known rate, and names the missing config entry', () => {
    const bench = ran({ ...inUsdt, wrap: listing(['btc', 'usdt'], ['eth', 'usd']) });
    expect(bench.seen.error).toMatchObject({
      exit: 'config',
      message:
        'strategy buy: no rate converts usdt to usd: write rates: { usdt: { usd: "1" } } with its value in usd in the config, or set the limits in usdt',
    });
  });

  it('refuses orders while the market contradicts the rate in the config, and raises one alert an hour', () => {
    const bench = ran(
      {
        venue: {
          accounts: [{ balances: { usdc: '100000' } }],
          pairs: { btcusdc: flat('50000'), usdcusd: flat('0.875') },
        },
        strategies: [aBuy('usdc', '8000')],
        policy: { rates: new Map([['usdc', stated('1')]]) },
        wrap: listing(['btc', 'usdc'], ['usdc', 'usd']),
      },
      HOUR_MS / 2,
    );
    expect(fills(bench)).toHaveLength(0);
    expect(bench.alerts().filter((id) => id === 'rate_unknown')).toHaveLength(1);
  });

  it('refuses orders while the price for the rate is too old, and names that price', () => {
    const bench = ran({
      ...inUsdt,
      strategies: [aBuy('usdt', '8000')],
    });
    expect(fills(bench)).toHaveLength(0);
    expect(bench.alerts().filter((id) => id === 'rate_unknown')).toHaveLength(1);
    const said = bench.bodies('slice').map((body) => body.detail);
    expect(said.join()).toContain('no price of usdtusd that is not older than 30 s');
  });
});
