import { EMPTY, NEVER, Subject, interval, map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ReferencePrice } from '../../src/core/reference-price.ts';
import { price } from '../../src/core/money.ts';
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import type { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { inProcessMarket } from '../support/book-market.ts';
import { faultyVenue, NO_QUOTES } from './faulty-venue.ts';
import { aPolicy, aStrategy, aTwap, START, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { faultsOf, ledgerTrades } from './oracle.ts';

const probes = ({ sent }: Bench) => sent.quotes.filter(({ clientId }) => clientId === undefined);

const watching = aStrategy('r', 'rebalance', {
  target_weights: { btc: '0.5', eth: '0.25', usd: '0.25' },
  drift_threshold: '0.9',
});

describe('reference prices', () => {
  it('are requested when a slice needs one, and not in between', () => {
    const bench = started({ strategies: [aTwap('twap', { slices: 3, duration: 'PT30M' })] }, HOUR_MS);
    expect(faultsOf(bench)).toEqual([]);
    expect(probes(bench)).toHaveLength(6);
    const slots = new Set(probes(bench).map(({ at }) => Math.floor(at / (10 * MINUTE_MS))));
    expect(slots.size).toBe(3);
  });

  it('are shared by strategies that need the same one', () => {
    const strategies = Array.from({ length: 5 }, (_, i) => aTwap(`s${i}`, { slices: 1, duration: 'PT5M' }));
    const bench = started({ strategies }, 20 * SECOND_MS);
    expect(probes(bench).map(({ side }) => side)).toEqual(['buy', 'sell']);
    expect(ledgerTrades(bench.exchange)).toHaveLength(5);
  });

  it('are probed for watched pairs within their share of the quote limit', () => {
    const { reference } = aPolicy();
    const policy = { reference: { ...reference, intervalMs: 10 } };
    const bench = started({ strategies: [watching], policy }, 10 * MINUTE_MS);
    const perSecond = probes(bench).length / 600;
    expect(perSecond).toBeLessThanOrEqual(2);
    expect(perSecond).toBeGreaterThan(1.5);
  });

  it('are probed without a client id, so that a probe can never become an order', () => {
    const bench = started({ strategies: [watching] }, MINUTE_MS);
    expect(probes(bench).length).toBeGreaterThan(4);
    expect(probes(bench).every((request) => !('clientId' in request))).toBe(true);
  });

  it('stop every trade if they are unavailable', () => {
    const bench = started(
      {
        strategies: [aTwap('twap', { slices: 3, duration: 'PT3M' })],
        wrap: faultyVenue({
          quote: ({ clientId }) => (clientId === undefined ? NO_QUOTES : undefined),
        }),
      },
      10 * MINUTE_MS,
    );
    expect(ledgerTrades(bench.exchange)).toEqual([]);
    const ends = bench.bodies('slice');
    expect(ends).toHaveLength(3);
    expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set(['quotes_unavailable']));
  });

  it('come from the feed if there is one, without probes', () => {
    const bench = started(
      {
        strategies: [aTwap('twap', { slices: 3, duration: 'PT3M' }), watching],
        market: (exchange, clock) =>
          inProcessMarket(exchange, { clock, pairs: ['btcusd', 'ethusd'], everyMs: 1_000 }),
      },
      10 * MINUTE_MS,
    );
    expect(ledgerTrades(bench.exchange)).toHaveLength(3);
    expect(probes(bench)).toEqual([]);
  });

  it('become stale when the feed goes silent, and probes replace them', () => {
    const old = { pair: 'btcusd', mid: price('60000'), at: START, source: 'book' } as const;
    const strategies = [aTwap('twap', { slices: 2, duration: 'PT10M', start_time: '2026-01-05T00:05:00Z' })];
    const bench = started({ strategies, market: () => ({ prices$: of(old) }) }, 20 * MINUTE_MS);
    expect(probes(bench).length).toBeGreaterThan(0);
    expect(faultsOf(bench)).toEqual([]);
  });

  it.each([
    ['are compared if two sources report at the same time', 100, true],
    ['are not compared if they are from different instants, because the market may have moved', 5_000, false],
  ])('%s', (_, laterMs, isCompared) => {
    const feed = new Subject<ReferencePrice>();
    const bench = started({ strategies: [], market: () => ({ prices$: feed }) });
    const ready = bench.desk.references.ready(['btcusd']).subscribe();
    let at = START;
    while (bench.desk.references.get('btcusd') === undefined)
      bench.clock.run(instant((at = instant(at + 10))));
    ready.unsubscribe();
    bench.clock.run(instant(at + laterMs));
    feed.next({ pair: 'btcusd', mid: price('61000'), at: instant(at + laterMs), source: 'book' });
    expect(bench.desk.references.gapBps('btcusd')?.gt(100) ?? false).toBe(isCompared);
  });

  it('become stale when the order book no longer changes, although the feed repeats it', () => {
    const frozen = { pair: 'btcusd', mid: price('60000'), at: START, source: 'book' } as const;
    const market = (_: unknown, clock: VirtualClock) => ({
      prices$: interval(SECOND_MS, clock).pipe(map(() => frozen)),
    });
    const bench = started({ strategies: [], market }, 20 * SECOND_MS);
    expect(bench.desk.references.get('btcusd')).toMatchObject({ source: 'book' });
    bench.until(31 * SECOND_MS);
    expect(bench.desk.references.get('btcusd')).toBeUndefined();
  });

  it('are mids: the last trade does not replace one, and without one it counts only after a probe has failed', () => {
    const feed = new Subject<ReferencePrice>();
    const bench = started({
      strategies: [],
      market: () => ({ prices$: feed }),
      wrap: (venue) => ({ ...venue, quote: () => NEVER }),
    });
    const say = (source: 'book' | 'ticker', mid: string): void =>
      feed.next({ pair: 'btcusd', mid: price(mid), at: instant(bench.clock.now()), source });
    const known = (): unknown => bench.desk.references.get('btcusd')?.source;
    let readyAt: number | undefined;
    say('ticker', '61000');
    bench.desk.references.ready(['btcusd']).subscribe(() => (readyAt = bench.clock.now() - START));
    expect([known(), readyAt, bench.desk.references.hasAll(['btcusd'])]).toEqual([
      'ticker',
      undefined,
      false,
    ]);
    bench.until(MINUTE_MS);
    expect([known(), readyAt]).toEqual([undefined, aPolicy().reference.waitMs]);
    say('book', '60000');
    say('ticker', '61000');
    expect([known(), bench.desk.references.hasAll(['btcusd'])]).toEqual(['book', true]);
  });

  it('may be the last trade for twice the age of a mid, by the time of that trade', () => {
    const feed = new Subject<ReferencePrice>();
    const bench = started({ strategies: [], market: () => ({ prices$: feed }) });
    const repeat = (): void =>
      feed.next({ pair: 'btcusd', mid: price('61000'), at: START, source: 'ticker' });
    bench.until(60 * SECOND_MS);
    repeat();
    expect(bench.desk.references.get('btcusd')).toBeDefined();
    bench.until(61 * SECOND_MS);
    repeat();
    expect(bench.desk.references.get('btcusd')).toBeUndefined();
  });

  it('age by the monotonic clock, so that setting the wall clock back does not refresh them', () => {
    const bench = started({ strategies: [] }, SECOND_MS);
    const ready = bench.desk.references.ready(['btcusd']).subscribe();
    bench.until(2 * SECOND_MS);
    ready.unsubscribe();
    expect(bench.desk.references.get('btcusd')).toBeDefined();
    bench.until(5 * MINUTE_MS);
    const wall = bench.clock.wall.bind(bench.clock);
    bench.clock.wall = () => instant(wall() - HOUR_MS);
    expect(bench.desk.references.get('btcusd')).toBeUndefined();
  });

  it('are waited for only for a limited time', () => {
    const bench = started(
      {
        strategies: [],
        wrap: (venue) => ({ ...venue, quote: () => NEVER }),
        market: () => ({ prices$: EMPTY }),
      },
      SECOND_MS,
    );
    let ended: number | undefined;
    bench.desk.references.ready(['btcusd']).subscribe(() => (ended = bench.clock.now() - START));
    bench.until(MINUTE_MS);
    expect(ended).toBe(SECOND_MS + aPolicy().reference.waitMs);
  });
});
