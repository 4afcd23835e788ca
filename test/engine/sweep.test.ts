import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { aStrategy, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { ledgerTrades, wrongOf } from './oracle.ts';

/** Payments in btc become usd; 2 btc stay. Pieces of at most 60 000 usd. */
const plan = (over: object = {}): BenchOptions['strategies'] => [
  aStrategy('s', 'sweep', {
    from: 'btc',
    to: 'usd',
    keep: { amount: '2', currency: 'btc' },
    max_slice_notional: { amount: '60000', currency: 'usd' },
    ...over,
  }),
];
const venue = { accounts: [{ name: 'main', balances: { usd: '50000', btc: '2' } }] };

const begun = (options: Partial<BenchOptions> = {}): Bench =>
  started({ strategies: plan(), venue, pins: { btcusd: '50000' }, ...options });
const pay = ({ exchange, clock }: Bench, amount: string, currency = 'btc'): void => {
  exchange.deposit('main', currency, quantity(amount), clock.wall());
};
const wakesOf = (bench: Bench): readonly string[] => bench.bodies('wake').map((body) => body.on);
describe('a sweep on a desk', () => {
  it('sells incoming payments down to the reserve, and is idle in between', () => {
    const bench = begun();
    bench.run(HOUR_MS);
    expect(wakesOf(bench)).toEqual(['start']);
    pay(bench, '1.5');
    bench.run(5 * MINUTE_MS);
    expect(ledgerTrades(bench.exchange).map(({ quantity: size }) => text(size))).toEqual(['0.75', '0.75']);
    expect(bench.balance('btc')).toBe(2);

    bench.run(HOUR_MS);
    const before = wakesOf(bench).length;
    pay(bench, '0.25');
    bench.run(5 * MINUTE_MS);
    expect(bench.balance('btc')).toBe(2);
    expect(wakesOf(bench).slice(before)).toEqual(['inflow', 'outcome']);
    expect(wrongOf(bench)).toEqual([]);
  });

  it('sells coins that another strategy buys at the same time once they have arrived', () => {
    const buyer = aStrategy('b', 'twap', {
      pair: 'btcusd',
      side: 'buy',
      total_quantity: { amount: '0.8', currency: 'btc' },
      duration: 'PT10M',
      slices: 4,
    });
    const bench = begun({ strategies: [...plan(), buyer] });
    bench.run(30 * MINUTE_MS);
    expect(bench.balance('btc')).toBe(2);
    const sold = ledgerTrades(bench.exchange).filter(({ side }) => side === 'sell');
    expect(sold.reduce((sum, trade) => sum + Number(trade.quantity), 0)).toBeCloseTo(0.8, 8);
    expect(wrongOf(bench)).toEqual([]);
  });
});
