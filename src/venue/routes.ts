import { OperatorError } from '../core/errors.ts';
import { routeNames, venueRoutes } from '../wire/routes.ts';
import type { Capabilities, Method, VenueRoute } from '../wire/routes.ts';

/** A route that a client may call. Routes that are in no table cannot be called. */
export interface Route {
  readonly method: Method;
  /** `/v1/orders/:id`: `:id` is one segment of at most 64 letters, digits, `-` and `_`. */
  readonly path: string;
  /** Maximum number of bytes of a response. */
  readonly capBytes: number;
  /** Whether a request that fails after its first byte may have moved money. Such errors have `applied: 'unknown'`. */
  readonly movesMoney?: boolean | undefined;
}

const ANSWER_BYTES_MAX = 64 * 1024;

/** The venue routes selected by `may`, as a client calls them. */
export const reachableRoutes = (may: (route: VenueRoute) => boolean): readonly Route[] =>
  routeNames
    .map((name) => venueRoutes[name])
    .filter(may)
    .map(reachable);

const reachable = ({ method, path, answerBytes = ANSWER_BYTES_MAX, movesMoney }: VenueRoute): Route => ({
  method,
  path,
  capBytes: answerBytes,
  movesMoney,
});

/**
 * The routes that trading needs. They include no withdrawal, no whitelist and no approval rule.
 *
 * @throws OperatorError `config` when `sellPath` leads anywhere but to orders.
 */
export function tradingRoutes(capabilities: Capabilities, sellPath: string | undefined): readonly Route[] {
  if (sellPath !== undefined && !/^\/v1\/orders\/[a-z0-9_-]{1,64}$/u.test(sellPath)) {
    throw new OperatorError('config', 'venue.sell_path: expected a path such as /v1/orders/sell');
  }
  const { buy, sell } = venueRoutes;
  return [
    ...reachableRoutes(
      ({ desk }) => desk === 'always' || (desk !== undefined && capabilities[desk] === true),
    ),
    ...(sellPath === undefined || sellPath === buy.path ? [] : [reachable({ ...sell, path: sellPath })]),
  ];
}

/** Finds the route of a call; `undefined` if there is none. */
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
