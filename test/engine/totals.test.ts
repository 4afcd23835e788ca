import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, NO_MONEY, text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, after, instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { DayClock } from '../../src/engine/time/limit-day.ts';
import { costOf, Totals } from '../../src/engine/state/totals.ts';
import { aFill, everyKind } from '../journal/records.ts';

const NIGHT = instant(Date.UTC(2026, 0, 5, 23, 59));
const fillAt = (at: number, usd: string) => aFill({ executed_at: instant(at), notional_usd: usd });

describe('the totals of a day', () => {
  it('have exactly the cost of their fills, even with thousands of them and infrequent reads', () => {
    const totals = new Totals();
    const costs: unknown[] = [];
    const sums: unknown[] = [];
    let sum = NO_MONEY;
    for (let each = 1; each <= 2_500; each++) {
      const fill = aFill({ executed_at: NIGHT, notional_usd: `${each}`, fees: each % 3 === 0 ? '0' : '0.7' });
      totals.book(fill);
      sum = add(sum, costOf(fill));
      if (each % 600 !== 0) continue;
      costs.push(totals.dayCost(NIGHT));
      sums.push(sum);
    }
    expect(costs).toEqual(sums);
    totals.book(fillAt(NIGHT + 5 * DAY_MS, '1'));
    expect(text(totals.dayCost(NIGHT))).toBe(text(costOf(fillAt(NIGHT, '1'))));
  });

  it('start again at midnight UTC', () => {
    const totals = new Totals();
    totals.book(fillAt(NIGHT, '100'));
    expect(text(totals.dayNotional(NIGHT))).toBe('100');
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS)))).toBe('0');
    totals.book(fillAt(NIGHT + MINUTE_MS, '7'));
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS)))).toBe('7');
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS), 'btcusd'))).toBe('7');
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS), 'ethusd'))).toBe('0');
  });

  it('include a fill dated before midnight because the clock was set back', () => {
    const totals = new Totals();
    totals.book(fillAt(NIGHT + MINUTE_MS, '7'));
    totals.book(fillAt(NIGHT - HOUR_MS, '100'));
    expect(text(totals.dayNotional(after(NIGHT, MINUTE_MS)))).toBe('107');
  });

  it('include a day to which the clock had jumped, once it is back', () => {
    const totals = new Totals();
    totals.book(fillAt(NIGHT, '100'));
    totals.book(fillAt(NIGHT + DAY_MS, '7'));
    expect(text(totals.dayNotional(NIGHT))).toBe('107');
  });

  it('never lose a fill of the day, whatever the times of the fills are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }), { maxLength: 20 }), (jumps) => {
        const totals = new Totals();
        let newest = 0;
        let expected = 0;
        for (const jump of jumps) {
          const day = Math.floor((NIGHT + jump) / DAY_MS);
          if (day > newest) [newest, expected] = [day, 0];
          expected++;
          totals.book(fillAt(NIGHT + jump, '1'));
        }
        expect(text(totals.dayNotional(instant(newest * DAY_MS)))).toBe(String(expected));
      }),
    );
  });
});

describe('a parent with many slices', () => {
  it('keeps only the deadlines of its newest 100 slices', () => {
    const totals = new Totals();
    const kinds = everyKind();
    const wake = kinds.find((body) => body.kind === 'wake');
    const intent = kinds.find((body) => body.kind === 'intent');
    const [decided] = wake?.intents ?? [];
    if (wake === undefined || intent === undefined || decided === undefined)
      throw new Error('no such records');
    for (let slice = 0; slice < 1_000; slice++) {
      const deadline = after(NIGHT, slice * MINUTE_MS);
      totals.decide({ ...wake, intents: [{ ...decided, parent: 'p', slice, deadline }] });
      totals.leave({ ...intent, parent: 'p', slice, client_order_id: `c-${slice}` }, deadline);
    }
    const gaps = totals.saved().parents.get('p')?.gaps;
    expect(gaps?.size).toBeLessThanOrEqual(125);
    expect(gaps?.get(999)).toBe(after(NIGHT, 999 * MINUTE_MS));
  });
});

describe('the day clock of limits', () => {
  it('passes midnight with the wall clock', () => {
    const clock = new VirtualClock(NIGHT);
    const day = new DayClock(clock);
    clock.run(after(NIGHT, 2 * MINUTE_MS));
    expect(day.now()).toBe(clock.wall());
  });

  it('does not go back when the wall clock is set back over midnight', () => {
    const clock = new VirtualClock(after(NIGHT, 2 * MINUTE_MS));
    const day = new DayClock(clock);
    const before = day.now();
    clock.stepWall(-HOUR_MS);
    expect(day.now()).toBe(before);
  });

  it('does not follow a jump of a day unless it lasts for an hour', () => {
    const clock = new VirtualClock(NIGHT);
    const day = new DayClock(clock);
    clock.stepWall(DAY_MS);
    expect(day.now()).toBeLessThan(NIGHT + MINUTE_MS);
    clock.stepWall(-DAY_MS);
    expect(day.now()).toBeLessThan(NIGHT + MINUTE_MS);
    clock.stepWall(DAY_MS);
    day.now();
    clock.run(after(clock.wall(), HOUR_MS + MINUTE_MS));
    expect(day.now()).toBe(clock.wall());
  });

  it('starts no new day after a restart with a wrong date until the venue or an hour has confirmed it', () => {
    const clock = new VirtualClock(after(NIGHT, DAY_MS));
    let skewMs: number | undefined;
    const day = new DayClock(clock, () => skewMs);
    day.inherit(NIGHT);
    expect(day.now()).toBe(NIGHT);
    clock.run(after(clock.wall(), MINUTE_MS / 2));
    expect(day.now()).toBe(after(NIGHT, MINUTE_MS / 2));
    skewMs = -DAY_MS;
    expect(day.now()).toBe(after(NIGHT, MINUTE_MS / 2));
    skewMs = 0;
    expect(day.now()).toBe(clock.wall());
  });

  it('accepts after an hour that a day has passed since the last record', () => {
    const clock = new VirtualClock(after(NIGHT, DAY_MS));
    const day = new DayClock(clock);
    day.inherit(NIGHT);
    day.now();
    clock.run(after(clock.wall(), HOUR_MS + MINUTE_MS));
    expect(day.now()).toBe(clock.wall());
  });

  it('follows the wall clock after a restart within the same day', () => {
    const clock = new VirtualClock(after(NIGHT, -HOUR_MS));
    const day = new DayClock(clock);
    day.inherit(after(NIGHT, -2 * HOUR_MS));
    expect(day.now()).toBe(clock.wall());
  });
});
