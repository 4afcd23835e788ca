import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Continuity } from '../../src/engine/time/continuity.ts';
import type { Break } from '../../src/engine/time/continuity.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aTwap, START, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

const OPTIONS = { everyMs: 1_000, divergenceMs: 2_000, lateMs: 4_000 };

interface Watched {
  readonly clock: VirtualClock;
  readonly continuity: Continuity;
  readonly breaks: Break[];
}

function watched(): Watched {
  const clock = new VirtualClock(START);
  const breaks: Break[] = [];
  const continuity = new Continuity(clock, OPTIONS, (what) => breaks.push(what));
  return { clock, continuity, breaks };
}

describe('clock continuity', () => {
  it('holds while both clocks run, drift slightly and are checked in time', () => {
    const { clock, continuity, breaks } = watched();
    for (let i = 0; i < 3_600; i++) {
      clock.stall(1_000);
      clock.stepWall(0.5); // half a thousandth: more than clocks are corrected by
      continuity.look();
    }
    expect(continuity.count).toBe(0);
    expect(breaks).toEqual([]);
  });

  it.each([
    ['a sleep in which the monotonic clock stands still', 3 * DAY_MS],
    ['a clock that is set forward', 2_001],
    ['a clock that is set back', -2_001],
  ])('breaks once at %s, and reports the size of the jump', (_, ms) => {
    const { clock, continuity, breaks } = watched();
    continuity.look();
    clock.stepWall(ms);
    expect([continuity.count, continuity.count, continuity.look()]).toEqual([1, 1, 1]);
    expect(breaks).toEqual([{ wallMs: ms, lateMs: 0 }]);
  });

  it('breaks if the clocks are not checked for too long, because the process stood still', () => {
    const { clock, continuity, breaks } = watched();
    continuity.look();
    clock.stall(5_000);
    expect(continuity.count).toBe(0);
    clock.stall(1);
    expect([continuity.count, continuity.look()]).toEqual([1, 1]);
    expect(breaks).toEqual([{ wallMs: 0, lateMs: 4_001 }]);
  });
});

const plan = [aTwap('twap', { slices: 10, duration: 'PT10M' })];

/** A desk with a plan of ten slices, a minute apart, whose quotes take a second to come. */
const begun = (options: Partial<BenchOptions> = {}): Bench =>
  started({ strategies: plan, quoteLatencyMs: 1_000, ...options });
const missedOf = (bench: Bench): number => bench.bodies('wake').flatMap((body) => body.missed).length;

describe('a desk after a clock discontinuity', () => {
  it.each([
    ['that was just requested', 1],
    ['that is about to arrive', 999],
  ])('sends no order for a quote %s, and requests another', (_, ms) => {
    const bench = begun();
    bench.run(61 * SECOND_MS + ms); // the second slot is at one minute, and a price comes first
    expect(bench.sent.orders).toHaveLength(1);
    bench.clock.stepWall(3 * SECOND_MS);
    bench.run(1_001);
    expect(bench.sent.orders).toHaveLength(1);
    expect(bench.alerts()).toContain('discontinuity');
    bench.run(10 * SECOND_MS);
    expect(bench.sent.orders).toHaveLength(2);
    const ends = bench
      .bodies('attempt')
      .flatMap((body) => (body.result === 'discarded' ? [body.reason] : []));
    expect(ends).toEqual(['discontinuity']);
  });

  it('reads the account within seconds instead of at the next regular read', () => {
    const bench = begun();
    bench.run(75 * SECOND_MS);
    const before = bench.sent.reads.length;
    bench.clock.stepWall(HOUR_MS / 20);
    bench.run(12 * SECOND_MS);
    expect(bench.sent.reads.length).toBeGreaterThan(before);
  });

  it.each([1_000, 2_500, 30_000, 150_000, 5 * MINUTE_MS, HOUR_MS, 3 * DAY_MS])(
    'catches up as its plan states after a sleep of %i ms, whether or not the monotonic clock counted it',
    (ms) => {
      for (const sleep of ['stepWall', 'stall'] as const) {
        const bench = begun();
        bench.run(190 * SECOND_MS);
        expect(bench.sent.orders).toHaveLength(4);
        bench.clock[sleep](ms);
        const burst = bench.sent.orders.length;
        bench.run(5 * SECOND_MS);
        expect(bench.sent.orders.length - burst).toBeLessThanOrEqual(1);
        bench.run(15 * MINUTE_MS);
        expect(faultsOf(bench)).toEqual([]);
        const sizes = ledgerTrades(bench.exchange).map((trade) => Number(trade.quantity));
        expect(Math.max(...sizes)).toBeLessThanOrEqual(0.15);
        expect(missedOf(bench) > 0).toBe(ms >= 150_000);
        expect(executedTotal(bench.exchange).gte(ms <= 150_000 ? '1' : '0.4')).toBe(true);
        // Late slices must not be caught up after the window: the strategy ends within the hour.
        expect(bench.desk.state.lives.get('twap')?.finished).toBeDefined();
      }
    },
  );

  it('neither loses an open doubt nor proves its order absent too early after a sleep', () => {
    for (const fault of ['answer lost', 'request lost', 'late'] as const) {
      const bench = begun({ quoteLatencyMs: 20, wrap: faultyVenue({ order: () => fault }) });
      bench.run(5 * SECOND_MS);
      bench.clock.stepWall(HOUR_MS);
      bench.run(20 * MINUTE_MS);
      expect(faultsOf(bench)).toEqual([]);
      expect(ledgerTrades(bench.exchange)).toHaveLength(fault === 'request lost' ? 0 : 1);
    }
  });
});
