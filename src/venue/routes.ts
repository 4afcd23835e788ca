import { OperatorError } from '../core/errors.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A route that a client may reach. What is in no table cannot be called. */
export interface Route {
  readonly method: Method;
  /** `/v1/orders/:id`: `:id` stands for one segment of at most 64 letters, digits, `-` and `_`. */
  readonly path: string;
  /** Most bytes of an answer. */
  readonly capBytes: number;
  /** A failure after the first byte may have moved money: such errors say `applied: 'unknown'`. */
  readonly movesMoney?: boolean | undefined;
}

export const ANSWER_BYTES_MAX = 64 * 1024;
export const LIST_BYTES_MAX = 1024 * 1024;
export const TRANSACTIONS_BYTES_MAX = 4 * 1024 * 1024;

/** Capabilities of the venue beyond its specification, as far as trading uses them over HTTP. */
export interface Capabilities {
  readonly balances?: boolean | undefined;
  readonly pairs?: boolean | undefined;
  readonly orderLookup?: boolean | undefined;
}

/**
 * The routes that trading needs: no withdrawal, no whitelist, no approval rule.
 *
 * @throws OperatorError `config` when `sellPath` leads anywhere but to orders.
 */
export function tradingRoutes(capabilities: Capabilities, sellPath: string | undefined): readonly Route[] {
  if (sellPath !== undefined && !/^\/v1\/orders\/[a-z0-9_-]{1,64}$/u.test(sellPath)) {
    throw new OperatorError('config', 'venue.sell_path: expected a path such as /v1/orders/sell');
  }
  const order = { method: 'POST', capBytes: ANSWER_BYTES_MAX, movesMoney: true } as const;
  const list = { method: 'GET', capBytes: LIST_BYTES_MAX } as const;
  return [
    { method: 'POST', path: '/v1/quote', capBytes: ANSWER_BYTES_MAX },
    { ...order, path: '/v1/orders/buy' },
    ...(sellPath === undefined || sellPath === '/v1/orders/buy' ? [] : [{ ...order, path: sellPath }]),
    { method: 'GET', path: '/v1/account/transactions', capBytes: TRANSACTIONS_BYTES_MAX },
    { ...list, path: '/v1/currency' },
    { ...list, path: '/v1/post-trade-settlement/interest' },
    { ...list, path: '/v1/post-trade-settlement/risk-modes' },
    { ...list, path: '/v1/account/balance/history' },
    ...(capabilities.balances === true ? [{ ...list, path: '/v1/user/balance' }] : []),
    ...(capabilities.pairs === true ? [{ ...list, path: '/v1/markets/currency-pairs' }] : []),
    ...(capabilities.orderLookup === true
      ? [{ method: 'GET', path: '/v1/orders/:id', capBytes: ANSWER_BYTES_MAX } as const]
      : []),
  ];
}

/** Finds the route of a call, `undefined` when there is none. */
export type FindRoute = (method: Method, path: string) => Route | undefined;

export function routeFinder(routes: readonly Route[]): FindRoute {
  const fixed = new Map<string, Route>();
  const patterns: { readonly method: Method; readonly pattern: RegExp; readonly route: Route }[] = [];
  for (const route of routes) {
    if (!/^(?:\/:?[\w-]+)+$/u.test(route.path))
      throw new RangeError(`routeFinder: ${route.path} is not a plain path`);
    if (!route.path.includes('/:')) {
      fixed.set(`${route.method} ${route.path}`, route);
      continue;
    }
    const segments = route.path
      .split('/')
      .map((part) => (part.startsWith(':') ? '[A-Za-z0-9_-]{1,64}' : part));
    patterns.push({ method: route.method, pattern: new RegExp(`^${segments.join('/')}$`, 'u'), route });
  }
  return (method, path) =>
    fixed.get(`${method} ${path}`) ??
    patterns.find((each) => each.method === method && each.pattern.test(path))?.route;
}
