import { exact } from '../../core/text/json.ts';
import { text } from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side } from '../../core/venue.ts';
import type { OrderDetail } from '../order-body.ts';
import type { PtsMetrics } from '../pts.ts';

/** Writes the payloads of the feeds in the venue's form; `feed-payloads.ts` reads them. */

export interface TickerFigures {
  readonly pair: string;
  readonly last: Price;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly volume: Quantity;
  readonly amount: Money;
  readonly vwap: Price;
}

/** Returns the payload of a ticker. Amounts are JSON numbers. */
export const tickerBody = (ticker: TickerFigures, now: Instant): object => ({
  amount: exact(text(ticker.amount)),
  exchange: 'simulated',
  high: exact(text(ticker.high)),
  last: exact(text(ticker.last)),
  low: exact(text(ticker.low)),
  open: exact(text(ticker.open)),
  pair: ticker.pair,
  route: 'Smart',
  source: 'ticker-info',
  timestamp: isoOf(now),
  volume: exact(text(ticker.volume)),
  vwap: exact(text(ticker.vwap)),
});

export interface PublicTrade {
  readonly id: string;
  readonly pair: string;
  /** Index of the pair in the venue's list. */
  readonly pairId: number;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly price: Price;
  readonly at: Instant;
}

/**
 * Returns the payload of a market trade. Amounts are strings. There are two timestamps, whose names differ in case: one in
 * nanoseconds, one without a zone.
 */
export const marketTradeBody = (trade: PublicTrade): object => ({
  id: trade.id,
  quantity: text(trade.quantity),
  price: text(trade.price),
  exchange: 'simulated',
  side: trade.side,
  pair: trade.pair,
  timestamp: isoOf(trade.at).replace('Z', '000000Z'),
  timeStamp: isoOf(trade.at).replace('Z', ''),
  buyOrderId: '',
  sellOrderId: '',
  exchange_id: 1,
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

/**
 * Returns the payload of the settlement feed. Amounts are strings. Liquidation is not simulated; its level is that of an account
 * without positions.
 */
export const settlementBody = (isEnabled: boolean, metrics: PtsMetrics): object => ({
  enabled: isEnabled,
  equity: text(metrics.equity),
  equity_for_withdrawals: text(metrics.equityForWithdrawals),
  exposure: text(metrics.exposure),
  available_exposure: text(metrics.availableExposure),
  exposure_limit: text(metrics.exposureLimit),
  liquidation_level: '0',
});
