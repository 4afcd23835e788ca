import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { doubtFacts } from '../../src/engine/account/doubt-alerts.ts';
import { faultyVenue } from './faulty-venue.ts';
import { START, aBench, aTwap } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';

interface Raised {
  readonly atMs: number;
  readonly alert: string;
  readonly facts: Readonly<Record<string, unknown>> | undefined;
}

const down = new VenueError({ code: 'unavailable', applied: 'no', attempt: 'transactions', status: 503 });

/** A desk whose first order is never answered, and the alerts about doubts that it raised. */
function aWatched(
  over: Partial<BenchOptions> = {},
  seen: (rows: readonly Transaction[]) => readonly Transaction[] | VenueError = () => down,
): { readonly bench: Bench; readonly raised: readonly Raised[] } {
  const raised: Raised[] = [];
  let orders = 0;
  const bench: Bench = aBench({
    strategies: [aTwap('t', { slices: 1, duration: 'PT60M' })],
    wrap: faultyVenue({
      order: () => (++orders === 1 ? 'request lost' : undefined),
      transactions: (rows) => (orders === 0 && over.journal === undefined ? rows : seen(rows)),
    }),
    observer: {
      alert: (alert, facts) => {
        if (alert.startsWith('doubt_')) raised.push({ atMs: bench.clock.now() - START, alert, facts });
      },
    },
    ...over,
  });
  bench.start({ isUntilDone: true });
  return { bench, raised };
}
/** When the doubt began: the order went unanswered for eight seconds. */
const openedAt = (raised: readonly Raised[]): number =>
  raised.find(({ alert }) => alert === 'doubt_open')?.atMs ?? NaN;
const ages = (raised: readonly Raised[], from: number): readonly unknown[] =>
  raised.filter(({ alert }) => alert !== 'doubt_open').map(({ alert, atMs }) => [alert, atMs - from]);

describe('alerts about a doubt', () => {
  it('are raised once each when it is one minute and five minutes old', () => {
    const { bench, raised } = aWatched();
    bench.until(30 * MINUTE_MS);
    expect(ages(raised, openedAt(raised))).toEqual([
      ['doubt_60s', 60 * SECOND_MS],
      ['doubt_5min', 5 * MINUTE_MS],
    ]);
  });

  it('stop once the doubt has ended', () => {
    const { bench, raised } = aWatched({}, (rows) => rows);
    bench.until(30 * MINUTE_MS);
    expect(bench.desk.state.doubts).toEqual([]);
    expect(raised.map(({ alert }) => alert)).toEqual(['doubt_open']);
  });

  it('contain the order, its worst case and the earliest time at which the account can prove the outcome', () => {
    const { bench, raised } = aWatched();
    bench.until(15 * SECOND_MS);
    const [open] = bench.desk.state.doubts;
    const early = open === undefined ? undefined : doubtFacts(bench.desk, open);
    bench.until(2 * MINUTE_MS);
    const first = raised.find(({ alert }) => alert === 'doubt_60s');
    expect(first?.facts).toMatchObject({
      pair: 'btcusd',
      side: 'buy',
      why: 'outcome_unknown',
      client_order_id: open?.intent.client_order_id,
      notional: `${open?.intent.notional_usd ?? ''} usd`,
      earliest_answer_at: expect.any(String) as string,
    });
    // Ten seconds of life, ten to be booked, and a second read ten seconds after the first.
    const sentAt = openedAt(raised) - 8 * SECOND_MS;
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
    const { bench, raised } = aWatched();
    bench.until(90 * SECOND_MS);
    expect(raised.map(({ alert }) => alert)).toEqual(['doubt_open', 'doubt_60s']);
    end(bench);
    bench.until(3 * MINUTE_MS);
    bench.kill();
    const next = aWatched({ journal: bench.journal, clock: bench.clock, exchange: bench.exchange });
    next.bench.until(20 * MINUTE_MS);
    expect(next.raised.map(({ alert }) => alert)).toEqual(expected);
    expect(next.raised.at(-1)?.atMs).toBe(openedAt(raised) + 5 * MINUTE_MS);
  });
});
