import { defer, EMPTY, map, merge, Observable, of, tap } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { z } from 'zod';
import { VenueError } from '../core/errors.ts';
import type { Pair } from '../core/pairs.ts';
import type {
  FundingRate,
  Order,
  OrderAnswer,
  OrderRequest,
  QuoteAnswer,
  QuoteRequest,
  RiskMode,
} from '../core/venue.ts';
import type { VenuePort } from '../engine/ports.ts';
import {
  balancesSchema,
  currenciesSchema,
  errorSchema,
  fundingRatesSchema,
  pairsSchema,
  riskModesSchema,
  transactionsSchema,
  valuationSchema,
} from '../wire/account.ts';
import { readBody, readMessage } from '../wire/message.ts';
import type { Read } from '../wire/message.ts';
import { orderRequestBody, orderSchema } from '../wire/order.ts';
import { quoteRequestBody, readQuote } from '../wire/quote.ts';
import type { Reply } from './call.ts';
import type { Exchange, VenueHttp } from './http.ts';
import type { Capabilities } from './routes.ts';

export interface TradingOptions {
  readonly http: VenueHttp;
  readonly capabilities: Capabilities;
  /** Path that sells, `POST`. Without it nothing is ever sold: the specification does not show it. */
  readonly sellPath?: string | undefined;
  readonly orderTimeoutMs: number;
  /** For quotes and reads. */
  readonly readTimeoutMs?: number | undefined;
  /** Told the fields of an answer that its schema does not know. */
  readonly onExtras: (resource: string, names: readonly string[]) => void;
}

const READ_TIMEOUT_MS = 15_000;
type Failure = Exclude<QuoteAnswer, { readonly kind: 'quote' }>;
type Told<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly answer: Failure };

/** The venue over HTTP, as the engine sees it. Calls are made once; every answer is read into our own words. */
export function tradingVenue(options: TradingOptions): VenuePort {
  const { http, capabilities, sellPath, orderTimeoutMs } = options;
  const timeoutMs = options.readTimeoutMs ?? READ_TIMEOUT_MS;
  const reader = readerOf(options);
  const list = <T>(
    resource: string,
    path: string,
    schema: z.ZodType<T>,
    query?: Exchange['query'],
  ): Observable<T> =>
    http
      .exchange({ method: 'GET', path, query, timeoutMs })
      .pipe(reader.read(resource, `GET ${path}`, schema));
  let quoting = 0;

  return {
    quote: (request: QuoteRequest) => {
      const answer$ = http
        .exchange({ method: 'POST', path: '/v1/quote', body: quoteRequestBody(request), timeoutMs })
        .pipe(answered((reply) => reader.quote(reply)));
      if (request.clientId === undefined) return answer$;
      // An order may follow each of these quotes: its connection is opened while the venue thinks.
      const warmed$ = defer(() => {
        http.warm(quoting);
        return EMPTY;
      });
      return merge(answer$, warmed$).pipe(
        tap({ subscribe: () => (quoting += 1), finalize: () => (quoting -= 1) }),
      );
    },

    order: (request: OrderRequest) => {
      const path = request.side === 'buy' ? '/v1/orders/buy' : sellPath;
      if (path === undefined) {
        return of<OrderAnswer>({ kind: 'lost', sent: false, why: 'selling is off: set venue.sell_path' });
      }
      return http
        .exchange({
          method: 'POST',
          path,
          body: orderRequestBody(request),
          timeoutMs: orderTimeoutMs,
          lane: 'at_once',
        })
        .pipe(answered((reply) => reader.order(reply)));
    },

    transactions: ({ from, limit, offset, after }) =>
      list('transactions', '/v1/account/transactions', transactionsSchema, { from, limit, offset, after }),
    currencies: () => list('currency', '/v1/currency', currenciesSchema),
    fundingRates: () =>
      list('interest', '/v1/post-trade-settlement/interest', fundingRatesSchema).pipe(map(fundingRatesOf)),
    riskModes: () =>
      list('risk-modes', '/v1/post-trade-settlement/risk-modes', riskModesSchema).pipe(map(riskModesOf)),
    valuation: (from) =>
      list('valuation', '/v1/account/balance/history', valuationSchema, {
        start_date: from,
        interval: 3600,
      }).pipe(map(({ data }) => data)),

    balances:
      capabilities.balances === true ? () => list('balances', '/v1/user/balance', balancesSchema) : undefined,
    pairs:
      capabilities.pairs === true
        ? () => list('pairs', '/v1/markets/currency-pairs', pairsSchema).pipe(map(pairsOf))
        : undefined,
    lookup:
      capabilities.orderLookup === true
        ? (clientId) =>
            http
              .exchange({ method: 'GET', path: `/v1/orders/${encodeURIComponent(clientId)}`, timeoutMs })
              .pipe(map((reply) => reader.lookup(reply)))
        : undefined,
  };
}

interface Reader {
  quote(reply: Reply): QuoteAnswer;
  order(reply: Reply): OrderAnswer;
  lookup(reply: Reply): Order | undefined;
  read<T>(resource: string, attempt: string, schema: z.ZodType<T>): OperatorFunction<Reply, T>;
}

function readerOf({ http, onExtras }: TradingOptions): Reader {
  const garbled = (status: number, why: string): Failure => ({
    kind: 'garbled',
    status,
    why: http.clean(why),
  });

  const told = <T>(resource: string, reply: Reply, read: (body: unknown) => Read<T>): Told<T> => {
    const { status, body, retryAfterMs } = reply;
    let parsed: unknown;
    try {
      parsed = readBody(body);
    } catch {
      return { ok: false, answer: garbled(status, `not JSON: ${body === '' ? '(empty)' : body}`) };
    }
    if (status >= 200 && status < 300) {
      const message = read(parsed);
      if (!message.ok) return { ok: false, answer: garbled(status, message.why) };
      if (message.extras.length > 0)
        onExtras(
          resource,
          message.extras.map((name) => http.clean(name)),
        );
      return { ok: true, value: message.value };
    }
    const refusal = errorSchema.safeParse(parsed);
    if (!refusal.success) return { ok: false, answer: garbled(status, 'no {error} in the answer') };
    return {
      ok: false,
      answer: { kind: 'error', status, error: http.clean(refusal.data.error), retryAfterMs },
    };
  };

  const must = <T>(attempt: string, reply: Reply, answer: Told<T>): T => {
    if (answer.ok) return answer.value;
    throw errorOf(attempt, reply, answer.answer);
  };

  return {
    quote(reply) {
      const answer = told('quote', reply, readQuote);
      return answer.ok ? { kind: 'quote', quote: answer.value } : answer.answer;
    },
    order(reply) {
      const answer = told('order', reply, readOrder);
      return answer.ok ? { kind: 'order', status: reply.status, order: answer.value } : answer.answer;
    },
    lookup(reply) {
      const answer = told('order', reply, readOrder);
      // Beyond the spec, 7.1: how an unknown order is told is not documented; these three with an {error} are taken so.
      const isUnknown =
        !answer.ok && answer.answer.kind === 'error' && [400, 404, 422].includes(reply.status);
      return isUnknown ? undefined : must('GET /v1/orders/:id', reply, answer);
    },
    read: (resource, attempt, schema) =>
      map((reply) =>
        must(
          attempt,
          reply,
          told(resource, reply, (body) => readMessage(schema, body)),
        ),
      ),
  };
}

/** A read that did not give what was asked for, as the error it is. */
function errorOf(attempt: string, { status, retryAfterMs }: Reply, failure: Failure): VenueError {
  const said = failure.kind === 'error' ? failure.error : failure.why;
  const detail = { applied: 'no', sent: true, attempt, status, said, retryAfterMs } as const;
  if (status === 401 || status === 403) return new VenueError({ ...detail, code: 'unauthorised' });
  if (status === 429) return new VenueError({ ...detail, code: 'rate_limited' });
  if (status >= 500) return new VenueError({ ...detail, code: 'unavailable' });
  return new VenueError({ ...detail, code: failure.kind === 'error' ? 'refused' : 'unreadable' });
}

const readOrder = (body: unknown): Read<Order> => readMessage(orderSchema, body);

/** Turns a call into its answer: the reply as `read` reads it, or what became of a call that had no whole reply. */
const answered =
  <T>(read: (reply: Reply) => T): OperatorFunction<Reply, T | Failure> =>
  (reply$) =>
    new Observable((subscriber) =>
      reply$.subscribe({
        next: (reply) => subscriber.next(read(reply)),
        error: (error: unknown) => {
          if (error instanceof VenueError) {
            subscriber.next(lostOf(error));
            subscriber.complete();
          } else subscriber.error(error);
        },
        complete: () => subscriber.complete(),
      }),
    );

/** With a status there was at least the head of an answer. */
function lostOf(error: VenueError): Failure {
  const why = error.cause instanceof Error ? `${error.code}: ${error.cause.message}` : error.code;
  if (error.status !== undefined) return { kind: 'garbled', status: error.status, why };
  return { kind: 'lost', sent: error.sent !== false, why };
}

const fundingRatesOf = (body: z.output<typeof fundingRatesSchema>): readonly FundingRate[] =>
  Object.entries(body).map(([currency, rate]) => ({
    currency: currency.toLowerCase(),
    annualRate: rate.interest_rate,
    graceMinutes: rate.interest_grace_period_minutes,
    frequencyMinutes: rate.interest_frequency_minutes,
  }));

function riskModesOf({ data }: z.output<typeof riskModesSchema>): ReadonlyMap<string, RiskMode> {
  const modes = new Map<string, RiskMode>();
  for (const { currency_pair: pair, risk_mode: mode } of data) {
    if (mode !== undefined) modes.set(pair.toLowerCase(), mode);
  }
  return modes;
}

const pairsOf = (body: z.output<typeof pairsSchema>): readonly Pair[] =>
  Object.values(body).map(({ symbol, base, quote }) => ({
    pair: symbol.toLowerCase(),
    base: base.toLowerCase(),
    quote: quote.toLowerCase(),
  }));
