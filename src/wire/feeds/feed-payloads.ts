import { z } from 'zod';
import { walletFields } from '../account.ts';
import { wireId, wireIso, wireMoney, wirePrice, wireQuantity } from '../message.ts';
import { metricsFields } from '../pts.ts';

/**
 * Payloads of the WebSocket feeds. The specification shows none; all shapes come from the venue's public documentation
 * and its samples. Every amount may be a number or a string.
 */

/**
 * Accepts numbers in lists, which have no field name and are therefore parsed as floats. Their shortest text is exact up to 15
 * digits.
 */
const bare = <Out>(schema: z.ZodType<Out, string>) =>
  z.union([z.string(), z.number().transform(String)]).pipe(schema);

/** Accepts a list or a single element, because some payloads appear as both. */
const listOf = <Row extends z.ZodType>(row: Row) => z.union([z.array(row).max(5_000), row]);

const sideWord = z
  .string()
  .transform((value) => value.toLowerCase())
  .pipe(z.enum(['buy', 'sell']));

/** `ticker.sfox.<pair>`: the last trade on any exchange, and the day since 00:00 GMT, about every 3 s. */
export const tickerSchema = z.object({
  amount: wireQuantity.nullish().describe('quantity of the last trade, base currency'),
  exchange: z.string().nullish().describe('where the last trade took place'),
  high: wirePrice.nullish(),
  last: wirePrice,
  low: wirePrice.nullish(),
  open: wirePrice.nullish(),
  pair: z.string().nullish().describe('may differ from the pair of the feed; use the pair of the feed'),
  route: z.string().nullish(),
  source: z.string().nullish(),
  timestamp: z.string().nullish().describe('time of the last trade, ISO 8601'),
  volume: wireQuantity.nullish().describe('traded today, base currency'),
  vwap: wirePrice.nullish(),
});
export type FeedTicker = z.output<typeof tickerSchema>;

/** `trades.sfox.<pair>`: trades of the whole market. `timestamp` and `timeStamp` are two keys. */
export const marketTradeSchema = z.object({
  id: wireId,
  quantity: wireQuantity.describe('base currency; text'),
  price: wirePrice.describe('text'),
  exchange: z.string().nullish(),
  side: sideWord,
  pair: z.string().nullish(),
  timestamp: z.string().nullish().describe('ISO 8601 with nanoseconds and Z'),
  timeStamp: z.string().nullish().describe('ISO 8601 with milliseconds, without zone: UTC'),
  buyOrderId: z.string().nullish(),
  sellOrderId: z.string().nullish(),
  exchange_id: z.unknown().optional(),
  pair_id: z.unknown().optional(),
  is_decimal: z.unknown().optional(),
});
/** Price, base quantity, and the venue's name of the market, of each level. */
const levels = z.array(z.tuple([bare(wirePrice), bare(wireQuantity), z.string()])).max(5_000);

/** `orderbook.sfox.<pair>`, and `orderbook.net.<pair>` after fees: the whole book each time. */
export const bookSchema = z.object({
  bids: levels.describe('best first'),
  asks: levels.describe('best first'),
  market_making: z.object({ bids: levels, asks: levels }).nullish().describe('best last'),
  pair: z.string().nullish(),
  currency: z.string().nullish(),
  lastupdated: z.number().nullish().describe('Unix ms'),
  lastpublished: z.number().nullish().describe('Unix ms'),
  timestamps: z.unknown().optional(),
});
export type FeedBook = z.output<typeof bookSchema>;

/** `private.user.balances`: amounts are strings. Another variant reports one web3 address, without `available`. */
export const feedBalancesSchema = listOf(
  z.object({
    currency: z.string().nullish(),
    network: z.string().nullish(),
    balance: wireQuantity,
    available: wireQuantity.nullish(),
    address: z.string().nullish(),
    type: z.string().nullish(),
    ...walletFields,
  }),
);

/** `private.user.open-orders`: all open orders first, then every change. Amounts are strings, unlike in orders over REST. */
export const feedOrdersSchema = listOf(
  z.object({
    id: wireId,
    algorithm_id: z.unknown().optional(),
    client_order_id: z.string().nullish(),
    status: z.string(),
    pair: z.string(),
    action: sideWord.describe('Buy or Sell'),
    type: z.string().nullish(),
    date_added: z.string().nullish(),
    filled: wireQuantity.nullish(),
    filled_amount: wireMoney.nullish(),
    vwap: wirePrice.nullish(),
    price: wirePrice.nullish(),
    quantity: wireQuantity.nullish(),
    fees: wireMoney.nullish(),
  }),
);

/** `private.user.trades`: like `GET /v1/account/trades`, without the cursor. Amounts are strings. */
export const feedFillsSchema = listOf(
  z.object({
    trade_id: wireId,
    order_id: wireId,
    date_updated: wireIso,
    action: sideWord.describe('Buy or Sell'),
    currency_pair: z.string(),
    quantity: wireQuantity,
    amount: wireMoney,
    price: wirePrice,
    fees: wireMoney.nullish(),
    net_amount: wireMoney.nullish(),
  }),
);

/** `private.user.post-trade-settlement`: a snapshot, then an update at each transaction. Amounts are strings, in USD. */
export const settlementSchema = metricsFields.extend({ enabled: z.boolean() });
