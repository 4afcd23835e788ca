import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { jsonReader } from '../core/json.ts';
import type { UsedToken } from '../core/record.ts';
import type { Monotonic } from '../core/time.ts';
import { parseDuration } from '../core/time.ts';
import type { CommandAnswer, Scope } from '../engine/ports.ts';
import { mayAct } from './access.ts';
import type { Bearer, Caller, Authenticator, Role } from './access.ts';
import type { EventStream } from './events.ts';

/** What a person asks of the desk. The name of who asks is known already. */
export type Order = { readonly by: string; readonly token: UsedToken } & (
  | (Scope & {
      readonly do: 'pause' | 'resume';
      readonly isReducing: boolean;
      /** The pause ends automatically after this time, milliseconds. */
      readonly forMs?: number | undefined;
      readonly why: string;
    })
  | { readonly do: 'halt'; readonly why: string; readonly isKill: boolean }
  | { readonly do: 'reload'; readonly why: string; readonly isDryRun: boolean }
  | { readonly do: 'stop'; readonly why: string; readonly strategy: string }
  | { readonly do: 'rearm'; readonly why: string; readonly withOpenDoubts: boolean }
  | {
      readonly do: 'resolve' | 'propose' | 'approve' | 'withdraw' | 'reject';
      readonly body: Readonly<Record<string, unknown>>;
    }
);

export interface RunNowOrder {
  readonly by: string;
  readonly token: UsedToken;
  readonly why: string;
  readonly strategy: string;
}

/** The desk as its operators see it, as plain JSON. */
export interface OperatedDesk {
  /** Name of the desk, which re-arming must confirm. */
  readonly desk: string;
  /** A rearm, and an end of a doubt with figures, wait for a second person. */
  readonly fourEyes?: boolean | undefined;
  status(): object;
  doubts(): readonly object[];
  /** Open work, in every answer: open orders, doubts, remainders of slices. */
  open(): object;
  /** Carried out in this tick. */
  obey(order: Order): CommandAnswer;
  /** Begins an occurrence of a strategy; waits some seconds for a fresh price. */
  runNow(order: RunNowOrder): Promise<CommandAnswer>;
  /** A refused caller: reported and counted each time. */
  refused(attempt: RefusedAccess): void;
}

/** A request that no caller, or not this caller, may make. */
export interface RefusedAccess {
  /** Route of the API. */
  readonly path: string;
  /** Name of the token; `none` if this desk does not know it. */
  readonly by: string;
  readonly role?: Role | undefined;
  /** Least role that may. */
  readonly needed: Role;
}

export interface ApiOptions {
  readonly desk: OperatedDesk;
  readonly events: EventStream;
  readonly bearers: readonly Bearer[];
  /** The monotonic clock: wrong tokens count for a while. */
  readonly now: () => Monotonic;
}

/** A header that no form and no simple request of a browser can carry. */
export const GUARD_HEADER = 'x-tranche';

const TEXT_MAX = 500;
const readJson = jsonReader([]);
/** What an address is answered that tries tokens. */
export const SLOWER = 'too many wrong tokens came from this address: wait a few seconds';

/** Routes of the API, with the method of each. */
export const apiRoutes: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/api/v1/status': 'GET',
  '/api/v1/doubts': 'GET',
  '/api/v1/events': 'GET',
  '/api/v1/pause': 'POST',
  '/api/v1/resume': 'POST',
  '/api/v1/halt': 'POST',
  '/api/v1/reload': 'POST',
  '/api/v1/stop': 'POST',
  '/api/v1/strategies/run': 'POST',
  '/api/v1/rearm': 'POST',
  '/api/v1/doubts/resolve': 'POST',
  '/api/v1/overrides': 'POST',
  '/api/v1/overrides/approve': 'POST',
  '/api/v1/overrides/withdraw': 'POST',
  '/api/v1/overrides/reject': 'POST',
};

/** A request that is refused: its status and why, in words. */
class Refusal extends Error {
  readonly statusCode: number;
  readonly isForClient = true;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Text for the client when `error` is a refusal of the API; `undefined` for everything else. */
export const refusalText = (error: unknown): string | undefined =>
  error instanceof Refusal ? error.message : undefined;

/**
 * Adds the control plane: reads for viewers, commands for operators. Every route wants a bearer token in a header; commands
 * also want JSON and a header that a web page of another origin cannot send. No `GET` changes anything.
 */
export function addApi(
  server: FastifyInstance,
  { desk, events, bearers }: ApiOptions,
  authenticator: Authenticator,
): void {
  // Of JSON that two readers read in two ways nothing is read.
  server.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => {
      try {
        return await Promise.resolve(readJson(body));
      } catch {
        throw new Refusal(400, 'the body is no JSON, or writes a name twice');
      }
    },
  );
  const asked = (request: FastifyRequest, needed: Role): Caller => {
    const caller = authenticator.caller(request.headers.authorization, request.ip);
    if (caller !== undefined && mayAct(caller, needed)) return caller;
    const path = request.routeOptions.url ?? '';
    desk.refused({ path, by: caller?.name ?? 'none', role: caller?.role, needed });
    if (caller === undefined && authenticator.isBlocked(request.ip)) throw new Refusal(429, SLOWER);
    if (caller === undefined) throw new Refusal(401, 'this desk does not know the bearer token');
    throw new Refusal(403, `this action needs the role ${needed}; the token has the role ${caller.role}`);
  };
  const commanded = (
    request: FastifyRequest,
    needed: Role,
    keys: readonly string[],
  ): { by: Signature; body: Record<string, unknown> } => {
    if (request.headers[GUARD_HEADER] === undefined)
      throw new Refusal(403, `the header ${GUARD_HEADER} is missing`);
    const caller = asked(request, needed);
    const body = bodyOf(request.body);
    refuseOtherKeys(body, [...keys, 'by', 'why']);
    return { by: signatureOf(caller, body), body };
  };
  /** Two people see more than one: the first need not be an approver. */
  const first: Role = desk.fourEyes === true ? 'operator' : 'approver';
  const signatureOf = ({ name, kind }: Caller, body: Readonly<Record<string, unknown>>): Signature => {
    const token = { name, kind };
    if (body['by'] === undefined) return { by: name, token };
    const said = textOf(body, 'by');
    if (said !== name && bearers.some((bearer) => bearer.name.toLowerCase() === said.trim().toLowerCase()))
      throw new Refusal(403, `${said} has a token of their own: the name of a token comes with it alone`);
    return { by: kind === 'machine' ? `${name} (${said})` : name, token };
  };
  const answer = async (reply: FastifyReply, order: Order): Promise<unknown> =>
    await tell(reply, desk.obey(order));
  const tell = async (reply: FastifyReply, { isDone, says, facts }: CommandAnswer): Promise<unknown> =>
    await reply.code(isDone ? 200 : 409).send({ done: isDone, says, ...facts, ...desk.open() });

  server.get('/api/v1/status', async (request, reply) => {
    asked(request, 'viewer');
    return await reply.send(desk.status());
  });
  server.get('/api/v1/doubts', async (request, reply) => {
    asked(request, 'viewer');
    return await reply.send({ doubts: desk.doubts() });
  });
  server.get('/api/v1/events', async (request, reply) => {
    asked(request, 'viewer');
    if (events.isFull) throw new Refusal(503, 'too many listeners');
    // It stays open: the time limits of requests are not for it.
    request.raw.socket.setTimeout(0);
    reply.hijack();
    events.add(reply.raw);
    return await reply;
  });
  for (const what of ['pause', 'resume'] as const) {
    server.post(`/api/v1/${what}`, async (request, reply) => {
      const { by, body } = commanded(request, 'operator', KEYS[what]);
      const scope = {
        ...(body['parent'] === undefined ? {} : { parent: textOf(body, 'parent') }),
        ...(body['pair'] === undefined ? {} : { pair: textOf(body, 'pair') }),
        ...(body['strategy'] === undefined ? {} : { strategy: textOf(body, 'strategy') }),
      };
      const why = textOf(body, 'why');
      const isReducing = what === 'pause' && flagOf(body, 'reducing');
      const forMs = body['for'] === undefined ? undefined : durationOf(body, 'for');
      return await answer(reply, { do: what, ...by, why, isReducing, forMs, ...scope });
    });
  }
  server.post('/api/v1/halt', async (request, reply) => {
    const { by, body } = commanded(request, 'operator', ['kill']);
    const isKill = flagOf(body, 'kill');
    return await answer(reply, { do: 'halt', ...by, why: textOf(body, 'why'), isKill });
  });
  server.post('/api/v1/reload', async (request, reply) => {
    const { by, body } = commanded(request, 'operator', ['dry_run']);
    const isDryRun = flagOf(body, 'dry_run');
    return await answer(reply, { do: 'reload', ...by, why: textOf(body, 'why'), isDryRun });
  });
  server.post('/api/v1/stop', async (request, reply) => {
    const { by, body } = commanded(request, 'operator', ['strategy']);
    const strategy = textOf(body, 'strategy');
    return await answer(reply, { do: 'stop', ...by, why: textOf(body, 'why'), strategy });
  });
  server.post('/api/v1/strategies/run', async (request, reply) => {
    const { by, body } = commanded(request, 'operator', ['strategy']);
    const strategy = textOf(body, 'strategy');
    return await tell(reply, await desk.runNow({ ...by, why: textOf(body, 'why'), strategy }));
  });
  server.post('/api/v1/rearm', async (request, reply) => {
    const { by, body } = commanded(request, first, ['confirm', 'with_open_doubts']);
    if (body['confirm'] !== desk.desk) throw new Refusal(400, 'send the name of the desk as "confirm"');
    const withOpenDoubts = flagOf(body, 'with_open_doubts');
    return await answer(reply, {
      do: 'rearm',
      ...by,
      why: textOf(body, 'why'),
      withOpenDoubts,
    });
  });
  for (const [path, what, role] of [
    ['/api/v1/doubts/resolve', 'resolve', (body: unknown): Role => (hasFigures(body) ? first : 'approver')],
    ['/api/v1/overrides', 'propose', (): Role => 'operator'],
    ['/api/v1/overrides/approve', 'approve', (): Role => 'approver'],
    ['/api/v1/overrides/withdraw', 'withdraw', (): Role => 'operator'],
    ['/api/v1/overrides/reject', 'reject', (): Role => 'operator'],
  ] as const) {
    server.post(path, async (request, reply) => {
      const { by, body } = commanded(request, role(request.body), KEYS[what]);
      return await answer(reply, { do: what, ...by, body });
    });
  }
}

/** Who is written down: names come from the token, and the one of this machine adds the user who typed. */
interface Signature {
  readonly by: string;
  readonly token: UsedToken;
}

const hasFigures = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  ['order_id', 'quantity', 'amount'].some((name) => Object.hasOwn(body, name));

const SCOPES = ['parent', 'pair', 'strategy'];
const KEYS = {
  pause: [...SCOPES, 'reducing', 'for'],
  resume: SCOPES,
  resolve: ['client_order_id', 'verdict', 'evidence', 'order_id', 'quantity', 'amount', 'fees'],
  propose: ['limit', 'value', 'parent', 'slice', 'pair', 'side', 'minutes'],
  approve: ['override'],
  withdraw: ['override'],
  reject: ['override'],
} as const;

/**
 * A name that is misspelt must not make a command larger, or another: a resume of one pair would be one of the desk, an
 * override of one slice one of its parent, and a trade with fees would be booked without.
 */
function refuseOtherKeys(body: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const other = Object.keys(body).find((key) => !known.includes(key));
  if (other !== undefined)
    throw new Refusal(
      400,
      `"${other.slice(0, 80)}" is unknown; known fields are ${known.toSorted().join(', ')}`,
    );
}

function bodyOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'expected a JSON object');
  return { ...body };
}

function durationOf(body: Readonly<Record<string, unknown>>, name: string): number {
  try {
    return parseDuration(textOf(body, name));
  } catch (cause) {
    if (cause instanceof RangeError) throw new Refusal(400, `"${name}": ${cause.message}`);
    throw cause;
  }
}

function textOf(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value.trim() === '' || value.length > TEXT_MAX)
    throw new Refusal(400, `"${name}" must be a text of 1 to ${TEXT_MAX} characters`);
  return value;
}

function flagOf(body: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw new Refusal(400, `"${name}" must be true or false`);
  return value;
}
