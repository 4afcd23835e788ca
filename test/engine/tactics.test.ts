import { aPolicy } from './harness.ts';
import { describe, expect, it } from 'vitest';
import { price, quantity, ratio, slippageBps } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf, fillsOf, ledgerTrades } from './oracle.ts';

/** A constant market, five basis points on either side of 60 000. */
const CALM = {
  accounts: [{ balances: { usd: '1000000', btc: '25' } }],
  pairs: { btcusd: { startPrice: '60000', volatilityPctYear: 0, halfSpreadBps: 5, impactBps: 0 } },
};
/** One that moves by some forty basis points a minute. */
const WILD = {
  accounts: [{ balances: { usd: '1000000', btc: '25' } }],
  pairs: { btcusd: { startPrice: '60000', volatilityPctYear: 300, halfSpreadBps: 5, impactBps: 0 } },
};

const ran = (tactics: Record<string, unknown>, over: Partial<BenchOptions> = {}, minutes = 15): Bench => {
  return started({ strategies: [aTwap('twap', tactics)], venue: CALM, ...over }, minutes * MINUTE_MS);
};
/** The policy of a desk that waits this long between two quotes of a slice. */
const requotingAfter = (requoteMs: number): Partial<DeskSettings> => ({
  retry: { ...aPolicy().retry, requoteMs },
});
const attempts = (bench: Bench): readonly string[] =>
  bench.bodies('attempt').map(({ reason, result }) => reason ?? result);

describe('a quote under price tactics', () => {
  it.each([
    [{ max_slippage_bps: 4.9 }, 'tactics_refused'],
    [{ max_slippage_bps: 5.1 }, undefined],
    [{ max_spread_bps: 9.9 }, 'tactics_refused'],
    [{ max_spread_bps: 10.1 }, undefined],
  ])('with %j is refused as %s (undefined: executed)', (tactics, reason) => {
    const bench = ran(tactics, { policy: requotingAfter(10 * SECOND_MS) });
    const trades = ledgerTrades(bench.exchange).length;
    expect(trades).toBe(reason === undefined ? 10 : 0);
    expect(new Set(attempts(bench))).toEqual(new Set([reason ?? 'filled']));
    expect(bench.bodies('slice').map((slice) => slice.result)).toEqual(
      Array.from({ length: 10 }, () => (reason === undefined ? 'filled' : 'expired')),
    );
    const figures = bench.bodies('slice').filter(({ detail = '' }) => /^limit=.* value=.* bps/u.test(detail));
    expect(figures).toHaveLength(reason === undefined ? 0 : 10);
    expect(faultsOf(bench)).toEqual([]);
  });

  it('is never executed beyond the slippage limit from the arrival price on a moving market', () => {
    const refused = ['1', '2', '3'].map((seed) => {
      const bench = ran(
        { max_slippage_bps: 6 },
        { venue: { ...WILD, seed }, policy: requotingAfter(5 * SECOND_MS) },
      );
      const [first] = bench.bodies('wake').flatMap((body) => body.intents);
      for (const fill of fillsOf(bench.records()))
        expect(
          slippageBps('buy', price(fill.price), price(first?.decision_price ?? '')).lte(ratio('6')),
        ).toBe(true);
      expect(faultsOf(bench)).toEqual([]);
      return attempts(bench).filter((reason) => reason === 'tactics_refused').length;
    });
    expect(Math.max(...refused)).toBeGreaterThan(1);
  });
});

describe('the reserve and minimum of a strategy', () => {
  const venue = { ...CALM, accounts: [{ balances: { usd: '30000' } }] };

  it('keep the larger of the reserves of the strategy and the desk in the account', () => {
    const keep = { amount: '12000', currency: 'usd' };
    expect(ran({ keep }, { venue }).balance('usd')).toBeGreaterThanOrEqual(12_000);
    const policy = { keep: new Map([['usd', quantity('20000')]]) };
    expect(ran({ keep }, { venue, policy }).balance('usd')).toBeGreaterThanOrEqual(20_000);
  });
});
