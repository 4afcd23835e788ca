import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantity } from '../../src/core/money.ts';
import { vwap } from '../../src/strategy/kinds/vwap.ts';
import { describePage, describeSliced, PLAN, slotsOf } from './sliced.ts';
import { instrumentOf, Life, NINE, problemsOf } from './views.ts';

/** A weight for each hour: 1 but for those that are named. */
const hours = (named: Readonly<Record<number, number>>): readonly number[] =>
  Array.from({ length: 24 }, (_, hour) => named[hour] ?? 1);
const sizes = (over: object): readonly string[] =>
  slotsOf(vwap, { ...PLAN, ...over }).map(({ size }) => size);
const zone = fc.constantFrom(
  'UTC',
  'Europe/London',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
);

describeSliced('vwap', {
  kind: vwap,
  own: { profile: { weights: hours({ 10: 2, 11: 4 }) } },
  sizes: ['1', '2', '4', '1'],
  anyOwn: fc
    .tuple(fc.constantFrom(1, 2, 24, 48, 96), zone, fc.infiniteStream(fc.integer({ min: 1, max: 50 })))
    .map(([count, time_zone, draws]) => ({
      profile: { time_zone, weights: [...draws.take(count)] },
    })),
});

describePage('vwap', vwap, { column: 3 });

describe('the profile of a vwap', () => {
  it.each([
    // At one o'clock UTC the clocks of London go from one to two: the hour from one to two is not there.
    ['has no volume in a skipped hour', '2026-03-29T00:00:00Z', ['2', '4', '1', '1']],
    // At one o'clock UTC they go from two back to one: the hour from one to two comes twice.
    [
      'has the volume of a repeated hour twice',
      '2026-10-25T00:00:00Z',
      ['1.14285714', '1.14285715', '4.57142857', '1.14285714'],
    ],
  ])('%s', (_, start_time, expected) => {
    const named = start_time.includes('-03-') ? { 0: 2, 1: 99, 2: 4 } : { 1: 1, 2: 4 };
    expect(sizes({ start_time, profile: { time_zone: 'Europe/London', weights: hours(named) } })).toEqual(
      expected,
    );
  });

  it('agrees with a sum over every minute of the window', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(24, 48, 1440),
        zone,
        fc.integer({ min: 29_300_000, max: 30_800_000 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 240 }),
        (count, time_zone, minute, slices, each) => {
          const weights = Array.from({ length: count }, (_, n) => 1 + ((n * 7919) % 13));
          const start = minute * 60_000;
          const volumes = Array.from({ length: slices }, (_, slice) => {
            let volume = 0;
            for (let m = 0; m < each; m++) {
              const at = Temporal.Instant.fromEpochMilliseconds(start + (slice * each + m) * 60_000);
              const local = at.toZonedDateTimeISO(time_zone);
              volume += weights[Math.floor(((local.hour * 60 + local.minute) * count) / 1440)] ?? 0;
            }
            return volume;
          });
          const whole = volumes.reduce((a, b) => a + b);
          const planned = sizes({
            start_time: new Date(start).toISOString(),
            duration: `PT${slices * each}M`,
            slices,
            profile: { time_zone, weights },
          });
          for (const [slice, size] of planned.entries())
            expect(Math.abs(Number(size) - (8 * (volumes[slice] ?? 0)) / whole)).toBeLessThan(1.1e-8);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('applies from the start of the parent if no start_time is given', () => {
    const plan = { ...PLAN, start_time: undefined, profile: { weights: hours({ 0: 0.1, 10: 2, 11: 4 }) } };
    const life = new Life(vwap, plan, { at: NINE });
    expect(life.due).toBe(NINE);
    const bound = vwap.bind(plan);
    const at = (begun: number): readonly string[] =>
      bound.slots(begun as typeof NINE, instrumentOf('btcusd')).map(({ size }) => size);
    expect([at(NINE), at(NINE + 3_600_000), at(NINE)]).toEqual([
      ['1', '2', '4', '1'],
      ['2', '4', '1', '1'],
      ['1', '2', '4', '1'],
    ]);
    // Only what is certain is refused before: when it begins, the smallest slice is known.
    expect(problemsOf(vwap, plan, { quantity: quantity('2') })).toEqual([]);
    expect(problemsOf(vwap, plan, { quantity: quantity('2.1') })).toHaveLength(1);
    const small = new Life(vwap, plan, { minimum: { quantity: quantity('2') } });
    expect(small.last).toMatchObject({ finished: 'invalid_plan' });
  });
});
