import { isUtf8 } from 'node:buffer';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { firstValueFrom, timer } from 'rxjs';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import { readPlain } from '../../wire/plain.ts';
import { answerOf, deliver, endRaw } from './deliver.ts';
import type { Answer, Manner } from './deliver.ts';
import type { OrderDrill } from '../faults/drill-overrides.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { VenueOptions } from '../options/options.ts';
import { refused } from '../exchange/refuse.ts';
import { assumed } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';
import { routes } from './routes.ts';
import type { Route } from './routes.ts';
import { Router } from './router.ts';
import type { FoundRoute } from './router.ts';
import { strictProblem } from './strict-request.ts';

/** A request as received. */
export interface RequestSeen {
  /** When the request head arrived. */
  readonly at: Monotonic;
  readonly method: string;
  /** Path of the route, such as `/v1/orders/:id`; empty if there is no such route. */
  readonly route: string;
  /** Name of the account; `undefined` if the token is invalid. */
  readonly account: string | undefined;
  /** The bearer token as received; empty if there is none. */
  readonly token: string;
}

/** Changes that a test script makes to the processing of a request. Omitted fields change nothing. */
export interface Fault extends Manner {
  /** Delay before the exchange processes the request. */
  readonly delayMs?: number | undefined;
  /** Delay between processing and sending the response. */
  readonly replyDelayMs?: number | undefined;
  /** Replaces the response. With `processed: true` the exchange still processes the request, as behind a failing gateway. */
  readonly answer?: (Answer & { readonly processed?: boolean | undefined }) | undefined;
  /** Drops the connection, before or after the exchange has processed the request. */
  readonly destroy?: 'before' | 'after' | undefined;
  /** Changes the body before the exchange reads it. */
  readonly request?: ((body: string) => string) | undefined;
  /** Changes the body of the exchange's response. */
  readonly reply?: ((body: string) => string) | undefined;
  /** Overrides for orders that the exchange accepts. */
  readonly orders?: OrderDrill | undefined;
  /** Number of times that the exchange processes the request; the last response is sent. */
  readonly times?: number | undefined;
  /** Offset of the header `Date`, ms. */
  readonly skewMs?: number | undefined;
}

export interface ServerHooks {
  /** Called with every incoming request. */
  readonly onRequest?: ((seen: RequestSeen) => void) | undefined;
  /** Called for every request of a known route, with the received `body`. */
  readonly script?: ((seen: RequestSeen & { readonly body: string }) => Fault | undefined) | undefined;
}

export interface ServerSetup extends ServerHooks {
  readonly exchange: Exchange;
  readonly options: VenueOptions;
  readonly clock: Clock;
  /** Real time of the venue. */
  readonly now: () => Instant;
  /** Runs `work` with the order overrides of `drill`. */
  readonly drilling?: (<T>(drill: OrderDrill, work: () => T) => T) | undefined;
}

export interface VenueServer {
  readonly server: Server;
  listen(at: { readonly host: string; readonly port: number }): Promise<void>;
  /** Drops every connection and frees the port. */
  close(): Promise<void>;
}

/** Path of the WebSocket. */
const FEEDS_PATH = '/ws';
const BEARER = 'Bearer ';
const BODY_BYTES_MAX = 65_536;
/** Limit for discarding the rest of a rejected body; beyond it the connection is closed. */
const DRAIN_BYTES_MAX = 33_554_432;
const ADDRESS_LENGTH_MAX = 4_096;
const HEADER_BYTES_MAX = 16_384;
/** Maximum number of connections for requests and feeds, over all addresses. */
const CONNECTIONS_MAX = 6_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 72_000;

/** Creates the REST server of the simulated venue. It does not listen yet. */
export function venueServer(setup: ServerSetup): VenueServer {
  const open = routes.filter(({ kind }) => kind === 'spec' || !setup.options.specOnly);
  const desk = new Desk(setup, new Router(open));
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      // Rejected with the same kind of response as other invalid requests.
      requireHostHeader: false,
      // Other upgrades, such as the HTTP/2 upgrade that some clients offer with every request, are ignored, as HTTP allows.
      shouldUpgradeCallback: ({ url, headers }) =>
        url === FEEDS_PATH && headers.upgrade?.toLowerCase() === 'websocket',
    },
    (request, response) => {
      desk.receive(request, response);
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    deliver(response, answerOf(refused.expectation()), setup);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    endRaw(socket, refused.method());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    endRaw(socket, refusalOf(error.code));
  });
  return {
    server,
    async listen({ host, port }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
      await promise;
    },
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
      await promise;
    },
  };
}

interface Serving extends FoundRoute {
  readonly seen: RequestSeen;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Receives requests, passes them to the exchange, and sends exactly one response to each. */
class Desk {
  private readonly setup: ServerSetup;
  private readonly router: Router;
  private readonly leaving: { readonly response: ServerResponse; readonly answer: Answer }[] = [];

  constructor(setup: ServerSetup, router: Router) {
    this.setup = setup;
    this.router = router;
  }

  /** Called when the head of a request has arrived. Records and counts it, finds its account and route, then reads the body. */
  receive(request: IncomingMessage, response: ServerResponse): void {
    const { clock, exchange, now, onRequest } = this.setup;
    const { method = '', url = '/' } = request;
    const cut = url.indexOf('?');
    const path = cut === -1 ? url : url.slice(0, cut);
    const routed = this.router.find(method, path);
    const token = tokenOf(request);
    const owner = exchange.authenticate(token, now());
    const account = owner.ok ? owner.value : undefined;
    const seen = { at: clock.monotonic(), method, route: routed.route?.path ?? '', account, token };
    onRequest?.(seen);
    const tooMany = exchange.admitAddress(request.socket.remoteAddress ?? '', now());
    if (tooMany !== undefined) this.refuse(request, response, tooMany);
    else if (!hasHost(request)) this.refuse(request, response, refused.malformed('no header Host'));
    else if (!owner.ok) this.refuse(request, response, owner);
    else if (url.length > ADDRESS_LENGTH_MAX) this.refuse(request, response, refused.address());
    else if (routed.route === undefined) {
      const refusal = routed.allowed.length === 0 ? assumed.unknownRoute() : refused.method();
      const allow = routed.allowed.length === 0 ? undefined : routed.allowed.join(', ');
      this.refuse(request, response, { ...answerOf(refusal), allow });
    } else this.read({ ...routed, seen, query: queryOf(url, cut), request, response });
  }

  /** Responds immediately and discards the rest of the body, so that the client can read the response. */
  private refuse(request: IncomingMessage, response: ServerResponse, said: Answer | Refusal): void {
    drain(request);
    deliver(response, 'error' in said ? answerOf(said) : said, this.setup);
  }

  private read(serving: Serving): void {
    const { request, response } = serving;
    if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) {
      this.refuse(request, response, refused.body());
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_BYTES_MAX) chunks.push(chunk);
      else if (!response.headersSent) this.refuse(request, response, refused.body());
    });
    request.on('error', () => {
      response.destroy();
    });
    request.on('end', () => {
      if (size > BODY_BYTES_MAX) return;
      const [first] = chunks;
      const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
      if (!isUtf8(bytes)) this.refuse(request, response, refused.malformed('the body is not UTF-8'));
      else this.serve(serving, bytes.toString('utf8'));
    });
  }

  private serve(serving: Serving, body: string): void {
    const fault = this.setup.script?.({ ...serving.seen, body });
    if (fault === undefined && latencyOf(serving.route, this.setup.options) === 0)
      this.leave(serving.response, this.work(serving, body, {}));
    else void this.suffer(serving, body, fault ?? {});
  }

  /**
   * Sends the responses of one event-loop turn together, after the last request of that turn. The client then wakes
   * only once, not once per response. Waking costs more than the processing itself.
   */
  private leave(response: ServerResponse, answer: Answer): void {
    this.leaving.push({ response, answer });
    if (this.leaving.length > 1) return;
    setImmediate(() => {
      for (const each of this.leaving.splice(0)) deliver(each.response, each.answer, this.setup);
    });
  }

  /** Handles requests with latency or faults. */
  private async suffer(serving: Serving, body: string, fault: Fault): Promise<void> {
    const { clock, options } = this.setup;
    const { response, route } = serving;
    const latencyMs = latencyOf(route, options);
    await pause(clock, latencyMs / 2 + (fault.delayMs ?? 0));
    if (fault.destroy === 'before') {
      response.destroy();
      return;
    }
    const isWorked = fault.answer === undefined || fault.answer.processed === true;
    const worked = isWorked ? this.work(serving, body, fault) : undefined;
    await pause(clock, latencyMs / 2 + (fault.replyDelayMs ?? 0));
    if (fault.destroy === 'after') {
      response.destroy();
      return;
    }
    const answer = fault.answer ?? worked ?? answerOf(refused.broken());
    const { keep, bytesPerSecond, skewMs } = fault;
    deliver(response, { ...answer, skewMs }, { clock, keep, bytesPerSecond });
  }

  /** The exchange's response. An internal error also becomes a response, so that a request cannot crash the venue. */
  private work(serving: Serving, body: string, { request, reply, orders, times = 1 }: Fault): Answer {
    const { drilling } = this.setup;
    const asked = request === undefined ? body : request(body);
    const once = (): Reply<object> =>
      orders !== undefined && drilling !== undefined
        ? drilling(orders, () => this.ask(serving, asked))
        : this.ask(serving, asked);
    try {
      for (let turn = 1; turn < times; turn++) once();
      const answer = answerOf(once());
      return reply === undefined || answer.status >= 400 ? answer : { ...answer, body: reply(answer.body) };
    } catch {
      return answerOf(refused.broken());
    }
  }

  private ask({ route, params, query, seen, request }: Serving, body: string): Reply<object> {
    const { exchange, now } = this.setup;
    const at = now();
    const account = seen.account ?? '';
    const limited = route.limit === undefined ? undefined : exchange.admit(route.limit, account, at);
    if (limited !== undefined) return limited;
    const plain = body === '' ? undefined : readPlain(body);
    const problem = strictProblem(route, { headers: request.headers, query, body, plain });
    if (problem !== undefined) return problem;
    return route.answer(exchange, { account, now: at, query, params, body, plain });
  }
}

function tokenOf({ headers }: IncomingMessage): string {
  const given = headers.authorization ?? '';
  return given.startsWith(BEARER) ? given.slice(BEARER.length) : '';
}

/** HTTP/1.1 requires the header Host in every request. */
const hasHost = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion !== '1.1' || headers.host !== undefined;

function queryOf(url: string, cut: number): Readonly<Record<string, string | readonly string[]>> {
  if (cut === -1) return {};
  const all = new Map<string, string | readonly string[]>();
  for (const [name, value] of new URLSearchParams(url.slice(cut + 1))) {
    const before = all.get(name);
    if (before === undefined) all.set(name, value);
    else all.set(name, typeof before === 'string' ? [before, value] : [...before, value]);
  }
  return Object.fromEntries(all);
}

function drain(request: IncomingMessage): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DRAIN_BYTES_MAX) request.destroy();
  });
  request.on('error', () => undefined);
}

function latencyOf({ limit }: Route, options: VenueOptions): number {
  if (limit === 'quote') return options.quoteLatencyMs;
  return limit === 'order' ? options.orderLatencyMs : 0;
}

async function pause(clock: Clock, ms: number): Promise<void> {
  if (ms > 0) await firstValueFrom(timer(ms, clock.scheduler));
}

/** Translates an error of the HTTP parser into a response. */
function refusalOf(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refused.headers();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refused.timeout();
  return refused.malformed('not HTTP/1.1');
}
