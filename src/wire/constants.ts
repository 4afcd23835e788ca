/** Constants of the interface for code that does not load its schemas, which are slow to build. */

/** Algorithms of a limit order: the venue routes 200 `Smart`, but not 201 `Limit`. Source: public documentation. */
export const limitAlgorithms = { 200: 'Smart', 201: 'Limit' } as const;

/** `GET /v1/orders` and `GET /v1/orders/done`: the default and maximum number of rows. */
export const ORDERS_PAGE_MAX = 50;

/** `GET /candlesticks` of the chart host: the maximum number of candles in one response. */
export const CANDLES_MAX = 500;
