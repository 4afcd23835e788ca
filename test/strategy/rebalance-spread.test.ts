import { describe, expect, it } from 'vitest';
import { quantity, ratio, text } from '../../src/core/money.ts';
import { instant, MINUTE_MS } from '../../src/core/time.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { rebalance } from '../../src/strategy/kinds/rebalance/rebalance.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

/** 100000 usd: sells 10000 of btc, buys 6000 of eth. */
const PLAN = {
  target_weights: { btc: '0.5', eth: '0.3', usd: '0.2' },
  drift_threshold: '0.05',
};
const DRIFTED: Scene = {
  held: { btc: '1', eth: '8', usd: '16000' },
  mids: { btcusd: '60000', ethusd: '3000' },
  valuation: '100000',
};
const SELL = '1.btcusd.sell';

function decided(over: object = {}, scene: Scene = DRIFTED): Life {
  const life = new Life(rebalance, { ...PLAN, legs: { slices: 4, duration: 'PT8M' }, ...over }, scene);
  life.wake({ on: 'drift', at: NINE, drift: ratio('0.1') }, scene);
  return life;
}
const minute = (count: number) => instant(NINE + count * MINUTE_MS);
const sizes = (step: Step<unknown>): readonly string[] =>
  intentsOf(step).map((one) => `${one.leg}#${one.slice} ${text(amountOf(one))}`);
const sold = (slice: number, filled: string) => ({ leg: SELL, slice, filled: quantity(filled) });

describe('rebalancing trades that are spread over time', () => {
  it('start with one slice, which is tried until the next slot', () => {
    const { last } = decided();
    expect(sizes(last)).toEqual([`${SELL}#0 0.04166666`]);
    expect(intentsOf(last)[0]?.deadline).toBe(minute(2));
    expect(last.waits).toEqual([{ on: 'outcome', leg: SELL, slice: 0 }]);
  });

  it('wait for the next slot after a slice, and spread its untraded part over the later slices', () => {
    const life = decided();
    expect(life.end(sold(0, '0'), minute(1), DRIFTED).waits).toEqual([{ on: 'at', at: minute(2) }]);
    expect(sizes(life.arrive(0, DRIFTED))).toEqual([`${SELL}#1 0.05555554`]);
  });

  it('report the slots that passed while the desk was down', () => {
    const life = decided();
    life.end(sold(0, '0.04166666'), minute(1), DRIFTED);
    const late = life.arrive(2.5 * MINUTE_MS, DRIFTED);
    expect(late.missed).toEqual([{ leg: SELL, slice: 1, due: minute(2), size: '0.04166666' }]);
    expect(late.reason).toBe('missed_slot');
    expect(sizes(late)).toEqual([`${SELL}#2 0.06249999`]);
  });

  it('count a late trade, and trade that much less', () => {
    const life = decided();
    life.end(sold(0, '0'), minute(1), DRIFTED);
    const late = life.end(sold(0, '0.04166666'), minute(1), DRIFTED);
    expect([sizes(late), late.waits]).toEqual([[], [{ on: 'at', at: minute(2) }]]);
    expect(sizes(life.arrive(0, DRIFTED))).toEqual([`${SELL}#1 0.04166666`]);
  });

  it('end without the rest if the price has moved the currency to its target', () => {
    const life = decided();
    life.end(sold(0, '0.04166666'), minute(1), DRIFTED);
    const cheap = { ...DRIFTED, held: { btc: '0.95833334', eth: '8', usd: '18500' }, mids: { btcusd: '40000', ethusd: '3000' } }; // prettier-ignore
    const after = life.arrive(0, cheap);
    // What was not sold is not there to buy with.
    expect(sizes(after)).toEqual([]);
    expect(after.state).toMatchObject({ legs: [] });
  });

  it('start the buys after the last sell, over a period of their own', () => {
    const life = decided({ legs: { slices: 2, duration: 'PT8M' } });
    const half = { ...DRIFTED, held: { btc: '0.91666667', eth: '8', usd: '21000' } };
    life.end(sold(0, '0.08333333'), minute(1), half);
    life.arrive(0, half);
    const done = { ...DRIFTED, held: { btc: '0.83333334', eth: '8', usd: '26000' } };
    const buys = life.end(sold(1, '0.08333333'), minute(5), done);
    expect(sizes(buys)).toEqual(['1.ethusd.buy#0 1']);
    expect(intentsOf(buys)[0]?.deadline).toBe(minute(9));
  });

  it('are divided into fewer slices if one would be below the minimum of the venue', () => {
    const { last } = decided({}, { ...DRIFTED, minimum: { quantity: quantity('0.06') } });
    expect(sizes(last)).toEqual([`${SELL}#0 0.08333333`]);
  });

  it.each([
    ['0.1', true],
    ['0.17', undefined],
  ])('may be split into pieces if the largest order is %s btc: %s', (most, split) => {
    const { last } = decided({ legs: undefined }, { ...DRIFTED, orderMax: { btcusd: most } });
    expect(intentsOf(last)[0]?.tactics?.split).toBe(split);
  });
});
