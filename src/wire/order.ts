import { z } from 'zod';
import { NO_MONEY, price } from '../core/money.ts';
import type { Order, OrderRequest } from '../core/venue.ts';
import {
  orBlank,
  orderAmount,
  usedFields,
  wireId,
  wireMoney,
  wirePrice,
  wireQuantity,
  wireText,
} from './message.ts';
import { plainText } from './plain.ts';
import type { PlainBody } from './plain.ts';
import { plainSize, sizeText } from './quote.ts';

/** Body of `POST /v1/orders/buy` and of the sell path when it executes a quote. */
export const orderRequestSchema = z
  .object({
    currency_pair: z.string().min(2).max(32),
    quote_id: z.string().min(1).max(128),
    quantity: orderAmount.quantity.optional().describe('base currency; at most the quoted quantity'),
    amount: orderAmount.amount.optional().describe('quote currency; at most the quoted amount'),
    client_order_id: z
      .string()
      .max(128)
      .optional()
      .describe('must equal client_quote_id if the quote had one'),
  })
  .refine((body) => (body.quantity === undefined) !== (body.amount === undefined), {
    error: 'exactly one of quantity or amount',
  });

/**
 * Reads the usual request faster than `orderRequestSchema`, which reads all other requests. A property test checks that
 * both agree.
 */
export function plainOrderRequest(
  body: PlainBody,
): (Pick<OrderRequest, 'pair' | 'quoteId' | 'size'> & { readonly clientId: string | undefined }) | undefined {
  const pair = plainText(body.get('currency_pair'), 32);
  const quoteId = plainText(body.get('quote_id'), 128);
  const size = plainSize(body);
  if (pair === undefined || pair.length < 2 || size === undefined) return undefined;
  if (quoteId === undefined || quoteId === '') return undefined;
  const id = body.get('client_order_id');
  const clientId = plainText(id, 128);
  return id !== undefined && clientId === undefined ? undefined : { pair, quoteId, size, clientId };
}

/** An order as the venue sends it. Spec: "Order (response of order placement)". */
export const sentOrderSchema = z.object({
  id: wireId,
  side_id: z.int().optional(),
  action: z.string().describe('Buy or Sell; case-insensitive'),
  algorithm_id: z.int().nullish(),
  algorithm: z.string().nullish(),
  type: z.string().nullish(),
  pair: z.string(),
  quantity: wireQuantity.optional(),
  price: wirePrice.optional(),
  amount: wireMoney.optional(),
  net_market_amount: wireMoney.nullish(),
  filled: wireQuantity.describe('base currency, cumulative'),
  vwap: wirePrice.nullish(),
  filled_amount: wireMoney.describe('quote currency, cumulative'),
  fees: wireMoney.nullish().describe('quote currency, cumulative'),
  net_proceeds: wireMoney.nullish().describe('signed, after fees; negative for a buy'),
  status: z.string().min(1).max(64),
  status_code: z.int().nullish(),
  routing_option: z.string().nullish(),
  routing_type: z.string().nullish(),
  time_in_force: z.string().nullish(),
  expires: z.unknown().optional(),
  dateupdated: z.string().nullish(),
  date_added: z.string().nullish(),
  client_order_id: z.string().nullish().describe('empty when not set'),
  user_tx_id: z.string().nullish(),
  o_action: z.string().nullish(),
  algo_id: z.int().nullish(),
  algorithm_options: z.unknown().optional(),
  destination: z.string().nullish(),
  quote_id: z.string().nullish(),
});

const sent = sentOrderSchema.shape;
/** The fields that decide something. */
const orderFields = usedFields(sentOrderSchema, {
  id: sent.id,
  action: sent.action,
  pair: sent.pair,
  filled: sent.filled,
  filled_amount: sent.filled_amount,
  status: sent.status,
  vwap: orBlank(wirePrice),
  fees: orBlank(wireMoney),
  client_order_id: wireText,
  quote_id: wireText,
});

/** Response to order placement, and element of the order routes. */
export const orderSchema = orderFields.transform((body, context): Order => {
  const side = body.action.toLowerCase();
  if (side !== 'buy' && side !== 'sell') {
    context.addIssue({ code: 'custom', message: 'expected action Buy or Sell' });
    return z.NEVER;
  }
  return {
    orderId: body.id,
    clientId: body.client_order_id,
    quoteId: body.quote_id,
    pair: body.pair.toLowerCase(),
    side,
    status: body.status,
    filled: body.filled,
    filledAmount: body.filled_amount,
    vwap: body.vwap ?? price('0'),
    fees: body.fees ?? NO_MONEY,
  };
});

export const orderRequestBody = ({ pair, quoteId, size, clientId }: OrderRequest): string =>
  `{"currency_pair":${JSON.stringify(pair)},"quote_id":${JSON.stringify(quoteId)},${sizeText(size)},"client_order_id":${JSON.stringify(clientId)}}`;
