import { z } from 'zod';
import { instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { isObject, readBody } from '../../wire/message.ts';
import { orderBody, orderText } from '../../wire/order-body.ts';
import { orderRequestSchema, orderSchema, plainOrderRequest } from '../../wire/order.ts';
import {
  cancelManyBody,
  cancelManySchema,
  cancelOneSchema,
  limitOrderSchema,
  ordersSchema,
  ownTradesBody,
  ownTradesSchema,
  readTradeCursor,
} from '../../wire/orders.ts';
import { wireSize } from '../../wire/quote.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { OrdersAsked } from '../exchange/orders.ts';
import { assumed, found } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';
import { as, asText, bodyAs, extra, id, readAs, spec, whole } from './route.ts';
import type { Call, Route } from './route.ts';

const IDS_MAX = 1_000;

const listQuery = z.object({
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  before: whole.optional(),
  after: whole.optional(),
  action: z.enum(['buy', 'sell']).optional(),
  currency_pair: z.string().max(32).optional(),
  algorithm_id: whole.optional(),
  status: z.string().max(64).optional(),
});

const cancelQuery = z.object({
  ids: z
    .string({ error: 'expected order ids separated by commas' })
    .min(1)
    .transform((given) => given.split(',').map((each) => each.trim()))
    .refine((ids) => ids.length <= IDS_MAX, { error: `expected at most ${IDS_MAX}` }),
});

const tradesQuery = z.object({
  page_size: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  last_seen_id: z.string().max(128).optional(),
});

const pathId = z.object({ id });

/** A body with a quote executes it; without one it is a limit order. */
const newOrderSchema = z.union([orderRequestSchema, limitOrderSchema]);

/** Orders: placing, reading, canceling, and the fills of the account. */
export const orderRoutes: readonly Route[] = [
  {
    ...spec,
    method: 'POST',
    path: '/v1/orders/buy',
    summary: 'Execute a buy quote, or place a limit order to buy',
    limit: 'order',
    body: newOrderSchema,
    reply: { status: 201, schema: orderSchema },
    answer: order('buy'),
  },
  {
    ...spec,
    method: 'POST',
    path: '/v1/orders/sell',
    summary: 'Execute a sell quote, or place a limit order to sell',
    limit: 'order',
    body: newOrderSchema,
    reply: { status: 201, schema: orderSchema },
    answer: order('sell'),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/orders',
    summary: 'Open orders, newest first',
    limit: 'openOrders',
    query: listQuery,
    reply: { status: 200, schema: ordersSchema },
    answer: list((exchange, account, asked) => exchange.registry.openOf(account, asked)),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/orders/done',
    summary: 'Finished orders, newest first',
    limit: 'doneOrders',
    query: listQuery,
    reply: { status: 200, schema: ordersSchema },
    answer: list((exchange, account, asked) => exchange.registry.doneOf(account, asked)),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/orders/:id',
    summary: 'One order, by the id of the venue or of the client',
    reply: { status: 200, schema: orderSchema },
    answer(exchange, { account, params }) {
      const asked = readAs(pathId, () => params);
      return asked.ok ? as(exchange.lookup(account, asked.value.id), orderBody) : asked;
    },
  },
  {
    ...spec,
    method: 'DELETE',
    path: '/v1/orders',
    summary: 'Cancel several orders',
    query: cancelQuery,
    reply: { status: 200, schema: cancelManySchema },
    answer(exchange, { account, query, now }) {
      const asked = readAs(cancelQuery, () => query);
      if (!asked.ok) return asked;
      return as(exchange.resting.cancelMany(account, asked.value.ids, now), cancelManyBody);
    },
  },
  {
    ...extra,
    method: 'DELETE',
    path: '/v1/orders/open',
    summary: 'Cancel every open order',
    reply: { status: 200, schema: cancelManySchema },
    answer: (exchange, { account, now }) => as(exchange.resting.cancelAll(account, now), cancelManyBody),
  },
  {
    ...spec,
    method: 'DELETE',
    path: '/v1/orders/:id',
    summary: 'Cancel one order',
    reply: { status: 200, schema: cancelOneSchema },
    answer(exchange, { account, params, now }) {
      const asked = readAs(pathId, () => params);
      if (!asked.ok) return asked;
      return as(exchange.resting.cancelOne(account, asked.value.id, now), (status) => ({ status }));
    },
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/account/trades',
    summary: 'Own fills, newest first',
    query: tradesQuery,
    reply: { status: 200, schema: ownTradesSchema },
    answer(exchange, { account, query }) {
      const asked = readAs(tradesQuery, () => query);
      if (!asked.ok) return asked;
      const { page_size: limit, last_seen_id: cursor } = asked.value;
      const lastSeenId = cursor === undefined ? undefined : readTradeCursor(cursor);
      if (cursor !== undefined && lastSeenId === undefined)
        return assumed.malformed('last_seen_id is not a cursor of this route');
      return found(ownTradesBody(exchange.registry.tradesOf(account, { limit, lastSeenId })));
    },
  },
];

function order(side: Side) {
  return (exchange: Exchange, call: Call): Reply<object> =>
    isLimitOrder(call) ? place(exchange, side, call) : execute(exchange, side, call);
}

function execute(exchange: Exchange, side: Side, call: Call): Reply<object> {
  const asked = executionOf(call);
  if (!asked.ok) return asked;
  const { pair, quoteId, size, clientId: given } = asked.value;
  const clientId = given === '' ? undefined : given;
  return asText(exchange.order(call.account, { pair, side, quoteId, size, clientId }, call.now), orderText);
}

function executionOf(
  call: Call,
): { ok: true; value: NonNullable<ReturnType<typeof plainOrderRequest>> } | Refusal {
  const usual = call.plain && plainOrderRequest(call.plain);
  if (usual !== undefined) return { ok: true, value: usual };
  const asked = bodyAs(orderRequestSchema, call);
  if (!asked.ok) return asked;
  const { currency_pair: pair, quote_id: quoteId, client_order_id: clientId } = asked.value;
  return { ok: true, value: { pair, quoteId, size: wireSize(asked.value), clientId } };
}

function place(exchange: Exchange, side: Side, call: Call): Reply<object> {
  const asked = bodyAs(limitOrderSchema, call);
  if (!asked.ok) return asked;
  const { client_order_id: given, expires } = asked.value;
  const reply = exchange.place(
    call.account,
    {
      pair: asked.value.currency_pair,
      side,
      algorithm: asked.value.algorithm_id,
      quantity: asked.value.quantity,
      price: asked.value.price,
      clientId: given === '' ? undefined : given,
      timeInForce: asked.value.time_in_force,
      expiresAt: expires === null || expires === undefined ? undefined : instant(expires),
      routingType: asked.value.routing_type,
      routingOption: asked.value.routing_option,
      destination: asked.value.destination,
    },
    call.now,
  );
  return as(reply, orderBody);
}

/** An order says by its algorithm that it is no quote's; a broken body is left to the reader of quote orders. */
function isLimitOrder({ body, plain }: Call): boolean {
  if (plain !== undefined) return !plain.has('quote_id') && plain.has('algorithm_id');
  try {
    const read = readBody(body);
    return isObject(read) && read['quote_id'] === undefined && read['algorithm_id'] !== undefined;
  } catch {
    return false;
  }
}

function list(
  pick: (
    exchange: Exchange,
    account: string,
    asked: OrdersAsked,
  ) => readonly Parameters<typeof orderBody>[0][],
) {
  return (exchange: Exchange, { account, query }: Call): Reply<object> => {
    const asked = readAs(listQuery, () => query);
    if (!asked.ok) return asked;
    const {
      limit,
      before,
      after,
      action,
      currency_pair: pair,
      algorithm_id: algorithmId,
      status,
    } = asked.value;
    return found(
      pick(exchange, account, { limit, before, after, side: action, pair, algorithmId, status }).map(
        orderBody,
      ),
    );
  };
}
