import { lastValueFrom, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { instant } from '../../src/core/time.ts';
import type { OrderAnswer, QuoteAnswer } from '../../src/core/venue.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { inProcessVenue } from '../../src/simulator/port.ts';
import { inProcessMarket } from '../support/book-market.ts';
import type { PortOptions } from '../../src/simulator/port.ts';
import { aRequest, DESK, later, START, still } from './world.ts';
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
