import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import { instant, isoOf, MINUTE_MS } from '../../src/core/time.ts';
import type { Step } from '../../src/strategy/kernel.ts';
import { pov } from '../../src/strategy/kinds/pov.ts';
import { amountOf, aWorld, intentsOf, Life, NINE } from './views.ts';

const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '3', currency: 'btc' },
  share: '0.1',
  interval: 'PT5M',
  duration: 'PT1H',
};
const minute = (count: number) => instant(NINE + count * MINUTE_MS);
const traded = (volume: string | undefined, more: object = {}) => ({
  mids: { btcusd: '60000' },
  ...(volume === undefined ? {} : { volumes: { btcusd: volume } }),
  ...more,
});
const sizes = (step: Step<unknown>): readonly string[] =>
  intentsOf(step).map((one) => `#${one.slice} ${amountOf(one).toFixed()}`);

/** A life that has taken its first look at nine o'clock, when the market had traded 100 btc. */
function begun(over: object = {}, scene: object = {}): Life {
  const life = new Life(pov, { ...PLAN, ...over });
  life.arrive(0, traded('100', scene));
  return life;
}
const filled = (life: Life, slice: number, amount: string, at: number): Step<unknown> =>
  life.end({ leg: 'all', slice, filled: quantity(amount) }, minute(at));

describe('a share of the market volume', () => {
  it('is traded at the end of each interval, in a slice that lives until the next', () => {
    const life = begun();
    expect(life.last.waits).toEqual([{ on: 'at', at: minute(5) }]);
    const first = life.arrive(0, traded('108'));
    expect([sizes(first), intentsOf(first)[0]?.deadline]).toEqual([['#0 0.8'], minute(10)]);
    expect(filled(life, 0, '0.8', 6).waits).toEqual([{ on: 'at', at: minute(10) }]);
    expect(sizes(life.arrive(0, traded('110.5')))).toEqual(['#1 0.25']);
  });

  it('is not made up for if a slice does not fill', () => {
    const life = begun();
    life.arrive(0, traded('108'));
    filled(life, 0, '0', 10);
    expect(sizes(life.arrive(0, traded('110')))).toEqual(['#1 0.2']);
  });

  it('is capped, and the excess is not traded later', () => {
    const life = begun({ max_slice_quantity: { amount: '0.3', currency: 'btc' } });
    expect(sizes(life.arrive(0, traded('108')))).toEqual(['#0 0.3']);
    filled(life, 0, '0.3', 6);
    expect(sizes(life.arrive(0, traded('109')))).toEqual(['#1 0.1']);
  });

  it('is carried over while it is below the minimum of the venue or of the document', () => {
    for (const [over, minimum] of [
      [{}, { quantity: quantity('0.15') }],
      [{}, { notional: money('9000') }],
      [{ min_trade_notional: { amount: '9000', currency: 'usd' } }, {}],
    ] as const) {
      const life = begun(over);
      const small = life.arrive(0, traded('101', { minimum }));
      expect([sizes(small), small.reason]).toEqual([[], 'below_minimum']);
      expect(sizes(life.arrive(0, traded('102', { minimum })))).toEqual(['#0 0.2']);
      filled(life, 0, '0.2', 11);
      expect(life.arrive(0, traded('103', { minimum })).reason).toBe('below_minimum');
    }
  });

  it('is computed from the volume of the new day if the volume has fallen', () => {
    const life = begun();
    expect(sizes(life.arrive(0, traded('4')))).toEqual(['#0 0.4']);
    filled(life, 0, '0.4', 6);
    expect(sizes(life.arrive(0, traded('6')))).toEqual(['#1 0.2']);
  });

  it('waits while the volume is unknown, and then covers both intervals', () => {
    const life = begun();
    const blind = life.arrive(0, traded(undefined));
    expect([sizes(blind), blind.reason]).toEqual([[], 'no_volume']);
    expect(sizes(life.arrive(0, traded('108')))).toEqual(['#0 0.8']);
  });

  it('is not made up for after a gap of more than two intervals', () => {
    const life = begun();
    const late = life.arrive(6 * MINUTE_MS, traded('150'));
    expect([sizes(late), late.reason]).toEqual([[], 'missed_slot']);
    expect(late.waits).toEqual([{ on: 'at', at: minute(15) }]);
    expect(sizes(life.arrive(0, traded('151')))).toEqual(['#0 0.1']);
  });

  it('is traded at once if its time passed while a slice was open', () => {
    const life = begun();
    life.arrive(0, traded('102'));
    expect(filled(life, 0, '0.2', 11).waits).toEqual([{ on: 'at', at: minute(10) }]);
    expect(sizes(life.arrive(MINUTE_MS, traded('104')))).toEqual(['#1 0.2']);
  });

  it('completes the total to the last unit', () => {
    const life = begun();
    expect(sizes(life.arrive(0, traded('180')))).toEqual(['#0 3']);
    expect(filled(life, 0, '3', 6).finished).toBe('finished');
  });

  it('ends with the window, and the remainder is reported', () => {
    const life = begun({ duration: 'PT10M' });
    life.arrive(0, traded('102'));
    filled(life, 0, '0.2', 6);
    const over = life.arrive(0, traded('104'));
    expect([sizes(over), over.finished, over.note]).toEqual([[], 'window_over', '2.8 of 3 btc not traded']);
  });

  it('takes a late trade into account', () => {
    const life = begun({ total_quantity: { amount: '1', currency: 'btc' } });
    life.arrive(0, traded('108'));
    filled(life, 0, '0', 10);
    filled(life, 0, '0.8', 10);
    expect(sizes(life.arrive(0, traded('118')))).toEqual(['#1 0.2']);
  });

  it('has times that are known in advance, but no sizes', () => {
    const bound = pov.bind({ ...PLAN, duration: 'PT20M', start_time: '2026-12-01T10:00:00Z' });
    expect(bound.slots(NINE, undefined)).toEqual([]);
    expect(bound.looks(NINE).map((at) => isoOf(at).slice(11, 16))).toEqual(['10:05', '10:10', '10:15']);
  });
});

describe('a document of kind pov', () => {
  it('is refused if no source reports the volume', () => {
    expect(pov.bind(PLAN).check({ ...aWorld(), hasVolume: false })).toEqual([
      {
        path: ['share'],
        message:
          "no source reports the volume: set venue.capabilities.ticker: true, because the venue's ticker reports the volume",
      },
    ]);
  });
});
