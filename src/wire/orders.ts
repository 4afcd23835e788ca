import { z } from 'zod';
import { isoOf } from '../core/time.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { Order, Side } from '../core/venue.ts';
import {
  numberOf,
  textMoney,
  textPrice,
  textQuantity,
  wireId,
  wireIso,
  wirePrice,
  wireQuantity,
} from './message.ts';
import { orderSchemaWith } from './order.ts';
import type { limitAlgorithms } from './constants.ts';

/** Working orders, lists of orders, cancellations and the account's own trades. */

/** How long an order stays active. Source: public documentation, "Create order". */
export const timesInForce = ['GTC', 'IOC', 'FOK', 'GTD'] as const;
export type TimeInForce = (typeof timesInForce)[number];

/** Body of `POST /v1/orders/:side` without a quote: a limit order. Source: public documentation, not the specification. */
export const limitOrderSchema = z.object({
  currency_pair: z.string().min(2).max(32),
  algorithm_id: z.union([z.literal(200), z.literal(201)]).describe('200 Smart, 201 Limit'),
  quantity: wireQuantity.describe('base currency'),
  price: wirePrice.describe('quote currency per base; never filled worse'),
  client_order_id: z.string().max(128).optional().describe('rejected if used within the last 24 hours'),
  time_in_force: z.enum(timesInForce).default('GTC').describe('GTD needs expires; FOK only with 201'),
  expires: z.int().nonnegative().nullish().describe('Unix ms, with GTD'),
  routing_type: z.enum(['NetPrice', 'Smart']).optional(),
  routing_option: z.enum(['BestPrice', 'Fast', 'WeightedExchange']).optional(),
  destination: z.string().max(64).optional(),
});

/** A request for a limit order. */
export interface LimitOrder {
  readonly pair: string;
  readonly side: Side;
  readonly algorithm: keyof typeof limitAlgorithms;
  /** Base currency. */
  readonly quantity: Quantity;
  /** Quote currency per base. */
  readonly price: Price;
  readonly clientId?: string | undefined;
  readonly timeInForce: TimeInForce;
  /** With `GTD`. */
  readonly expiresAt?: Instant | undefined;
  readonly routingType?: string | undefined;
  readonly routingOption?: string | undefined;
  readonly destination?: string | undefined;
}

/** An order for display: the result of `orderSchema` and further fields in the venue's wording. */
export interface OrderView extends Order {
  /** Ordered base quantity; `undefined` if the venue omits it. */
  readonly quantity: Quantity | undefined;
  /** Limit, or price of the quote. */
  readonly price: Price | undefined;
  /** Signed quote amount after fees; negative for a buy. */
  readonly netProceeds: Money | undefined;
  readonly algorithm: string;
  readonly timeInForce: string;
  readonly updatedAt: string;
}

/** One order for display: `GET /v1/orders/:id` and the elements of both lists. */
export const orderViewSchema = orderSchemaWith((body): Omit<OrderView, keyof Order> => ({
  quantity: body.quantity,
  price: body.price,
  netProceeds: body.net_proceeds ?? undefined,
  algorithm: body.algorithm ?? '',
  timeInForce: body.time_in_force ?? '',
  updatedAt: body.dateupdated ?? '',
}));

/** `GET /v1/orders` and `GET /v1/orders/done`: newest first. Source: public documentation. */
export const ordersSchema = z.array(orderViewSchema).max(500);

/** Response of `DELETE /v1/orders/:order_id`, status 200. The status is in lower case. Spec: "Cancel one order". */
export const cancelOneStatuses = ['canceled', 'cancel pending', 'order already finished'] as const;
export type CancelOneStatus = (typeof cancelOneStatuses)[number];
export const cancelOneSchema = z.object({
  status: z.string().describe(`one of: ${cancelOneStatuses.join(', ')}`),
});

/** Response of `DELETE /v1/orders?ids=` and of `DELETE /v1/orders/open`. The status is capitalised. Spec: "Cancel several orders". */
export const cancelManyStatuses = ['Cancel pending', 'Canceled'] as const;
export type CancelManyStatus = (typeof cancelManyStatuses)[number];
export const cancelManySchema = z.object({
  orders: z.array(
    z.object({
      id: wireId,
      status: z.string().describe(`one of: ${cancelManyStatuses.join(', ')}`),
    }),
  ),
});
export interface CanceledOrder {
  readonly orderId: string;
  readonly status: CancelManyStatus;
}
export const cancelManyBody = (orders: readonly CanceledOrder[]): object => ({
  orders: orders.map(({ orderId, status }) => ({ id: Number(orderId), status })),
});

/** One fill of one of the account's own orders. */
export interface OwnTrade {
  readonly tradeId: string;
  readonly orderId: string;
  readonly at: Instant;
  readonly side: Side;
  readonly pair: string;
  /** Base currency. */
  readonly quantity: Quantity;
  /** Quote currency. */
  readonly amount: Money;
  readonly price: Price;
  /** Quote currency. */
  readonly fees: Money;
  /** Quote currency: the amount plus the fee for a buy, minus the fee for a sell. */
  readonly netAmount: Money;
}

const sideWord = z
  .string()
  .transform((value) => value.toLowerCase())
  .pipe(z.enum(['buy', 'sell']));

/** `GET /v1/account/trades`, newest first. Its amounts are strings, unlike in orders. Source: a sample in the public documentation. */
export const ownTradesSchema = z.object({
  data: z.array(
    z
      .object({
        cursor: z.string().describe('opaque; pass it back as last_seen_id'),
        trade_id: wireId,
        order_id: wireId,
        date_updated: wireIso,
        action: sideWord.describe('Buy or Sell'),
        currency_pair: z.string(),
        quantity: textQuantity.describe('base currency'),
        amount: textMoney.describe('quote currency'),
        price: textPrice,
        fees: textMoney.describe('quote currency'),
        net_amount: textMoney.describe('quote currency, after fees'),
      })
      .transform((row): OwnTrade & { readonly cursor: string } => ({
        cursor: row.cursor,
        tradeId: row.trade_id,
        orderId: row.order_id,
        at: row.date_updated,
        side: row.action,
        pair: row.currency_pair,
        quantity: row.quantity,
        amount: row.amount,
        price: row.price,
        fees: row.fees,
        netAmount: row.net_amount,
      })),
  ),
});

/** Returns an element of `GET /v1/account/trades` without its cursor, which the feed `private.user.trades` omits. */
export const ownTradeBody = (trade: OwnTrade): object => ({
  trade_id: Number(trade.tradeId),
  order_id: Number(trade.orderId),
  date_updated: isoOf(trade.at),
  action: trade.side === 'buy' ? 'Buy' : 'Sell',
  currency_pair: trade.pair,
  quantity: trade.quantity.toFixed(8),
  amount: trade.amount.toFixed(8),
  price: trade.price.toFixed(8),
  fees: trade.fees.toFixed(8),
  net_amount: trade.netAmount.toFixed(8),
});

/** Returns the cursor of a trade, opaque to clients. A sample shows base64 text. */
export const tradeCursor = (tradeId: string): string => btoa(`trade:${tradeId}`);
export function readTradeCursor(cursor: string): string | undefined {
  try {
    return /^trade:(?<id>\d{1,15})$/u.exec(atob(cursor))?.groups?.['id'];
  } catch {
    return undefined;
  }
}

export const ownTradesBody = (trades: readonly OwnTrade[]): object => ({
  data: trades.map((trade) => ({ cursor: tradeCursor(trade.tradeId), ...ownTradeBody(trade) })),
});

export const limitOrderBody = (order: LimitOrder): string =>
  JSON.stringify({
    currency_pair: order.pair,
    algorithm_id: order.algorithm,
    quantity: numberOf(order.quantity),
    price: numberOf(order.price),
    time_in_force: order.timeInForce,
    expires: order.expiresAt === undefined ? undefined : Math.floor(order.expiresAt),
    client_order_id: order.clientId,
  });
