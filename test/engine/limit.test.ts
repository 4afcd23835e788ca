import { describe, expect, it } from 'vitest';
import { price, text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { inProcessMarket } from '../support/book-market.ts';
import { aStrategy, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

/** Buys 1.00000003 btc at or below 60 000 usd in four pieces. */
const plan = (over: object = {}): BenchOptions['strategies'] => [
  aStrategy('l', 'limit', {
    pair: 'btcusd',
    side: 'buy',
    total_quantity: { amount: '1.00000003', currency: 'btc' },
    limit_price: '60000',
    max_slice_quantity: { amount: '0.3', currency: 'btc' },
    ...over,
  }),
];
const venue = { accounts: [{ balances: { usd: '100000000', btc: '100' } }] };

const aLimit = (mid: string, options: Partial<BenchOptions> = {}): Bench =>
  started({ strategies: plan(), venue, pins: { btcusd: mid }, ...options });
const pin = ({ exchange, clock }: Bench, mid: string): void => {
  exchange.pin('btcusd', price(mid), clock.wall());
};
const wakesOf = (bench: Bench): readonly string[] => bench.bodies('wake').map((body) => body.on);
const total = (bench: Bench): string => text(executedTotal(bench.exchange));

const next = (before: Bench, downMs: number, options: Partial<BenchOptions> = {}): Bench =>
  nextProcess(before, downMs, { strategies: plan(), ...options });

describe('a limit strategy on a desk', () => {
  it('trades exactly its total, and only while the market is at its price', () => {
    const bench = aLimit('61000');
    bench.run(HOUR_MS);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    // An hour above the limit recorded only the start: the strategy waits for a price instead of checking each one.
    expect(wakesOf(bench)).toEqual(['start']);

    pin(bench, '59000');
    bench.run(25 * SECOND_MS);
    const traded = ledgerTrades(bench.exchange).length;
    expect(traded).toBeGreaterThan(0);
    expect(traded).toBeLessThan(4);
    pin(bench, '60500');
    bench.run(HOUR_MS);
    expect(ledgerTrades(bench.exchange)).toHaveLength(traded);

    pin(bench, '59900');
    bench.run(5 * MINUTE_MS);
    expect(total(bench)).toBe('1.00000003');
    expect(faultsOf(bench)).toEqual([]);
    expect(bench.desk.state.lives.get('l')?.finished).toBe('finished');
  });

  it('is woken immediately by the prices of a feed', () => {
    const bench = aLimit('61000', {
      market: (exchange, clock) =>
        inProcessMarket(exchange, { clock, pairs: ['btcusd'], everyMs: SECOND_MS }),
    });
    bench.run(20 * MINUTE_MS);
    pin(bench, '59000');
    bench.run(2 * SECOND_MS);
    expect(ledgerTrades(bench.exchange)).toHaveLength(1);
  });

  it('can trade in more pieces than a parent without a plan, but never more than its total', () => {
    const strategies = plan({ max_slice_quantity: { amount: '0.015', currency: 'btc' } });
    const bench = aLimit('59000', { strategies });
    bench.run(HOUR_MS);
    expect(ledgerTrades(bench.exchange)).toHaveLength(67);
    expect(total(bench)).toBe('1.00000003');
    expect(faultsOf(bench)).toEqual([]);
    expect(bench.desk.strategies.plan('l')).toMatchObject({ by: 'quantity', slices: 144 });
    expect(text(bench.desk.strategies.plan('l')?.total ?? price('0'))).toBe('1.00000003');
  });
});

describe('a restart of a limit strategy', () => {
  it('keeps waiting for its price if the market reached it only while the desk was down', () => {
    const first = aLimit('61000');
    first.run(MINUTE_MS);
    first.kill();
    pin(first, '59000');
    first.run(10 * MINUTE_MS);
    pin(first, '61000');
    const second = next(first, SECOND_MS);
    second.run(10 * MINUTE_MS);
    expect(ledgerTrades(second.exchange)).toEqual([]);
    pin(second, '59000');
    second.run(5 * MINUTE_MS);
    expect(total(second)).toBe('1.00000003');
    expect(faultsOf(second)).toEqual([]);
  });
});
