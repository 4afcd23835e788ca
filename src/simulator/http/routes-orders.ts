import { z } from 'zod';
import type { Side } from '../../core/venue.ts';
import { isObject, readBody } from '../../wire/message.ts';
import { orderBody, orderText } from '../../wire/order-body.ts';
import type { OrderDetail } from '../../wire/order-body.ts';
import { orderRequestSchema, plainOrderRequest } from '../../wire/order.ts';
import { cancelManyBody, limitOrderSchema } from '../../wire/orders.ts';
import { wireSize } from '../../wire/quote.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Refusal, Reply } from './reply.ts';
import { as, asText, bodyAs, id, withPath, withQuery } from './route.ts';
import type { Answer, Call } from './route.ts';

const pathId = z.object({ id });

/** Handlers that place, read and cancel orders. */
export const orderAnswers = {
  buy: order('buy'),
  sell: order('sell'),
  order: withPath(pathId, (exchange, path, { account }) => as(exchange.lookup(account, path.id), orderBody)),
  cancelSeveral: withQuery(venueRoutes.cancelSeveral.query, (exchange, { ids }, { account, now }) =>
    as(exchange.resting.cancelMany(account, ids, now), cancelManyBody),
  ),
  cancel: withPath(pathId, (exchange, path, { account, now }) =>
    as(exchange.resting.cancelOne(account, path.id, now), (status) => ({ status })),
  ),
} satisfies Partial<Record<RouteName, Answer>>;

function order(side: Side) {
  return (exchange: Exchange, call: Call): Reply<object> =>
    isLimitOrder(call) ? place(exchange, side, call) : execute(exchange, side, call);
}

function execute(exchange: Exchange, side: Side, call: Call): Reply<object> {
  const asked = executionOf(call);
  if (!asked.ok) return asked;
  const { pair, quoteId, size, clientId: given } = asked.value;
  const clientId = given === '' ? undefined : given;
  const reply = exchange.order(call.account, { pair, side, quoteId, size, clientId }, call.now);
  return exchange.options.oddOrders ? as(reply, oddOrderBody) : asText(reply, orderText);
}

/** The response to an order of a venue with `odd_orders`. */
function oddOrderBody(detail: OrderDetail): object {
  const body: Readonly<Record<string, unknown>> = { ...orderBody(detail) };
  return { ...body, status_code: String(body['status_code']), quantity: null };
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
  const {
    currency_pair: pair,
    algorithm_id: algorithm,
    quantity,
    price,
    client_order_id: given,
  } = asked.value;
  const clientId = given === '' ? undefined : given;
  const limit = { pair, side, algorithm, quantity, price, clientId };
  return as(exchange.place(call.account, limit, call.now), orderBody);
}

/**
 * An order with an algorithm is a limit order. An invalid body is treated as a quote order, so that the parser of quote
 * orders reports the error.
 */
function isLimitOrder({ body, plain }: Call): boolean {
  if (plain !== undefined) return !plain.has('quote_id') && plain.has('algorithm_id');
  try {
    const read = readBody(body);
    return isObject(read) && read['quote_id'] === undefined && read['algorithm_id'] !== undefined;
  } catch {
    return false;
  }
}
