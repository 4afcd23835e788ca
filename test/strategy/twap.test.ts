import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, instant, isoOf, MINUTE_MS } from '../../src/core/time.ts';
import { twap } from '../../src/strategy/kinds/twap.ts';
import { amountOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';
import { describeSliced, PLAN, trade } from './sliced.ts';

const aLife = (over: object = {}, scene: Scene = {}): Life => new Life(twap, { ...PLAN, ...over }, scene);

describeSliced('twap', { kind: twap, own: {}, sizes: ['2', '2', '2', '2'], anyOwn: fc.constant({}) });

describe('twap', () => {
  it('waits for its first slot, which is its start', () => {
    expect(aLife({ start_time: undefined }).last).toMatchObject({ waits: [{ on: 'at', at: NINE }] });
    const later = aLife({ start_time: '2026-12-01T10:30:00[Europe/London]' });
    expect(isoOf(later.due)).toBe('2026-12-01T10:30:00.000Z');
  });

  it('tries its last slice until the end of the window, and finishes when all is done', () => {
    const life = aLife();
    for (let k = 0; k < 3; k++) trade(life);
    expect(intentsOf(life.arrive())[0]).toMatchObject({ slice: 3, deadline: NINE + 4 * HOUR_MS });
    const last = life.end({ leg: 'all', slice: 3, filled: quantity('2') }, instant(NINE + 3 * HOUR_MS + 1));
    expect(last).toMatchObject({ finished: 'finished', waits: [] });
  });

  it.each([
    [
      'with more decimals than the currency has',
      { total_quantity: { amount: '1.123456789', currency: 'btc' } },
    ],
    ['with slices that round to zero', { total_quantity: { amount: '0.00000003', currency: 'btc' } }],
  ])('refuses a total %s once the precision is known', (_, over) => {
    const { last } = aLife(over);
    expect(last).toMatchObject({ finished: 'invalid_plan', waits: [] });
    expect(intentsOf(last)).toEqual([]);
  });

  it('accepts a total with exactly the decimals of the currency', () => {
    expect(
      aLife({ total_quantity: { amount: '1.12345678', currency: 'btc' } }).last.finished,
    ).toBeUndefined();
    const fine = aLife({ total_quantity: undefined, total_notional: { amount: '1.001', currency: 'usd' } });
    expect(fine.last).toMatchObject({
      finished: 'invalid_plan',
      note: expect.stringContaining('usd') as unknown,
    });
  });
});

describe('catch_up after an outage', () => {
  it('pace: spreads missed quantity over later slices, one at a time', () => {
    const life = aLife({ slices: 8 });
    trade(life);
    const step = life.arrive(2.5 * 30 * MINUTE_MS);
    expect(step).toMatchObject({
      reason: 'missed_slot',
      missed: [
        { leg: 'all', slice: 1, size: '1' },
        { leg: 'all', slice: 2, size: '1' },
      ],
    });
    const [first, second] = step.missed ?? [];
    expect((second?.due ?? 0) - (first?.due ?? 0)).toBe(30 * MINUTE_MS);
    // 7 left over slices 3 to 7.
    expect(intentsOf(step).map((one) => [one.slice, text(amountOf(one))])).toEqual([[3, '1.4']]);
  });

  it('counts a slot as missed only once the next one has come', () => {
    const [before, at] = [30 * MINUTE_MS - 1, 30 * MINUTE_MS].map((lateMs) =>
      aLife({ slices: 8 }).arrive(lateMs),
    );
    expect(before?.intents).toMatchObject([{ slice: 0 }]);
    expect(at).toMatchObject({ intents: [{ slice: 1 }], missed: [{ slice: 0 }] });
  });

  it('extend: moves slots and end by the outage, by at most a quarter of the window', () => {
    const life = aLife({ slices: 8, catch_up: 'extend' });
    trade(life);
    const step = life.arrive(45 * MINUTE_MS);
    expect(step.missed ?? []).toEqual([]);
    expect(intentsOf(step)[0]).toMatchObject({ slice: 1, deadline: NINE + (30 + 45 + 30) * MINUTE_MS });
    life.end({ leg: 'all', slice: 1, filled: quantity('1') }, instant(NINE + 80 * MINUTE_MS));
    expect(life.due).toBe(NINE + (60 + 45) * MINUTE_MS);
    // 45 of the 60 minutes are used up: of another hour 15 minutes move the end, the rest costs a slot.
    const more = life.arrive(60 * MINUTE_MS);
    expect(more.state).toMatchObject({ shiftMs: HOUR_MS });
    expect(intentsOf(more).map((one) => one.slice)).toEqual([3]);
  });

  it.each([
    [60_000, undefined],
    [60_001, 'aborted'],
  ])('abort: a gap of %i ms ends as %s', (lateMs, finished) => {
    for (const duration of ['PT4H', 'PT2M']) {
      const life = aLife({ duration, catch_up: 'abort' });
      trade(life);
      expect(life.arrive(lateMs).finished).toBe(finished);
    }
  });
});
