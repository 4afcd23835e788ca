import { z } from 'zod';
import { isoOf } from '../core/time.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';
import { orderAmount, wireId } from './message.ts';
import type { limitAlgorithms } from './constants.ts';

/** Working orders, cancellations and the account's own trades. */

/** Body of `POST /v1/orders/:side` without a quote: a limit order. Source: public documentation, not the specification. */
export const limitOrderSchema = z.object({
  currency_pair: z.string().min(2).max(32),
  algorithm_id: z.union([z.literal(200), z.literal(201)]).describe('200 Smart, 201 Limit'),
  quantity: orderAmount.quantity.describe('base currency'),
  price: orderAmount.price.describe('quote currency per base; never filled worse'),
  client_order_id: z.string().max(128).optional().describe('rejected if used within the last 24 hours'),
  time_in_force: z.literal('GTC').optional(),
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
}

/** Response of `DELETE /v1/orders/:order_id`, status 200. The status is in lower case. Spec: "Cancel one order". */
export const cancelOneStatuses = ['canceled', 'cancel pending', 'order already finished'] as const;
export type CancelOneStatus = (typeof cancelOneStatuses)[number];
export const cancelOneSchema = z.object({
  status: z.string().describe(`one of: ${cancelOneStatuses.join(', ')}`),
});

/** Response of `DELETE /v1/orders?ids=`. The status is capitalised. Spec: "Cancel several orders". */
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

/** Returns an element of the feed `private.user.trades`. Its amounts are strings, unlike in orders. */
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
