import { mergeMap, throwError, timer, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { OrderRequest } from '../../src/core/venue.ts';
import { allOrderFaults, faultyVenue, orderFaults, DOWN, faultAt } from './faulty-venue.ts';
import type { OrderFault } from './faulty-venue.ts';
import { aPolicy, aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, intentsInDoubt, ledgerTrades } from './oracle.ts';

/** Five minutes a slice: any doubt is proven within one. */
const slow = aTwap('twap', { slices: 3, duration: 'PT15M' });

function ran(options: Partial<BenchOptions>, minutes = 30): Bench {
  return started({ strategies: [slow], ...options }, minutes * MINUTE_MS);
}

describe('an order with a lost or faulty answer', () => {
  it.each(allOrderFaults)('executes once and is booked, or is tried again: %s', (fault) => {
    const bench = ran({ wrap: faultAt(fault, 2) });
    expect(faultsOf(bench)).toEqual([]);
    expect(intentsInDoubt(bench.records())).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(bench.bodies('slice')).toHaveLength(3);
  });

  const doubtful = allOrderFaults.filter((fault) => fault !== 'certainly unsent');
  it.each(doubtful)('is a doubt until the account proves its outcome: %s', (fault) => {
    const bench = ran({ wrap: faultAt(fault, 2) });
    const id = bench.bodies('attempt').find(({ result }) => result === 'doubt')?.client_order_id;
    expect(id).toBeDefined();
    const isOurs = (body: { readonly client_order_id: string }): boolean => body.client_order_id === id;
    const end = bench.bodies('attempt').find((body) => isOurs(body) && body.result !== 'doubt');
    const isExecuted = orderFaults[fault] === 'executes';
    expect(isExecuted ? ['filled'] : ['absent', 'rejected']).toContain(end?.result);
    const source = bench.bodies('fill').find(isOurs)?.source;
    expect(source).toBe(isExecuted ? 'transactions' : undefined);
  });

  it('is not proven absent before the quote has expired and the booking margin has passed', () => {
    const bench = ran({ wrap: faultAt('request lost', 2) });
    const at = (result: string): number =>
      bench.timed('attempt').find((one) => one.result === result)?.at ?? 0;
    const { inDoubt, orderTimeoutMs } = aPolicy();
    // A quote lives for 10 s from its arrival; the doubt began when the order had gone unanswered.
    const sentAt = at('doubt') - orderTimeoutMs;
    const earliest = sentAt + 10 * SECOND_MS + inDoubt.bookingMarginMs + 10 * SECOND_MS;
    expect(at('absent')).toBeGreaterThanOrEqual(earliest);
    expect(at('absent')).toBeLessThan(earliest + 2 * inDoubt.pollMs + SECOND_MS);
  });

  it('is final after one clean read at the end of its quote and the margin if the venue canceled it', () => {
    const strategies = [aTwap('twap', { slices: 1, duration: 'PT3M' })];
    const ends = started({ strategies, venue: { cancelProbability: 1 } }, 25 * SECOND_MS).timed('attempt');
    expect(ends[0]).toMatchObject({ result: 'doubt', reason: 'order_canceled' });
    expect(ends[1]).toMatchObject({ result: 'rejected', reason: 'order_canceled' });
    const waited = (ends[1]?.at ?? 0) - (ends[0]?.at ?? 0);
    // The quote lives for 10 s; the order left, and was answered, a moment after it arrived.
    expect(waited).toBeGreaterThanOrEqual(19.9 * SECOND_MS);
    expect(waited).toBeLessThan(20.5 * SECOND_MS);
  });

  it('is looked for again ten seconds after a failed read has ended', () => {
    let isLost = false;
    let reads = 0;
    const bench = started(
      {
        strategies: [slow],
        wrap: (venue, clock) => ({
          ...venue,
          order: () => ((isLost = true), NEVER),
          // The venue thinks for four seconds before it says that it cannot answer.
          transactions: (query) =>
            isLost && reads++ < 2
              ? timer(4 * SECOND_MS, clock).pipe(mergeMap(() => throwError(() => DOWN)))
              : venue.transactions(query),
        }),
      },
      2 * MINUTE_MS,
    );
    const [order = { at: 0 }] = bench.sent.orders;
    const begun = bench.sent.reads.flatMap(({ at }) => (at > order.at ? [at] : []));
    const gaps = begun.slice(1, 4).map((at, n) => Math.round((at - (begun[n] ?? 0)) / SECOND_MS));
    expect(gaps).toEqual([14, 14, 10]);
  });

  it('stays in doubt as long as the account cannot be read', () => {
    let isDown = true;
    const wrap = faultAt('request lost', 1, (rows) => (isDown ? DOWN : rows));
    const bench = started({ strategies: [slow], wrap }, 60 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(bench.desk.state.slices.size).toBe(1);
    isDown = false;
    bench.until(62 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(0);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('stays in doubt until the account shows both rows of its trade', () => {
    let isHalf = true;
    const wrap = faultAt('answer lost', 1, (rows) =>
      isHalf ? rows.filter((row) => row.clientId === undefined || row.currency === 'btc') : rows,
    );
    const bench = started({ strategies: [slow], wrap }, 4 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(bench.desk.state.fills).toBe(0);
    isHalf = false;
    bench.until(30 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
  });
});

describe('a doubt', () => {
  it('lets another pair trade until the limit of open doubts is reached', () => {
    const strategies = [
      slow,
      aTwap('eth', { pair: 'ethusd', total_quantity: { amount: '9', currency: 'eth' } }),
    ];
    const order = (request: OrderRequest): OrderFault | undefined =>
      request.pair === 'btcusd' ? 'request lost' : undefined;
    const one = ran({ strategies, wrap: faultyVenue({ order }) }, 0.3);
    expect(one.desk.state.doubts).toHaveLength(1);
    expect(ledgerTrades(one.exchange).filter((trade) => trade.pair === 'ethusd').length).toBeGreaterThan(0);

    const { limits } = aPolicy();
    const two = ran(
      {
        strategies: [
          slow,
          aTwap('eth', {
            pair: 'ethusd',
            start_time: '2026-01-05T00:00:10Z',
            total_quantity: { amount: '9', currency: 'eth' },
          }),
        ],
        wrap: faultyVenue({ order }),
        policy: { limits: { ...limits, openDoubtsMax: 1 } },
      },
      0.3,
    );
    expect(two.desk.state.doubts).toHaveLength(1);
    expect(ledgerTrades(two.exchange)).toEqual([]);
  });
});
