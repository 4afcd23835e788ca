import { catchError, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { z } from 'zod';
import { VenueError } from '../core/errors.ts';
import type { Money } from '../core/money.ts';
import type { Instant } from '../core/time.ts';
import type { Side } from '../core/venue.ts';
import {
  balancesSchema,
  currencyDetailsSchema,
  fundingRatesSchema,
  pairsSchema,
  riskModesSchema,
  transactionDetailsSchema,
  valuationSchema,
} from '../wire/account.ts';
import {
  approvalRequestsSchema,
  approvalRuleSchema,
  approvalRulesSchema,
  emptySchema,
  newAddressBody,
  newRuleBody,
  ruleChangeBody,
  whitelistedAddressSchema,
  whitelistSchema,
} from '../wire/custody.ts';
import type { RuleType } from '../wire/custody.ts';
import { feeRatesSchema } from '../wire/market.ts';
import {
  cancelManySchema,
  cancelOneSchema,
  ordersSchema,
  orderViewSchema,
  ownTradesSchema,
} from '../wire/orders.ts';
import { interestHistorySchema, ptsMetricsSchema, ptsPositionsSchema } from '../wire/pts.ts';
import { depositAddressesSchema, newDepositAddressSchema } from '../wire/transfers.ts';
import { withdrawalRequestBody, withdrawalResultSchema, withdrawFeeSchema } from '../wire/withdrawal.ts';
import type { WithdrawalRequest } from '../wire/withdrawal.ts';
import { readerOf } from './answers.ts';
import type { Exchange, VenueHttp } from './http.ts';
import { ANSWER_BYTES_MAX, LIST_BYTES_MAX, TRANSACTIONS_BYTES_MAX } from './routes.ts';
import type { Method, Route } from './routes.ts';

/**
 * Everything of the account that trading does not need, for the operator at the command line. The daemon never has this
 * client: its own table of routes (`tradingRoutes`) has none of the routes that withdraw, whitelist or approve.
 */
export interface AccountVenueOptions {
  readonly http: VenueHttp;
  /** Told the fields of an answer that its schema does not know. */
  readonly onExtras: (resource: string, names: readonly string[]) => void;
  /** For a whole exchange. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 15_000;

const read = (path: string, capBytes = LIST_BYTES_MAX): Route => ({ method: 'GET', path, capBytes });
/** A failure after the first byte leaves open what happened: such calls are made once, and errors say so. */
const move = (method: Method, path: string): Route => ({
  method,
  path,
  capBytes: ANSWER_BYTES_MAX,
  movesMoney: true,
});

/** All routes of the account. Orders against quotes have their own client and table. */
export const accountRoutes: readonly Route[] = [
  read('/v1/user/balance'),
  read('/v1/account/transactions', TRANSACTIONS_BYTES_MAX),
  read('/v1/currency'),
  read('/v1/markets/currency-pairs'),
  read('/v1/account/fee-rates'),
  read('/v1/account/balance/history'),
  read('/v1/account/trades'),
  read('/v1/orders'),
  read('/v1/orders/done'),
  read('/v1/orders/:id', ANSWER_BYTES_MAX),
  move('DELETE', '/v1/orders/open'),
  move('DELETE', '/v1/orders/:id'),
  move('DELETE', '/v1/orders'),
  read('/v1/withdraw-fee/:currency', ANSWER_BYTES_MAX),
  move('POST', '/v1/user/withdraw'),
  read('/v1/user/deposit/address/:currency'),
  move('POST', '/v1/user/deposit/address/:currency'),
  read('/v1/approval-rules'),
  move('POST', '/v1/approval-rules'),
  move('PATCH', '/v1/approval-rules/:id'),
  read('/v1/approvals'),
  move('POST', '/v1/approvals/:id'),
  read('/v1/whitelisted-addresses'),
  move('POST', '/v1/whitelisted-addresses'),
  move('DELETE', '/v1/whitelisted-addresses/:id'),
  read('/v1/post-trade-settlement', ANSWER_BYTES_MAX),
  read('/v1/post-trade-settlement/positions'),
  read('/v1/post-trade-settlement/interest'),
  read('/v1/post-trade-settlement/interest/history'),
  read('/v1/post-trade-settlement/risk-modes'),
];

/** What the transactions route can be asked. Spec: "GET /v1/account/transactions". */
export interface TransactionsAsk {
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly limit?: number | undefined;
  readonly after?: number | undefined;
  readonly offset?: number | undefined;
  /** `deposit,withdraw` and alike. */
  readonly types?: string | undefined;
  /** Whether deposits and withdrawals that are not done are wanted as well. */
  readonly pending?: boolean | undefined;
}

/** What the lists of orders can be asked. Source: public documentation. */
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

type Result<Schema extends z.ZodType> = Observable<z.output<Schema>>;

/**
 * The account over HTTP. All calls are cold and made once. Errors: `VenueError`; `applied: 'unknown'` when a call that
 * changes anything has no clear answer.
 */
export interface AccountVenue {
  balances(): Result<typeof balancesSchema>;
  /** One page, 1 request a 10 s. */
  transactions(ask: TransactionsAsk): Result<typeof transactionDetailsSchema>;
  currencies(): Result<typeof currencyDetailsSchema>;
  pairs(): Result<typeof pairsSchema>;
  fees(): Result<typeof feeRatesSchema>;
  /** Value in USD; `interval` in seconds. */
  history(ask: {
    from: Instant;
    to?: Instant | undefined;
    interval: 3600 | 86400;
  }): Result<typeof valuationSchema>;
  trades(ask: { limit?: number | undefined; after?: string | undefined }): Result<typeof ownTradesSchema>;
  orders(which: 'open' | 'done', ask: OrdersAsk): Result<typeof ordersSchema>;
  /** By the id of the venue or of the client. */
  order(id: string): Result<typeof orderViewSchema>;
  cancel(id: string): Result<typeof cancelOneSchema>;
  cancelSeveral(ids: readonly string[]): Result<typeof cancelManySchema>;
  cancelAll(): Result<typeof cancelManySchema>;
  /** In the currency. `channel`: wires of usd. */
  withdrawFee(currency: string, channel?: string): Result<typeof withdrawFeeSchema>;
  /** Moves money. */
  withdraw(request: WithdrawalRequest): Result<typeof withdrawalResultSchema>;
  depositAddresses(currency: string): Result<typeof depositAddressesSchema>;
  newDepositAddress(currency: string): Result<typeof newDepositAddressSchema>;
  approvalRules(): Result<typeof approvalRulesSchema>;
  addRule(rule: NewRule): Result<typeof approvalRuleSchema>;
  changeRule(id: string, change: RuleChange): Result<typeof approvalRuleSchema>;
  approvals(ask: { pending: boolean }): Result<typeof approvalRequestsSchema>;
  /** May let a withdrawal go. */
  answerApproval(id: string, approve: boolean): Result<typeof emptySchema>;
  whitelist(): Result<typeof whitelistSchema>;
  addAddress(address: {
    currency: string;
    address: string;
    alias?: string | undefined;
  }): Result<typeof whitelistedAddressSchema>;
  removeAddress(id: string): Result<typeof emptySchema>;
  ptsMetrics(): Result<typeof ptsMetricsSchema>;
  ptsPositions(ask: PositionsAsk): Result<typeof ptsPositionsSchema>;
  ptsRates(): Result<typeof fundingRatesSchema>;
  ptsModes(): Result<typeof riskModesSchema>;
  ptsInterest(ask: { limit?: number | undefined }): Result<typeof interestHistorySchema>;
}

type Call = Pick<Exchange, 'method' | 'path' | 'query' | 'body'>;

/** @see AccountVenue */
export function accountVenue(options: AccountVenueOptions): AccountVenue {
  const { http } = options;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const reader = readerOf(options);
  const call = <T>(resource: string, request: Call, schema: z.ZodType<T>): Observable<T> => {
    const attempt = `${request.method} ${request.path}`;
    return http.exchange({ ...request, timeoutMs }).pipe(reader.read(resource, attempt, schema));
  };
  const get = <T>(
    resource: string,
    path: string,
    schema: z.ZodType<T>,
    query?: Exchange['query'],
  ): Observable<T> => call(resource, { method: 'GET', path, query }, schema);
  const once = <T>(resource: string, request: Call, schema: z.ZodType<T>): Observable<T> =>
    call(resource, request, schema).pipe(unlessRefused(`${request.method} ${request.path}`));
  const segment = encodeURIComponent;
  const pts = '/v1/post-trade-settlement';

  return {
    balances: () => get('balances', '/v1/user/balance', balancesSchema),
    transactions: ({ pending, ...ask }) =>
      get('transactions', '/v1/account/transactions', transactionDetailsSchema, {
        ...ask,
        pending: pending === true ? 'true' : undefined,
      }),
    currencies: () => get('currency', '/v1/currency', currencyDetailsSchema),
    pairs: () => get('pairs', '/v1/markets/currency-pairs', pairsSchema),
    fees: () => get('fee-rates', '/v1/account/fee-rates', feeRatesSchema),
    history: ({ from, to, interval }) =>
      get('valuation', '/v1/account/balance/history', valuationSchema, {
        start_date: from,
        end_date: to,
        interval,
      }),
    trades: ({ limit, after }) =>
      get('trades', '/v1/account/trades', ownTradesSchema, { page_size: limit, last_seen_id: after }),
    orders: (which, { pair, side, limit, before }) =>
      get('orders', which === 'open' ? '/v1/orders' : '/v1/orders/done', ordersSchema, {
        currency_pair: pair,
        action: side,
        limit,
        before,
      }),
    order: (id) => get('order', `/v1/orders/${segment(id)}`, orderViewSchema),
    cancel: (id) => once('cancel', { method: 'DELETE', path: `/v1/orders/${segment(id)}` }, cancelOneSchema),
    cancelSeveral: (ids) =>
      once(
        'cancel',
        { method: 'DELETE', path: '/v1/orders', query: { ids: ids.join(',') } },
        cancelManySchema,
      ),
    cancelAll: () => once('cancel', { method: 'DELETE', path: '/v1/orders/open' }, cancelManySchema),
    withdrawFee: (currency, channel) =>
      get('withdraw-fee', `/v1/withdraw-fee/${segment(currency)}`, withdrawFeeSchema, { channel }),
    withdraw: (request) =>
      once(
        'withdrawal',
        { method: 'POST', path: '/v1/user/withdraw', body: withdrawalRequestBody(request) },
        withdrawalResultSchema,
      ),
    depositAddresses: (currency) =>
      get('deposit-address', `/v1/user/deposit/address/${segment(currency)}`, depositAddressesSchema),
    newDepositAddress: (currency) =>
      once(
        'deposit-address',
        { method: 'POST', path: `/v1/user/deposit/address/${segment(currency)}` },
        newDepositAddressSchema,
      ),
    approvalRules: () => get('approval-rules', '/v1/approval-rules', approvalRulesSchema),
    addRule: (rule) =>
      once(
        'approval-rule',
        { method: 'POST', path: '/v1/approval-rules', body: newRuleBody(rule) },
        approvalRuleSchema,
      ),
    changeRule: (id, change) =>
      once(
        'approval-rule',
        { method: 'PATCH', path: `/v1/approval-rules/${segment(id)}`, body: ruleChangeBody(change) },
        approvalRuleSchema,
      ),
    approvals: ({ pending }) =>
      get('approvals', '/v1/approvals', approvalRequestsSchema, { pending: pending ? 'true' : undefined }),
    answerApproval: (id, approve) =>
      once(
        'approval',
        { method: 'POST', path: `/v1/approvals/${segment(id)}`, body: JSON.stringify({ approve }) },
        emptySchema,
      ),
    whitelist: () => get('whitelist', '/v1/whitelisted-addresses', whitelistSchema),
    addAddress: (address) =>
      once(
        'whitelisted-address',
        { method: 'POST', path: '/v1/whitelisted-addresses', body: newAddressBody(address) },
        whitelistedAddressSchema,
      ),
    removeAddress: (id) =>
      once(
        'whitelisted-address',
        { method: 'DELETE', path: `/v1/whitelisted-addresses/${segment(id)}` },
        emptySchema,
      ),
    ptsMetrics: () => get('pts', pts, ptsMetricsSchema),
    ptsPositions: ({ status, pair }) =>
      get('positions', `${pts}/positions`, ptsPositionsSchema, { status, pair }),
    ptsRates: () => get('interest', `${pts}/interest`, fundingRatesSchema),
    ptsModes: () => get('risk-modes', `${pts}/risk-modes`, riskModesSchema),
    ptsInterest: ({ limit }) =>
      get('interest-history', `${pts}/interest/history`, interestHistorySchema, { limit }),
  };
}

/** An answer that is no clear refusal may hide that the call was carried out: a 5xx, or a good status with a bad body. */
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
