import { defer, map, of, switchMap, throwError, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../core/errors.ts';
import type {
  Order,
  OrderAnswer,
  OrderRequest,
  QuoteAnswer,
  QuoteRequest,
  RiskMode,
  Transaction,
} from '../core/venue.ts';
import type { MaybeAsync } from '../engine/maybe-async.ts';
import type { Clock, VenuePort } from '../engine/ports.ts';
import type { Exchange } from './exchange/exchange.ts';
import { namesSettlement } from '../wire/account.ts';
import { ROUTE_COOL_DOWN_MS } from '../wire/constants.ts';
import type { LimitedRoute } from '../wire/routes.ts';
import type { LedgerRow } from './ledger/leg.ts';
import type { RiskModeText } from './options/options.ts';
import type { Refusal, Reply } from './http/reply.ts';
import { steadyTime } from './exchange/steady-time.ts';

export interface PortOptions {
  /** Name of the account; default: the first of the exchange. */
  readonly account?: string | undefined;
  readonly clock: Clock;
  /** Time from the request to the response, half of it in each direction; 0: in the same tick. */
  readonly quoteLatencyMs?: number | undefined;
  readonly orderLatencyMs?: number | undefined;
  /** Whether the routes beyond the specification are available: balances, pairs, order lookup. */
  readonly capabilities?: 'all' | 'none' | undefined;
}

/** The exchange as the engine's venue port, without a network, with the same rules and limits, on any clock. */
export function inProcessVenue(exchange: Exchange, options: PortOptions): VenuePort {
  const { clock, quoteLatencyMs = 0, orderLatencyMs = 0, capabilities = 'all' } = options;
  const now = steadyTime(clock);
  const account = options.account ?? exchange.accounts[0]?.name ?? '';

  const read = <T>(attempt: string, ask: () => Reply<T>, route?: LimitedRoute): Observable<T> =>
    defer(() => {
      const reply = (route === undefined ? undefined : exchange.admit(route, account, now())) ?? ask();
      return reply.ok ? of(reply.value) : throwError(() => errorOf(attempt, reply));
    });

  return {
    quote: (request: QuoteRequest) =>
      travelled(clock, quoteLatencyMs, (): QuoteAnswer => {
        const at = now();
        const reply = exchange.admit('quote', account, at) ?? exchange.quote(account, request, at);
        return reply.ok ? { kind: 'quote', quote: reply.value } : answerOf(reply);
      }),

    order: (request: OrderRequest) =>
      travelled(clock, orderLatencyMs, (): OrderAnswer => {
        const at = now();
        const reply = exchange.admit('order', account, at) ?? exchange.order(account, request, at);
        return reply.ok ? { kind: 'order', status: reply.status, order: reply.value } : answerOf(reply);
      }),

    transactions: ({ after, ...query }) => {
      const asked = { ...query, after: after === undefined ? undefined : Number(after) };
      return read('transactions', () => exchange.transactions(account, asked, now()), 'transactions').pipe(
        map((rows) => rows.map(transactionOf)),
      );
    },
    currencies: () => read('currencies', () => exchange.currencies()),
    fundingRates: () => read('funding rates', () => exchange.fundingRates()),
    riskModes: () => read('risk modes', () => exchange.riskModes()).pipe(map(modesByPair)),
    creditMetrics: () => read('risk metrics', () => exchange.metrics(account, now())),
    valuation: (since) =>
      read('balance history', () => exchange.valuation(account, { from: since, interval: 'hour' }, now())),

    ...(capabilities === 'none'
      ? {}
      : {
          balances: () => read('balances', () => exchange.balances(account), 'balances'),
          pairs: () => read('currency pairs', () => exchange.pairs()),
          lookup: (clientId: string): Observable<Order | undefined> =>
            defer(() => {
              const reply = exchange.lookup(account, clientId);
              if (reply.ok) return of<Order | undefined>(reply.value);
              return reply.status === 404 ? of(undefined) : throwError(() => errorOf('order look-up', reply));
            }),
        }),
  };
}

/** The engine's view of a row: ids are text. */
const transactionOf = ({ id, ...row }: LedgerRow): Transaction => ({
  ...row,
  id: String(id),
  ...(row.orderId === undefined && namesSettlement(row.description ?? '') ? { isSettlement: true } : {}),
});

/** Waits half the latency, calls the exchange, and waits the other half. */
function travelled<T>(clock: Clock, latencyMs: number, work: () => T): MaybeAsync<T> {
  if (latencyMs === 0) return work();
  const half = latencyMs / 2;
  return timer(half, clock.scheduler).pipe(
    map(work),
    switchMap((answer) => timer(half, clock.scheduler).pipe(map(() => answer))),
  );
}

const answerOf = ({ status, error }: Refusal): Extract<QuoteAnswer & OrderAnswer, { kind: 'error' }> => ({
  kind: 'error',
  status,
  error,
  retryAfterMs: status === 429 ? ROUTE_COOL_DOWN_MS : undefined,
});

const errorOf = (attempt: string, refusal: Refusal): VenueError => {
  const { status, error: said, retryAfterMs } = answerOf(refusal);
  return new VenueError({ code: codeOf(status), applied: 'no', attempt, status, said, retryAfterMs });
};

function codeOf(status: number): VenueError['code'] {
  if (status === 401 || status === 403) return 'unauthorised';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'unavailable' : 'refused';
}

function modesByPair(
  modes: readonly { readonly pair: string; readonly mode: RiskModeText }[],
): ReadonlyMap<string, RiskMode> {
  return new Map(modes.map(({ pair, mode }) => [pair, mode === 'Reduce_Only' ? 'Reduce-Only' : mode]));
}
