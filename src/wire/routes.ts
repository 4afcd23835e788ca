import { z } from 'zod';
import {
  balancesSchema,
  currenciesSchema,
  fundingRatesSchema,
  pairsSchema,
  riskModesSchema,
  transactionsSchema,
  valuationSchema,
} from './account.ts';
import {
  approvalAnswerSchema,
  approvalRequestsSchema,
  approvalRuleSchema,
  approvalRulesSchema,
  emptySchema,
  newAddressSchema,
  newRuleSchema,
  ruleChangeSchema,
  whitelistSchema,
  whitelistedAddressSchema,
} from './custody.ts';
import { candlesSchema, feeRatesSchema, orderBookSchema } from './market.ts';
import { wirePrice } from './message.ts';
import { orderRequestSchema, orderSchema } from './order.ts';
import {
  cancelManySchema,
  cancelOneSchema,
  limitOrderSchema,
  ordersSchema,
  ownTradesSchema,
} from './orders.ts';
import { interestHistorySchema, ptsMetricsSchema, ptsPositionsSchema } from './pts.ts';
import {
  cancelQuery,
  candlesQuery,
  feeQuery,
  historyQuery,
  interestQuery,
  listQuery,
  positionsQuery,
  requestsQuery,
  tradesQuery,
  transactionsQuery,
} from './queries.ts';
import { quoteRequestSchema, quoteSchema } from './quote.ts';
import {
  bankDepositResultSchema,
  bankDepositSchema,
  depositAddressesSchema,
  newDepositAddressSchema,
  newUserTokenSchema,
  newUserTokensSchema,
  userTokensRequestSchema,
  walletTransferResultSchema,
  walletTransferSchema,
} from './transfers.ts';
import { withdrawFeeSchema, withdrawalRequestSchema, withdrawalResultSchema } from './withdrawal.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One route of the venue. The client, the simulated venue, its generated documents and the tests all use this definition. */
export interface VenueRoute {
  readonly method: Method;
  /** Parameters are written as `:name`. */
  readonly path: string;
  /** One sentence for readers of the interface documents. */
  readonly summary: string;
  /** `spec`: part of the interface specification. `extra`: a capability that a venue may lack. */
  readonly kind: 'spec' | 'extra';
  /** Whether a request needs a token. */
  readonly access: 'token' | 'open';
  /** The rate limit that applies to a request. */
  readonly limit?: LimitedRoute | undefined;
  /** Query parameters of the route. */
  readonly query?: z.ZodType | undefined;
  /** Body of the request; `undefined` if the route accepts none. */
  readonly body?: z.ZodType | undefined;
  /** Status and schema of the successful response. */
  readonly reply: { readonly status: 200 | 201; readonly schema: z.ZodType };
  /** When the engine may call the route: always, or if the venue has this capability. Default: never. */
  readonly desk?: 'always' | keyof Capabilities | undefined;
  /** Whether the `account` commands may call the route. */
  readonly operator?: true | undefined;
  /** Whether a request that fails after its first byte may have moved money. Such errors have `applied: 'unknown'`. */
  readonly movesMoney?: true | undefined;
  /** Largest response that a client reads, in bytes; default: 64 KiB. */
  readonly answerBytes?: number | undefined;
}

/** Limits that the venue sets for individual routes. */
export type LimitedRoute =
  'quote' | 'order' | 'transactions' | 'balances' | 'openOrders' | 'doneOrders' | 'positions';

/** Capabilities of the venue beyond its specification; only those that trading uses over HTTP. */
export interface Capabilities {
  readonly balances?: boolean | undefined;
  readonly pairs?: boolean | undefined;
  readonly orderLookup?: boolean | undefined;
}

const spec = { kind: 'spec', access: 'token' } as const;
const extra = { kind: 'extra', access: 'token' } as const;
const MIB = 1024 * 1024;

/** Every route of the venue, by name. A path without parameters takes precedence over a path with parameters. */
export const venueRoutes = {
  quote: {
    ...spec,
    method: 'POST',
    path: '/v1/quote',
    summary: 'Request an executable quote',
    limit: 'quote',
    body: quoteRequestSchema,
    reply: { status: 201, schema: quoteSchema },
    desk: 'always',
  },
  transactions: {
    ...spec,
    method: 'GET',
    path: '/v1/account/transactions',
    summary: 'List transactions, newest first',
    limit: 'transactions',
    query: transactionsQuery,
    reply: { status: 200, schema: transactionsSchema },
    desk: 'always',
    operator: true,
    answerBytes: 4 * MIB,
  },
  history: {
    ...spec,
    method: 'GET',
    path: '/v1/account/balance/history',
    summary: 'USD value of the portfolio over time',
    query: historyQuery,
    reply: { status: 200, schema: valuationSchema },
    desk: 'always',
    operator: true,
    answerBytes: MIB,
  },
  currencies: {
    ...spec,
    method: 'GET',
    path: '/v1/currency',
    summary: 'List the currencies of the account',
    reply: { status: 200, schema: currenciesSchema },
    desk: 'always',
    operator: true,
    answerBytes: MIB,
  },
  ptsRates: {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/interest',
    summary: 'Funding rates of post-trade settlement by currency',
    reply: { status: 200, schema: fundingRatesSchema },
    desk: 'always',
    operator: true,
    answerBytes: MIB,
  },
  ptsModes: {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/risk-modes',
    summary: 'Risk modes of post-trade settlement by pair',
    reply: { status: 200, schema: riskModesSchema },
    desk: 'always',
    operator: true,
    answerBytes: MIB,
  },
  balances: {
    ...extra,
    method: 'GET',
    path: '/v1/user/balance',
    summary: 'Balances of the account',
    limit: 'balances',
    reply: { status: 200, schema: balancesSchema },
    desk: 'balances',
    operator: true,
    answerBytes: MIB,
  },
  pairs: {
    ...extra,
    method: 'GET',
    path: '/v1/markets/currency-pairs',
    summary: 'Pairs that the venue knows',
    reply: { status: 200, schema: pairsSchema },
    desk: 'pairs',
    operator: true,
    answerBytes: MIB,
  },
  health: {
    ...extra,
    method: 'GET',
    path: '/v1/health',
    summary: 'Whether the venue is up',
    access: 'open',
    reply: { status: 200, schema: z.object({ status: z.string() }) },
  },
  buy: {
    ...spec,
    method: 'POST',
    path: '/v1/orders/buy',
    summary: 'Execute a buy quote, or place a limit order to buy',
    limit: 'order',
    body: z.union([orderRequestSchema, limitOrderSchema]),
    reply: { status: 201, schema: orderSchema },
    desk: 'always',
    movesMoney: true,
  },
  sell: {
    ...spec,
    method: 'POST',
    path: '/v1/orders/sell',
    summary: 'Execute a sell quote, or place a limit order to sell',
    limit: 'order',
    body: z.union([orderRequestSchema, limitOrderSchema]),
    reply: { status: 201, schema: orderSchema },
    movesMoney: true,
  },
  openOrders: {
    ...extra,
    method: 'GET',
    path: '/v1/orders',
    summary: 'Open orders, newest first',
    limit: 'openOrders',
    query: listQuery,
    reply: { status: 200, schema: ordersSchema },
    operator: true,
    answerBytes: MIB,
  },
  doneOrders: {
    ...extra,
    method: 'GET',
    path: '/v1/orders/done',
    summary: 'Finished orders, newest first',
    limit: 'doneOrders',
    query: listQuery,
    reply: { status: 200, schema: ordersSchema },
    operator: true,
    answerBytes: MIB,
  },
  order: {
    ...extra,
    method: 'GET',
    path: '/v1/orders/:id',
    summary: 'One order, by the id of the venue or of the client',
    reply: { status: 200, schema: orderSchema },
    desk: 'orderLookup',
    operator: true,
  },
  cancelSeveral: {
    ...spec,
    method: 'DELETE',
    path: '/v1/orders',
    summary: 'Cancel several orders',
    query: cancelQuery,
    reply: { status: 200, schema: cancelManySchema },
    operator: true,
    movesMoney: true,
  },
  cancelAll: {
    ...extra,
    method: 'DELETE',
    path: '/v1/orders/open',
    summary: 'Cancel every open order',
    reply: { status: 200, schema: cancelManySchema },
    operator: true,
    movesMoney: true,
  },
  cancel: {
    ...spec,
    method: 'DELETE',
    path: '/v1/orders/:id',
    summary: 'Cancel one order',
    reply: { status: 200, schema: cancelOneSchema },
    operator: true,
    movesMoney: true,
  },
  trades: {
    ...extra,
    method: 'GET',
    path: '/v1/account/trades',
    summary: 'Own fills, newest first',
    query: tradesQuery,
    reply: { status: 200, schema: ownTradesSchema },
    operator: true,
    answerBytes: MIB,
  },
  withdrawFee: {
    ...spec,
    method: 'GET',
    path: '/v1/withdraw-fee/:currency',
    summary: 'Fee of a withdrawal, in the currency',
    query: feeQuery,
    reply: { status: 200, schema: withdrawFeeSchema },
    operator: true,
  },
  withdraw: {
    ...spec,
    method: 'POST',
    path: '/v1/user/withdraw',
    summary: 'Withdraw to an address, by wire or by ACH',
    body: withdrawalRequestSchema,
    reply: { status: 200, schema: withdrawalResultSchema },
    operator: true,
    movesMoney: true,
  },
  depositAddresses: {
    ...extra,
    method: 'GET',
    path: '/v1/user/deposit/address/:currency',
    summary: 'Addresses to deposit to',
    reply: { status: 200, schema: depositAddressesSchema },
    operator: true,
    answerBytes: MIB,
  },
  newDepositAddress: {
    ...extra,
    method: 'POST',
    path: '/v1/user/deposit/address/:currency',
    summary: 'An address to deposit to',
    reply: { status: 200, schema: newDepositAddressSchema },
    operator: true,
    movesMoney: true,
  },
  bankDeposit: {
    ...extra,
    method: 'POST',
    path: '/v1/user/bank/deposit',
    summary: 'Deposit usd from the linked bank account, by ACH',
    body: bankDepositSchema,
    reply: { status: 200, schema: bankDepositResultSchema },
  },
  walletTransfer: {
    ...extra,
    method: 'POST',
    path: '/v1/account/transfer',
    summary: 'Move money between the trading and the collateral wallet',
    body: walletTransferSchema,
    reply: { status: 200, schema: walletTransferResultSchema },
  },
  userToken: {
    ...extra,
    method: 'POST',
    path: '/v1/enterprise/user-tokens/:user_id',
    summary: 'A token for a user of the partner, for 24 hours',
    reply: { status: 201, schema: newUserTokenSchema },
  },
  userTokens: {
    ...extra,
    method: 'POST',
    path: '/v1/enterprise/user-tokens',
    summary: 'Tokens for several users of the partner',
    body: userTokensRequestSchema,
    reply: { status: 201, schema: newUserTokensSchema },
  },
  approvalRules: {
    ...spec,
    method: 'GET',
    path: '/v1/approval-rules',
    summary: 'Approval rules',
    reply: { status: 200, schema: approvalRulesSchema },
    operator: true,
    answerBytes: MIB,
  },
  addRule: {
    ...extra,
    method: 'POST',
    path: '/v1/approval-rules',
    summary: 'Add an approval rule',
    body: newRuleSchema,
    reply: { status: 200, schema: approvalRuleSchema },
    operator: true,
    movesMoney: true,
  },
  changeRule: {
    ...extra,
    method: 'PATCH',
    path: '/v1/approval-rules/:rule_id',
    summary: 'Change an approval rule',
    body: ruleChangeSchema,
    reply: { status: 200, schema: approvalRuleSchema },
    operator: true,
    movesMoney: true,
  },
  approvals: {
    ...extra,
    method: 'GET',
    path: '/v1/approvals',
    summary: 'Requests for approval, newest first',
    query: requestsQuery,
    reply: { status: 200, schema: approvalRequestsSchema },
    operator: true,
    answerBytes: MIB,
  },
  answerApproval: {
    ...extra,
    method: 'POST',
    path: '/v1/approvals/:request_id',
    summary: 'Approve or refuse',
    body: approvalAnswerSchema,
    reply: { status: 200, schema: emptySchema },
    operator: true,
    movesMoney: true,
  },
  whitelist: {
    ...extra,
    method: 'GET',
    path: '/v1/whitelisted-addresses',
    summary: 'Addresses that may be withdrawn to',
    reply: { status: 200, schema: whitelistSchema },
    operator: true,
    answerBytes: MIB,
  },
  addAddress: {
    ...extra,
    method: 'POST',
    path: '/v1/whitelisted-addresses',
    summary: 'Add an address',
    body: newAddressSchema,
    reply: { status: 200, schema: whitelistedAddressSchema },
    operator: true,
    movesMoney: true,
  },
  removeAddress: {
    ...spec,
    method: 'DELETE',
    path: '/v1/whitelisted-addresses/:address_id',
    summary: 'Remove an address',
    reply: { status: 200, schema: emptySchema },
    operator: true,
    movesMoney: true,
  },
  fees: {
    ...extra,
    method: 'GET',
    path: '/v1/account/fee-rates',
    summary: 'Fee rates of the account',
    reply: { status: 200, schema: feeRatesSchema },
    operator: true,
    answerBytes: MIB,
  },
  orderBook: {
    ...extra,
    method: 'GET',
    path: '/v1/markets/orderbook',
    summary: 'Order book of btcusd',
    reply: { status: 200, schema: orderBookSchema },
  },
  orderBookOf: {
    ...extra,
    method: 'GET',
    path: '/v1/markets/orderbook/:pair',
    summary: 'Order book of a pair',
    reply: { status: 200, schema: orderBookSchema },
  },
  tickers: {
    ...extra,
    method: 'GET',
    path: '/v1/markets/tickers',
    summary: 'Last prices of all pairs',
    access: 'open',
    reply: {
      status: 200,
      schema: z.object({ data: z.array(z.object({ pair: z.string(), last: wirePrice })) }),
    },
  },
  candles: {
    ...extra,
    method: 'GET',
    path: '/candlesticks',
    summary: 'Candles of market time; seconds, not milliseconds',
    access: 'open',
    query: candlesQuery,
    reply: { status: 200, schema: candlesSchema },
  },
  ptsMetrics: {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement',
    summary: 'Risk metrics of post-trade settlement, USD',
    reply: { status: 200, schema: ptsMetricsSchema },
    operator: true,
  },
  ptsPositions: {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement/positions',
    summary: 'Positions on credit',
    limit: 'positions',
    query: positionsQuery,
    reply: { status: 200, schema: ptsPositionsSchema },
    operator: true,
    answerBytes: MIB,
  },
  ptsInterest: {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement/interest/history',
    summary: 'Interest charged, newest first',
    query: interestQuery,
    reply: { status: 200, schema: interestHistorySchema },
    operator: true,
    answerBytes: MIB,
  },
} as const satisfies Record<string, VenueRoute>;

export type RouteName = keyof typeof venueRoutes;

const isRouteName = (name: string): name is RouteName => Object.hasOwn(venueRoutes, name);
export const routeNames: readonly RouteName[] = Object.keys(venueRoutes).filter(isRouteName);

/** Returns the path of a route, with `parameters` in the place of its named parameters, in order. */
export function pathOf({ path }: VenueRoute, ...parameters: readonly string[]): string {
  const left = [...parameters];
  return path.replaceAll(/:\w+/gu, () => encodeURIComponent(left.shift() ?? ''));
}
