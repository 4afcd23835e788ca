import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  cost,
  counted,
  money,
  NO_MONEY,
  price,
  quantity,
  ratio,
  subtract,
} from '../../src/core/money.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import { priceIn, valueOn } from '../../src/core/risk/portfolio.ts';
import type { Basis } from '../../src/core/risk/portfolio.ts';
import type { Wake } from '../../src/core/wake.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { rebalance } from '../../src/strategy/kinds/rebalance/rebalance.ts';
import { tradesFor, turns } from '../../src/strategy/kinds/rebalance/rebalance-trades.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

const drifted: Wake = { on: 'drift', at: NINE, drift: ratio('0.1') };
const told = (step: Step<unknown>): readonly string[] =>
  intentsOf(step).map((one) => `${one.side} ${amountOf(one).toFixed()} ${one.pair}`);
const idOf = (step: Step<unknown>, n = 0): string => intentsOf(step)[n]?.leg ?? '';

describe('a cash buffer', () => {
  const plan = {
    target_weights: { btc: '0.5', usd: '0.5' },
    drift_threshold: '0.05',
    cash_buffer: { amount: '20000', currency: 'usd' },
  };
  const mids = { btcusd: '50000' };

  it('is part of the awaited drift', () => {
    expect(new Life(rebalance, plan).last.waits).toMatchObject([{ on: 'drift', aside: '20000' }]);
  });

  it.each([
    // 100000 in all; of the 80000 that count, 50000 are btc.
    ['is neither valued nor spent', '1', '50000', '100000', ['sell 0.2 btcusd'], undefined],
    ['leaves the weights of the rest', '1', '70000', '120000', [], 'inside_band'],
    // 60000 count: 30000 of btc stay, 50000 are sold, 20000 of them for the buffer.
    ['is raised from the assets if it is missing', '1.6', '0', '80000', ['sell 1 btcusd'], undefined],
    ['is part of the account that the venue values', '1', '50000', '80000', [], 'valuation_mismatch'],
  ])('%s', (_, btc, usd, valuation, trades, reason) => {
    const step = new Life(rebalance, plan).wake(drifted, { held: { btc, usd }, mids, valuation });
    expect([told(step), step.reason]).toEqual([trades, reason]);
  });
});

const VIA = {
  target_weights: { sol: '0.25', btc: '0.5', usd: '0.25' },
  drift_threshold: '0.01',
  via: { sol: 'btc' },
};
const PRICES = { solbtc: '0.002', btcusd: '50000' };
/** 100000 usd, one sol is 100 usd. */
const scene = (sol: string, btc: string, usd: string): Scene => ({
  held: { sol, btc, usd },
  mids: PRICES,
  valuation: '100000',
});
/** Sol is at 45 %, btc at its 50 %, cash at 5 %. */
const LONG_SOL = scene('450', '1', '5000');
/** Sol is at 5 %, btc at its 50 %, cash at 45 %. */
const SHORT_SOL = scene('50', '1', '45000');

describe('a currency without a pair against cash', () => {
  it('is priced through the currency that via names', () => {
    expect(rebalance.bind(VIA).pairs).toEqual(['solbtc', 'btcusd']);
    expect(new Life(rebalance, VIA).last.waits).toMatchObject([{ on: 'drift', via: { sol: 'btc' } }]);
  });

  it.each<readonly [Scene, string, string, readonly string[]]>([
    [LONG_SOL, 'sell 200 solbtc', '0', []],
    [LONG_SOL, 'sell 200 solbtc', '100', ['sell 0.2 btcusd']],
    [LONG_SOL, 'sell 200 solbtc', '200', ['sell 0.4 btcusd']],
    [SHORT_SOL, 'buy 0.4 btcusd', '0', []],
    [SHORT_SOL, 'buy 0.4 btcusd', '0.1', ['buy 50 solbtc']],
    [SHORT_SOL, 'buy 0.4 btcusd', '0.4', ['buy 200 solbtc']],
  ])(
    'is traded through it, with no more of it than the first trade brought: case %#',
    (of, one, filled, two) => {
      const life = new Life(rebalance, VIA);
      const first = life.wake(drifted, of);
      expect(told(first)).toEqual([one]);
      const second = life.end({ leg: idOf(first), slice: 0, filled: quantity(filled) }, NINE);
      expect(told(second)).toEqual(two);
      const last = two.length === 0 ? second : life.end({ leg: idOf(second), slice: 0 }, NINE);
      expect(last.waits).toMatchObject([{ on: 'drift' }]);
    },
  );

  it('leaves its proceeds in the bridge currency if that is below its target', () => {
    // Sol 45 %, btc 30 %, cash 25 %: all that sol gives stays in btc.
    const first = new Life(rebalance, VIA).wake(drifted, scene('450', '0.6', '25000'));
    expect(told(first)).toEqual(['sell 200 solbtc']);
  });

  it('is not traded while one of its two prices is missing', () => {
    const { btcusd } = PRICES;
    const step = new Life(rebalance, VIA).wake(drifted, { ...LONG_SOL, mids: { btcusd } });
    expect([step.reason, step.note]).toEqual(['no_reference', 'solbtc']);
  });
});

/** Whole numbers of the smallest units, so that nothing is rounded but what the plan rounds. */
const aPortfolio = fc.record({
  bps: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 4, maxLength: 4 }),
  held: fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 4, maxLength: 4 }),
  mids: fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 3, maxLength: 3 }),
  turnover: fc.integer({ min: 0, max: 100 }),
  rebalanceTo: fc.constantFrom('target' as const, 'band_edge' as const),
  driftType: fc.constantFrom('absolute' as const, 'relative' as const),
  onlyDrifted: fc.boolean(),
  isCross: fc.boolean(),
  aside: fc.integer({ min: 0, max: 1_000 }),
});

describe('every rebalancing plan', () => {
  it('sells at most the holdings, keeps to max_turnover, and does not change the value at mid prices', () => {
    fc.assert(
      fc.property(aPortfolio, (of) => {
        const basis: Basis = {
          cash: 'usd',
          ...(of.isCross ? { via: { c: 'a' } } : {}),
          aside: String(of.aside),
        };
        const names = ['a', 'b', 'c', 'usd'];
        const all = of.bps.reduce((a, b) => a + b, 0);
        fc.pre(all > 0);
        const shares = of.bps.map((one) => Math.floor((one * 10_000) / all));
        shares[3] = 10_000 - (shares[0] ?? 0) - (shares[1] ?? 0) - (shares[2] ?? 0);
        const targets = new Map(names.map((name, n) => [name, ratio(`${shares[n]}e-4`)]));
        const held = new Map(names.map((name, n) => [name, quantity(`${of.held[n]}e-2`)]));
        const mids = new Map([
          ['ausd', price(`${of.mids[0]}e-2`)],
          ['busd', price(`${of.mids[1]}e-2`)],
          [of.isCross ? 'ca' : 'cusd', price(`${of.mids[2]}e-3`)],
        ]);
        const midOf = (pair: string) => mids.get(pair);
        const valued = valueOn(targets, basis, { holdings: held, midOf });
        fc.pre(valued !== undefined);
        if (valued === undefined) return;
        const turnoverMax = ratio(`${of.turnover}e-2`);
        const { trades } = tradesFor({
          ...of,
          valued,
          targets,
          basis,
          turnoverMax,
          sells: true,
          threshold: ratio('0.02'),
          tradeMin: money('0.01'),
          market: (asset) => {
            const pair = asset === 'c' && of.isCross ? 'ca' : `${asset}usd`;
            const [mid, each] = [midOf(pair), priceIn(asset, basis, midOf)];
            return mid && each && { pair, mid, each, precision: 6 };
          },
        });
        const after = new Map<string, Quantity>(held);
        const move = (currency: string, by: Quantity): void => {
          after.set(currency, add(after.get(currency) ?? quantity('0'), by));
          // What is bought may cost a hair more than floored sales brought: at most a unit of each.
          expect(currency === 'usd' || after.get(currency)?.gte('-0.00001')).toBe(true);
        };
        let moved: readonly Money[] = [NO_MONEY, NO_MONEY];
        for (const { asset, side, quantity: size, bridge, pair, turn, notional } of trades) {
          const other = bridge?.currency ?? 'usd';
          const paid = quantity(cost(mids.get(pair) ?? price('0'), size).toFixed());
          const sign = side === 'sell' ? '-1' : '1';
          // What is sold is there when its turn comes.
          expect(side === 'buy' || after.get(asset)?.gte(size)).toBe(true);
          move(asset, quantity(size.times(sign).toFixed()));
          move(other, quantity(paid.times(sign).negated().toFixed()));
          const isBridge = bridge === undefined && trades.some((one) => one.bridge?.currency === asset);
          const [sold = NO_MONEY, bought = NO_MONEY] = moved;
          if (!isBridge)
            moved = side === 'sell' ? [add(sold, notional), bought] : [sold, add(bought, notional)];
          expect(turn).toBe(
            side === 'sell' ? (bridge ? turns.crossSell : turns.sell) : bridge ? turns.crossBuy : turns.buy,
          );
        }
        const worth = (portfolio: ReadonlyMap<string, Quantity>): Money =>
          [...portfolio].reduce(
            (sum, [currency, amount]) =>
              add(
                sum,
                currency === 'usd'
                  ? counted(amount)
                  : cost(priceIn(currency, basis, midOf) ?? price('0'), amount),
              ),
            NO_MONEY,
          );
        expect(subtract(worth(after), worth(held)).isZero()).toBe(true);
        const most = valued.value.times(turnoverMax).plus('1e-20');
        for (const one of moved) expect(one.lte(most)).toBe(true);
        expect(trades.map(({ turn }) => turn)).toEqual(
          trades.map(({ turn }) => turn).toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 500 },
    );
  });
});
