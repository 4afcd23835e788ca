import { z } from 'zod';
import type { Price, Quantity, Ratio, Money } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import {
  eitherPrice,
  eitherQuantity,
  numberOf,
  wireMoney,
  wirePrice,
  wireQuantity,
  wireRatio,
} from './message.ts';
import { CANDLES_MAX } from './constants.ts';

/** Market data over REST, and fees. Source: public documentation, not the specification. */

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

const level = z.tuple([
  wirePrice.describe('quote per base'),
  wireQuantity.describe('base currency; a sample shows a string with an exponent'),
  z.string(),
]);
const levels = z.array(level).max(10_000);
const stamp = z.union([z.int(), z.string().regex(/^\d{1,16}$/u)]).transform(Number);

/** `GET /v1/markets/orderbook/:pair`, read by `readNumbersAsText` because the levels are numbers without field names. */
export const orderBookSchema = z.object({
  bids: levels.describe('best first'),
  asks: levels.describe('best first'),
  market_making: z
    .object({ bids: levels, asks: levels })
    .optional()
    .describe('best level of each market, best last'),
  timestamps: z.record(z.string(), z.array(stamp)).optional().describe('by market: two times, Unix ms'),
  lastupdated: stamp.describe('Unix ms'),
  lastpublished: stamp.describe('Unix ms'),
  pair: z.string(),
  currency: z.string().optional(),
});

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

/** Seconds that a candle may span. */
export const candlePeriods = [60, 300, 900, 3_600, 21_600, 86_400] as const;
export type CandlePeriod = (typeof candlePeriods)[number];
export interface Candle {
  readonly pair: string;
  /** Unix seconds. */
  readonly startsAt: number;
  /** Seconds. */
  readonly period: number;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
  readonly vwap: Price;
  /** Base currency. */
  readonly volume: Quantity;
  readonly trades: number;
}

/** `GET /candlesticks` of the chart host. Prices are strings in one sample and numbers in another. */
export const candlesSchema = z
  .array(
    z
      .object({
        open_price: eitherPrice,
        high_price: eitherPrice,
        low_price: eitherPrice,
        close_price: eitherPrice,
        volume: eitherQuantity.describe('base currency'),
        vwap: eitherPrice,
        start_time: z.int().describe('Unix seconds'),
        pair: z.string(),
        candle_period: z.int().describe('seconds'),
        trades: z.int().nullish(),
      })
      .transform((row): Candle => ({
        pair: row.pair,
        startsAt: row.start_time,
        period: row.candle_period,
        open: row.open_price,
        high: row.high_price,
        low: row.low_price,
        close: row.close_price,
        vwap: row.vwap,
        volume: row.volume,
        trades: row.trades ?? 0,
      })),
  )
  .max(CANDLES_MAX);

/** Returns a candle. `as` chooses how prices are written, because sources disagree on whether they are strings or numbers. */
export function candleBody(candle: Candle, as: 'text' | 'number'): object {
  const figure = (each: Price | Quantity): object | string =>
    as === 'text' ? each.toFixed() : numberOf(each);
  return {
    open_price: figure(candle.open),
    high_price: figure(candle.high),
    low_price: figure(candle.low),
    close_price: figure(candle.close),
    volume: figure(candle.volume),
    vwap: figure(candle.vwap),
    start_time: candle.startsAt,
    pair: candle.pair,
    candle_period: candle.period,
    trades: candle.trades,
  };
}

/** Trading fees of the account. */
export interface FeeRates {
  /** Volume traded in the last 14 days, USD. */
  readonly volume: Money;
  /** Fractions: 0.001 is 10 basis points. */
  readonly maker: Ratio;
  readonly taker: Ratio;
  readonly takerSmart: Ratio;
}

/** `GET /v1/account/fee-rates`. */
export const feeRatesSchema = z
  .object({
    volume: wireMoney.describe('USD of the last 14 days'),
    makerRate: wireRatio.describe('a fraction: 0.001 is 10 basis points'),
    nprRate: wireRatio.describe('taker, routing NetPrice; a fraction'),
    nprOffRate: wireRatio.describe('taker, routing Smart; a fraction'),
  })
  .transform((body): FeeRates => ({
    volume: body.volume,
    maker: body.makerRate,
    taker: body.nprRate,
    takerSmart: body.nprOffRate,
  }));
export const feeRatesBody = (rates: FeeRates): object => ({
  volume: numberOf(rates.volume),
  makerRate: numberOf(rates.maker),
  nprRate: numberOf(rates.taker),
  nprOffRate: numberOf(rates.takerSmart),
});
