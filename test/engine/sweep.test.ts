import { describe, expect, it } from 'vitest';
import { price, quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { aBench, aStrategy, afterEachDeath, nextProcess, untilDeath } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

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

function begun(options: Partial<BenchOptions> = {}): Bench {
  const bench = aBench({ strategies: plan(), venue, ...options });
  bench.exchange.pin('btcusd', price('50000'), bench.clock.wall());
  bench.start();
  return bench;
}
const pay = ({ exchange, clock }: Bench, amount: string, currency = 'btc'): void => {
  exchange.deposit('main', currency, quantity(amount), clock.wall());
};
const balance = ({ exchange }: Bench, currency: string): string =>
  text(exchange.ledger.balance('main', currency));
const wakesOf = (bench: Bench): readonly string[] => bench.bodies('wake').map((body) => body.on);
/** A sweep is never done: it waits for more. */
const faults = (bench: Bench): readonly string[] => faultsOf(bench).filter((fault) => fault !== 'not done');

const next = (before: Bench, downMs: number, options: Partial<BenchOptions> = {}): Bench =>
  nextProcess(before, downMs, { strategies: plan(), ...options });

describe('a sweep on a desk', () => {
  it('sells incoming payments down to the reserve, and is idle in between', () => {
    const bench = begun();
    bench.run(HOUR_MS);
    expect(wakesOf(bench)).toEqual(['start']);
    pay(bench, '1.5');
    bench.run(5 * MINUTE_MS);
    expect(ledgerTrades(bench.exchange).map(({ quantity: size }) => text(size))).toEqual(['0.75', '0.75']);
    expect(balance(bench, 'btc')).toBe('2');

    bench.run(HOUR_MS);
    const before = wakesOf(bench).length;
    pay(bench, '0.25');
    bench.run(5 * MINUTE_MS);
    expect(balance(bench, 'btc')).toBe('2');
    expect(wakesOf(bench).slice(before)).toEqual(['inflow', 'outcome']);
    expect(faults(bench)).toEqual([]);
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
    expect(balance(bench, 'btc')).toBe('2');
    const sold = ledgerTrades(bench.exchange).filter(({ side }) => side === 'sell');
    expect(
      text(sold.reduce((sum, trade) => quantity(sum.plus(trade.quantity).toFixed()), quantity('0'))),
    ).toBe('0.8');
    expect(faults(bench)).toEqual([]);
  });
});

describe('a restart of a sweep', () => {
  it('continues the pieces of its decision, and sweeps payments received while it was down', () => {
    for (const killedMs of [20, 5 * SECOND_MS, 20 * SECOND_MS, 40 * SECOND_MS]) {
      const first = begun();
      pay(first, '3');
      first.run(61 * SECOND_MS + killedMs);
      first.kill();
      pay(first, '0.5');
      const second = next(first, 2 * SECOND_MS);
      second.run(15 * MINUTE_MS);
      expect(balance(second, 'btc')).toBe('2');
      expect(text(executedTotal(second.exchange))).toBe('3.5');
      expect(faults(second)).toEqual([]);
    }
  });

  it('sells each payment exactly once, wherever the process dies', () => {
    const paid = (options: Partial<BenchOptions> = {}): Bench => {
      const bench = begun(options);
      pay(bench, '2.00000001');
      return bench;
    };
    const whole = paid();
    whole.run(3 * MINUTE_MS);
    expect(balance(whole, 'btc')).toBe('2');
    const wrong = afterEachDeath([2, whole.appends()], (death) => {
      const first = paid({ death });
      untilDeath(first, 3 * MINUTE_MS);
      const second = next(first, SECOND_MS);
      second.run(15 * MINUTE_MS);
      const told = [balance(second, 'btc'), text(executedTotal(second.exchange)), ...faults(second)];
      return told.join(' ') === '2 2.00000001' ? [] : told;
    });
    expect(wrong).toEqual([]);
    expect(whole.appends()).toBeGreaterThan(10);
  });
});
