/** What the exchange knows of the interface without any of its schemas, which take time to make. */

/** Algorithms of a limit order. Source: public documentation: 200 `Smart` routes it, 201 `Limit` does not. */
export const limitAlgorithms = { 200: 'Smart', 201: 'Limit' } as const;

/** `GET /v1/orders` and `GET /v1/orders/done`: at most this many rows, and by default. */
export const ORDERS_PAGE_MAX = 50;

/** `GET /candlesticks` of the chart host: candles that one answer may span, at most. */
export const CANDLES_MAX = 500;
