import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import { after, DAY_MS, HOUR_MS, instant, isoOf, MINUTE_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { TEN, leg, aLife, scheduled, trade } from './daily.ts';
import { amountOf, intentsOf, NINE } from './views.ts';

describe('a missed time of a schedule', () => {
  const DAYS_DOWN = 3 * DAY_MS + 2 * HOUR_MS;

  it('is not a misfire within misfire_after', () => {
    const life = aLife();
    expect(intentsOf(life.arrive(MINUTE_MS))).toMatchObject([
      { leg: leg(TEN), deadline: TEN + 10 * MINUTE_MS },
    ]);
    expect(aLife().arrive(MINUTE_MS + 1)).toMatchObject({ reason: 'missed_slot' });
  });

  it('is a misfire even before that if its window is over', () => {
    const short = { window: 'PT30S', slices: 3 };
    expect(aLife(short).arrive(29_999)).toMatchObject({ reason: 'missed_slot', intents: [{ slice: 2 }] });
    expect(aLife(short).arrive(30_000)).toMatchObject({
      reason: 'missed_slot',
      waits: [{ at: TEN + DAY_MS }],
    });
    const again = aLife({ ...short, ...scheduled({ misfire: 'all' }) }).arrive(30_000);
    expect(again).toMatchObject({ reason: 'missed_slot', intents: [{ leg: leg(TEN), slice: 0 }] });
  });

  it('is skipped with misfire: skip, like every other time that passed', () => {
    const life = aLife(scheduled({ misfire: 'skip' }));
    const step = life.arrive(DAYS_DOWN);
    expect(intentsOf(step)).toEqual([]);
    expect(step).toMatchObject({
      reason: 'missed_slot',
      note: '4 times passed; the last was due 2026-12-04T10:00:00.000Z, 7200 s ago',
      missed: [0, 1, 2, 3].map((day) => ({ leg: leg(TEN + day * DAY_MS), slice: 0 })),
      waits: [{ on: 'at', at: TEN + 4 * DAY_MS }],
    });
  });

  it('is not skipped with misfire: skip if it is the newest and within misfire_after', () => {
    const life = aLife();
    expect(trade(life, 3 * DAY_MS + MINUTE_MS).map((one) => one.leg)).toEqual([leg(TEN + 3 * DAY_MS)]);
    expect(life.due).toBe(TEN + 4 * DAY_MS);
  });

  it('runs once with misfire: once, however many times passed, over a whole window from now', () => {
    const life = aLife(scheduled({ misfire: 'once' }));
    const step = life.arrive(DAYS_DOWN);
    const now = TEN + DAYS_DOWN;
    expect(step).toMatchObject({
      reason: 'missed_slot',
      intents: [{ leg: leg(TEN + 3 * DAY_MS), deadline: now + 10 * MINUTE_MS }],
    });
    expect(step.missed).toHaveLength(3);
    life.end({ leg: leg(TEN + 3 * DAY_MS), slice: 0, filled: quantity('2') }, instant(now + 1_000));
    expect(life.due).toBe(TEN + 4 * DAY_MS);
  });

  it('runs with misfire: all like all the others, oldest first, 30 seconds apart', () => {
    const life = aLife(scheduled({ misfire: 'all' }));
    const end = instant(TEN + DAYS_DOWN);
    const waited: number[] = [];
    const legs: string[] = [];
    for (let n = 0; n < 4; n++) {
      const [intent, ...more] = intentsOf(
        life.wake({ on: 'at', at: instant(end + n * 1_000), due: life.due }),
      );
      expect(more).toEqual([]);
      if (intent === undefined) continue;
      legs.push(intent.leg);
      life.end({ leg: intent.leg, slice: 0, filled: quantity('2') }, instant(end + n * 1_000));
      // The controls treat more than a few executions in a minute as a fault of the strategy.
      waited.push(life.due - end - n * 1_000);
    }
    expect(legs).toEqual([0, 1, 2, 3].map((day) => leg(TEN + day * DAY_MS)));
    expect(waited.slice(0, 3)).toEqual([30_000, 30_000, 30_000]);
    expect(life.due).toBe(TEN + 4 * DAY_MS);
  });

  it('runs with misfire: all only if it is among the newest 31, even after a year of minutes', () => {
    const life = aLife({ window: 'PT1M', schedule: { cron: '* * * * *', misfire: 'all' } });
    const end = instant(life.due + 365 * DAY_MS);
    const [intent] = intentsOf(life.wake({ on: 'at', at: end, due: life.due }));
    expect(intent?.leg).toBe(leg(end - 30 * MINUTE_MS));
    expect(life.last.note).toContain('more than');
  });

  describe('followed by more than 31 closed times', () => {
    // Every 15 minutes, closed from six in the evening to eight in the morning: 56 closed times a night.
    const MISSED = instant(Date.UTC(2026, 11, 1, 17, 45));
    const EIGHT = instant(Date.UTC(2026, 11, 2, 8));
    const UP_AT = after(EIGHT, MINUTE_MS);
    const lateLife = (misfire: string): ReturnType<typeof aLife> =>
      aLife({
        start_time: '2026-12-01T17:40:00Z',
        schedule: { cron: '*/15 * * * *', quiet_hours: [{ from: '18:00', to: '08:00' }], misfire },
      });

    it('is reported as missed with misfire: skip', () => {
      const life = lateLife('skip');
      const step = life.wake({ on: 'at', at: UP_AT, due: life.due });
      expect(step).toMatchObject({ reason: 'missed_slot', missed: [{ leg: leg(MISSED), slice: 0 }] });
      expect(intentsOf(step)).toMatchObject([{ leg: leg(EIGHT) }]);
    });

    it('is reported as missed with misfire: once, even if only closed times came after it', () => {
      const life = lateLife('once');
      const step = life.wake({ on: 'at', at: after(EIGHT, -1), due: life.due });
      // The calendar is still closed: the journal names the missed time, not the last closed time.
      expect(step).toMatchObject({ reason: 'blackout', missed: [{ leg: leg(MISSED), slice: 0 }] });
    });
  });

  it.each(['skip', 'once', 'all'])(
    'never runs with misfire: %s if the calendar was closed at the time',
    (misfire) => {
      // Friday's passed as well; Saturday and Sunday are closed.
      const life = aLife(scheduled({ misfire, calendar: {}, cron: '0 10 * * 6,7' }));
      const monday = instant(Date.UTC(2026, 11, 7, 12));
      expect(life.wake({ on: 'at', at: monday, due: life.due })).toMatchObject({ reason: 'blackout' });
      expect(intentsOf(life.last)).toEqual([]);
    },
  );

  it.each(['once', 'all'])('never runs with misfire: %s while the calendar is closed', (misfire) => {
    const life = aLife(scheduled({ misfire, calendar: {} }));
    const step = life.wake({ on: 'at', at: instant(Date.UTC(2026, 11, 5, 12)), due: life.due });
    expect(step).toMatchObject({ reason: 'blackout', note: 'weekend (saturday)' });
    expect(intentsOf(step)).toEqual([]);
  });

  it('is awaited again if the rules of its zone have moved it since it was planned', () => {
    const life = aLife();
    const early = life.wake({ on: 'at', at: instant(TEN - HOUR_MS / 2), due: instant(TEN - HOUR_MS / 2) });
    expect(early).toMatchObject({ waits: [{ on: 'at', at: TEN }] });
    expect(intentsOf(early)).toEqual([]);
  });

  it('is traded at most once and in order, whatever the delays', () => {
    const rules = fc.constantFrom('skip', 'once', 'all');
    const delays = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 * DAY_MS })), {
      minLength: 12,
      maxLength: 12,
    });
    fc.assert(
      fc.property(rules, delays, fc.integer({ min: 1, max: 3 }), (misfire, late, slices) => {
        const life = aLife({
          slices,
          ...scheduled({ misfire, quiet_hours: [{ from: '20:00', to: '06:00' }] }),
        });
        const asked: string[] = [];
        let now: Instant = NINE;
        for (const lateMs of late) {
          const due = life.due;
          now = instant(Math.max(now, due) + lateMs);
          for (const intent of intentsOf(life.wake({ on: 'at', at: now, due }))) {
            asked.push(`${intent.leg}/${intent.slice}`);
            expect(intent.leg <= isoOf(now)).toBe(true);
            expect(intent.deadline).toBeGreaterThan(now);
            const hour = new Date(now).getUTCHours();
            expect(hour >= 6 && hour < 20).toBe(true);
            life.end({ leg: intent.leg, slice: intent.slice, filled: amountOf(intent) }, now);
          }
        }
        expect(asked).toEqual([...new Set(asked)].toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
