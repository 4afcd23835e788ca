import { catchError, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { z } from 'zod';
import { VenueError } from '../core/errors.ts';
import type { Money } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';
import { currencyDetailsSchema, transactionDetailsSchema } from '../wire/account.ts';
import { newAddressBody, newRuleBody, ruleChangeBody } from '../wire/custody.ts';
import type { RuleType } from '../wire/custody.ts';
import { orderViewSchema } from '../wire/orders.ts';
import { pathOf, venueRoutes } from '../wire/routes.ts';
import type { RouteName, VenueRoute } from '../wire/routes.ts';
import { withdrawalRequestBody } from '../wire/withdrawal.ts';
import type { WithdrawalRequest } from '../wire/withdrawal.ts';
import { readerOf } from './answers.ts';
import type { Exchange, VenueHttp } from './http.ts';
import { reachableRoutes } from './routes.ts';

/**
 * All account routes that trading does not need, for the operator at the command line. The daemon never has this
 * client, because its route table (`tradingRoutes`) contains no route that withdraws, whitelists or approves.
 */
export interface AccountVenueOptions {
  readonly http: VenueHttp;
  /** Called with fields of a response that its schema does not know. */
  readonly onExtras: (resource: string, names: readonly string[]) => void;
  /** For a whole exchange. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 15_000;

/** All routes of the account. Orders that execute a quote have their own client and table. */
export const accountRoutes = reachableRoutes(({ operator }) => operator === true);

/** Parameters of the transactions route. Spec: "GET /v1/account/transactions". */
export interface TransactionsAsk {
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly limit?: number | undefined;
  readonly after?: number | undefined;
  readonly offset?: number | undefined;
  /** `deposit,withdraw` and similar. */
  readonly types?: string | undefined;
  /** Whether to include pending deposits and withdrawals. */
  readonly pending?: boolean | undefined;
}

/** Parameters of the order lists. Source: public documentation. */
export interface OrdersAsk {
  readonly pair?: string | undefined;
  readonly side?: Side | undefined;
  /** At most 50. */
  readonly limit?: number | undefined;
  /** Orders older than this id. */
  readonly before?: string | undefined;
}

export interface PositionsAsk {
  readonly status?: 'active' | 'closed' | undefined;
  readonly pair?: string | undefined;
}

export interface NewRule {
  readonly ruleType: RuleType;
  readonly requiredApprovals: number;
  /** USD. */
  readonly threshold?: Money | undefined;
}

export interface RuleChange {
  readonly requiredApprovals?: number | undefined;
  /** USD. */
  readonly threshold?: Money | undefined;
}

type Result<Name extends RouteName> = Observable<z.output<(typeof venueRoutes)[Name]['reply']['schema']>>;

/**
 * The account over HTTP. All calls are cold and sent once. Errors: `VenueError`, with `applied: 'unknown'` if a call
 * that changes something has no clear response.
 */
export interface AccountVenue {
  balances(): Result<'balances'>;
  /** One page; 1 request per 10 s. */
  transactions(ask: TransactionsAsk): Observable<z.output<typeof transactionDetailsSchema>>;
  currencies(): Observable<z.output<typeof currencyDetailsSchema>>;
  pairs(): Result<'pairs'>;
  fees(): Result<'fees'>;
  /** Value in USD; `interval` in seconds. */
  history(ask: { from: Instant; to?: Instant | undefined; interval: 3600 | 86400 }): Result<'history'>;
  trades(ask: { limit?: number | undefined; after?: string | undefined }): Result<'trades'>;
  orders(which: 'open' | 'done', ask: OrdersAsk): Result<'openOrders'>;
  /** Finds an order by the venue's id or the client's. */
  order(id: string): Observable<z.output<typeof orderViewSchema>>;
  cancel(id: string): Result<'cancel'>;
  cancelSeveral(ids: readonly string[]): Result<'cancelSeveral'>;
  cancelAll(): Result<'cancelAll'>;
  /** In units of the currency. `channel`: for usd wires. */
  withdrawFee(currency: string, channel?: string): Result<'withdrawFee'>;
  /** Moves money. */
  withdraw(request: WithdrawalRequest): Result<'withdraw'>;
  depositAddresses(currency: string): Result<'depositAddresses'>;
  newDepositAddress(currency: string): Result<'newDepositAddress'>;
  approvalRules(): Result<'approvalRules'>;
  addRule(rule: NewRule): Result<'addRule'>;
  changeRule(id: string, change: RuleChange): Result<'changeRule'>;
  approvals(ask: { pending: boolean }): Result<'approvals'>;
  /** May release a withdrawal. */
  answerApproval(id: string, approve: boolean): Result<'answerApproval'>;
  whitelist(): Result<'whitelist'>;
  addAddress(address: {
    currency: string;
    address: string;
    alias?: string | undefined;
  }): Result<'addAddress'>;
  removeAddress(id: string): Result<'removeAddress'>;
  ptsMetrics(): Result<'ptsMetrics'>;
  ptsPositions(ask: PositionsAsk): Result<'ptsPositions'>;
  ptsRates(): Result<'ptsRates'>;
  ptsModes(): Result<'ptsModes'>;
  ptsInterest(ask: { limit?: number | undefined }): Result<'ptsInterest'>;
}

type Answered<T> = VenueRoute & { readonly reply: { readonly schema: z.ZodType<T> } };

/** The variable parts of a call: path parameters in order, query, body. */
interface Brought extends Pick<Exchange, 'query' | 'body'> {
  readonly path?: readonly string[];
}

/** The same route, with its response read in more detail. */
const detailed = <T>(route: VenueRoute, schema: z.ZodType<T>): Answered<T> => ({
  ...route,
  reply: { ...route.reply, schema },
});

const yes = (is: boolean | undefined): 'true' | undefined => (is === true ? 'true' : undefined);

/** @see AccountVenue */
export function accountVenue(options: AccountVenueOptions): AccountVenue {
  const { http, timeoutMs = TIMEOUT_MS } = options;
  const reader = readerOf(options);
  const on = venueRoutes;
  const call = <T>(
    resource: string,
    route: Answered<T>,
    { path: parameters = [], query, body }: Brought = {},
  ): Observable<T> => {
    const { method, movesMoney, reply } = route;
    const path = pathOf(route, ...parameters);
    const attempt = `${method} ${path}`;
    const answer$ = http
      .exchange({ method, path, query, body, timeoutMs })
      .pipe(reader.read(resource, attempt, reply.schema));
    return movesMoney === true ? answer$.pipe(unlessRefused(attempt)) : answer$;
  };

  return {
    balances: () => call('balances', on.balances),
    transactions: ({ pending, ...ask }) =>
      call('transactions', detailed(on.transactions, transactionDetailsSchema), {
        query: { ...ask, pending: yes(pending) },
      }),
    currencies: () => call('currency', detailed(on.currencies, currencyDetailsSchema)),
    pairs: () => call('pairs', on.pairs),
    fees: () => call('fee-rates', on.fees),
    history: ({ from, to, interval }) =>
      call('valuation', on.history, { query: { start_date: from, end_date: to, interval } }),
    trades: ({ limit, after }) =>
      call('trades', on.trades, { query: { page_size: limit, last_seen_id: after } }),
    orders: (which, { pair, side, limit, before }) =>
      call('orders', which === 'open' ? on.openOrders : on.doneOrders, {
        query: { currency_pair: pair, action: side, limit, before },
      }),
    order: (id) => call('order', detailed(on.order, orderViewSchema), { path: [id] }),
    cancel: (id) => call('cancel', on.cancel, { path: [id] }),
    cancelSeveral: (ids) => call('cancel', on.cancelSeveral, { query: { ids: ids.join(',') } }),
    cancelAll: () => call('cancel', on.cancelAll),
    withdrawFee: (currency, channel) =>
      call('withdraw-fee', on.withdrawFee, { path: [currency], query: { channel } }),
    withdraw: (request) => call('withdrawal', on.withdraw, { body: withdrawalRequestBody(request) }),
    depositAddresses: (currency) => call('deposit-address', on.depositAddresses, { path: [currency] }),
    newDepositAddress: (currency) => call('deposit-address', on.newDepositAddress, { path: [currency] }),
    approvalRules: () => call('approval-rules', on.approvalRules),
    addRule: (rule) => call('approval-rule', on.addRule, { body: newRuleBody(rule) }),
    changeRule: (id, change) =>
      call('approval-rule', on.changeRule, { path: [id], body: ruleChangeBody(change) }),
    approvals: ({ pending }) => call('approvals', on.approvals, { query: { pending: yes(pending) } }),
    answerApproval: (id, approve) =>
      call('approval', on.answerApproval, { path: [id], body: JSON.stringify({ approve }) }),
    whitelist: () => call('whitelist', on.whitelist),
    addAddress: (address) => call('whitelisted-address', on.addAddress, { body: newAddressBody(address) }),
    removeAddress: (id) => call('whitelisted-address', on.removeAddress, { path: [id] }),
    ptsMetrics: () => call('pts', on.ptsMetrics),
    ptsPositions: ({ status, pair }) => call('positions', on.ptsPositions, { query: { status, pair } }),
    ptsRates: () => call('interest', on.ptsRates),
    ptsModes: () => call('risk-modes', on.ptsModes),
    ptsInterest: ({ limit }) => call('interest-history', on.ptsInterest, { query: { limit } }),
  };
}

/**
 * A call may have been executed unless the venue clearly refused it. This is so, for example, after a 5xx, or after a
 * success status with an invalid body.
 */
const unlessRefused =
  <T>(attempt: string) =>
  (answer$: Observable<T>): Observable<T> =>
    answer$.pipe(
      catchError((error: unknown) => {
        const isOpen =
          error instanceof VenueError &&
          error.applied === 'no' &&
          (error.code === 'unavailable' || error.code === 'unreadable');
        if (!isOpen) return throwError(() => error);
        const { code, sent, status, said, cause } = error;
        return throwError(
          () => new VenueError({ code, applied: 'unknown', attempt, sent, status, said, cause }),
        );
      }),
    );
