import { catchError, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../core/errors.ts';
import { pathOf, venueRoutes } from '../wire/routes.ts';
import type { RouteName, VenueRoute } from '../wire/routes.ts';
import { readerOf } from './answers.ts';
import type { ReaderOptions } from './answers.ts';
import type { Exchange } from './http.ts';
import { reachableRoutes } from './routes.ts';

const TIMEOUT_MS = 15_000;

/**
 * All routes of the venue, for the operator at the command line. The daemon never has this client, because its route table
 * (`tradingRoutes`) contains no route that withdraws, whitelists or approves.
 */
export const accountRoutes = reachableRoutes(() => true);

/** The variable parts of a call. */
export interface AccountRequest extends Pick<Exchange, 'query' | 'body'> {
  /** Values of the parameters of the path, in order. */
  readonly parameters: readonly string[];
}

/** Calls a route of the venue. */
export type AccountCall = (name: RouteName, request: AccountRequest) => Observable<unknown>;

/**
 * Returns the function that calls a route once and returns the response as the venue wrote it, with amounts as text, if it fits the
 * route's schema. Cold. Errors: `VenueError`, with `applied: 'unknown'` if a call that changes something has no clear response.
 */
export function accountCall(options: ReaderOptions): AccountCall {
  const reader = readerOf(options);
  return (name, { parameters, query, body }) => {
    const route: VenueRoute = venueRoutes[name];
    const path = pathOf(route, ...parameters);
    const attempt = `${route.method} ${path}`;
    const answer$ = options.http
      .exchange({ method: route.method, path, query, body, timeoutMs: TIMEOUT_MS })
      .pipe(reader.sent(name, attempt, route.reply));
    return route.movesMoney === true ? answer$.pipe(unlessRefused(attempt)) : answer$;
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
