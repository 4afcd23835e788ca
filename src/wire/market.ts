import type { Price, Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import { numberOf } from './message.ts';

/** The order book. Source: public documentation, not the specification. */

/** A level of a book: price, volume in base currency, market. */
export type BookLevel = readonly [price: Price, volume: Quantity, place: string];
export interface OrderBook {
  readonly pair: string;
  readonly currency: string;
  /** Best first. */
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
  readonly at: Instant;
}

const levelBody = ([price, volume, place]: BookLevel): object => [numberOf(price), numberOf(volume), place];
export function orderBookBody(book: OrderBook): object {
  const at = Math.floor(book.at);
  const best = (side: readonly BookLevel[]): readonly object[] => side.slice(0, 1).map(levelBody);
  const places = new Set([...book.bids, ...book.asks].map(([, , place]) => place));
  return {
    bids: book.bids.map(levelBody),
    asks: book.asks.map(levelBody),
    market_making: { bids: best(book.bids), asks: best(book.asks) },
    timestamps: Object.fromEntries([...places].map((place) => [place, [at, at]])),
    lastupdated: at,
    lastpublished: at,
    pair: book.pair,
    currency: book.currency,
  };
}
