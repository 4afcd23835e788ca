import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { firstValueFrom, timer } from 'rxjs';
import type { Instant, Monotonic } from '../core/time.ts';
import type { Clock } from '../engine/ports.ts';
import type { Exchange } from './exchange.ts';
import type { VenueOptions } from './options.ts';
import { assumed } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';
import { routes } from './routes.ts';
import type { Route } from './routes.ts';

/** A request as the venue saw it come in. */
export interface RequestSeen {
  /** When its head had arrived. */
  readonly at: Monotonic;
  readonly method: string;
  /** Path as the interface writes it, such as `/v1/orders/:id`; empty when there is no such route. */
  readonly route: string;
  /** Name of the account; `undefined` when the token is not one. */
  readonly account: string | undefined;
}

/** What a script does to a request. Parts that are left out happen as usual. */
export interface Fault {
  /** Before the exchange sees the request. */
  readonly delayMs?: number | undefined;
  /** After the exchange has worked, before the answer leaves. */
  readonly replyDelayMs?: number | undefined;
  /** What is answered; `processed: true` lets the exchange work all the same, as behind a failing gateway. */
  readonly answer?:
    { readonly status: number; readonly body: string; readonly processed?: boolean } | undefined;
  /** Breaks the connection off, before or after the exchange has worked. */
  readonly destroy?: 'before' | 'after' | undefined;
}

export interface ServerHooks {
  /** Told of every request, as it comes in. */
  readonly onRequest?: ((seen: RequestSeen) => void) | undefined;
  /** Asked for every request of a known route. `body` as it came. */
  readonly script?: ((seen: RequestSeen & { readonly body: string }) => Fault | undefined) | undefined;
}

export interface ServerSetup extends ServerHooks {
  readonly exchange: Exchange;
  readonly options: VenueOptions;
  readonly clock: Clock;
  /** Real time of the venue. */
  readonly now: () => Instant;
}

const BODY_BYTES_MAX = 65_536;
const JSON_TYPE = 'application/json; charset=utf-8';

/** The REST side of the simulated venue, not listening yet. */
export function venueServer(setup: ServerSetup): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    trustProxy: false,
  });
  app.removeAllContentTypeParsers();
  // Bodies stay text: their numbers are read from the source text, never as floats.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });
  const gate = new Gate(setup);
  app.addHook('onRequest', (request, reply, done) => {
    const refused = gate.receive(request, reply);
    if (refused === undefined) done();
    else respond(reply, refused);
  });
  app.setNotFoundHandler((_request, reply) => {
    respond(reply, assumed.unknownRoute());
  });
  app.setErrorHandler(
    (error: { readonly statusCode?: number; readonly message: string }, _request, reply) => {
      respond(reply, { ok: false, status: error.statusCode ?? 500, error: error.message });
    },
  );
  for (const route of routes) {
    if (route.kind === 'extra' && setup.options.specOnly) continue;
    app.route({
      method: route.method,
      url: route.path,
      handler: async (request, reply) => {
        await serve({ ...setup, route, request, reply, gate });
      },
    });
  }
  return app;
}

/** Lets requests in: notes them, counts them against the limit of their address, and finds their account. */
class Gate {
  private readonly setup: ServerSetup;
  private readonly seen = new WeakMap<FastifyRequest, RequestSeen>();

  constructor(setup: ServerSetup) {
    this.setup = setup;
  }

  /** Why the request may not come in; `undefined` when it may. */
  receive(request: FastifyRequest, reply: FastifyReply): Refusal | undefined {
    const { clock, exchange, now, onRequest } = this.setup;
    reply.header('x-simulated', 'tranche');
    const route = request.routeOptions.url ?? '';
    const owner = exchange.authenticate(bearerOf(request));
    const seen: RequestSeen = {
      at: clock.monotonic(),
      method: request.method,
      route,
      account: owner.ok ? owner.value : undefined,
    };
    this.seen.set(request, seen);
    onRequest?.(seen);
    const tooMany = exchange.admitAddress(request.ip, now());
    if (tooMany !== undefined) return tooMany;
    const isOpen = routes.some(({ path, access }) => path === route && access === 'open');
    return owner.ok || isOpen ? undefined : owner;
  }

  of(request: FastifyRequest): RequestSeen | undefined {
    return this.seen.get(request);
  }
}

interface Serving extends ServerSetup {
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly gate: Gate;
}

async function serve(serving: Serving): Promise<void> {
  const { request, reply, script, clock, gate } = serving;
  const body = typeof request.body === 'string' ? request.body : '';
  const seen = gate.of(request);
  const fault = seen === undefined ? undefined : script?.({ ...seen, body });
  const latencyMs = latencyOf(serving);
  await pause(clock, latencyMs / 2 + (fault?.delayMs ?? 0));
  if (fault?.destroy === 'before') {
    breakOff(request, reply);
    return;
  }
  const isProcessed = fault?.answer === undefined || fault.answer.processed === true;
  const answer = isProcessed ? answerOf(serving, seen?.account ?? '', body) : undefined;
  await pause(clock, latencyMs / 2 + (fault?.replyDelayMs ?? 0));
  if (fault?.destroy === 'after') breakOff(request, reply);
  else if (fault?.answer !== undefined)
    reply.code(fault.answer.status).type(JSON_TYPE).send(fault.answer.body);
  else respond(reply, answer ?? assumed.unknownRoute());
}

function answerOf({ exchange, route, now, request }: Serving, account: string, body: string): Reply<object> {
  const at = now();
  const limited = route.limit === undefined ? undefined : exchange.admit(route.limit, account, at);
  return (
    limited ??
    route.answer(exchange, { account, now: at, query: request.query, params: request.params, body })
  );
}

function latencyOf({ route, options }: Serving): number {
  if (route.limit === 'quote') return options.quoteLatencyMs;
  return route.limit === 'order' ? options.orderLatencyMs : 0;
}

async function pause(clock: Clock, ms: number): Promise<void> {
  if (ms > 0) await firstValueFrom(timer(ms, clock.scheduler));
}

/** The client sees its connection end without an answer. */
function breakOff(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.destroy();
}

function respond(reply: FastifyReply, answer: Reply<object>): void {
  if (answer.ok) {
    reply.code(answer.status).type(JSON_TYPE).send(JSON.stringify(answer.value));
    return;
  }
  if (answer.retryAfterMs !== undefined)
    reply.header('retry-after', String(Math.ceil(answer.retryAfterMs / 1000)));
  reply
    .code(answer.status)
    .type(JSON_TYPE)
    .send(JSON.stringify({ error: answer.error }));
}

function bearerOf({ headers }: FastifyRequest): string {
  const [, token] = /^Bearer ([^\s]{1,256})$/u.exec(headers.authorization ?? '') ?? [];
  return token ?? '';
}
