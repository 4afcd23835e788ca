import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { KILLS, hardDay } from './support/hard-day.ts';
import type { HardDay } from './support/hard-day.ts';
import { hardDayFaults } from './support/hard-day-faults.ts';

/** The number of days and their length; for more: `npm run drill:hard-day -- --seeds 10 --minutes 10`. */
const SEEDS = Number(process.env['HARD_DAY_SEEDS'] ?? 2);
const FIRST = Number(process.env['HARD_DAY_FIRST'] ?? 1);
const MINUTES = Number(process.env['HARD_DAY_MINUTES'] ?? 2.5);
/** Days in parallel. The main cost of a day is the ten starts of its daemon. */
const LANES = Number(process.env['HARD_DAY_LANES'] ?? 2);
/** A folder for figures, journals and logs. */
const OUT = process.env['HARD_DAY_OUT'];

/** Days whose median is held to the goals. Of fewer only the promise is judged: two days are luck, and a busy machine costs slices. */
const DAYS_JUDGED = 10;
/** What a plan is to trade, per cent: with a kill a minute, and with one every fifteen seconds. */
const TRADED_MIN = MINUTES >= 10 ? 90 : 50;
const DOUBT_MAX_MS = 45_000;

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1] ?? 0, sorted[Math.floor(half)] ?? 0];
  return (low + high) / 2;
};

const rowOf = (day: HardDay): string =>
  [
    `seed ${day.seed}: ${day.traded} % traded, longest doubt ${(day.doubtMs / 1_000).toFixed(1)} s, ${day.kills} kills, ${day.struck} faults, load ${day.load}`,
    `  starts ms ${day.startsMs.join(' ')}`,
    `  alerts ${JSON.stringify(day.alerts)}`,
    `  reasons ${JSON.stringify(day.reasons)}`,
    ...day.stops.map((stop) => `  ${stop}`),
    ...day.violations.map((violation) => `  VIOLATION ${violation}`),
  ].join('\n');

describe('a desk on a hard day', () => {
  it('meets 29 kinds of faults in a fifth of all requests', () => {
    const { rules = [], feeds = [] } = hardDayFaults(1);
    expect(new Set([...rules, ...feeds].map(({ name }) => name)).size).toBe(29);
    for (const all of Map.groupBy(rules, ({ route }) => route).values())
      expect(1 - all.reduce((passes, { probability = 1 }) => passes * (1 - probability), 1)).toBeCloseTo(0.2);
  });

  it('executes each order once despite faults, short quotes and nine kills, and continues without an operator', { timeout: 6 * 3_600_000 }, async () => {
    const days: HardDay[] = [];
    const queue = Array.from({ length: SEEDS }, (_, i) => FIRST + i);
    const lane = async (): Promise<void> => {
      for (let seed = queue.shift(); seed !== undefined; seed = queue.shift()) {
        const day = await hardDay(seed, MINUTES, OUT);
        days.push(day);
        process.stdout.write(`${rowOf(day)}\n`);
        if (OUT !== undefined) writeFileSync(join(OUT, 'days.json'), JSON.stringify(days, undefined, 2));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));

    const traded = median(days.map((day) => day.traded));
    const longest = Math.max(...days.map(({ doubtMs }) => doubtMs));
    process.stdout.write(`median of ${days.length}: ${traded} % traded; longest doubt ${(longest / 1_000).toFixed(1)} s\n`);
    expect(days.flatMap(({ seed, violations }) => violations.map((each) => `${seed}: ${each}`))).toEqual([]);
    expect(days.map(({ kills }) => kills)).toEqual(days.map(() => KILLS));
    expect(traded).toBeGreaterThan(0);
    if (days.length < DAYS_JUDGED) return;
    expect(traded).toBeGreaterThanOrEqual(TRADED_MIN);
    expect(longest).toBeLessThanOrEqual(DOUBT_MAX_MS);
  });
}); // prettier-ignore
