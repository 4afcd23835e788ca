import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { throwError } from 'rxjs';
import { MINUTE_MS, SECOND_MS, instant } from '../../../src/core/time.ts';
import { PERMIT_VALID_MS } from '../../../src/engine/rate-limit/address-budget.ts';
import { RateLimiter } from '../../../src/engine/rate-limit/rate-limiter.ts';
import type { Priority } from '../../../src/engine/rate-limit/rate-limiter.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
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

const memoryOf = (clock: VirtualClock): MemoryBudget =>
  new MemoryBudget({
    max: 250,
    reserved: 5,
    perMs: PER_MS + GUARD_MS,
    slackMs: SLACK_MS,
    now: () => clock.now(),
  });

const run = (over: Partial<CrowdSetting>, forMs: number): Seen =>
  crowd(
    { ...SETTING, ...over },
    (clock) => {
      const budget = memoryOf(clock);
      return (holder, exchange) => budget.exchange(holder, exchange);
    },
    forMs,
  );

const times = ({ arrivals }: Seen): readonly number[] => arrivals.map(({ at }) => at);
/** Share of what the address may send from `fromMs` on. */
const usedShare = (seen: Seen, fromMs: number, forMs: number): number =>
  times(seen).filter((at) => at > START + fromMs).length / ((250 * (forMs - fromMs)) / PER_MS);

describe('a request budget shared by desks', () => {
  it('is not exceeded in any window, with dying processes, lost answers and slow stores', () => {
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
      { numRuns: 25 },
    );
  });

  it('is used to at least 95 % if there is demand, even while processes die', () => {
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
      expect(usedShare(seen, PER_MS, forMs)).toBeGreaterThanOrEqual(0.95);
    }
  });

  it('serves orders of any desk before the reads of all others', () => {
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

  it('is asked for permits only after route limits and cool-downs have passed', () => {
    const clock = new VirtualClock(START);
    const budget = memoryOf(clock);
    const windows = {
      order: undefined,
      transactions: undefined,
      read: undefined,
      all: { max: 250, perMs: PER_MS },
    };
    const limiter = new RateLimiter(
      clock,
      { windows: { ...windows, quote: { max: 1, perMs: 1_000 } }, guardMs: 0 },
      undefined,
      budget.of('a'),
    );
    limiter.block('all', 2_000);
    limiter.block('quote', 3_000);
    const went: number[] = [];
    for (const route of ['read', 'quote', 'quote'] as const)
      limiter.take({ route, priority: 'quote', key: 'a' }).subscribe((permit) => {
        went.push(clock.now() - START);
        permit.settle();
      });
    clock.run(instant(START + MINUTE_MS));
    expect(went).toEqual([2_000, 3_000, 4_000]);
  });

  it('lets the permit of an unsent order be reused, and regains all permits when they expire', () => {
    const clock = new VirtualClock(START);
    const budget = memoryOf(clock);
    const windows = { quote: undefined, order: undefined, transactions: undefined, read: undefined };
    const all = { max: 250, perMs: PER_MS };
    const limiter = new RateLimiter(
      clock,
      { windows: { ...windows, all }, guardMs: 0 },
      undefined,
      budget.of('a'),
    );
    const take = (): void => {
      limiter.take({ route: 'quote', priority: 'quote', key: 'a' }).subscribe((permit) => {
        permit.giveBack();
      });
    };
    take();
    // The permit for its order is in hand: the store is not asked again.
    take();
    const taken = (): number =>
      budget.exchange('b', { wanted: 0, isUrgent: false, used: [], unused: [], unanswered: [] }).taken;
    expect(taken()).toBe(2);
    clock.run(instant(START + PERMIT_VALID_MS));
    expect(taken()).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('permits only requests with a permit in hand while the store is away, and resumes once it is back', () => {
    const clock = new VirtualClock(START);
    const budget = memoryOf(clock);
    let isAway = false;
    const windows = { quote: undefined, order: undefined, transactions: undefined, read: undefined };
    const limiter = new RateLimiter(
      clock,
      { windows: { ...windows, all: { max: 250, perMs: PER_MS } }, guardMs: 0 },
      undefined,
      {
        exchange: (asked) =>
          isAway ? throwError(() => new Error('the store is away')) : budget.of('a').exchange(asked),
      },
    );
    const went: number[] = [];
    const take = (priority: Priority): void => {
      limiter.take({ route: 'read', priority, key: 'a' }).subscribe((permit) => {
        went.push(clock.now() - START);
        permit.settle();
      });
    };
    take('quote');
    isAway = true;
    // Uses the permit in hand for the order of the quote.
    take('doubt');
    take('doubt');
    clock.run(instant(START + 4_500));
    expect(went).toEqual([0, 0]);
    isAway = false;
    clock.run(instant(START + MINUTE_MS));
    expect(went).toEqual([0, 0, 5_000]);
  });
});
