import { z } from 'zod';
import {
  balancesBody,
  currencyBody,
  fundingRatesBody,
  pairsBody,
  riskModesBody,
  transactionBody,
  valuationBody,
} from '../../wire/account-bodies.ts';
import {
  balancesSchema,
  currenciesSchema,
  fundingRatesSchema,
  pairsSchema,
  riskModesSchema,
  transactionsSchema,
  valuationSchema,
} from '../../wire/account.ts';
import { plainQuoteRequest, quoteRequestSchema, quoteSchema, quoteText, wireSize } from '../../wire/quote.ts';
import type { QuoteRequest } from '../../core/venue.ts';
import type { ReplayEntry } from '../faults/replay-entry.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { found } from './reply.ts';
import type { Reply } from './reply.ts';
import { as, asText, bodyAs, extra, readAs, spec, time, whole } from './route.ts';
import type { Call, Route } from './route.ts';
import { custodyRoutes } from './routes-custody.ts';
import { marketRoutes } from './routes-market.ts';
import { moneyRoutes } from './routes-money.ts';
import { orderRoutes } from './routes-orders.ts';

export type { Call, Route } from './route.ts';

const actions = ['charge', 'deposit', 'withdraw', 'credit', 'buy', 'sell'] as const;

const transactionsQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  limit: whole.refine((count) => count > 0, { error: 'expected at least 1' }).optional(),
  after: whole.optional(),
  offset: whole.optional(),
  types: z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(z.enum(actions)))
    .transform((list): ReadonlySet<string> => new Set(list))
    .optional(),
  pending: z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .optional(),
});

const historyQuery = z.object({
  start_date: time,
  end_date: time.optional(),
  interval: z.enum(['3600', '86400']).default('86400'),
});

const accountRoutes: readonly Route[] = [
  {
    ...spec,
    method: 'POST',
    path: '/v1/quote',
    summary: 'Request an executable quote',
    limit: 'quote',
    body: quoteRequestSchema,
    reply: { status: 201, schema: quoteSchema },
    answer: quote,
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/account/transactions',
    summary: 'List transactions, newest first',
    limit: 'transactions',
    query: transactionsQuery,
    reply: { status: 200, schema: transactionsSchema },
    answer: transactions,
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/account/balance/history',
    summary: 'USD value of the portfolio over time',
    query: historyQuery,
    reply: { status: 200, schema: valuationSchema },
    answer: history,
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/currency',
    summary: 'List the currencies of the account',
    reply: { status: 200, schema: currenciesSchema },
    answer: (exchange) =>
      as(exchange.currencies(), (all) => all.map((each, index) => currencyBody(each, index + 1))),
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/interest',
    summary: 'Funding rates of post-trade settlement by currency',
    reply: { status: 200, schema: fundingRatesSchema },
    answer: (exchange) => as(exchange.fundingRates(), fundingRatesBody),
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/risk-modes',
    summary: 'Risk modes of post-trade settlement by pair',
    reply: { status: 200, schema: riskModesSchema },
    answer: (exchange) => as(exchange.riskModes(), riskModesBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/user/balance',
    summary: 'Balances of the account',
    reply: { status: 200, schema: balancesSchema },
    limit: 'balances',
    answer: (exchange, { account }) => as(exchange.balances(account), balancesBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/markets/currency-pairs',
    summary: 'Pairs that the venue knows',
    reply: { status: 200, schema: pairsSchema },
    answer: (exchange) => as(exchange.pairs(), pairsBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/health',
    summary: 'Whether the venue is up',
    access: 'open',
    reply: { status: 200, schema: z.object({ status: z.string() }) },
    answer: () => found({ status: 'ok' }),
  },
];

/** Every route of the simulated venue. What is due until the time of the call has happened before any of them answers. */
export const routes: readonly Route[] = [
  ...accountRoutes,
  ...orderRoutes,
  ...moneyRoutes,
  ...custodyRoutes,
  ...marketRoutes,
].map(inTime);

function inTime(route: Route): Route {
  return {
    ...route,
    answer(exchange, call) {
      exchange.advance(call.now);
      // Noted before it is worked: one that ends in an error of ours has drawn the same numbers when it is done again.
      if (route.method !== 'GET') exchange.onDeed?.(deedOf(route, exchange, call));
      return route.answer(exchange, call);
    },
  };
}

const deedOf = ({ method, path }: Route, { options }: Exchange, call: Call): ReplayEntry => ({
  kind: 'call',
  route: `${method} ${path}`,
  account: call.account,
  user: call.user,
  now: call.now,
  query: call.query,
  params: call.params,
  body: call.body,
  ...(options.cancelProbability === 1 ? { canceling: true } : {}),
  ...(options.booking === undefined ? {} : { booking: options.booking }),
});

function quote(exchange: Exchange, call: Call): Reply<object> {
  const usual = call.plain && plainQuoteRequest(call.plain);
  if (usual !== undefined) return asText(exchange.quote(call.account, named(usual), call.now), quoteText);
  const asked = bodyAs(quoteRequestSchema, call);
  if (!asked.ok) return asked;
  const { pair, side, client_quote_id: clientId } = asked.value;
  const request = { pair, side, size: wireSize(asked.value), clientId };
  return asText(exchange.quote(call.account, named(request), call.now), quoteText);
}

/** An empty id is none, as in an order. */
const named = (request: QuoteRequest): QuoteRequest =>
  request.clientId === '' ? { ...request, clientId: undefined } : request;

function transactions(exchange: Exchange, { account, now, query }: Call): Reply<object> {
  const asked = readAs(transactionsQuery, () => query);
  if (!asked.ok) return asked;
  return as(exchange.transactions(account, asked.value, now), (rows) => rows.map(transactionBody));
}

function history(exchange: Exchange, { account, now, query }: Call): Reply<object> {
  const asked = readAs(historyQuery, () => query);
  if (!asked.ok) return asked;
  const { start_date: from, end_date: to, interval } = asked.value;
  const points = exchange.valuation(
    account,
    { from, to, interval: interval === '3600' ? 'hour' : 'day' },
    now,
  );
  return as(points, valuationBody);
}
