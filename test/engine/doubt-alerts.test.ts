import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { doubtFacts } from '../../src/engine/account/doubt-alerts.ts';
import { faultyVenue, DOWN, faultAt } from './faulty-venue.ts';
import { START, aTwap, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions, Raised } from './harness.ts';

const options = { strategies: [aTwap('t', { slices: 1, duration: 'PT60M' })] };

/** A desk whose first order is never answered, and the alerts about doubts that it raised. */
function aWatched(over: Partial<BenchOptions> = {}, seen: Parameters<typeof faultAt>[2] = () => DOWN): Bench {
  return started({ ...options, wrap: faultAt('request lost', 1, seen), ...over }, 0, { isUntilDone: true });
}
const doubtsOf = (bench: Bench): readonly Raised[] =>
  bench.raised.filter(({ id }) => id.startsWith('doubt_'));
/** When the doubt began: the order went unanswered for eight seconds. */
const openedAt = (bench: Bench): number => doubtsOf(bench).find(({ id }) => id === 'doubt_open')?.at ?? NaN;
const ages = (bench: Bench): readonly unknown[] =>
  doubtsOf(bench)
    .filter(({ id }) => id !== 'doubt_open')
    .map(({ id, at }) => [id, at - openedAt(bench)]);

describe('alerts about a doubt', () => {
  it('are raised once each when it is one minute and five minutes old', () => {
    const bench = aWatched();
    bench.until(30 * MINUTE_MS);
    expect(ages(bench)).toEqual([
      ['doubt_60s', 60 * SECOND_MS],
      ['doubt_5min', 5 * MINUTE_MS],
    ]);
  });

  it('stop once the doubt has ended', () => {
    const bench = aWatched({}, (rows) => rows);
    bench.until(30 * MINUTE_MS);
    expect(bench.desk.state.doubts).toEqual([]);
    expect(doubtsOf(bench).map(({ id }) => id)).toEqual(['doubt_open']);
  });

  it('contain the order, its worst case and the earliest time at which the account can prove the outcome', () => {
    const bench = aWatched();
    bench.until(15 * SECOND_MS);
    const [open] = bench.desk.state.doubts;
    const early = open === undefined ? undefined : doubtFacts(bench.desk, open);
    bench.until(2 * MINUTE_MS);
    const first = bench.raised.find(({ id }) => id === 'doubt_60s');
    expect(first?.facts).toMatchObject({
      pair: 'btcusd',
      side: 'buy',
      why: 'outcome_unknown',
      client_order_id: open?.intent.client_order_id,
      notional: `${open?.intent.notional_usd ?? ''} usd`,
      earliest_answer_at: expect.any(String) as string,
    });
    // Ten seconds of life, ten to be booked, and a second read ten seconds after the first.
    const sentAt = openedAt(bench) - 8 * SECOND_MS;
    const earliest = Date.parse(early?.earliest_answer_at ?? '') - START;
    expect(Math.abs(earliest - sentAt - 30 * SECOND_MS)).toBeLessThanOrEqual(20);
  });

  it.each<readonly [string, (bench: Bench) => void, readonly string[]]>([
    [
      'that stopped cleanly, with new alerts only',
      (bench) => {
        bench.operator$.next({ do: 'drain', why: 'SIGTERM' });
      },
      ['doubt_5min'],
    ],
    [
      // Its last record is older than its alerts: a repeated alert is better than a lost one.
      'that died, and repeat those that nobody may have read',
      (bench) => {
        bench.kill();
      },
      ['doubt_60s', 'doubt_5min'],
    ],
  ])('continue in the process after one %s', (_, end, expected) => {
    const bench = aWatched();
    bench.until(90 * SECOND_MS);
    expect(doubtsOf(bench).map(({ id }) => id)).toEqual(['doubt_open', 'doubt_60s']);
    end(bench);
    bench.until(3 * MINUTE_MS);
    const wrap = faultyVenue({ transactions: () => DOWN });
    const next = nextProcess(bench, 0, { ...options, wrap }, { isUntilDone: true });
    next.until(20 * MINUTE_MS);
    expect(doubtsOf(next).map(({ id }) => id)).toEqual(expected);
    expect(doubtsOf(next).at(-1)?.at).toBe(openedAt(bench) + 5 * MINUTE_MS);
  });
});
