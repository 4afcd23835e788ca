import {
  balancesBody,
  currencyBody,
  fundingRatesBody,
  pairsBody,
  riskModesBody,
  valuationBody,
} from '../../wire/account-bodies.ts';
import { plainQuoteRequest, quoteText, wireSize } from '../../wire/quote.ts';
import { routeNames, venueRoutes } from '../../wire/routes.ts';
import type { RouteName, VenueRoute } from '../../wire/routes.ts';
import type { QuoteRequest } from '../../core/venue.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from './reply.ts';
import { as, asText, bodyAs, withQuery } from './route.ts';
import type { Answer, Call, Route } from './route.ts';
import { moneyAnswers } from './routes-money.ts';
import { orderAnswers } from './routes-orders.ts';
import { ptsAnswers } from './routes-pts.ts';

export type { Call, Route } from './route.ts';

const accountAnswers = {
  quote,
  transactions: withQuery(venueRoutes.transactions.query, (exchange, asked, { account, now }) =>
    exchange.listed(account, asked, now),
  ),
  history: withQuery(venueRoutes.history.query, (exchange, asked, { account, now }) => {
    const { start_date: from, end_date: to, interval } = asked;
    const points = { from, to, interval: interval === '3600' ? 'hour' : 'day' } as const;
    return as(exchange.valuation(account, points, now), valuationBody);
  }),
  currencies: (exchange) =>
    as(exchange.currencies(), (all) => all.map((each, index) => currencyBody(each, index + 1))),
  ptsRates: (exchange) => as(exchange.fundingRates(), fundingRatesBody),
  ptsModes: (exchange) => as(exchange.riskModes(), riskModesBody),
  balances: (exchange, { account }) => as(exchange.balances(account), balancesBody),
  pairs: (exchange) => as(exchange.pairs(), pairsBody),
} satisfies Partial<Record<RouteName, Answer>>;

/** The handlers of the simulated venue. A route without a handler is a type error. */
const answers: Readonly<Record<RouteName, Answer>> = {
  ...accountAnswers,
  ...orderAnswers,
  ...moneyAnswers,
  ...ptsAnswers,
};

/** Every route of the simulated venue. All events due by the time of the call are processed before the handler runs. */
export const routes: readonly Route[] = routeNames.map((name) => inTime(venueRoutes[name], answers[name]));

function inTime(route: VenueRoute, answer: Answer): Route {
  return {
    ...route,
    answer(exchange, call) {
      exchange.advance(call.now);
      return answer(exchange, call);
    },
  };
}

function quote(exchange: Exchange, call: Call): Reply<object> {
  const usual = call.plain && plainQuoteRequest(call.plain);
  if (usual !== undefined) return asText(exchange.quote(call.account, named(usual), call.now), quoteText);
  const asked = bodyAs(venueRoutes.quote.body, call);
  if (!asked.ok) return asked;
  const { pair, side, client_quote_id: clientId } = asked.value;
  const request = { pair, side, size: wireSize(asked.value), clientId };
  return asText(exchange.quote(call.account, named(request), call.now), quoteText);
}

/** An empty id counts as no id, as in an order. */
const named = (request: QuoteRequest): QuoteRequest =>
  request.clientId === '' ? { ...request, clientId: undefined } : request;
