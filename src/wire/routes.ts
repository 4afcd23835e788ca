import { z } from 'zod';
import {
  balancesSchema,
  currenciesSchema,
  fundingRatesSchema,
  pairsSchema,
  riskModesSchema,
  sentTransactionsSchema,
  valuationSchema,
} from './account.ts';
import { approvalRulesSchema, emptySchema } from './custody.ts';
import { orderRequestSchema, sentOrderSchema } from './order.ts';
import { cancelManySchema, cancelOneSchema, limitOrderSchema } from './orders.ts';
import { ptsMetricsSchema, ptsPositionsSchema } from './pts.ts';
import { cancelQuery, feeQuery, historyQuery, positionsQuery, transactionsQuery } from './queries.ts';
import { quoteRequestSchema, sentQuoteSchema } from './quote.ts';
import { newUserTokenSchema, newUserTokensSchema, userTokensRequestSchema } from './user-tokens.ts';
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
  /** The rate limit that applies to a request. */
  readonly limit?: LimitedRoute | undefined;
  /** Query parameters of the route. */
  readonly query?: z.ZodType | undefined;
  /** Body of the request; `undefined` if the route accepts none. */
  readonly body?: z.ZodType | undefined;
  /** Status and schema of the successful response. */
  readonly reply: {
    readonly status: 200 | 201;
    readonly schema: z.ZodType;
  };
  /** When the engine may call the route: always, or if the venue has this capability. Default: never. */
  readonly desk?: 'always' | keyof Capabilities | undefined;
  /** Whether a request that fails after its first byte may have moved money. Such errors have `applied: 'unknown'`. */
  readonly movesMoney?: true | undefined;
  /** Largest response that a client reads, in bytes; default: 64 KiB. */
  readonly answerBytes?: number | undefined;
}

/** Limits that the venue sets for individual routes. */
export type LimitedRoute = 'quote' | 'order' | 'transactions' | 'balances' | 'positions';

/** Capabilities of the venue beyond its specification; only those that trading uses over HTTP. */
export interface Capabilities {
  readonly balances?: boolean | undefined;
  readonly pairs?: boolean | undefined;
  readonly orderLookup?: boolean | undefined;
}

const spec = { kind: 'spec' } as const;
const extra = { kind: 'extra' } as const;
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
    reply: { status: 201, schema: sentQuoteSchema },
    desk: 'always',
  },
  transactions: {
    ...spec,
    method: 'GET',
    path: '/v1/account/transactions',
    summary: 'List transactions, newest first',
    limit: 'transactions',
    query: transactionsQuery,
    reply: { status: 200, schema: sentTransactionsSchema },
    desk: 'always',
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
    answerBytes: MIB,
  },
  currencies: {
    ...spec,
    method: 'GET',
    path: '/v1/currency',
    summary: 'List the currencies of the account',
    reply: { status: 200, schema: currenciesSchema },
    desk: 'always',
    answerBytes: MIB,
  },
  ptsRates: {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/interest',
    summary: 'Funding rates of post-trade settlement by currency',
    reply: { status: 200, schema: fundingRatesSchema },
    desk: 'always',
    answerBytes: MIB,
  },
  ptsModes: {
    ...spec,
    method: 'GET',
    path: '/v1/post-trade-settlement/risk-modes',
    summary: 'Risk modes of post-trade settlement by pair',
    reply: { status: 200, schema: riskModesSchema },
    desk: 'always',
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
    answerBytes: MIB,
  },
  pairs: {
    ...extra,
    method: 'GET',
    path: '/v1/markets/currency-pairs',
    summary: 'Pairs that the venue knows',
    reply: { status: 200, schema: pairsSchema },
    desk: 'pairs',
    answerBytes: MIB,
  },
  buy: {
    ...spec,
    method: 'POST',
    path: '/v1/orders/buy',
    summary: 'Execute a buy quote, or place a limit order to buy',
    limit: 'order',
    body: z.union([orderRequestSchema, limitOrderSchema]),
    reply: { status: 201, schema: sentOrderSchema },
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
    reply: { status: 201, schema: sentOrderSchema },
    movesMoney: true,
  },
  order: {
    ...extra,
    method: 'GET',
    path: '/v1/orders/:id',
    summary: 'One order, by the id of the venue or of the client',
    reply: { status: 200, schema: sentOrderSchema },
    desk: 'orderLookup',
  },
  cancelSeveral: {
    ...spec,
    method: 'DELETE',
    path: '/v1/orders',
    summary: 'Cancel several orders',
    query: cancelQuery,
    reply: { status: 200, schema: cancelManySchema },
    movesMoney: true,
  },
  cancel: {
    ...spec,
    method: 'DELETE',
    path: '/v1/orders/:id',
    summary: 'Cancel one order',
    reply: { status: 200, schema: cancelOneSchema },
    movesMoney: true,
  },
  withdrawFee: {
    ...spec,
    method: 'GET',
    path: '/v1/withdraw-fee/:currency',
    summary: 'Fee of a withdrawal, in the currency',
    query: feeQuery,
    reply: { status: 200, schema: withdrawFeeSchema },
  },
  withdraw: {
    ...spec,
    method: 'POST',
    path: '/v1/user/withdraw',
    summary: 'Withdraw to an address, by wire or by ACH',
    body: withdrawalRequestSchema,
    reply: { status: 200, schema: withdrawalResultSchema },
    movesMoney: true,
  },
  userToken: {
    ...extra,
    method: 'POST',
    path: '/v1/enterprise/user-tokens/:user_id',
    summary: 'A token for a user of the partner, for 24 hours',
    reply: { status: 201, schema: newUserTokenSchema },
    movesMoney: true,
  },
  userTokens: {
    ...extra,
    method: 'POST',
    path: '/v1/enterprise/user-tokens',
    summary: 'Tokens for several users of the partner',
    body: userTokensRequestSchema,
    reply: { status: 201, schema: newUserTokensSchema },
    movesMoney: true,
  },
  approvalRules: {
    ...spec,
    method: 'GET',
    path: '/v1/approval-rules',
    summary: 'Approval rules',
    reply: { status: 200, schema: approvalRulesSchema },
    answerBytes: MIB,
  },
  removeAddress: {
    ...spec,
    method: 'DELETE',
    path: '/v1/whitelisted-addresses/:address_id',
    summary: 'Remove an address',
    reply: { status: 200, schema: emptySchema },
    movesMoney: true,
  },
  ptsMetrics: {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement',
    summary: 'Risk metrics of post-trade settlement, USD',
    reply: { status: 200, schema: ptsMetricsSchema },
    desk: 'always',
  },
  ptsPositions: {
    ...extra,
    method: 'GET',
    path: '/v1/post-trade-settlement/positions',
    summary: 'Positions on credit',
    limit: 'positions',
    query: positionsQuery,
    reply: { status: 200, schema: ptsPositionsSchema },
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
