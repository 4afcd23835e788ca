import { mergeMap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError, invariant } from '../../src/core/errors.ts';
import { price, quantity, ratio, text } from '../../src/core/money.ts';
import { instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { OrderRequest } from '../../src/core/venue.ts';
import { riskContextOf } from '../../src/engine/market/risk-context.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { allOrderFaults, faultyVenue, orderFaults } from './faulty-venue.ts';
import type { OrderFault } from './faulty-venue.ts';
import { aBench, aPolicy, aTwap, START, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, intentsInDoubt, ledgerTrades } from './oracle.ts';

/** Five minutes a slice: any doubt is proven within one. */
const slow = aTwap('twap', { slices: 3, duration: 'PT15M' });

const unavailable = new VenueError({
  code: 'unavailable',
  applied: 'no',
  attempt: 'transactions',
  status: 503,
});

/** The fault happens to the `nth` order, counted from 1. */
const once = (fault: OrderFault, nth = 2): ((request: OrderRequest) => OrderFault | undefined) => {
  let orders = 0;
  return () => (++orders === nth ? fault : undefined);
};

function ran(options: Partial<BenchOptions>, minutes = 30): Bench {
  return started({ strategies: [slow], ...options }, minutes * MINUTE_MS);
}

describe('an order with a lost or faulty answer', () => {
  it.each(allOrderFaults)('executes once and is booked, or is tried again: %s', (fault) => {
    const bench = ran({ wrap: faultyVenue({ order: once(fault) }) });
    expect(faultsOf(bench)).toEqual([]);
    expect(intentsInDoubt(bench.records())).toEqual([]);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    const slices = bench.records().filter(({ body }) => body.kind === 'slice');
    expect(slices).toHaveLength(3);
  });

  const doubtful = allOrderFaults.filter((fault) => fault !== 'certainly unsent');
  it.each(doubtful)('is a doubt until the account proves its outcome: %s', (fault) => {
    const bench = ran({ wrap: faultyVenue({ order: once(fault) }) });
    const bodies = bench.records().map(({ body, at }) => ({ body, at }));
    const doubt = bodies.find(({ body }) => body.kind === 'attempt' && body.result === 'doubt');
    expect(doubt).toBeDefined();
    const id = doubt?.body.kind === 'attempt' ? doubt.body.client_order_id : '';
    const end = bodies.find(
      ({ body }) => body.kind === 'attempt' && body.client_order_id === id && body.result !== 'doubt',
    );
    const results = orderFaults[fault] === 'executes' ? ['filled'] : ['absent', 'rejected'];
    expect(results).toContain(end?.body.kind === 'attempt' ? end.body.result : '');
    const fill = bodies.find(({ body }) => body.kind === 'fill' && body.client_order_id === id)?.body;
    expect(fill?.kind === 'fill' ? fill.source : 'none').toBe(
      orderFaults[fault] === 'executes' ? 'transactions' : 'none',
    );
  });

  it('is not proven absent before the quote has expired and the booking margin has passed', () => {
    const bench = ran({ wrap: faultyVenue({ order: once('request lost') }) });
    const at = (kind: string, result: string): number =>
      bench.records().find(({ body }) => body.kind === kind && 'result' in body && body.result === result)
        ?.at ?? 0;
    const { inDoubt, orderTimeoutMs } = aPolicy();
    // A quote lives for 10 s from its arrival; the doubt began when the order had gone unanswered.
    const sentAt = at('attempt', 'doubt') - orderTimeoutMs;
    const earliest = sentAt + 10 * SECOND_MS + inDoubt.bookingMarginMs + 10 * SECOND_MS;
    expect(at('attempt', 'absent')).toBeGreaterThanOrEqual(earliest);
    expect(at('attempt', 'absent')).toBeLessThan(earliest + 2 * inDoubt.pollMs + SECOND_MS);
  });

  it('is final after one clean read at the end of its quote and the margin if the venue canceled it', () => {
    let left = 1;
    const venue = { cancelProbability: 1 };
    const bench = started({ strategies: [aTwap('twap', { slices: 1, duration: 'PT3M' })], venue });
    while (left-- > 0) bench.until(25 * SECOND_MS);
    const ends = bench
      .records()
      .flatMap(({ at, body }) => (body.kind === 'attempt' ? [{ at: at - START, body }] : []));
    expect(ends[0]?.body).toMatchObject({ result: 'doubt', reason: 'order_canceled' });
    expect(ends[1]?.body).toMatchObject({ result: 'rejected', reason: 'order_canceled' });
    const waited = (ends[1]?.at ?? 0) - (ends[0]?.at ?? 0);
    // The quote lives for 10 s; the order left, and was answered, a moment after it arrived.
    expect(waited).toBeGreaterThanOrEqual(19.9 * SECOND_MS);
    expect(waited).toBeLessThan(20.5 * SECOND_MS);
  });

  it('is looked for again ten seconds after a failed read has ended', () => {
    const begun: number[] = [];
    const order = once('request lost', 1);
    let isLost = false;
    started(
      {
        strategies: [slow],
        wrap: (venue, clock) => {
          const faulty = faultyVenue({
            order: (request) => {
              isLost = true;
              return order(request);
            },
          })(venue, clock);
          return {
            ...faulty,
            transactions: (query) => {
              if (!isLost) return faulty.transactions(query);
              begun.push(clock.monotonic());
              // The venue thinks for four seconds before it says that it cannot answer.
              return begun.length > 2
                ? faulty.transactions(query)
                : timer(4 * SECOND_MS, clock).pipe(mergeMap(() => throwError(() => unavailable)));
            },
          };
        },
      },
      2 * MINUTE_MS,
    );
    const gaps = begun.slice(1, 4).map((at, n) => Math.round((at - (begun[n] ?? 0)) / SECOND_MS));
    expect(gaps).toEqual([14, 14, 10]);
  });

  it('stays in doubt as long as the account cannot be read', () => {
    let isDown = false;
    const order = once('request lost', 1);
    const bench = started(
      {
        strategies: [slow],
        wrap: faultyVenue({
          order: (request) => {
            isDown = true;
            return order(request);
          },
          transactions: (rows) => (isDown ? unavailable : rows),
        }),
      },
      60 * MINUTE_MS,
    );
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(bench.desk.state.slices.size).toBe(1);
    isDown = false;
    bench.until(62 * MINUTE_MS);
    expect(bench.desk.state.doubts).toHaveLength(0);
    expect(ledgerTrades(bench.exchange)).toEqual([]);
  });

  it('stays in doubt until the account shows both rows of its trade', () => {
    let isHalf = true;
    const bench = started(
      {
        strategies: [slow],
        wrap: faultyVenue({
          order: once('answer lost', 1),
          transactions: (rows) =>
            isHalf ? rows.filter((row) => row.clientId === undefined || row.currency === 'btc') : rows,
        }),
      },
      4 * MINUTE_MS,
    );
    expect(bench.desk.state.doubts).toHaveLength(1);
    expect(bench.desk.state.fills).toBe(0);
    isHalf = false;
    bench.until(30 * MINUTE_MS);
    expect(faultsOf(bench)).toEqual([]);
  });
});

describe('a doubt', () => {
  it('counts in the limits at its worst case, reserves its funds and blocks its pair', () => {
    const bench = ran({ wrap: faultyVenue({ order: once('request lost', 1) }) }, 0.4);
    const [open] = bench.desk.state.doubts;
    expect(open).toBeDefined();
    const [slice] = bench.desk.state.slices.values();
    invariant(slice !== undefined, 'the slice waits');
    const size = { by: 'quantity', quantity: quantity('1') } as const;
    const world = riskContextOf(bench.desk, {
      slice,
      size,
      quantity: size.quantity,
      price: price('1'),
      amount: size.quantity,
    });
    expect(world).toMatchObject({ openDoubts: 1, pairDoubts: 1 });
    expect(text(world.pairDayNotional)).toBe(open?.intent.notional_usd);
    expect(text(world.doubtNotional)).toBe(open?.intent.notional_usd);
    expect(text(world.dayNotional)).toBe(open?.intent.notional_usd);
    const held = bench.desk.state.balances?.get('usd') ?? quantity('0');
    const atWorst = quantity(open?.intent.size ?? '0').times(ratio(open?.intent.worst_price ?? '0'));
    expect(bench.desk.state.available('usd')?.toFixed()).toBe(held.minus(atWorst).toFixed());
  });

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

describe('a desk with random faults and three crashes', () => {
  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'executes nothing twice, loses no fill and ends every doubt, seed %i',
    (seed) => {
      const random = seededRandom(`faults ${seed}`);
      const draw = (): OrderFault | undefined =>
        random.next() < 0.5 ? allOrderFaults[Math.floor(random.next() * allOrderFaults.length)] : undefined;
      const options: BenchOptions = {
        strategies: [
          aTwap('a', { slices: 4, duration: 'PT20M' }),
          aTwap('b', { slices: 3, duration: 'PT15M', side: 'sell' }),
        ],
        venue: { seed: String(seed), cancelProbability: 0.2, unavailableProbability: 0.2 },
        seed: String(seed),
        inFlight: random.next() < 0.5 ? 'arrives' : 'lost',
        wrap: faultyVenue({ order: draw }),
      };
      let bench = aBench(options);
      bench.start();
      const { clock, exchange, journal } = bench;
      for (let crash = 0; crash < 3; crash++) {
        clock.run(instant(clock.wall() + Math.floor(random.next() * 8 * MINUTE_MS)));
        bench.kill();
        clock.run(instant(clock.wall() + Math.floor(random.next() * 20 * SECOND_MS)));
        bench = aBench({ ...options, clock, exchange, journal });
        bench.start();
      }
      clock.run(instant(START + 120 * MINUTE_MS));
      expect(faultsOf(bench)).toEqual([]);
      expect(intentsInDoubt(bench.records())).toEqual([]);
    },
  );
});
