import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { UsedToken } from '../../core/record.ts';
import { parseDuration } from '../../core/time.ts';
import type { CommandAnswer } from '../../engine/ports.ts';
import type { Bearer, Caller, Role } from '../access.ts';
import { GUARD_HEADER } from './caller.ts';
import type { Admit } from './caller.ts';
import type { OperatedDesk, Order } from './operated-desk.ts';
import { Refusal } from './refusal.ts';

const TEXT_MAX = 500;

export interface CommandOptions {
  readonly desk: OperatedDesk;
  readonly bearers: readonly Pick<Bearer, 'name'>[];
  readonly admit: Admit;
  /** Whether a person is or was invited under this name. Omitted: nobody signs in. */
  readonly isPerson?: ((name: string) => boolean) | undefined;
}

/**
 * Adds the routes that change the desk. Every command requires JSON and a header that a web page of another origin
 * cannot send.
 */
export function addCommands(
  server: FastifyInstance,
  { desk, bearers, admit, isPerson }: CommandOptions,
): void {
  const commanded = (
    request: FastifyRequest,
    needed: Role,
    keys: readonly string[],
  ): { by: Signature; body: Record<string, unknown> } => {
    if (request.headers[GUARD_HEADER] === undefined)
      throw new Refusal(403, `the header ${GUARD_HEADER} is missing`);
    const caller = admit(request, needed);
    const body = bodyOf(request.body);
    refuseOtherKeys(body, [...keys, 'by', 'why']);
    return { by: signatureOf(caller, body), body };
  };
  /** If others must approve, the first need not be an approver. */
  const first = (kind: 'rearm' | 'doubt'): Role => (desk.needsApproval(kind) ? 'operator' : 'approver');
  const signatureOf = ({ name, kind, via }: Caller, body: Readonly<Record<string, unknown>>): Signature => {
    const token = { name, kind };
    if (body['by'] === undefined) return { by: name, token };
    const said = textOf(body, 'by');
    if (via === 'session' && said !== name)
      throw new Refusal(403, 'your name comes from the sign-in: omit "by"');
    if (said !== name && bearers.some((bearer) => bearer.name.toLowerCase() === said.trim().toLowerCase()))
      throw new Refusal(403, `${said} has a token: only a request with that token may use the name`);
    const isOther = said.trim().toLowerCase() !== name.toLowerCase();
    if (kind !== 'machine' && isOther && isPerson?.(said) === true)
      throw new Refusal(403, `${said} is a person of this desk: only their own sign-in may use the name`);
    return { by: kind === 'machine' ? `${name} (${said})` : name, token };
  };
  const answer = async (reply: FastifyReply, order: Order): Promise<unknown> =>
    await tell(reply, await desk.obey(order));
  const tell = async (reply: FastifyReply, { isDone, says, facts }: CommandAnswer): Promise<unknown> =>
    await reply.code(isDone ? 200 : 409).send({ done: isDone, says, ...facts, ...desk.open() });

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
    const { by, body } = commanded(request, first('rearm'), ['confirm', 'with_open_doubts']);
    if (body['confirm'] !== desk.desk) throw new Refusal(400, 'send the name of the desk as "confirm"');
    const withOpenDoubts = flagOf(body, 'with_open_doubts');
    return await answer(reply, {
      do: 'rearm',
      ...by,
      why: textOf(body, 'why'),
      withOpenDoubts,
    });
  });
  server.post('/api/v1/doubts/resolve', async (request, reply) => {
    const role = hasStatement(request.body) ? first('doubt') : 'approver';
    const { by, body } = commanded(request, role, KEYS.resolve);
    // Loaded on demand, so that a start does not wait for it.
    const { resolve } = await import('./schema-commands.ts');
    return await answer(reply, { do: 'resolve', ...by, body: readAs(resolve, body) });
  });
  for (const [what, role] of [
    ['approve', 'approver'],
    ['reject', 'operator'],
  ] as const) {
    server.post(`/api/v1/approvals/${what}`, async (request, reply) => {
      const { by, body } = commanded(request, role, what === 'approve' ? [...DECIDE, 'assertion'] : DECIDE);
      const { approve } = await import('./schema-commands.ts');
      const { id, hash, why, assertion } = readAs(approve, body);
      return await answer(reply, { do: what, ...by, request: id, hash, why, assertion });
    });
  }
}

/** A schema of zod, which is loaded on demand. */
interface Reader<T> {
  safeParse(body: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly { path: readonly PropertyKey[]; message: string }[] };
      };
}

function readAs<T>(schema: Reader<T>, body: unknown): T {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [{ path, message } = { path: [], message: '' }] = read.error.issues;
  throw new Refusal(400, `"${path.join('.')}": ${message}`);
}

const DECIDE = ['id', 'hash'] as const;

/** The recorded name: the token's; for this machine's token, the user name is added. */
interface Signature {
  readonly by: string;
  readonly token: UsedToken;
}

/** Whether a resolution has figures or rows, so that other people may have to approve. */
const hasStatement = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  ['order_id', 'quantity', 'amount', 'rows'].some((name) => Object.hasOwn(body, name));

const SCOPES = ['parent', 'pair', 'strategy'];
const KEYS = {
  pause: [...SCOPES, 'reducing', 'for'],
  resume: SCOPES,
  resolve: ['client_order_id', 'verdict', 'evidence', 'order_id', 'quantity', 'amount', 'fees', 'rows'],
} as const;

/**
 * A misspelt field must not make a command larger or different. Otherwise, a resume of one pair would become a resume
 * of the whole desk, and a trade with fees would be
 * booked without them.
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
