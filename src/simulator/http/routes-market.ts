import { z } from 'zod';
import { exact } from '../../core/text/json.ts';
import { text } from '../../core/money.ts';
import { candleBody, feeRatesBody, orderBookBody } from '../../wire/market.ts';
import { interestHistoryBody, ptsMetricsBody, ptsPositionBody } from '../../wire/pts.ts';
import type { PtsPosition } from '../../wire/pts.ts';
import { PAGE_MAX } from '../../wire/queries.ts';
import { venueRoutes } from '../../wire/routes.ts';
import type { RouteName } from '../../wire/routes.ts';
import { candles, feeRates, orderBook } from '../market/market-data.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { assumed, documented, found } from './reply.ts';
import type { Reply } from './reply.ts';
import { as, withPath, withQuery } from './route.ts';
import type { Answer, Call } from './route.ts';

const pairPath = z.object({ pair: z.string().min(1).max(32) });

/** Handlers of market data, fees, and post-trade settlement (except its rates and modes). */
export const marketAnswers = {
  fees: (exchange, { account, now }) => found(feeRatesBody(feeRates(account, exchange, now))),
  orderBook: (exchange, { now }) => as(orderBook(exchange.market, 'btcusd', now), orderBookBody),
  orderBookOf: withPath(pairPath, (exchange, { pair }, { now }) =>
    as(orderBook(exchange.market, pair, now), orderBookBody),
  ),
  tickers: (exchange, { now }) =>
    found({ data: [...exchange.market.listings.keys()].map((pair) => tickerOf(exchange, pair, now)) }),
  candles: withQuery(venueRoutes.candles.query, (exchange, asked, { now }) => {
    const { pair, startTime: from, endTime: to, period } = asked;
    return as(candles(exchange.market, { pair, from, to, period }, now), (all) =>
      all.map((each) => candleBody(each, exchange.options.candlePrices)),
    );
  }),
  ptsMetrics: (exchange, { account, now }) => as(exchange.metrics(account, now), ptsMetricsBody),
  ptsPositions: withQuery(venueRoutes.ptsPositions.query, positions),
  ptsInterest: withQuery(venueRoutes.ptsInterest.query, interestHistory),
} satisfies Partial<Record<RouteName, Answer>>;

const tickerOf = (exchange: Exchange, pair: string, now: Call['now']): object => ({
  pair,
  last: exact(text(exchange.ticker(pair, now).last)),
});

/** Newest first. The cursor is the last id of the previous page. */
function positions(
  exchange: Exchange,
  wanted: z.output<typeof venueRoutes.ptsPositions.query>,
  { account, now }: Call,
): Reply<object> {
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

function interestHistory(
  exchange: Exchange,
  { limit, before, after, start_date: start, end_date: end }: z.output<typeof venueRoutes.ptsInterest.query>,
  { account, now }: Call,
): Reply<object> {
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
