import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { RateLimiter } from '../../src/engine/rate-limit/rate-limiter.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aTwap, START, started, nextProcess, slowJournal } from './harness.ts';
import type { Bench } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

const ordersOf = ({ exchange }: Bench): number => ledgerTrades(exchange).length;

describe('a slow write of an intent', () => {
  it('stops an order whose quote has too little life left after the wait', () => {
    const clock = new VirtualClock(START);
    const journal = slowJournal(clock, (bodies) =>
      bodies.some(({ kind }) => kind === 'intent') ? 9.8 * SECOND_MS : 0,
    );
    const bench = started({ strategies: [aTwap()], clock, journal }, 0, { isUntilDone: true });
    clock.run(instant(START + 5 * MINUTE_MS));
    const reasons = bench.bodies('attempt').map((body) => body.reason);
    expect(reasons.length).toBeGreaterThan(3);
    expect(new Set(reasons)).toEqual(new Set(['quote_too_short']));
    expect(ordersOf(bench)).toBe(0);
  });
});

describe('a rate limit of the venue', () => {
  it.each([DAY_MS, -DAY_MS, 90 * SECOND_MS])('is not exceeded when the wall clock jumps by %i ms', (ms) => {
    const clock = new VirtualClock(START);
    const windows = { quote: { max: 10, perMs: 1_000 }, order: undefined, transactions: undefined, read: undefined, all: undefined }; // prettier-ignore
    const rateLimiter = new RateLimiter(clock, { windows, guardMs: 5 });
    const sent: number[] = [];
    for (let i = 0; i < 40; i++) {
      rateLimiter.take({ route: 'quote', priority: 'quote', key: 'k' }).subscribe((permit) => {
        sent.push(clock.monotonic());
        permit.settle();
        clock.stepWall(i % 2 === 0 ? ms : -ms / 2);
      });
    }
    clock.run(instant(Math.max(clock.wall(), START) + 100 * DAY_MS));
    expect(sent).toHaveLength(40);
    const spans = sent.slice(10).map((at, i) => at - (sent[i] ?? 0));
    expect(Math.min(...spans)).toBeGreaterThan(1_000);
  });
});

describe('a desk that was down for three days', () => {
  it('reads the account from an hour before its open attempt, and finds the trade', () => {
    const wrap = faultyVenue({ order: () => 'answer lost' });
    const first = started({ strategies: [aTwap()], wrap }, 2 * SECOND_MS);
    const [left] = first.timed('intent');
    const before = first.sent.reads.length;
    const second = nextProcess(first, 3 * DAY_MS, { strategies: [aTwap()] });
    second.run(10 * MINUTE_MS);
    expect(second.sent.reads[before]?.from).toBeLessThanOrEqual(START + (left?.at ?? 0) - HOUR_MS);
    expect(second.bodies('fill')).toHaveLength(1);
    expect(faultsOf(second)).toEqual([]);
  });
});

describe('a desk that always has an order in flight', () => {
  it('reads from the last row before its orders, so that reads do not grow with its trading', () => {
    const rows: number[] = [];
    const plan = { duration: 'PT1H', total_quantity: { amount: '9', currency: 'btc' } };
    started(
      {
        strategies: [701, 901].map((slices) => aTwap(`twap-${slices}`, { ...plan, slices })),
        quoteLatencyMs: 1_000,
        wrap: faultyVenue({
          transactions: (read) => {
            rows.push(read.length);
            return read;
          },
        }),
      },
      HOUR_MS,
    );
    expect(rows.length).toBeGreaterThan(50);
    // Less than a page, although the account has three of them.
    expect(Math.max(...rows)).toBeLessThan(1_000);
  });

  it('starts a read every minute, even if reads take several pages, and keeps its last balances recent', () => {
    const plan = { duration: 'PT20M', total_quantity: { amount: '9', currency: 'btc' } };
    const strategies = [701, 901].map((slices) => aTwap(`twap-${slices}`, { ...plan, slices }));
    const bench = started({ strategies, quoteLatencyMs: 200 }, 20 * MINUTE_MS);
    const { fills, balancesReadAt } = bench.desk.state;
    expect(fills).toBeGreaterThan(1_400);
    expect(bench.clock.wall() - (balancesReadAt ?? 0)).toBeLessThan(3 * MINUTE_MS);
    // A read of two pages takes ten seconds.
    expect(bench.desk.account.books.rows.size).toBeGreaterThan(1_500);
    const begun = bench.sent.reads.filter(({ offset }) => offset === undefined);
    const gaps = begun.slice(1).map(({ at }, n) => at - (begun[n]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(61 * SECOND_MS);
  });
});

describe('a desk that trades for hours', () => {
  it('keeps only the ids of ended slices and attempts, and a replay gives the same state', () => {
    const plan = { duration: 'PT1H', slices: 60, total_quantity: { amount: '0.6', currency: 'btc' } };
    const bench = started({ strategies: [0, 1, 2, 3].map((i) => aTwap(`twap-${i}`, plan)) }, 0, { isUntilDone: true });
    bench.clock.run();
    const { state, account, endsBeingRecorded, failures } = bench.desk;
    expect(state.fills).toBe(240);
    const kept = ({ slices, attempts, lives, filledIds, closedIds }: EngineState): readonly unknown[] => [
      slices.size,
      attempts.size,
      [...lives.values()].map(({ outcomes, late, waits }) => [outcomes.length, late.length, waits.length]),
      [...filledIds.keys()],
      [...closedIds.keys()],
    ];
    expect([state.slices.size, state.attempts.size, account.doubts.size, endsBeingRecorded.size, failures.size]).toEqual([0, 0, 0, 0, 0]);
    expect([...state.lives.values()].every(({ outcomes, late }) => outcomes.length + late.length === 0)).toBe(true);
    const replayed = new EngineState();
    for (const stored of bench.records()) replayed.apply(stored);
    expect(kept(replayed)).toEqual(kept(state));
    expect([...(replayed.balances ?? [])].map(String)).toEqual([...(state.balances ?? [])].map(String));
  });
}); // prettier-ignore
