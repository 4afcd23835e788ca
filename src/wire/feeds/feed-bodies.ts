import { text } from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import { numberOf } from '../message.ts';
import type { OrderDetail } from '../order-body.ts';
import { ptsMetricsBody } from '../pts.ts';
import type { PtsMetrics } from '../pts.ts';

/** Writes the payloads of the feeds in the venue's form; `feed-payloads.ts` reads them. */

export interface PublicTrade {
  readonly id: string;
  readonly pair: string;
  /** Index of the pair in the venue's list. */
  readonly pairId: number;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly price: Price;
  readonly at: Instant;
  /** Number of the exchange on which it took place. */
  readonly place: number;
}

/** The last trade of a pair, and the statistics of its day since 00:00 GMT. */
export interface Ticker {
  readonly trade: PublicTrade;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  /** Base currency. */
  readonly volume: Quantity;
  readonly vwap: Price;
}

/** Returns the payload of a ticker. Amounts are JSON numbers. */
export const tickerBody = ({ trade, ...day }: Ticker): object => ({
  amount: numberOf(trade.quantity),
  exchange: placeOf(trade),
  high: numberOf(day.high),
  last: numberOf(trade.price),
  low: numberOf(day.low),
  open: numberOf(day.open),
  pair: trade.pair,
  route: 'Smart',
  source: 'ticker-info',
  timestamp: isoOf(trade.at),
  volume: numberOf(day.volume),
  vwap: numberOf(day.vwap),
});

const placeOf = ({ place }: PublicTrade): string => `simulated-${place}`;

/**
 * Returns the payload of a market trade. Amounts are strings. There are two timestamps, whose names differ in case: one in
 * nanoseconds, one without a zone.
 */
export const marketTradeBody = (trade: PublicTrade): object => ({
  id: trade.id,
  quantity: text(trade.quantity),
  price: text(trade.price),
  exchange: placeOf(trade),
  side: trade.side,
  pair: trade.pair,
  timestamp: isoOf(trade.at).replace('Z', '000000Z'),
  timeStamp: isoOf(trade.at).replace('Z', ''),
  buyOrderId: '',
  sellOrderId: '',
  exchange_id: trade.place,
  pair_id: trade.pairId,
  is_decimal: true,
});

/** Returns the payload of an order. All fields except the ids are strings. */
export const feedOrderBody = (order: OrderDetail): object => {
  const type = order.working === undefined ? 'Instant' : order.working.algorithm === 200 ? 'Smart' : 'Limit';
  return {
    id: Number(order.orderId),
    algorithm_id: order.working?.algorithm ?? 150,
    client_order_id: order.clientId,
    status: order.status,
    pair: order.pair,
    action: order.side === 'buy' ? 'Buy' : 'Sell',
    type,
    date_added: isoOf(order.working?.addedAt ?? order.updatedAt),
    filled: text(order.filled),
    filled_amount: text(order.filledAmount),
    vwap: text(order.vwap),
    price: text(order.price),
    quantity: text(order.quantity),
    fees: text(order.fees),
  };
};

/** Returns the payload of the settlement feed; `undefined`: the account has no post-trade settlement. */
export const settlementBody = (metrics: PtsMetrics | undefined): object =>
  metrics === undefined
    ? { enabled: false }
    : { enabled: true, ...ptsMetricsBody(metrics, text), liquidation_level: text(metrics.liquidationLevel) };
