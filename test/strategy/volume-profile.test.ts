import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, parseTime } from '../../src/core/time.ts';
import type { Division } from '../../src/strategy/kinds/day-parts.ts';
import { learnShares } from '../../src/strategy/kinds/volume-profile.ts';
import type { Volume } from '../../src/strategy/kinds/volume-profile.ts';
import { vwap } from '../../src/strategy/kinds/vwap.ts';
import { instrumentOf } from './views.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const ofDay: Division = { zone: 'UTC', period: 'day', parts: 24 };

/** Bars of an hour from `from` on; `volumeAt` says what each has. */
const bars = (count: number, volumeAt: (ms: number) => number, from = BEGIN): readonly Volume[] =>
  Array.from({ length: count }, (_, n) => {
    const fromMs = from + n * HOUR_MS;
    return { fromMs, untilMs: fromMs + HOUR_MS, volume: volumeAt(fromMs) };
  });
const learn = (volumes: readonly Volume[], division = ofDay): readonly number[] => {
  const learnt = learnShares(volumes, volumes, division);
  if ('why' in learnt) throw new Error(learnt.why);
  return learnt.millionths;
};
const hourOf = (ms: number): number => Math.floor((ms % DAY_MS) / HOUR_MS);

describe('a learnt profile', () => {
  it('sums to one exactly, with each share above zero and close to the traded share', () => {
    const aVolume = fc.oneof(
      fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
      fc.integer({ min: 1, max: 10 }),
    );
    const parts = fc.constantFrom(2, 6, 24, 48, 96, 1440);
    fc.assert(
      fc.property(parts, fc.array(aVolume, { minLength: 1440, maxLength: 1440 }), (count, volumes) => {
        const lengthMs = DAY_MS / count;
        const day = volumes.slice(0, count).map((volume, n) => ({
          fromMs: BEGIN + n * lengthMs,
          untilMs: BEGIN + (n + 1) * lengthMs,
          volume,
        }));
        const millionths = learn(day, { ...ofDay, parts: count });
        expect(millionths.reduce((sum, one) => sum + one, 0)).toBe(1_000_000);
        expect(millionths.every((one) => Number.isInteger(one) && one > 0)).toBe(true);
        const total = day.reduce((sum, { volume }) => sum + volume, 0);
        for (const [n, { volume }] of day.entries()) {
          const share = (volume / total) * (1_000_000 - count) + 1;
          expect(Math.abs((millionths[n] ?? 0) - share)).toBeLessThan(1.001);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('averages each part over the days that contain it, so that a partial day has no effect', () => {
    const volumeAt = (ms: number): number => 1 + hourOf(ms);
    const whole = learn(bars(48, volumeAt));
    expect(learn(bars(48 + 7, volumeAt))).toEqual(whole);
    expect(whole[23]).toBeGreaterThan(23 * (whole[0] ?? 0));
  });

  it('follows the local day of its zone, also through clock changes', () => {
    // Nine in London, all of a year that changes its clocks twice.
    const division = { ...ofDay, zone: 'Europe/London' };
    const local = (ms: number): number =>
      Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('Europe/London').hour;
    const year = bars(365 * 24, (ms) => (local(ms) === 9 ? 77 : 1));
    expect(learn(year, division)).toEqual(learn(bars(24, (ms) => (hourOf(ms) === 9 ? 77 : 1))));
    expect(learn(year)).not.toEqual(learn(year, division));
  });

  it('distinguishes weekdays if it covers a week, starting with Monday', () => {
    const week = learn(
      bars(14 * 24, (ms) => ((new Date(ms).getUTCDay() + 6) % 7 === 2 && hourOf(ms) === 5 ? 100 : 1)),
      { ...ofDay, period: 'week', parts: 168 },
    );
    expect(week.indexOf(Math.max(...week))).toBe(2 * 24 + 5);
    expect(week.reduce((sum, one) => sum + one, 0)).toBe(1_000_000);
  });

  it('divides a bar among the parts that it covers', () => {
    // Bars of an hour that begin at half past, parts of an hour: half of each goes to either.
    const shifted = bars(24, (ms) => (hourOf(ms) === 3 ? 200 : 100), BEGIN + 30 * MINUTE_MS);
    const shares = learn(shifted);
    expect(shares[3]).toBe(shares[4]);
    expect(shares[3]).toBeGreaterThan(shares[5] ?? 0);
  });
});

describe('a weekly profile', () => {
  const sized = (start_time: string, weights: readonly number[]): readonly string[] =>
    vwap
      .bind({
        pair: 'btcusd',
        side: 'buy',
        total_quantity: { amount: '9', currency: 'btc' },
        start_time,
        duration: 'P3D',
        slices: 3,
        profile: { period: 'week', weights },
      })
      .slots(instant(parseTime(start_time)), instrumentOf('btcusd'))
      .map(({ size }) => size);

  it('gives each weekday its own volume', () => {
    // Friday counts 4, Saturday and Sunday 1, Monday 3.
    const weights = [3, 1, 1, 1, 4, 1, 1];
    expect(sized('2026-12-04T00:00:00Z', weights)).toEqual(['6', '1.5', '1.5']);
    expect(sized('2026-12-06T00:00:00Z', weights)).toEqual(['1.8', '5.4', '1.8']);
  });
});
