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
import { readBody } from '../wire/message.ts';
import { orderBody } from '../wire/order-body.ts';
import { orderRequestSchema } from '../wire/order.ts';
import { quoteBody, quoteRequestSchema, wireSize } from '../wire/quote.ts';
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
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Counts against this limit. */
  readonly limit?: LimitedRoute | undefined;
  /** `spec`: in the interface specification. `extra`: a capability that the venue may not have. */
  readonly kind: 'spec' | 'extra';
  readonly access: 'token' | 'open';
  /** The answer as plain JSON. */
  readonly answer: (exchange: Exchange, call: Call) => Reply<object>;
}

const spec = { kind: 'spec', access: 'token' } as const;
const extra = { kind: 'extra', access: 'token' } as const;

/** Every route of the simulated venue. */
export const routes: readonly Route[] = [
  { ...spec, method: 'POST', path: '/v1/quote', limit: 'quote', answer: quote },
  { ...spec, method: 'POST', path: '/v1/orders/buy', limit: 'order', answer: order('buy') },
  { ...spec, method: 'POST', path: '/v1/orders/sell', limit: 'order', answer: order('sell') },
  { ...spec, method: 'GET', path: '/v1/account/transactions', limit: 'transactions', answer: transactions },
  { ...spec, method: 'GET', path: '/v1/account/balance/history', answer: history },
  {
    ...spec,
    method: 'GET',
    path: '/v1/currency',
    answer: (exchange) =>
      as(exchange.currencies(), (all) => all.map((each, index) => currencyBody(each, index + 1))),
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/interest',
    answer: (exchange) => as(exchange.fundingRates(), fundingRatesBody),
  },
  {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/risk-modes',
    answer: (exchange) => as(exchange.riskModes(), riskModesBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/user/balance',
    limit: 'balances',
    answer: (exchange, { account }) => as(exchange.balances(account), balancesBody),
  },
  {
    ...extra,
    method: 'GET',
    path: '/v1/markets/currency-pairs',
    answer: (exchange) => as(exchange.pairs(), pairsBody),
  },
  { ...extra, method: 'GET', path: '/v1/orders/:id', answer: lookup },
  { ...extra, method: 'GET', path: '/v1/health', access: 'open', answer: () => found({ status: 'ok' }) },
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

function transactions(exchange: Exchange, { account, now, query }: Call): Reply<object> {
  const asked = readAs(transactionsQuery, () => query);
  if (!asked.ok) return asked;
  return as(exchange.transactions(account, asked.value, now), (rows) => rows.map(transactionBody));
}

const historyQuery = z.object({
  start_date: time,
  end_date: time.optional(),
  interval: z.enum(['3600', '86400']).default('86400'),
});

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
