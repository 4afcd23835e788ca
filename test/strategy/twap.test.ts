import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, quantity, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { HOUR_MS, instant, isoOf, MINUTE_MS } from '../../src/core/time.ts';
import { twap } from '../../src/strategy/kinds/twap.ts';
import { amountOf, instrumentOf, intentsOf, Life, NINE } from './views.ts';
import type { Scene } from './views.ts';

/** Buys 8 btc between nine and one, a slice of 2 an hour. */
const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '8', currency: 'btc' },
  duration: 'PT4H',
  slices: 4,
};
const aLife = (over: object = {}, scene: Scene = {}): Life => new Life(twap, { ...PLAN, ...over }, scene);

/** Wakes at the next slot, `lateMs` late, and fills `part` of its slice a second later. Returns the filled size. */
function trade(life: Life, lateMs = 0, part = 1): Quantity {
  const at = instant(life.due + lateMs);
  const [intent] = intentsOf(life.arrive(lateMs));
  if (intent === undefined) return quantity('0');
  const filled = quantity(amountOf(intent).times(part).toFixed());
  life.end(
    { leg: 'all', slice: intent.slice, filled, filledAmount: money(filled.toFixed()) },
    instant(at + 1_000),
  );
  return filled;
}

describe('twap', () => {
  it('waits for its first slot, which is its start', () => {
    expect(aLife().last).toMatchObject({ waits: [{ on: 'at', at: NINE }] });
    const later = aLife({ start_time: '2026-12-01T10:30:00[Europe/London]' });
    expect(isoOf(later.due)).toBe('2026-12-01T10:30:00.000Z');
  });

  it('requests one slice at its slot, due before the next, and waits for its outcome', () => {
    const life = aLife({ limit_price: '70000' });
    expect(life.arrive()).toMatchObject({
      waits: [{ on: 'outcome', leg: 'all', slice: 0 }],
      intents: [{ leg: 'all', slice: 0, pair: 'btcusd', side: 'buy', deadline: NINE + HOUR_MS }],
    });
    const [intent] = intentsOf(life.last);
    expect([intent?.size.by, intent?.limit?.toFixed()]).toEqual(['quantity', '70000']);
    life.end({ leg: 'all', slice: 0, filled: quantity('2') }, instant(NINE + 5_000));
    expect(life.last).toMatchObject({ waits: [{ on: 'at', at: NINE + HOUR_MS }] });
  });

  it('tries its last slice until the end of the window, and finishes when all is done', () => {
    const life = aLife();
    for (let k = 0; k < 3; k++) trade(life);
    expect(intentsOf(life.arrive())[0]).toMatchObject({ slice: 3, deadline: NINE + 4 * HOUR_MS });
    const last = life.end({ leg: 'all', slice: 3, filled: quantity('2') }, instant(NINE + 3 * HOUR_MS + 1));
    expect(last).toMatchObject({ finished: 'finished', waits: [] });
  });

  it('sizes a notional in quote currency, and deducts the amount paid', () => {
    const life = aLife({ total_quantity: undefined, total_notional: { amount: '100', currency: 'usd' } });
    expect(intentsOf(life.arrive())[0]?.size).toEqual({ by: 'amount', amount: money('25') });
    life.end({ leg: 'all', slice: 0, filled: quantity('99'), filledAmount: money('25') }, NINE);
    expect(life.last.state).toMatchObject({ left: '75' });
  });

  it('reports the remainder when its window is over', () => {
    const life = aLife({ catch_up: 'skip' });
    for (let k = 0; k < 3; k++) trade(life);
    expect(trade(life, 0, 0.5).toFixed()).toBe('1');
    expect(life.last).toMatchObject({ finished: 'window_over', note: '1 of 8 btc not traded' });
  });

  it('trades the slots that its schedule shows', () => {
    const noisy = {
      jitter: { time_pct: 80, size_pct: 30, seed: 11 },
      slices: 7,
      total_quantity: { amount: '1', currency: 'btc' },
    };
    const slots = twap.bind({ ...PLAN, ...noisy }).slots(NINE, instrumentOf('btcusd'));
    const life = aLife(noisy);
    const traded = slots.map(() => ({ at: life.due, size: text(trade(life)) }));
    expect(traded).toEqual(slots.map(({ at, size }) => ({ at, size })));
    expect(life.last.finished).toBe('finished');
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

describe('the traps of other systems', () => {
  it('trap 1: one failed slice does not erase the rest of the plan', () => {
    const life = aLife();
    trade(life);
    life.arrive();
    life.end({ leg: 'all', slice: 1, result: 'skipped' }, instant(NINE + HOUR_MS + 1));
    // 6 left over 2 slices, each at most half again its plan of 2.
    expect([trade(life), trade(life)].map(text)).toEqual(['3', '3']);
    expect(life.last.finished).toBe('finished');
  });

  it('trap 2: a minimum in one currency is never compared with a size in the other', () => {
    const minimum = { quantity: quantity('5'), notional: money('1000000') };
    // A slice of 2 btc is below 5 btc, and that a slice of 2 is less than 1000000 usd means nothing.
    expect(aLife({}, { minimum: { notional: money('1000000') } }).last.finished).toBeUndefined();
    expect(aLife({}, { minimum }).last.finished).toBe('invalid_plan');
    const notional = { total_quantity: undefined, total_notional: { amount: '100', currency: 'usd' } };
    expect(aLife(notional, { minimum: { quantity: quantity('1000000') } }).last.finished).toBeUndefined();
    expect(aLife(notional, { minimum: { notional: money('25.01') } }).last.finished).toBe('invalid_plan');
    expect(aLife(notional, { minimum: { notional: money('25') } }).last.finished).toBeUndefined();
  });

  it.each([
    ['below the minimum', { slices: 16 }, { minimum: { quantity: quantity('1') } }],
    ['that round to zero', { slices: 16 }, { basePrecision: 0 }],
  ])('trap 3: slices %s are refused, and the whole is never sent at once', (_, over, scene) => {
    const life = aLife(over, scene);
    expect(life.last).toMatchObject({ finished: 'invalid_plan', waits: [] });
    expect(life.last.note).toContain('16 slices of 8 btc');
  });

  it('trap 4: fence posts: n slices, the first at the start, the last one interval before the end', () => {
    const slots = twap
      .bind({ ...PLAN, slices: undefined, interval: 'PT30M' })
      .slots(NINE, instrumentOf('btcusd'));
    expect(slots.length).toBe(8);
    expect(slots.map(({ at }) => (at - NINE) / MINUTE_MS)).toEqual([0, 30, 60, 90, 120, 150, 180, 210]);
    expect(slots.every(({ size, currency }) => size === '1' && currency === 'btc')).toBe(true);
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

  it('skip: leaves missed quantity untraded', () => {
    const life = aLife({ slices: 8, catch_up: 'skip' });
    trade(life);
    expect(intentsOf(life.arrive(75 * MINUTE_MS)).map((one) => [one.slice, text(amountOf(one))])).toEqual([
      [3, '1'],
    ]);
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

  it('trades nothing once the window is over', () => {
    for (const catch_up of ['pace', 'skip', 'extend']) {
      const life = aLife({ catch_up });
      expect(life.arrive(6 * HOUR_MS)).toMatchObject({
        finished: 'window_over',
        note: '8 of 8 btc not traded',
      });
      expect(life.last.missed?.length).toBe(4);
    }
  });

  const rule = fc.constantFrom('pace', 'extend', 'skip', 'abort');
  // How late each slot is seen, in slots: mostly on time.
  const delays = fc.array(
    fc.oneof(fc.constant(0), fc.constant(0), fc.double({ min: 0, max: 9, noNaN: true })),
    {
      minLength: 40,
      maxLength: 40,
    },
  );
  const fills = fc.array(fc.constantFrom(0, 0.25, 1, 1, 1), { minLength: 40, maxLength: 40 });

  /** Runs a whole parent through outages. Returns the planned and the requested size of each slice, and its time. */
  function live(catch_up: string, late: readonly number[], parts: readonly number[], noise: object) {
    const plan = { ...PLAN, ...noise, slices: 20, catch_up };
    const planned = twap.bind(plan).slots(NINE, instrumentOf('btcusd'));
    const life = new Life(twap, plan);
    const asked: { slice: number; at: number; size: Quantity; planned: Quantity }[] = [];
    let now = 0;
    let done = quantity('0');
    for (let n = 0; life.last.finished === undefined && n < 40; n++) {
      const due = Math.max(life.due, now);
      const at = instant(due + Math.floor((late[n] ?? 0) * 12 * MINUTE_MS));
      const intents = intentsOf(life.wake({ on: 'at', at, due: life.due }));
      now = at + 1_000;
      expect(intents.length).toBeLessThanOrEqual(1);
      for (const intent of intents) {
        const size = amountOf(intent);
        asked.push({ slice: intent.slice, at, size, planned: quantity(planned[intent.slice]?.size ?? '0') });
        const filled = quantity(size.times(parts[n] ?? 1).toFixed(8));
        done = add(done, filled);
        life.end({ leg: 'all', slice: intent.slice, filled }, instant(now));
      }
    }
    return { asked, done, last: life.last };
  }
  const noise = fc.constantFrom({}, { jitter: { time_pct: 60, size_pct: 40, seed: 3 } });

  it('requests at most one slice per gap, each once, in order, none above 1.5 times its plan, within the total', () => {
    fc.assert(
      fc.property(rule, delays, fills, noise, (catch_up, late, parts, jitter) => {
        const { asked, done, last } = live(catch_up, late, parts, jitter);
        const slices = asked.map((one) => one.slice);
        expect(slices).toEqual([...new Set(slices)].toSorted((a, b) => a - b));
        expect(asked.every((one) => one.size.gt(0) && one.size.lte(one.planned.times('1.5')))).toBe(true);
        expect(asked.every((one) => one.at < NINE + 5 * HOUR_MS)).toBe(true);
        expect(done.lte('8')).toBe(true);
        expect(last.state).toMatchObject({ left: text(subtract(quantity('8'), done)) });
        expect(['finished', 'window_over', 'aborted']).toContain(last.finished);
      }),
      { numRuns: 300 },
    );
  });

  it('never requests more than the plan if missed quantity stays untraded', () => {
    fc.assert(
      fc.property(fc.constantFrom('skip', 'abort'), delays, fills, noise, (catch_up, late, parts, jitter) => {
        const { asked } = live(catch_up, late, parts, jitter);
        expect(asked.every((one) => one.size.lte(one.planned))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('requests exactly the total without an outage', () => {
    fc.assert(
      fc.property(rule, noise, fc.nat({ max: 80 }), (catch_up, jitter, late) => {
        const { asked, done, last } = live(
          catch_up,
          Array<number>(40).fill(late / 1_000),
          Array<number>(40).fill(1),
          jitter,
        );
        expect([asked.length, text(done), last.finished]).toEqual([20, '8', 'finished']);
      }),
      { numRuns: 50 },
    );
  });
});
