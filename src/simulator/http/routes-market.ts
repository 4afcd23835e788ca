import { z } from 'zod';
import { exact } from '../../core/json.ts';
import { text } from '../../core/money.ts';
import {
  candleBody,
  candlePeriods,
  candlesSchema,
  feeRatesBody,
  feeRatesSchema,
  orderBookBody,
  orderBookSchema,
} from '../../wire/market.ts';
import { wirePrice } from '../../wire/message.ts';
import {
  interestHistoryBody,
  interestHistorySchema,
  marginTypes,
  ptsMetricsBody,
  ptsMetricsSchema,
  ptsPositionBody,
  ptsPositionsSchema,
} from '../../wire/pts.ts';
import type { PtsPosition } from '../../wire/pts.ts';
import { candles, feeRates, orderBook } from '../market/market-data.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { assumed, documented, found } from './reply.ts';
import type { Reply } from './reply.ts';
import { as, extra, readAs, whole } from './route.ts';
import type { Call, Route } from './route.ts';

const PAGE_MAX = 100;

const pairPath = z.object({ pair: z.string().min(1).max(32) });
const candlesQuery = z.object({
  pair: z.string().min(1).max(32),
  startTime: whole,
  endTime: whole,
  period: z
    .enum(['60', '300', '900', '3600', '21600', '86400'])
    .transform((value) => candlePeriods.find((period) => String(period) === value) ?? 60)
    .default(60),
});
const positionsQuery = z.object({
  status: z.enum(['active', 'closed']).default('active'),
  pair: z.string().max(32).optional(),
  loan_currency: z.string().max(12).optional(),
  collateral_currency: z.string().max(12).optional(),
  margin_type: z.enum(marginTypes).optional(),
  from: whole.optional(),
  to: whole.optional(),
  page_size: whole.refine((count) => count > 0, { error: 'expected at least 1' }).default(PAGE_MAX),
  page_cursor: whole.optional(),
});
const interestQuery = z.object({
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).default(PAGE_MAX),
  before: whole.optional(),
  after: whole.optional(),
  start_date: z.string().optional(),
  end_date: z.string().optional(),
});
const tickerShape = z.object({ pair: z.string(), last: wirePrice });

/** Market data, fees, and what post-trade settlement shows beyond rates and modes. */
export const marketRoutes: readonly Route[] = [
  {
    ...extra,
    method: 'GET',
    path: '/v1/account/fee-rates',
    summary: 'Fee rates of the account',
    reply: { status: 200, schema: feeRatesSchema },
    answer: (exchange, { account, now }) => found(feeRatesBody(feeRates(account, exchange, now))),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/markets/orderbook',
    summary: 'Order book of btcusd',
    reply: { status: 200, schema: orderBookSchema },
    answer: (exchange, { now }) => as(orderBook(exchange.market, 'btcusd', now), orderBookBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/markets/orderbook/:pair',
    summary: 'Order book of a pair',
    reply: { status: 200, schema: orderBookSchema },
    answer(exchange, { params, now }) {
      const path = readAs(pairPath, () => params);
      return path.ok ? as(orderBook(exchange.market, path.value.pair, now), orderBookBody) : path;
    },
  },
  {
    ...extra,
    access: 'open',
    method: 'GET',
    path: '/v1/markets/tickers',
    summary: 'Last prices of all pairs',
    reply: { status: 200, schema: z.object({ data: z.array(tickerShape) }) },
    answer: (exchange, { now }) =>
      found({ data: [...exchange.market.listings.keys()].map((pair) => tickerOf(exchange, pair, now)) }),
  },
  {
    ...extra,
    access: 'open',
    method: 'GET',
    path: '/candlesticks',
    summary: 'Candles of market time; seconds, not milliseconds',
    query: candlesQuery,
    reply: { status: 200, schema: candlesSchema },
    answer(exchange, { query, now }) {
      const asked = readAs(candlesQuery, () => query);
      if (!asked.ok) return asked;
      const { pair, startTime: from, endTime: to, period } = asked.value;
      return as(candles(exchange.market, { pair, from, to, period }, now), (all) =>
        all.map((each) => candleBody(each, exchange.options.candlePrices)),
      );
    },
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement',
    summary: 'Risk metrics of post-trade settlement, USD',
    reply: { status: 200, schema: ptsMetricsSchema },
    answer: (exchange, { account, now }) => as(exchange.metrics(account, now), ptsMetricsBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement/positions',
    summary: 'Positions on credit',
    limit: 'positions',
    query: positionsQuery,
    reply: { status: 200, schema: ptsPositionsSchema },
    answer: positions,
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement/interest/history',
    summary: 'Interest charged, newest first',
    query: interestQuery,
    reply: { status: 200, schema: interestHistorySchema },
    answer: interestHistory,
  },
];

const tickerOf = (exchange: Exchange, pair: string, now: Call['now']): object => ({
  pair,
  last: exact(text(exchange.ticker(pair, now).last)),
});

/** Newest first; the cursor is the last id of the page before. */
function positions(exchange: Exchange, { account, query, now }: Call): Reply<object> {
  const asked = readAs(positionsQuery, () => query);
  if (!asked.ok) return asked;
  const wanted = asked.value;
  const isWanted = (each: PtsPosition): boolean =>
    each.status === (wanted.status === 'active' ? 'ACTIVE' : 'CLOSED') &&
    (wanted.pair ?? each.pair) === each.pair &&
    (wanted.loan_currency ?? each.loanCurrency) === each.loanCurrency &&
    (wanted.collateral_currency ?? each.collateralCurrency) === each.collateralCurrency &&
    (wanted.margin_type ?? each.marginType) === each.marginType &&
    each.openedAt >= (wanted.from ?? 0) &&
    each.openedAt <= (wanted.to ?? Infinity) &&
    Number(each.id) < (wanted.page_cursor ?? Infinity);
  return as(exchange.ptsPositions(account, now), (all) =>
    all.filter(isWanted).toReversed().slice(0, Math.min(wanted.page_size, PAGE_MAX)).map(ptsPositionBody),
  );
}

function interestHistory(exchange: Exchange, { account, query, now }: Call): Reply<object> {
  const asked = readAs(interestQuery, () => query);
  if (!asked.ok) return asked;
  const { limit, before, after, start_date: start, end_date: end } = asked.value;
  if (before !== undefined && after !== undefined) return documented.bothCursors();
  if (!isTimestamp(start)) return documented.badTimestamp('start_date');
  if (!isTimestamp(end)) return documented.badTimestamp('end_date');
  if (limit > PAGE_MAX) return assumed.malformed(`limit expected at most ${PAGE_MAX}`);
  return as(exchange.interest(account, now), (all) =>
    interestHistoryBody(
      all
        .filter(
          ({ id, at }) =>
            Number(id) < (before ?? Infinity) &&
            Number(id) > (after ?? -1) &&
            at >= Number(start ?? 0) &&
            at <= Number(end ?? Infinity),
        )
        .slice(0, limit),
    ),
  );
}

const isTimestamp = (value: string | undefined): boolean => value === undefined || /^\d{1,15}$/u.test(value);
