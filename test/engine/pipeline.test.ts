import { describe, expect, it } from 'vitest';
import { money, text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS, DAY_MS, HOUR_MS, instant } from '../../src/core/time.ts';
import { isDone } from '../../src/engine/run.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { RateLimiter } from '../../src/engine/rate-limit/rate-limiter.ts';
import { aPolicy, aTwap, started, START, nextProcess, slowJournal } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, fillsOf, ledgerTrades } from './oracle.ts';
import { faultyVenue } from './faulty-venue.ts';

const ran = (options: BenchOptions, ms = 15 * MINUTE_MS): Bench => started(options, ms);

describe('a twap on a desk', () => {
  it('records the decision price of the slice with each fill', () => {
    const bench = ran({ strategies: [aTwap()] });
    const decided = bench.bodies('wake').flatMap((body) => body.intents);
    const told = fillsOf(bench.records()).map((fill) => fill.decision_price);
    expect(told).toEqual(decided.map((intent) => intent.decision_price));
    expect(new Set(told).size).toBeGreaterThan(1);
  });

  it('cuts a slice above the venue maximum into pieces that sum to it', () => {
    const bench = ran({
      strategies: [
        aTwap('twap', { slices: 1, duration: 'PT10M', total_quantity: { amount: '13.5', currency: 'btc' } }),
      ],
    });
    expect(faultsOf(bench)).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('13.5');
    const trades = ledgerTrades(bench.exchange);
    expect(trades.length).toBeGreaterThan(3);
    expect(trades.every((trade) => trade.amount.lt('250000'))).toBe(true);
    expect(bench.bodies('maximum')).toHaveLength(1);
    expect(bench.bodies('slice')).toHaveLength(1);
  });
});

describe('strategies that share a desk', () => {
  it('never commit the same funds twice', () => {
    const venue = { accounts: [{ balances: { usd: '60500' } }] };
    const strategies = Array.from({ length: 8 }, (_, i) =>
      aTwap(`s${i}`, { slices: 1, duration: 'PT5M', total_quantity: { amount: '0.4', currency: 'btc' } }),
    );
    const refusals: string[] = [];
    const bench = ran({
      strategies,
      venue,
      observer: {
        ordered: (_pair, result) => {
          if (result !== 'filled') refusals.push(result);
        },
      },
    });
    expect(refusals).toEqual([]);
    expect(bench.balance('usd')).toBeGreaterThanOrEqual(0);
    expect(ledgerTrades(bench.exchange).length).toBeGreaterThan(1);
    expect(isDone(bench.desk)).toBe(true);
  });

  it('stay below the daily limit together, including orders in flight', () => {
    const { limits } = aPolicy();
    const bench = ran({
      strategies: Array.from({ length: 6 }, (_, i) => aTwap(`s${i}`, { slices: 2, duration: 'PT2M' })),
      policy: { limits: { ...limits, dayNotionalMax: money('100000') } },
    });
    const total = ledgerTrades(bench.exchange).reduce((sum, trade) => sum + Number(trade.amount), 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(100_000);
    const reasons = bench.bodies('slice').map((body) => body.reason);
    expect(reasons).toContain('day_limit');
  });

  it('use nearly all of the quote limit when they always request quotes, and never exceed it', () => {
    const { retry } = aPolicy();
    const forMs = 10 * MINUTE_MS;
    const bench = ran(
      {
        strategies: Array.from({ length: 20 }, (_, i) =>
          aTwap(`s${i}`, { slices: 1, duration: 'PT1H', limit_price: '1' }),
        ),
        policy: { retry: { ...retry, requoteMs: 0 } },
        venue: { limits: { enforced: true } },
        observer: {
          quoted: (_pair, result) => {
            expect(result).toBe('quote');
          },
        },
      },
      forMs,
    );
    const arrivals = bench.sent.quotes;
    const perSecond = arrivals.length / (forMs / SECOND_MS);
    expect(perSecond / 10).toBeGreaterThan(0.97);
    const busiest = arrivals.map(
      ({ at }, i) => arrivals.slice(i, i + 11).filter((other) => other.at < at + 1_000).length,
    );
    expect(Math.max(...busiest)).toBeLessThanOrEqual(10);
    const attempts = [...bench.desk.state.slices.values()].map((slice) => slice.attempts);
    expect(attempts).toHaveLength(20);
    expect(Math.min(...attempts) / Math.max(...attempts)).toBeGreaterThan(0.95);
  });
});

describe('a slice that retries without a wait', () => {
  it('expires at its deadline although its attempt numbers run out before', () => {
    const { retry } = aPolicy();
    const bench = ran(
      {
        strategies: [aTwap('twap', { slices: 1, duration: 'PT2H', limit_price: '1' })],
        quoteLatencyMs: 0,
        policy: { retry: { ...retry, requoteMs: 0 } },
        venue: { limits: { enforced: false } },
      },
      3 * 60 * MINUTE_MS,
    );
    expect(bench.seen.error).toBeUndefined();
    const ends = bench.bodies('slice');
    expect(ends).toMatchObject([{ result: 'expired', reason: 'retry_budget' }]);
    // A hundred thousand attempts: many seconds on a busy machine.
  }, 120_000);
});

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
