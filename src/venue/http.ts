import { Client, Pool } from 'undici';
import { Observable, defer } from 'rxjs';
import { OperatorError, VenueError } from '../core/errors.ts';
import type { Clock } from '../engine/ports.ts';
import { Call } from './call.ts';
import { judgedConnector } from './certificate.ts';
import type { Reply } from './call.ts';
import { lookupHere, venueUrl } from './origin.ts';
import type { Method } from '../wire/routes.ts';
import { routeFinder } from './routes.ts';
import type { Route } from './routes.ts';
import { sanitize, secretsOf, withoutToken } from './sanitize.ts';
import type { VenueToken } from './sanitize.ts';
import { certainSkew } from './certain-skew.ts';
import { preconnect } from './preconnect.ts';
import { throughProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';
import { stayAwake } from './stay-awake.ts';
import { atOnce, turnByTurn } from './turns.ts';
import type { Turns } from './turns.ts';

/** One request. */
export interface Exchange {
  readonly method: Method;
  /** Path below the base URL: `/v1/currency`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** JSON. */
  readonly body?: string | undefined;
  /** Time limit for the whole exchange, including connecting. */
  readonly timeoutMs: number;
  /** Maximum number of bytes of the response, if fewer than the route allows. */
  readonly capBytes?: number | undefined;
  /**
   * `at_once`: uses a ready connection that has carried no request, if there is one, and writes in the tick of
   * `subscribe`.
   */
  readonly lane?: 'shared' | 'at_once' | undefined;
}

export interface VenueHttp {
  /**
   * Sends one request and returns the response. Cold; unsubscribing aborts it. Never repeats a request or follows a
   * redirect.
   *
   * - Errors: `VenueError` and nothing else. `sent: false` means that certainly no byte left. `applied` is `unknown` as
   * soon as a byte of a route that moves money may have left.
   */
  exchange(request: Exchange): Observable<Reply>;
  /**
   * How far the venue's clock is certainly ahead of ours, in ms, according to its last response with a date; a negative
   * value means behind.
   */
  skewMs(): number | undefined;
  /**
   * Prepares for `at_once` exchanges. On subscription, opens connections so that `wanted` connections are ready. While
   * subscribed, keeps the process awake; see `stay-awake.ts`. Never emits.
   */
  warm(wanted: number): Observable<never>;
  /** Sanitizes the venue's text for display, so that it is short, on one line, and without the token. */
  clean(text: string): string;
  /**
   * From now on, no request that moves money leaves until the process ends. Requests that were already sent still get
   * their responses.
   */
  shut(): void;
  /** Closes all connections; requests in flight fail. */
  close(): Promise<void>;
}

export interface HttpOptions {
  readonly baseUrl: string;
  /** The token, which is read for every request and never stored. */
  readonly token: VenueToken;
  /** The only routes that can be reached. */
  readonly routes: readonly Route[];
  readonly clock: Clock;
  /** Version of Tranche, for `user-agent`. */
  readonly version: string;
  /** Time limits for a connection, for the first byte of a response, and between two pieces of the response; these have defaults. */
  readonly connectTimeoutMs?: number | undefined;
  readonly headersTimeoutMs?: number | undefined;
  readonly bodyTimeoutMs?: number | undefined;
  readonly connections?: number | undefined;
  /** Certificates of the only trusted authorities, PEM; default: those of Node. */
  readonly ca?: string | undefined;
  readonly proxy?: Proxy | undefined;
  /** Called with the reason for a refused server certificate: once for each reason, until a connection succeeds. */
  readonly onCertificateRefused?: ((why: string) => void) | undefined;
  /** Called in the tick in which a request that moves money would leave. Default: allowed. */
  readonly mayMoveMoney?: (() => boolean) | undefined;
}

const CONNECT_TIMEOUT_MS = 3_000;
export const HEADERS_TIMEOUT_MS = 5_000;
const BODY_TIMEOUT_MS = 5_000;
/** Shorter than common server and proxy timeouts, so that a reused connection is rarely dead. */
const KEEP_ALIVE_MS = 4_000;
/** A spare connection waits for the order that follows a quote, and quotes live about ten seconds. */
const SPARE_KEEP_ALIVE_MS = 10_000;

/**
 * The only path to the venue, limited to one origin and to a table of routes.
 *
 * @throws OperatorError `config` when the address or the token cannot be used.
 */
export function venueHttp(options: HttpOptions): VenueHttp {
  const { token } = options;
  const base = venueUrl('venue.base_url', options.baseUrl, 'http');
  const prefix = base.pathname.replace(/\/+$/u, '');
  if (!/^[\x21-\x7e]+$/u.test(token.reveal())) {
    throw new OperatorError(
      'config',
      'venue.token: expected printable characters without spaces or line ends',
    );
  }
  const clean = (text: string): string => sanitize(text, secretsOf(token));
  const { proxy, connectTimeoutMs: timeoutMs = CONNECT_TIMEOUT_MS } = options;
  const connect = judgedConnector(
    {
      timeout: timeoutMs,
      allowH2: false,
      minVersion: 'TLSv1.2',
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      ...(base.protocol === 'http:' ? { lookup: lookupHere } : {}),
    },
    (why) => options.onCertificateRefused?.(clean(why)),
  );
  const shared = {
    pipelining: 1,
    allowH2: false,
    connect: proxy === undefined ? connect : throughProxy(connect, { proxy, venue: base, timeoutMs }),
    headersTimeout: options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
    bodyTimeout: options.bodyTimeoutMs ?? BODY_TIMEOUT_MS,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeoutThreshold: 1_000,
  } as const;
  const pool = new Pool(base.origin, {
    ...shared,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connections: options.connections ?? 16,
  });
  const spares = preconnect(
    () =>
      new Client(base.origin, {
        ...shared,
        keepAliveTimeout: SPARE_KEEP_ALIVE_MS,
        keepAliveMaxTimeout: SPARE_KEEP_ALIVE_MS,
      }),
  );

  const send: Send = (outgoing, { lane }, call) => {
    const spare = lane === 'at_once' ? spares.take() : undefined;
    (spare ?? pool).dispatch(
      {
        ...outgoing,
        path: prefix + outgoing.path,
        body: outgoing.body ?? null,
        // A spare connection carries only one request, because undici would not write the second one immediately.
        reset: spare !== undefined,
      },
      call,
    );
  };

  let isShut = false;
  const mayMoveMoney = (): boolean => !isShut && options.mayMoveMoney?.() !== false;
  return {
    ...exchanges({ ...options, mayMoveMoney, answerIn: turnByTurn() }, clean, send),
    shut() {
      isShut = true;
    },
    warm: (wanted) =>
      defer(() => {
        spares.ready(wanted);
        return stayAwake(options.clock.scheduler);
      }),
    clean,
    async close() {
      await Promise.all([pool.destroy(), spares.close()]);
    },
  };
}

/** A request as sent. */
export interface Outgoing {
  readonly method: Method;
  /** With the query. */
  readonly path: string;
  /** Names and values, alternating. */
  readonly headers: string[];
  readonly body: string | undefined;
}

/** Sends a request to the venue and reports its progress to `call`, as undici does. */
export type Send = (outgoing: Outgoing, request: Exchange, call: Call) => void;

/** `VenueHttp.exchange` over any transport: applies the allow-list, the headers and the time limits. */
export function exchanges(
  options: Pick<HttpOptions, 'token' | 'clock' | 'version' | 'routes' | 'mayMoveMoney'> & {
    /** The scheduler on which responses are delivered. */
    readonly answerIn?: Turns;
  },
  clean: VenueHttp['clean'],
  send: Send,
): Pick<VenueHttp, 'exchange' | 'skewMs'> {
  const { token, clock, version, routes, mayMoveMoney, answerIn = atOnce } = options;
  let skewMs: number | undefined;
  const find = routeFinder(routes);
  return {
    skewMs: () => skewMs,
    exchange: (request) =>
      new Observable<Reply>((subscriber) => {
        const attempt = `${request.method} ${request.path}`;
        const route = find(request.method, request.path);
        if (route === undefined) {
          subscriber.error(
            new VenueError({ code: 'forbidden_route', applied: 'no', sent: false, attempt: clean(attempt) }),
          );
          return undefined;
        }
        const call = new Call({
          route,
          mayLeave: () => route.movesMoney !== true || mayMoveMoney?.() !== false,
          attempt,
          capBytes: Math.min(request.capBytes ?? route.capBytes, route.capBytes),
          now: () => clock.monotonic(),
          scrub: (body) => withoutToken(body, secretsOf(token)),
          clean,
          done: (reply) => {
            const roundTripMs = reply.lastByteAt - reply.sentAt;
            skewMs = certainSkew(reply.headers['date'], { wall: clock.wall(), roundTripMs }) ?? skewMs;
            answerIn(() => {
              subscriber.next(reply);
              subscriber.complete();
            });
          },
          failed: (error) => subscriber.error(error),
        });
        subscriber.add(() => call.abandon());
        // The timeouts of undici have a resolution of about a second, and none limits the whole exchange, so a very
        // slow response would not trigger them.
        subscriber.add(clock.scheduler.schedule(() => call.expire(), request.timeoutMs));
        const headers = [
          'authorization', `Bearer ${token.reveal()}`,
          'accept', 'application/json',
          'accept-encoding', 'identity',
          'user-agent', `tranche/${version}`,
        ]; // prettier-ignore
        if (request.body !== undefined) headers.push('content-type', 'application/json');
        const path = request.path + queryText(request.query);
        send({ method: request.method, path, headers, body: request.body }, request, call);
        return undefined;
      }),
  };
}

function queryText(query: Exchange['query']): string {
  if (query === undefined) return '';
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}
