import { z } from 'zod';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import {
  balancesBody,
  currencyBody,
  fundingRatesBody,
  pairsBody,
  riskModesBody,
  transactionBody,
  valuationBody,
} from '../wire/account-bodies.ts';
import {
  balancesSchema,
  currenciesSchema,
  fundingRatesSchema,
  pairsSchema,
  riskModesSchema,
  transactionsSchema,
  valuationSchema,
} from '../wire/account.ts';
import { readBody } from '../wire/message.ts';
import { orderBody } from '../wire/order-body.ts';
import { orderRequestSchema, orderSchema } from '../wire/order.ts';
import { quoteBody, quoteRequestSchema, quoteSchema, wireSize } from '../wire/quote.ts';
import type { Side } from '../core/venue.ts';
import type { Exchange } from './exchange.ts';
import type { LimitedRoute } from './limits.ts';
import { assumed, found } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';

/** What a request brings to its route. */
export interface Call {
  readonly account: string;
  readonly now: Instant;
  readonly query: unknown;
  readonly params: unknown;
  /** Body as it came. */
  readonly body: string;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Counts against this limit. */
  readonly limit?: LimitedRoute | undefined;
  /** `spec`: in the interface specification. `extra`: a capability that the venue may not have. */
  readonly kind: 'spec' | 'extra';
  readonly access: 'token' | 'open';
  /** One sentence for people who read the interface. */
  readonly summary?: string | undefined;
  /**
   * The schema that `answer` reads the body with. Strictness (unknown fields, text where a number belongs) and the OpenAPI
   * document go by it; a route without one takes no body.
   */
  readonly body?: z.ZodType | undefined;
  /** As `body`, for the parameters after the question mark. */
  readonly query?: z.ZodType | undefined;
  /** Shape of the good answer, with its status; the OpenAPI document goes by it. */
  readonly reply?: { readonly status: 200 | 201; readonly schema: z.ZodType } | undefined;
  /** The answer as plain JSON. */
  readonly answer: (exchange: Exchange, call: Call) => Reply<object>;
}

const spec = { kind: 'spec', access: 'token' } as const;
const extra = { kind: 'extra', access: 'token' } as const;

const whole = z
  .string()
  .regex(/^\d{1,15}$/u, { error: 'expected a whole number' })
  .transform(Number);
const time = whole.transform(instant);
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

/** Every route of the simulated venue. */
export const routes: readonly Route[] = [
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
    method: 'POST',
    path: '/v1/orders/buy',
    summary: 'Execute a buy quote',
    limit: 'order',
    body: orderRequestSchema,
    reply: { status: 201, schema: orderSchema },
    answer: order('buy'),
  },
  {
    ...spec,
    method: 'POST',
    path: '/v1/orders/sell',
    summary: 'Execute a sell quote',
    limit: 'order',
    body: orderRequestSchema,
    reply: { status: 201, schema: orderSchema },
    answer: order('sell'),
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
    path: '/v1/orders/:id',
    summary: 'One order, by the id of the venue or of the client',
    reply: { status: 200, schema: orderSchema },
    answer: lookup,
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

function quote(exchange: Exchange, { account, now, body }: Call): Reply<object> {
  const asked = readAs(quoteRequestSchema, () => readBody(body));
  if (!asked.ok) return asked;
  const { pair, side, client_quote_id: clientId } = asked.value;
  return as(exchange.quote(account, { pair, side, size: wireSize(asked.value), clientId }, now), quoteBody);
}

function order(side: Side) {
  return (exchange: Exchange, { account, now, body }: Call): Reply<object> => {
    const asked = readAs(orderRequestSchema, () => readBody(body));
    if (!asked.ok) return asked;
    const { currency_pair: pair, quote_id: quoteId, client_order_id: given } = asked.value;
    const clientId = given === '' ? undefined : given;
    return as(
      exchange.order(account, { pair, side, quoteId, size: wireSize(asked.value), clientId }, now),
      orderBody,
    );
  };
}

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

const lookupParams = z.object({ id: z.string().min(1).max(128) });

function lookup(exchange: Exchange, { account, params }: Call): Reply<object> {
  const asked = readAs(lookupParams, () => params);
  return asked.ok ? as(exchange.lookup(account, asked.value.id), orderBody) : asked;
}

/** Checks what came in; a refusal in words when it is not what the route takes. */
function readAs<T>(
  schema: z.ZodType<T>,
  read: () => unknown,
): { readonly ok: true; readonly value: T } | Refusal {
  let raw: unknown;
  try {
    raw = read();
  } catch {
    return assumed.malformed('the body is not JSON');
  }
  const result = schema.safeParse(raw);
  if (result.success) return { ok: true, value: result.data };
  const [first] = result.error.issues;
  return assumed.malformed(
    `${first?.path.map(String).join('.') ?? ''} ${first?.message ?? 'unreadable'}`.trim(),
  );
}

/** The same answer with its value written by `write`. */
const as = <T>(reply: Reply<T>, write: (value: T) => object): Reply<object> =>
  reply.ok ? { ...reply, value: write(reply.value) } : reply;
