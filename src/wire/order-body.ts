import { add, NO_MONEY, subtract, text } from '../core/money.ts';
import type { Money, Price, Quantity } from '../core/money.ts';
import { instant, isoOf, SECOND_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Order } from '../core/venue.ts';
import { numberOf } from './message.ts';
import { limitAlgorithms } from './constants.ts';
import type { LimitOrder } from './orders.ts';

/** An order with every field that the venue reports. */
export interface OrderDetail extends Order {
  /** Ordered base quantity. */
  readonly quantity: Quantity;
  /** Price of the quote, or the limit; quote per base. */
  readonly price: Price;
  readonly updatedAt: Instant;
  /** Fields that only a working order has, that is, one without a quote. */
  readonly working?: (Pick<LimitOrder, 'algorithm'> & { readonly addedAt: Instant }) | undefined;
}

/** Status codes of the venue. Source of `Done`: specification; of the others: public documentation. */
export const statusCodes: Readonly<Record<string, number>> = {
  started: 100,
  'cancel pending': 90,
  canceled: 10,
  done: 300,
};

/** Returns the signed change of the account: a buy pays the filled amount plus fees, a sell receives the filled amount minus fees. */
export const netProceeds = ({
  side,
  filledAmount,
  fees,
}: Pick<Order, 'side' | 'filledAmount' | 'fees'>): Money =>
  side === 'buy' ? subtract(NO_MONEY, add(filledAmount, fees)) : subtract(filledAmount, fees);

/** Returns an order in the venue's form. Values that the specification does not show come from a public sample. */
export function orderBody(order: OrderDetail): object {
  const { working } = order;
  const action = actionOf(order);
  const algorithmId = working?.algorithm ?? 150;
  const algorithm = working === undefined ? 'Instant' : limitAlgorithms[working.algorithm];
  return {
    id: Number(order.orderId),
    side_id: order.side === 'buy' ? 500 : 600,
    action,
    algorithm_id: algorithmId,
    algorithm,
    type: algorithm,
    pair: order.pair,
    quantity: numberOf(order.quantity),
    price: numberOf(order.price),
    amount: 0,
    net_market_amount: 0,
    filled: numberOf(order.filled),
    vwap: numberOf(order.vwap),
    filled_amount: numberOf(order.filledAmount),
    fees: numberOf(order.fees),
    net_proceeds: numberOf(netProceeds(order)),
    status: order.status,
    status_code: statusCodes[order.status.toLowerCase()] ?? 100,
    routing_option: working === undefined ? 'BestPrice' : 'WeightedExchange',
    routing_type: working === undefined ? 'None' : 'NetPrice',
    time_in_force: working === undefined ? 'FOK' : 'GTC',
    expires: null,
    dateupdated: updatedText(order),
    ...(working === undefined ? {} : { date_added: isoOf(working.addedAt) }),
    client_order_id: order.clientId,
    user_tx_id: order.clientId,
    o_action: action,
    algo_id: algorithmId,
    algorithm_options: null,
    destination: '',
    quote_id: order.quoteId,
  };
}

/** Returns the JSON text of `orderBody`. It is built by hand for the order of a quote, the most frequent response. */
export function orderText(order: OrderDetail): string {
  if (order.working !== undefined) return JSON.stringify(orderBody(order));
  const isBuy = order.side === 'buy';
  const action = isBuy ? 'Buy' : 'Sell';
  const clientId = JSON.stringify(order.clientId);
  return (
    `{"id":${Number(order.orderId)},"side_id":${isBuy ? 500 : 600},"action":"${action}","algorithm_id":150,` +
    `"algorithm":"Instant","type":"Instant","pair":${JSON.stringify(order.pair)},"quantity":${text(order.quantity)},` +
    `"price":${text(order.price)},"amount":0,"net_market_amount":0,"filled":${text(order.filled)},` +
    `"vwap":${text(order.vwap)},"filled_amount":${text(order.filledAmount)},"fees":${text(order.fees)},` +
    `"net_proceeds":${text(netProceeds(order))},"status":${JSON.stringify(order.status)},` +
    `"status_code":${statusCodes[order.status.toLowerCase()] ?? 100},"routing_option":"BestPrice",` +
    `"routing_type":"None","time_in_force":"FOK","expires":null,"dateupdated":"${updatedText(order)}",` +
    `"client_order_id":${clientId},"user_tx_id":${clientId},"o_action":"${action}","algo_id":150,` +
    `"algorithm_options":null,"destination":"","quote_id":${JSON.stringify(order.quoteId)}}`
  );
}

/** Whole seconds, as in the venue's sample of an executed quote. */
const updatedText = ({ updatedAt }: OrderDetail): string =>
  isoOf(instant(updatedAt - (updatedAt % SECOND_MS)));

const actionOf = ({ side }: Order): string => (side === 'buy' ? 'Buy' : 'Sell');
