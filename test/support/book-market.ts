import { concatMap, from, interval, startWith } from 'rxjs';
import { middle } from '../../src/core/money.ts';
import type { ReferencePrice } from '../../src/core/reference-price.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Clock, MarketPort } from '../../src/engine/ports.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { orderBook } from '../../src/simulator/market/order-book.ts';

/** The mid of the exchange's order book; `undefined` without a book. */
export function bookPrice(exchange: Exchange, pair: string, at: Instant): ReferencePrice | undefined {
  const book = orderBook(exchange.market, pair, at);
  const [bid, ask] = book.ok ? [book.value.bids[0], book.value.asks[0]] : [];
  return bid && ask && { pair, mid: middle(bid[0], ask[0]), at, source: 'book' };
}

/** The exact mid price of the exchange, as a backtest knows it. */
export const exactPrice = (exchange: Exchange, pair: string, at: Instant): ReferencePrice => ({
  pair,
  mid: exchange.market.mid(pair, at),
  at,
  source: 'tape',
});

/** Mid prices of the exchange, immediately and then every `everyMs`. */
export function inProcessMarket(
  exchange: Exchange,
  {
    clock,
    pairs,
    everyMs,
    priceOf = bookPrice,
  }: {
    readonly clock: Clock;
    readonly pairs: readonly string[];
    readonly everyMs: number;
    readonly priceOf?: typeof bookPrice;
  },
): MarketPort {
  const look = (): readonly ReferencePrice[] => {
    const at = clock.wall();
    return pairs.flatMap((pair) => priceOf(exchange, pair, at) ?? []);
  };
  return {
    prices$: interval(everyMs, clock.scheduler).pipe(
      startWith(undefined),
      concatMap(() => from(look())),
    ),
  };
}
