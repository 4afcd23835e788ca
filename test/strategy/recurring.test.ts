import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, quantity, text } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, instant, isoOf, MINUTE_MS, parseTime } from '../../src/core/time.ts';
import { recurring } from '../../src/strategy/kinds/recurring/recurring.ts';
import { DAILY, PLAN, TEN, leg, aLife, scheduled, trade } from './daily.ts';
import { amountOf, intentsOf, NINE, TACTICS_SENT, tacticsOf } from './views.ts';
import type { Life } from './views.ts';

/** Fills the next `count` occurrences and returns their legs. */
const legsOf = (life: Life, count: number, lateMs = 0): readonly string[] =>
  Array.from({ length: count }, () => trade(life, lateMs)).flatMap((asked) => asked.map((one) => one.leg));

describe('recurring', () => {
  it('sends its tactics with every intent', () => {
    expect(tacticsOf(aLife)).toEqual(TACTICS_SENT);
  });

  it('waits for the next scheduled time, strictly after its start', () => {
    expect(aLife().last).toMatchObject({ waits: [{ on: 'at', at: TEN }] });
    expect(aLife({}, { at: TEN }).due).toBe(TEN + DAY_MS);
  });

  it('requests the same size each time, as a separate parent that is named by its time', () => {
    const life = aLife({ limit_price: '70000' });
    const step = life.arrive();
    expect(step).toMatchObject({
      waits: [{ on: 'outcome', leg: leg(TEN), slice: 0 }],
      intents: [{ leg: leg(TEN), slice: 0, pair: 'btcusd', side: 'buy', deadline: TEN + 10 * MINUTE_MS }],
    });
    const [intent] = intentsOf(step);
    expect([intent?.size, intent?.limit?.toFixed()]).toEqual([
      { by: 'quantity', quantity: quantity('2') },
      '70000',
    ]);
    life.end({ leg: leg(TEN), slice: 0, filled: quantity('2') }, instant(TEN + 1_000));
    expect(life.due).toBe(TEN + DAY_MS);
    expect(trade(life)).toEqual([{ leg: leg(TEN + DAY_MS), slice: 0, size: quantity('2') }]);
  });

  it('sizes a notional in quote currency', () => {
    const life = aLife({
      each_quantity: undefined,
      each_notional: { amount: '100', currency: 'usd' },
      slices: 3,
    });
    expect(intentsOf(life.arrive())[0]?.size).toEqual({ by: 'amount', amount: money('33.33') });
  });

  it('reports the untraded part of an occurrence, and does not carry it over to the next', () => {
    const life = aLife();
    trade(life, 0, 0.25);
    expect(life.last).toMatchObject({ reason: 'window_over', note: '1.5 of 2 btc not traded' });
    expect(trade(life).map(({ size }) => text(size))).toEqual(['2']);
  });

  it('starts with start_time and finishes at end_time', () => {
    const life = aLife({ start_time: '2026-12-03T10:00:00Z', end_time: '2026-12-05T10:00:00Z' });
    expect(legsOf(life, 2)).toEqual([leg(TEN + 2 * DAY_MS), leg(TEN + 3 * DAY_MS)]);
    expect(life.last).toMatchObject({ finished: 'finished', waits: [], note: '2 occurrences' });
  });

  it('does not make up for times before its first run', () => {
    expect(aLife({ start_time: '2026-11-01T10:00:00Z', ...scheduled({ misfire: 'all' }) }).due).toBe(TEN);
  });

  it.each([
    [
      'with more decimals than the currency has',
      { each_quantity: { amount: '1.123456789', currency: 'btc' } },
      {},
    ],
    ['with slices that round to zero', { slices: 3 }, { basePrecision: 0 }],
    ['with slices below the minimum', { slices: 3 }, { minimum: { quantity: quantity('1') } }],
  ])(
    'refuses an occurrence %s once the venue is known, and never sends the whole at once',
    (_, over, scene) => {
      const { last } = aLife(over, scene);
      expect(last).toMatchObject({ finished: 'invalid_plan', waits: [] });
      expect(intentsOf(last)).toEqual([]);
    },
  );

  it('ignores a late trade of a finished occurrence', () => {
    const life = aLife();
    trade(life);
    const before = life.last.state;
    const step = life.end({ leg: leg(TEN), slice: 0, filled: quantity('2') }, instant(TEN + HOUR_MS));
    expect(step).toMatchObject({ state: before, reason: 'waiting', waits: [{ on: 'at', at: TEN + DAY_MS }] });
  });
});

describe('the traps of other systems', () => {
  it('trap 2: a minimum in one currency is never compared with a size in the other', () => {
    expect(aLife({}, { minimum: { notional: money('1000000') } }).last.finished).toBeUndefined();
    const notional = { each_quantity: undefined, each_notional: { amount: '100', currency: 'usd' } };
    expect(aLife(notional, { minimum: { quantity: quantity('1000000') } }).last.finished).toBeUndefined();
    expect(aLife(notional, { minimum: { notional: money('100.01') } }).last.finished).toBe('invalid_plan');
  });
});

describe('requests and complaints of users of other systems', () => {
  it('complaint 14: jitter varies sizes and times by a seed, so that observers see no pattern, and keeps the sum', () => {
    const life = aLife({ slices: 2, window: 'PT1H', jitter: { time_pct: 80, size_pct: 30, seed: 9 } });
    const moved = new Set<number>();
    const days = Array.from({ length: 3 }, (_, day) => {
      if (intentsOf(life.arrive()).length > 0) throw new Error('the first slot is moved as well');
      moved.add(life.due - (TEN + day * DAY_MS));
      return [trade(life), trade(life)].flat().map(({ size }) => size);
    });
    expect(days.map(([a, b]) => a && b && text(add(a, b)))).toEqual(['2', '2', '2']);
    expect([new Set(days.map(([a]) => a?.toFixed())).size, moved.size]).toEqual([3, 3]);
  });
});

describe('an occurrence in slices', () => {
  const SLICED = { slices: 4, window: 'PT1H' };

  it.each([
    ['pace', ['0.66666666', '0.66666668'], undefined],
    ['skip', ['0.5', '0.5'], '0.5 of 2 btc not traded'],
  ])('handles the untraded part of a slice with catch_up %s', (catch_up, sizes, note) => {
    const life = aLife({ ...SLICED, catch_up });
    trade(life);
    trade(life, 0, 0);
    const more = [trade(life), trade(life)].flat().map(({ size }) => text(size));
    expect([more.length, life.last.note]).toEqual([2, note]);
    expect(
      more.every((size, n) => Math.abs(Number(size) - Number(catch_up === 'skip' ? sizes[n] : 0.75)) < 1e-6),
    ).toBe(true);
  });

  it('skips slots that came while a slice was open, and never runs beyond its window', () => {
    const life = aLife(SLICED);
    life.arrive();
    life.end({ leg: leg(TEN), slice: 0, filled: quantity('0') }, instant(TEN + 40 * MINUTE_MS));
    const step = life.wake({ on: 'at', at: instant(TEN + 40 * MINUTE_MS), due: life.due });
    expect(step).toMatchObject({ reason: 'missed_slot', missed: [{ slice: 1 }], intents: [{ slice: 2 }] });
    life.end({ leg: leg(TEN), slice: 2, filled: quantity('0') }, instant(TEN + 2 * HOUR_MS));
    expect(life.wake({ on: 'at', at: instant(TEN + 2 * HOUR_MS), due: life.due })).toMatchObject({
      reason: 'missed_slot',
      note: '1 slot passed; 2 of 2 btc not traded',
      waits: [{ on: 'at', at: TEN + DAY_MS }],
    });
  });

  it('starts nothing once the calendar closes, and ends every slice by then', () => {
    const life = aLife({ ...SLICED, ...scheduled({ cut_off: '10:20' }) });
    trade(life);
    expect(intentsOf(life.arrive())[0]).toMatchObject({ slice: 1, deadline: TEN + 20 * MINUTE_MS });
    life.end({ leg: leg(TEN), slice: 1, filled: quantity('0.5') }, instant(TEN + 16 * MINUTE_MS));
    expect(life.arrive()).toMatchObject({ reason: 'blackout', missed: [{ slice: 2 }] });
    expect(life.arrive()).toMatchObject({
      reason: 'blackout',
      note: 'after the cut-off at 10:20; 1 of 2 btc not traded',
    });
    expect(life.due).toBe(TEN + DAY_MS);
  });

  const sizes = fc.bigInt({ min: 10_000n, max: 10_000_000_000_000n }).map((units) => {
    const digits = units.toString().padStart(9, '0');
    return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
  });
  const jitters = fc.option(
    fc.record({
      time_pct: fc.integer({ min: 0, max: 95 }),
      size_pct: fc.integer({ min: 0, max: 50 }),
      seed: fc.integer({ min: 0, max: 2 ** 31 }),
    }),
    { nil: undefined },
  );

  it('sums to its size exactly, inside its window, in order and reproducibly', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 25 }), jitters, (amount, slices, jitter) => {
        const plan = { each_quantity: { amount, currency: 'btc' }, slices, window: 'PT3H', jitter };
        const run = () => {
          const life = aLife(plan);
          return Array.from({ length: 3 }, (_, day) => {
            const due = TEN + day * DAY_MS;
            let sum = quantity('0');
            let last = due - 1;
            for (let k = 0; k < slices; k++) {
              let at = life.due;
              // Jitter moves the first slice: the occurrence begins at its time, and then waits for its slot.
              if (at === due && intentsOf(life.arrive()).length === 0) at = life.due;
              const [intent] =
                intentsOf(life.last).length > 0 ? intentsOf(life.last) : intentsOf(life.arrive());
              expect(intent).toMatchObject({ leg: leg(due), slice: k });
              expect(at).toBeGreaterThan(last);
              expect(at).toBeLessThan(due + 3 * HOUR_MS);
              expect(intent?.deadline).toBeLessThanOrEqual(due + 3 * HOUR_MS);
              last = at;
              if (intent === undefined) return '';
              const filled = amountOf(intent);
              sum = add(sum, filled);
              life.end({ leg: intent.leg, slice: k, filled }, instant(at));
            }
            expect(text(sum)).toBe(text(quantity(amount)));
            return text(sum);
          });
        };
        expect(run()).toEqual(run());
      }),
      { numRuns: 25 },
    );
  });

  it('ends before the next occurrence, even on a day of 23 hours', () => {
    const schedule = { cron: '0 9 * * *', time_zone: 'Europe/London' };
    const life = aLife({ schedule, slices: 24, window: 'P1D' }, { at: parseTime('2027-03-27T00:00:00Z') });
    const ends: number[] = [];
    for (let k = 0; k < 24; k++) {
      const [intent] = intentsOf(life.arrive());
      ends.push(intent?.deadline ?? 0);
      if (intent !== undefined) {
        const { leg: of, slice, deadline } = intent;
        life.end({ leg: of, slice, filled: amountOf(intent) }, instant(deadline - 1));
      }
    }
    const next = parseTime('2027-03-28T09:00:00[Europe/London]');
    expect(ends.at(-1)).toBe(next);
    expect(next - parseTime('2027-03-27T09:00:00[Europe/London]')).toBe(23 * HOUR_MS);
    expect([life.last.reason, life.due]).toEqual([undefined, next]);
  });
});

describe('trading hours, holidays and blackouts', () => {
  const centre = (over: object): object => ({
    calendar: { weekend: [], holidays: [{ centre: 'London', ...over }] },
  });

  it.each<readonly [string, object, readonly string[]]>([
    ['a configured weekend', { calendar: { weekend: ['friday'] } }, ['2026-12-04']],
    ['an annual holiday', centre({ every_year: ['12-03'] }), ['2026-12-03']],
    ['a holiday of one year', centre({ days: ['2025-12-04', '2026-12-03'] }), ['2026-12-03']],
    [
      'a blackout',
      { blackouts: [{ from: '2026-12-02T00:00:00Z', to: '2026-12-04T10:00:00Z' }] },
      ['2026-12-02', '2026-12-03'],
    ],
    [
      'a day after the end of a holiday list',
      centre({ days: ['2026-12-02'], until: '2026-12-04' }),
      ['2026-12-02', '2026-12-05', '2026-12-06', '2026-12-07'],
    ],
    [
      'a holiday in either of two centres',
      {
        calendar: {
          weekend: [],
          holidays: [
            { centre: 'London', every_year: ['12-02'] },
            { centre: 'New York', every_year: ['12-04'] },
          ],
        },
      },
      ['2026-12-02', '2026-12-04'],
    ],
  ])('prevent a trade on %s, and are reported', (_, over, closed) => {
    const life = aLife(scheduled(over));
    const found: string[] = [];
    for (let day = 0; day < 7; day++) {
      const at = isoOf(life.due).slice(0, 10);
      if (trade(life).length === 0) found.push(at);
      const isClosed = found.at(-1) === at;
      expect([life.last.reason, typeof life.last.note]).toEqual(
        isClosed ? ['blackout', 'string'] : [undefined, 'undefined'],
      );
    }
    expect(found).toEqual(closed);
  });

  it('determine the next times that trade, or the reason why none does', () => {
    const bound = recurring.bind({ ...PLAN, schedule: { ...DAILY, calendar: {} } });
    const days = bound.occurrences(NINE, 5)?.map(({ at }) => isoOf(at).slice(5, 10));
    expect(days).toEqual(['12-01', '12-02', '12-03', '12-04', '12-07']);
    const blackouts = [{ from: '2026-12-01T00:00:00Z', to: '2036-12-01T00:00:00Z' }];
    const never = recurring.bind({ ...PLAN, schedule: { ...DAILY, blackouts } }).occurrences(NINE, 5);
    expect(never).toEqual([{ at: TEN, zone: 'UTC', closed: 'blackout until 2036-12-01T00:00:00Z' }]);
  });
});
