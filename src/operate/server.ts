import { createServer } from 'node:http';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyServerFactory } from 'fastify';
import { acceptJson, addApi, noCompilers } from './api/api.ts';
import type { ApiOptions } from './api/api.ts';
import { senderOf } from './api/caller.ts';
import { SLOWER, refusalText } from './api/refusal.ts';
import { authenticatorOf } from './access.ts';
import { monotonic } from '../core/time.ts';
import { OperatorError } from '../core/errors.ts';
import { escapeMarks } from '../core/text/escape.ts';
import { beyondLoopback, isLoopbackName, parseListen } from './listen.ts';
import type { Metrics } from './metrics.ts';
import { Connections } from './connections.ts';
import { addPages, isPagePath, securityHeaders, strictTransport } from './pages.ts';
import { openPaths } from './sign-in/routes.ts';
import { addStandby, standbyWords } from './standby.ts';
import type { Standby } from './standby.ts';
import { Turns } from './turns.ts';

export interface OperateOptions {
  /** `127.0.0.1:8321`, `[::1]:8321` or `localhost:0`. Addresses beyond loopback only with explicit configuration. */
  readonly listen: string;
  readonly version: string;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** Why the daemon is not ready to trade; empty if it is. */
  readonly ready: () => readonly string[];
  /** Values of the `Host` header to accept in addition to the loopback names, as in `tranche.internal:8321`. */
  readonly hosts?: readonly string[] | undefined;
  /** Addresses of reverse proxies, whose `X-Forwarded-For` names the sender. Omitted: that header is ignored. */
  readonly proxies?: readonly string[] | undefined;
  /** The control plane. If omitted, the server has only metrics and health. */
  readonly api?: ApiOptions | undefined;
  /** Instead of `api`: the process waits to take over its desk. */
  readonly standby?: Standby | undefined;
  /** Whether it may listen beyond loopback. Every route except `/healthz` and `/readyz` then requires a token. */
  readonly allowNetwork?: boolean | undefined;
  /** Folder of the built dashboard. Omitted: none is served. */
  readonly pages?: string | undefined;
  /** Encrypts the connections. */
  readonly tls?: TlsIdentity | undefined;
}

/** PEM texts. */
export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
  /** Authorities that sign client certificates. Without them, clients need no certificate. */
  readonly clientCa: string | undefined;
}

export interface Operate {
  /** As in `http://127.0.0.1:8321`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, `/healthz` and `/readyz` to monitoring, and the API to its operators.
 *
 * A request with an unexpected `Host` gets status 421, so that a web page in a browser on this machine cannot read the
 * figures through a name that it resolves to this address (DNS rebinding).
 *
 * @throws OperatorError `unavailable` when it cannot listen on the address, `config` when the address is invalid.
 */
export async function startOperate(options: OperateOptions): Promise<Operate> {
  const { tls } = options;
  const listen = parseListen(options.listen);
  const isLocal = isLoopbackName(listen.host);
  if (
    !isLocal &&
    ((options.allowNetwork !== true && tls === undefined) || (options.api ?? options.standby) === undefined)
  )
    throw new OperatorError('config', beyondLoopback(options.listen));
  const connections = new Connections((address) =>
    options.api?.desk.refused({ path: CROWDED, by: 'none', address, needed: 'viewer' }),
  );
  const server = Fastify({
    logger: false,
    schemaController: noCompilers,
    bodyLimit: 16 * 1024,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    trustProxy: options.proxies === undefined || options.proxies.length === 0 ? false : [...options.proxies],
    serverFactory: bounded(tls, connections),
  });
  const allowed = new Set(options.hosts?.map((host) => host.toLowerCase()));
  addRoutes(server, { ...options, isLocal, allowed, connections });

  try {
    await server.listen({ host: listen.host, port: listen.port });
  } catch (cause) {
    await server.close();
    throw new OperatorError('unavailable', whyNot(options.listen, cause), cause);
  }
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : listen.port;
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
    allowed.add(`${name}:${port}`);
    // Clients omit the default port.
    if (port === (tls === undefined ? 80 : 443)) allowed.add(name);
  }
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    close: async () => {
      options.api?.events.close();
      await server.close();
    },
  };
}

const CROWDED = 'too many connections';
const HEADERS_TIMEOUT_MS = 5_000;
/** Interval of the check for slow requests, so that they end a second after their time limit, not half a minute after it. */
const CHECK_MS = 1_000;
const REQUEST_MS = 10_000;
const CONNECTION_MS = 30_000;

/** @throws OperatorError `config` when key and certificate cannot be used together. */
const bounded =
  (tls: TlsIdentity | undefined, connections: Connections): FastifyServerFactory =>
  (handler) => {
    const turns = new Turns();
    const timeouts = {
      requestTimeout: REQUEST_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
      // Little is buffered of requests that wait.
      highWaterMark: 4_096,
    };
    const listener = turns.inOrder(connections.watched(handler));
    const server = tls === undefined ? createServer(timeouts, listener) : encrypted(tls, timeouts, listener);
    server.on('connection', connections.add);
    server.on(tls === undefined ? 'connection' : 'secureConnection', turns.feed);
    return server.setTimeout(CONNECTION_MS);
  };

function encrypted(
  { key, cert, clientCa }: TlsIdentity,
  timeouts: ServerOptions,
  listener: RequestListener,
): TlsServer {
  const mutual = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const secure = {
    key,
    cert,
    ...mutual,
    minVersion: 'TLSv1.2',
    handshakeTimeout: HEADERS_TIMEOUT_MS,
  } as const;
  try {
    return createTlsServer({ ...secure, ...timeouts }, listener);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError('config', `operate.tls: key and certificate cannot be used: ${why}`, cause);
  }
}

/** How long a text of the metrics is sent again. */
const METRICS_MS = 1_000;
const PATHS = ['/metrics', '/healthz', '/readyz'] as const;

interface Routed extends OperateOptions {
  readonly isLocal: boolean;
  readonly allowed: ReadonlySet<string>;
  readonly connections: Connections;
}

function addRoutes(server: FastifyInstance, options: Routed): void {
  const { allowed, api, standby, isLocal, connections } = options;
  const { bearers = [], now = () => monotonic(0) } = api ?? standby ?? {};
  const authenticator = authenticatorOf(bearers, now, api?.signIn?.sessions);
  // A proxy on this machine forwards other people's requests.
  const isOfThisMachine = (ip: string): boolean => isLocal && isLoopbackName(ip.replace(/^::ffff:/u, ''));
  server.setReplySerializer((answer) => escapeMarks(JSON.stringify(answer)));
  // Only JSON or no body is accepted, because a page of another origin can send forms and plain text.
  server.removeContentTypeParser('text/plain');
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    if (!connections.countFor(request.ip, request.raw)) return await reply.code(429).send({ error: CROWDED });
    // Browsers accept this header only over TLS, so it also works if a proxy in front terminates TLS.
    if (options.tls !== undefined || request.headers['x-forwarded-proto'] === 'https')
      reply.header('strict-transport-security', strictTransport);
    if (!allowed.has(request.headers.host?.toLowerCase() ?? '')) {
      return await reply
        .code(421)
        .send({ error: 'unexpected Host header; add it to operate.hosts to allow it' });
    }
    const hosts = request.raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
    if (hosts.length > 1 || !request.url.startsWith('/'))
      return await reply.code(400).send({ error: 'expected one Host header, and a path that begins with /' });
    const path = request.url.split('?', 1)[0] ?? '';
    // Encoded paths are refused, so that a proxy that filters paths sees the same path.
    if (path.includes('%'))
      return await reply.code(404).send({ error: 'expected a path without percent signs' });
    const { origin } = request.headers;
    if (origin !== undefined && !isOwn(origin, allowed))
      return await reply.code(403).send({ error: 'requests from this origin are refused' });
    const isOpen =
      isOfThisMachine(request.ip) ||
      path === '/healthz' ||
      // Kubernetes and load balancers have no token.
      path === '/readyz' ||
      (api?.signIn !== undefined && (isPagePath(path) || openPaths.has(path)));
    if (!isOpen && senderOf(request, authenticator) === undefined)
      return authenticator.isBlocked(request.ip)
        ? await reply.code(429).send({ error: SLOWER })
        : await reply.code(401).send({ error: 'a bearer token is required' });
    return undefined;
  });

  let metrics: Promise<Buffer> | undefined;
  let metricsAt = now();
  server.get('/metrics', async (_request, reply) => {
    if (now() - metricsAt >= METRICS_MS) metrics = undefined;
    if (metrics === undefined) metricsAt = now();
    metrics ??= options.metrics.text().then((text) => Buffer.from(text));
    return await reply.type(options.metrics.contentType).send(await metrics);
  });
  server.get(
    '/healthz',
    async (_request, reply) => await reply.send({ status: 'alive', version: options.version }),
  );
  server.get('/readyz', async (request, reply) => {
    const reasons = options.ready();
    const ready = reasons.length === 0;
    const isKnown = isOfThisMachine(request.ip) || senderOf(request, authenticator) !== undefined;
    const status = ready ? (standby === undefined ? 'ready' : 'standby') : 'not ready';
    const known = { reasons: standby === undefined ? reasons : [...reasons, standbyWords(standby)] };
    const answer = { status, ...(isKnown ? known : {}) };
    return await reply.code(ready ? 200 : 503).send(answer);
  });

  if (options.pages !== undefined) addPages(server, options.pages);
  if (api !== undefined) {
    acceptJson(server);
    addApi(server, api, { authenticator, version: options.version });
  }

  if (standby !== undefined) addStandby(server, standby, authenticator);
  else
    server.setNotFoundHandler(async (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? '';
      const isOurs = path.startsWith('/api/') || PATHS.some((each) => each === path);
      const method = METHODS.find((each) => isOurs && server.hasRoute({ url: path, method: each }));
      if (method !== undefined)
        return await reply
          .code(405)
          .header('allow', method)
          .send({ error: `only ${method}` });
      return await reply.code(404).send({ error: `unknown path; try ${PATHS.join(', ')}` });
    });
  server.setErrorHandler(async (error, _request, reply) => {
    const status = errorStatus(error);
    // Internal errors go to the daemon's log, not to the client.
    const told = refusalText(error) ?? (status < 500 ? 'bad request' : 'internal error');
    return await reply.code(status).send({ error: told });
  });
}

const METHODS = ['GET', 'POST'] as const;

/** Whether a browser request comes from one of our pages. */
const isOwn = (origin: string, allowed: ReadonlySet<string>): boolean =>
  /^https?:\/\//u.test(origin) && allowed.has(origin.replace(/^https?:\/\//u, '').toLowerCase());

function whyNot(listen: string, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const words: Readonly<Record<string, string>> = {
    EADDRINUSE:
      'the port is in use: stop the other program, choose another port, or use port 0 for any free one',
    EACCES: 'this user may not use that port: choose one above 1023',
    EADDRNOTAVAIL: 'this machine does not have that address: use 127.0.0.1, or an address of this machine',
    ENOTFOUND: 'no such name: use 127.0.0.1, or an address of this machine',
  };
  return `cannot serve metrics on operate.listen "${listen}": ${words[code] ?? code}`;
}

function errorStatus(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 600 ? status : 500;
}
