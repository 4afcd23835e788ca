import { aPolicy } from './harness.ts';
import { describe, expect, it } from 'vitest';
import { price, quantity, ratio, slippageBps } from '../../src/core/money.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { DeskSettings } from '../../src/engine/desk-settings.ts';
import { aTwap, START, started } from './harness.ts';
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
const attempts = (records: readonly StoredRecord[]): readonly string[] =>
  records.flatMap(({ body }) => (body.kind === 'attempt' ? [body.reason ?? body.result] : []));
const slices = (bench: Bench) =>
  bench.records().flatMap(({ at, body }) => (body.kind === 'slice' ? [{ at, ...body }] : []));

/** Intents that were written while an earlier attempt of their slice had not certainly ended: must be empty. */
function overlaps(records: readonly StoredRecord[]): readonly string[] {
  const open = new Map<string, string>();
  const seen = new Set<string>();
  const wrong: string[] = [];
  for (const { body } of records) {
    if (body.kind === 'intent') {
      const key = `${body.parent}/${body.slice}`;
      if (open.has(key) || seen.has(body.client_order_id)) wrong.push(body.client_order_id);
      seen.add(body.client_order_id);
      open.set(key, body.client_order_id);
    } else if (body.kind === 'fill' || (body.kind === 'attempt' && body.result !== 'doubt')) {
      for (const [key, id] of open) if (id === body.client_order_id) open.delete(key);
    }
  }
  return wrong;
}

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
    expect(new Set(attempts(bench.records()))).toEqual(new Set([reason ?? 'filled']));
    expect(slices(bench).map((slice) => slice.result)).toEqual(
      Array.from({ length: 10 }, () => (reason === undefined ? 'filled' : 'expired')),
    );
    const figures = slices(bench).filter(({ detail = '' }) => /^limit=.* value=.* bps/u.test(detail));
    expect(figures).toHaveLength(reason === undefined ? 0 : 10);
    expect(faultsOf(bench)).toEqual([]);
    expect(overlaps(bench.records())).toEqual([]);
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
      expect(overlaps(bench.records())).toEqual([]);
      return attempts(bench.records()).filter((reason) => reason === 'tactics_refused').length;
    });
    expect(Math.max(...refused)).toBeGreaterThan(1);
  });
});

describe('the wait between two quotes', () => {
  const dear = { max_spread_bps: 1 };

  it('varies with jitter that depends only on the seed', () => {
    const askedOf = (seed: number): readonly (readonly [number, number])[] => {
      const bench = ran(
        { ...dear, jitter: { time_pct: 60, seed } },
        { policy: requotingAfter(5 * SECOND_MS) },
        10,
      );
      return bench
        .records()
        .flatMap(({ at, body }) => (body.kind === 'intent' ? [[body.slice, at - START] as const] : []));
    };
    const times = askedOf(5);
    const waits = times.slice(1).flatMap(([slice, at], i) => {
      const [before, from] = times[i] ?? [-1, 0];
      return slice === before ? [at - from] : [];
    });
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(5 * SECOND_MS);
    expect(Math.max(...waits)).toBeLessThan(8.5 * SECOND_MS);
    expect(new Set(waits).size).toBeGreaterThan(20);
    expect(askedOf(5)).toEqual(times);
    expect(askedOf(6)).not.toEqual(times);
  });
});

describe('the reserve and minimum of a strategy', () => {
  const venue = { ...CALM, accounts: [{ balances: { usd: '30000' } }] };

  it('keep the larger of the reserves of the strategy and the desk in the account', () => {
    const keep = { amount: '12000', currency: 'usd' };
    const usdOf = (bench: Bench): number =>
      Number(bench.exchange.ledger.balance(bench.exchange.accounts[0]?.name ?? '', 'usd'));
    expect(usdOf(ran({ keep }, { venue }))).toBeGreaterThanOrEqual(12_000);
    const policy = { keep: new Map([['usd', quantity('20000')]]) };
    expect(usdOf(ran({ keep }, { venue, policy }))).toBeGreaterThanOrEqual(20_000);
  });
});
