import { z } from 'zod';
import { instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { isObject, readBody } from '../../wire/message.ts';
import { orderBody, orderText } from '../../wire/order-body.ts';
import { orderRequestSchema, plainOrderRequest } from '../../wire/order.ts';
import { cancelManyBody, limitOrderSchema, ownTradesBody, readTradeCursor } from '../../wire/orders.ts';
import { wireSize } from '../../wire/quote.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { OrdersAsked } from '../exchange/orders.ts';
import { assumed, found } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';
import { as, asText, bodyAs, id, withPath, withQuery } from './route.ts';
import type { Answer, Call } from './route.ts';

const pathId = z.object({ id });

/** Handlers that place, read and cancel orders, and that list the account's fills. */
export const orderAnswers = {
  buy: order('buy'),
  sell: order('sell'),
  openOrders: list((exchange, account, asked) => exchange.registry.openOf(account, asked)),
  doneOrders: list((exchange, account, asked) => exchange.registry.doneOf(account, asked)),
  order: withPath(pathId, (exchange, path, { account }) => as(exchange.lookup(account, path.id), orderBody)),
  cancelSeveral: withQuery(venueRoutes.cancelSeveral.query, (exchange, { ids }, { account, now }) =>
    as(exchange.resting.cancelMany(account, ids, now), cancelManyBody),
  ),
  cancelAll: (exchange, { account, now }) => as(exchange.resting.cancelAll(account, now), cancelManyBody),
  cancel: withPath(pathId, (exchange, path, { account, now }) =>
    as(exchange.resting.cancelOne(account, path.id, now), (status) => ({ status })),
  ),
  trades: withQuery(venueRoutes.trades.query, (exchange, asked, { account }) => {
    const { page_size: limit, last_seen_id: cursor } = asked;
    const lastSeenId = cursor === undefined ? undefined : readTradeCursor(cursor);
    if (cursor !== undefined && lastSeenId === undefined)
      return assumed.malformed('last_seen_id is not a cursor of this route');
    return found(ownTradesBody(exchange.registry.tradesOf(account, { limit, lastSeenId })));
  }),
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

function list(
  pick: (
    exchange: Exchange,
    account: string,
    asked: OrdersAsked,
  ) => readonly Parameters<typeof orderBody>[0][],
): Answer {
  return withQuery(venueRoutes.openOrders.query, (exchange, asked, { account }) => {
    const { action: side, currency_pair: pair, algorithm_id: algorithmId, ...page } = asked;
    return found(pick(exchange, account, { ...page, side, pair, algorithmId }).map(orderBody));
  });
}
