import { exact } from '../core/json.ts';
import { add, negate, subtract, text } from '../core/money.ts';
import type { Price, Quantity } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Order } from '../core/venue.ts';

/** An order with all that the venue tells of it. */
export interface OrderDetail extends Order {
  /** Ordered base quantity. */
  readonly quantity: Quantity;
  /** Price of the quote, quote per base. */
  readonly price: Price;
  readonly updatedAt: Instant;
}

/** Codes of the venue for the two ends of a quote order. Source: specification; `Canceled`: public documentation. */
const statusCodes: Readonly<Record<string, number>> = { done: 300, canceled: 10 };

/** The order as the venue writes it. Values that the specification does not show are those of its public example. */
export function orderBody(order: OrderDetail): object {
  const isBuy = order.side === 'buy';
  const action = isBuy ? 'Buy' : 'Sell';
  const proceeds = isBuy
    ? negate(add(order.filledAmount, order.fees))
    : subtract(order.filledAmount, order.fees);
  return {
    id: Number(order.orderId),
    side_id: isBuy ? 500 : 600,
    action,
    algorithm_id: 150,
    algorithm: 'Instant',
    type: 'Instant',
    pair: order.pair,
    quantity: exact(text(order.quantity)),
    price: exact(text(order.price)),
    amount: 0,
    net_market_amount: 0,
    filled: exact(text(order.filled)),
    vwap: exact(text(order.vwap)),
    filled_amount: exact(text(order.filledAmount)),
    fees: exact(text(order.fees)),
    net_proceeds: exact(text(proceeds)),
    status: order.status,
    status_code: statusCodes[order.status.toLowerCase()] ?? 100,
    routing_option: 'BestPrice',
    routing_type: 'None',
    time_in_force: 'FOK',
    expires: null,
    dateupdated: isoOf(order.updatedAt),
    client_order_id: order.clientId,
    user_tx_id: order.clientId,
    o_action: action,
    algo_id: 150,
    algorithm_options: null,
    destination: '',
    quote_id: order.quoteId,
  };
}
