import { defer, map, merge, of, take, tap, throwIfEmpty } from 'rxjs';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import type { Pair } from '../core/pairs.ts';
import type { FundingRate, OrderAnswer, OrderRequest, QuoteRequest, RiskMode } from '../core/venue.ts';
import type { VenuePort } from '../engine/ports.ts';
import {
  anyRow,
  balancesSchema,
  currenciesSchema,
  pairsSchema,
  readableModesSchema,
  readableRatesSchema,
  transactionOf,
  valuationSchema,
} from '../wire/account.ts';
import { orderRequestBody } from '../wire/order.ts';
import { ptsMetricsSchema } from '../wire/pts.ts';
import { quoteRequestBody } from '../wire/quote.ts';
import { pathOf, venueRoutes } from '../wire/routes.ts';
import type { Capabilities } from '../wire/routes.ts';
import { answered, readerOf } from './answers.ts';
import type { Exchange, VenueHttp } from './http.ts';
import { atOnce, inParts } from './turns.ts';
import type { Turns } from './turns.ts';

export interface TradingOptions {
  readonly http: VenueHttp;
  readonly capabilities: Capabilities;
  /** Path for sell orders (`POST`), which the specification does not name. Omitted: the desk never sells. */
  readonly sellPath?: string | undefined;
  readonly orderTimeoutMs: number;
  /** For quotes and reads. */
  readonly readTimeoutMs?: number | undefined;
  /** Called with the fields of a response that its schema does not know. */
  readonly onExtras: (resource: string, names: readonly string[]) => void;
  /** Called with the rows of a list that could not be read and are dropped. */
  readonly onUnreadable?: ((list: string, rows: readonly string[]) => void) | undefined;
  /** How the parts of a long list are read; default: all at once. */
  readonly turns?: Turns | undefined;
}

const READ_TIMEOUT_MS = 15_000;
/** The venue over HTTP, as the engine uses it. Sends each call once, and translates every response into the types of `core`. */
export function tradingVenue(options: TradingOptions): VenuePort {
  const { http, capabilities, sellPath, orderTimeoutMs } = options;
  const timeoutMs = options.readTimeoutMs ?? READ_TIMEOUT_MS;
  const reader = readerOf(options);
  const on = venueRoutes;
  const list = <T>(
    resource: string,
    path: string,
    schema: z.ZodType<T>,
    query?: Exchange['query'],
  ): Observable<T> =>
    http
      .exchange({ method: 'GET', path, query, timeoutMs })
      .pipe(reader.read(resource, `GET ${path}`, schema));
  const onUnreadable = onceEach(options.onUnreadable ?? (() => undefined));
  let quoting = 0;

  return {
    skewMs: () => http.skewMs(),

    quote: (request: QuoteRequest) => {
      const answer$ = http
        .exchange({ method: 'POST', path: on.quote.path, body: quoteRequestBody(request), timeoutMs })
        .pipe(answered((reply) => reader.quote(reply)));
      if (request.clientId === undefined) return answer$;
      // An order may follow each of these quotes, so this process prepares for it while the venue computes the quote.
      const warm$ = defer(() => http.warm(quoting));
      return merge(answer$.pipe(throwIfEmpty()), warm$).pipe(
        take(1),
        tap({ subscribe: () => (quoting += 1), finalize: () => (quoting -= 1) }),
      );
    },

    order: (request: OrderRequest) => {
      const path = request.side === 'buy' ? on.buy.path : sellPath;
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

    shut: () => {
      http.shut();
    },

    transactions: ({ from, to, limit, offset, after, types, pending }) =>
      list('transactions', on.transactions.path, z.array(anyRow), {
        from,
        to,
        limit,
        offset,
        after,
        types: types && [...types].join(','),
        pending: pending === true ? 'true' : undefined,
      }).pipe(inParts(options.turns ?? atOnce, transactionOf)),
    currencies: () => list('currency', on.currencies.path, currenciesSchema),
    fundingRates: () =>
      list('interest', on.ptsRates.path, readableRatesSchema).pipe(
        map((body) => fundingRatesOf(body, onUnreadable)),
      ),
    riskModes: () =>
      list('risk-modes', on.ptsModes.path, readableModesSchema).pipe(
        map((body) => riskModesOf(body, onUnreadable)),
      ),
    creditMetrics: () => list('risk metrics', on.ptsMetrics.path, ptsMetricsSchema),
    valuation: (from) =>
      list('valuation', on.history.path, valuationSchema, {
        start_date: from,
        interval: 3600,
      }).pipe(map(({ data }) => data)),

    balances:
      capabilities.balances === true ? () => list('balances', on.balances.path, balancesSchema) : undefined,
    pairs:
      capabilities.pairs === true
        ? () => list('pairs', on.pairs.path, pairsSchema).pipe(map(pairsOf))
        : undefined,
    lookup:
      capabilities.orderLookup === true
        ? (clientId) =>
            http
              .exchange({ method: 'GET', path: pathOf(on.order, clientId), timeoutMs })
              .pipe(map((reply) => reader.lookup(reply)))
        : undefined,
  };
}

type OnUnreadable = NonNullable<TradingOptions['onUnreadable']>;

function fundingRatesOf(
  body: z.output<typeof readableRatesSchema>,
  onUnreadable: OnUnreadable,
): readonly FundingRate[] {
  const bad: string[] = [];
  const rates = Object.entries(body).flatMap(([currency, rate]): readonly FundingRate[] => {
    if (rate === undefined) {
      bad.push(currency);
      return [];
    }
    return [
      {
        currency: currency.toLowerCase(),
        annualRate: rate.interest_rate,
        graceMinutes: rate.interest_grace_period_minutes,
        frequencyMinutes: rate.interest_frequency_minutes,
      },
    ];
  });
  onUnreadable('funding rates', bad);
  return rates;
}

function riskModesOf(
  { data }: z.output<typeof readableModesSchema>,
  onUnreadable: OnUnreadable,
): ReadonlyMap<string, RiskMode> {
  const modes = new Map<string, RiskMode>();
  const bad: string[] = [];
  for (const [n, row] of data.entries()) {
    if (row?.risk_mode === undefined) bad.push(row?.currency_pair ?? `row ${n + 1}`);
    else modes.set(row.currency_pair.toLowerCase(), row.risk_mode);
  }
  onUnreadable('risk modes', bad);
  return modes;
}

/** Reports unreadable rows once, and again when they change, because the lists are read every minute. */
function onceEach(tell: OnUnreadable): OnUnreadable {
  const known = new Map<string, string>();
  return (list, rows) => {
    const now = rows.join(', ');
    if ((known.get(list) ?? '') === now) return;
    known.set(list, now);
    if (rows.length > 0) tell(list, rows);
  };
}

const pairsOf = (body: z.output<typeof pairsSchema>): readonly Pair[] =>
  Object.values(body).map(({ symbol, base, quote }) => ({
    pair: symbol.toLowerCase(),
    base: base.toLowerCase(),
    quote: quote.toLowerCase(),
  }));
