import { lastValueFrom, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VenueError } from '../../src/core/errors.ts';
import { text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { OrderAnswer, QuoteAnswer } from '../../src/core/venue.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { inProcessMarket, inProcessVenue } from '../../src/simulator/port.ts';
import type { PortOptions } from '../../src/simulator/port.ts';
import { aRequest, DESK, later, quantityOf, START, still } from './world.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

function aPort(input: VenueInput = {}, options: Partial<PortOptions> = {}) {
  const clock = new VirtualClock(START);
  const exchange = new Exchange({ options: venueOptions({ ...still, ...input }), startedAt: clock.wall() });
  return { clock, exchange, venue: inProcessVenue(exchange, { clock, ...options }) };
}

/** The first value of a stream that emits synchronously. */
function now<T>(stream: Observable<T>): T {
  const got: T[] = [];
  const failed: unknown[] = [];
  stream
    .subscribe({ next: (value) => got.push(value), error: (error: unknown) => failed.push(error) })
    .unsubscribe();
  if (failed.length > 0) throw failed[0];
  if (got[0] === undefined) throw new Error('expected an answer in the same tick');
  return got[0];
}

const quoteIn = (answer: QuoteAnswer) => {
  if (answer.kind !== 'quote') throw new Error(`expected a quote, got ${answer.kind}`);
  return answer.quote;
};

const orderOf = (answer: QuoteAnswer, clientId = 'c-1') => {
  const { pair, side, quoteId, quantity } = quoteIn(answer);
  return { pair, side, quoteId, size: { by: 'quantity' as const, quantity }, clientId };
};

describe('the exchange as a venue port', () => {
  it('answers in the same tick without latency', () => {
    const { venue } = aPort();
    const quoted = now(toObservable(venue.quote(aRequest({ clientId: 'c-1' }))));
    const ordered = now(toObservable(venue.order(orderOf(quoted))));
    expect(ordered).toMatchObject({ kind: 'order', status: 201, order: { status: 'Done', clientId: 'c-1' } });
    expect(now(venue.transactions({ from: instant(0), limit: 1_000 }))).toHaveLength(5);
  });

  it('executes an order at the call without latency, and only at the subscription with latency', () => {
    const { venue, exchange } = aPort();
    const slow = aPort({}, { orderLatencyMs: 60 });
    slow.venue.order(orderOf(now(toObservable(slow.venue.quote(aRequest({ clientId: 'c-1' }))))));
    slow.clock.run(instant(slow.clock.wall() + 1_000));
    expect(slow.exchange.ledger.rows(DESK)).toHaveLength(3);
    venue.order(orderOf(now(toObservable(venue.quote(aRequest({ clientId: 'c-1' }))))));
    expect(exchange.ledger.rows(DESK)).toHaveLength(5);
  });

  it('answers after its latency, executes after half of it, and starts the quote life then', () => {
    const { venue, clock, exchange } = aPort({}, { quoteLatencyMs: 40, orderLatencyMs: 60 });
    const quotes: [number, QuoteAnswer][] = [];
    toObservable(venue.quote(aRequest({ clientId: 'c-1' }))).subscribe((answer) =>
      quotes.push([clock.wall() - START, answer]),
    );
    clock.run(later(1_000));
    const [[arrived, answer] = [0, { kind: 'lost', sent: false, why: 'no answer' } as QuoteAnswer]] = quotes;
    expect(arrived).toBe(40);
    expect(quoteIn(answer).quotedAt).toBe(later(20));

    const orders: [number, OrderAnswer['kind']][] = [];
    toObservable(venue.order(orderOf(answer))).subscribe(({ kind }) =>
      orders.push([clock.wall() - START, kind]),
    );
    clock.run(later(1_031));
    expect(exchange.ledger.rows(DESK)).toHaveLength(5);
    expect(orders).toEqual([]);
    clock.run(later(2_000));
    expect(orders).toEqual([[1_060, 'order']]);
  });

  it('returns refusals of quotes and orders as answers, not as errors', () => {
    const { venue } = aPort();
    expect(now(toObservable(venue.quote(aRequest({ pair: 'nope' }))))).toMatchObject({
      kind: 'error',
      status: 422,
    });
    const order = {
      pair: 'btcusd',
      side: 'buy' as const,
      quoteId: 'x',
      size: quantityOf('1'),
      clientId: 'c',
    };
    expect(now(toObservable(venue.order(order)))).toEqual({
      kind: 'error',
      status: 422,
      error: 'quote not found',
      retryAfterMs: undefined,
    });
  });

  it('enforces the rate limits of the venue', () => {
    const { venue, clock } = aPort();
    const statuses = Array.from({ length: 11 }, () => now(toObservable(venue.quote(aRequest()))).kind);
    expect(statuses.filter((kind) => kind === 'quote')).toHaveLength(10);
    expect(now(toObservable(venue.quote(aRequest())))).toMatchObject({
      kind: 'error',
      status: 429,
      retryAfterMs: 10_000,
    });
    clock.run(later(9_999));
    expect(now(toObservable(venue.quote(aRequest()))).kind).toBe('error');
    clock.run(later(10_000));
    expect(now(toObservable(venue.quote(aRequest()))).kind).toBe('quote');
  });

  it('reports a refused read as an error that states that nothing was applied', () => {
    const { venue } = aPort({ pts: { enabled: false } });
    const failure = (read: () => unknown): VenueError => {
      try {
        read();
      } catch (error) {
        if (error instanceof VenueError) return error;
      }
      throw new Error('expected a VenueError');
    };
    now(venue.transactions({ from: instant(0), limit: 1 }));
    const limited = failure(() => now(venue.transactions({ from: instant(0), limit: 1 })));
    expect(limited).toMatchObject({ code: 'rate_limited', applied: 'no', status: 429, retryAfterMs: 10_000 });
    expect(failure(() => now(venue.riskModes()))).toMatchObject({ code: 'unauthorised', status: 403 });
  });

  it('returns the risk modes in one spelling, and other account data as the exchange has it', () => {
    const { venue } = aPort({ pts: { modes: { btcusd: 'Reduce_Only', ethusd: 'Long-Only' } } });
    expect(now(venue.riskModes())).toEqual(
      new Map([
        ['btcusd', 'Reduce-Only'],
        ['ethusd', 'Long-Only'],
      ]),
    );
    expect(now(venue.fundingRates()).map(({ currency }) => currency)).toEqual(['usd', 'btc', 'eth']);
    expect(now(venue.currencies()).map(({ symbol, precision }) => [symbol, precision])).toEqual([
      ['usd', 2],
      ['btc', 8],
      ['eth', 8],
    ]);
    expect(now(venue.valuation(START)).map(({ usd }) => text(usd))).toEqual(['3700000']);
  });

  it('offers the optional capabilities, or none if so configured', () => {
    const { venue } = aPort();
    now(toObservable(venue.order(orderOf(now(toObservable(venue.quote(aRequest({ clientId: 'c-1' }))))))));
    expect(venue.lookup === undefined ? undefined : now(venue.lookup('c-1'))).toMatchObject({
      clientId: 'c-1',
      status: 'Done',
    });
    const unknown: unknown[] = [];
    venue.lookup?.('c-2').subscribe((order) => unknown.push(order));
    expect(unknown).toEqual([undefined]);
    expect(venue.pairs === undefined ? [] : now(venue.pairs()).map(({ pair }) => pair)).toEqual([
      'btcusd',
      'ethusd',
    ]);
    const bare = aPort({}, { capabilities: 'none' }).venue;
    expect([bare.lookup, bare.pairs, bare.balances]).toEqual([undefined, undefined, undefined]);
  });
});

describe('the exchange as a market port', () => {
  it('emits its prices at once and then at every interval', async () => {
    const { clock, exchange } = aPort();
    const seen: [string, number][] = [];
    const { prices$ } = inProcessMarket(exchange, { clock, pairs: ['btcusd', 'ethusd'], everyMs: 500 });
    const subscription = prices$.subscribe(({ pair, at }) => seen.push([pair, at - START]));
    clock.run(later(600));
    subscription.unsubscribe();
    expect(seen).toEqual([
      ['btcusd', 0],
      ['ethusd', 0],
      ['btcusd', 500],
      ['ethusd', 500],
    ]);
    expect(
      await lastValueFrom(inProcessVenue(exchange, { clock }).currencies().pipe(toArray())),
    ).toHaveLength(1);
  });
});
