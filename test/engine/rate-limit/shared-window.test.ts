import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '../../../src/core/time.ts';
import type { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { SLACK_MS } from '../../../src/journal/postgres/address-budget.ts';
import { START } from '../harness.ts';
import { GUARD_MS, PER_MS, crowd, densest } from './crowd.ts';
import type { CrowdSetting, Seen } from './crowd.ts';
import { MemoryBudget } from './memory-budget.ts';

const SETTING: CrowdSetting = {
  seed: 1,
  desks: 12,
  eager: 4,
  wayMs: 5,
  jitterMs: 2,
  storeMs: 3,
  deathEveryMs: 0,
  lostShare: 0,
  priorities: ['quote', 'history', 'execute'],
};

const run = (over: Partial<CrowdSetting>, forMs: number): Seen =>
  crowd(
    { ...SETTING, ...over },
    (clock: VirtualClock) => {
      const budget = new MemoryBudget({
        max: 250,
        reserved: 5,
        perMs: PER_MS + GUARD_MS,
        slackMs: SLACK_MS,
        now: () => clock.now(),
      });
      return (holder, exchange) => budget.exchange(holder, exchange);
    },
    forMs,
  );

const times = ({ arrivals }: Seen): readonly number[] => arrivals.map(({ at }) => at);
/** Share of what the address may send from `fromMs` on. */
const usedShare = (seen: Seen, fromMs: number, forMs: number): number =>
  times(seen).filter((at) => at > START + fromMs).length / ((250 * (forMs - fromMs)) / PER_MS);

describe('a budget of requests that desks share', () => {
  it('is never exceeded in any window, whatever dies, is lost or is slow', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer({ min: 0, max: 1_000_000 }),
          desks: fc.integer({ min: 1, max: 40 }),
          eager: fc.integer({ min: 1, max: 30 }),
          wayMs: fc.integer({ min: 0, max: 150 }),
          jitterMs: fc.integer({ min: 0, max: 120 }),
          storeMs: fc.integer({ min: 0, max: 400 }),
          deathEveryMs: fc.constantFrom(0, 500, 5_000),
          lostShare: fc.constantFrom(0, 0.02, 0.3),
        }),
        (setting) => {
          expect(densest(times(run(setting, 45 * SECOND_MS)), PER_MS)).toBeLessThanOrEqual(250);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is used to 95 % at least where there is demand, also while processes die', () => {
    const forMs = 120 * SECOND_MS;
    for (const over of [
      {},
      { desks: 1, eager: 20 },
      { desks: 40, eager: 2 },
      { wayMs: 60, jitterMs: 20, storeMs: 10 },
      { deathEveryMs: 5 * SECOND_MS },
      { priorities: ['history'] as const },
    ]) {
      const seen = run(over, forMs);
      expect(densest(times(seen), PER_MS)).toBeLessThanOrEqual(250);
      expect(usedShare(seen, PER_MS, forMs), JSON.stringify(over)).toBeGreaterThanOrEqual(0.95);
    }
  });

  it('goes to orders of any desk before the reads of all others', () => {
    const seen = run(
      { desks: 20, eager: 5, priorities: ['history', 'history', 'history', 'history', 'execute'] },
      60_000,
    );
    const waits = (priority: string): number => {
      const of = seen.arrivals.filter((one) => one.priority === priority).map(({ waitedMs }) => waitedMs);
      return of.reduce((sum, ms) => sum + ms, 0) / of.length;
    };
    expect(waits('execute')).toBeLessThan(waits('history'));
  });
});
