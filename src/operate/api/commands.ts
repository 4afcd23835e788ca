import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { UsedToken } from '../../core/record.ts';
import type { Bearer, Caller, Role } from '../access.ts';
import { GUARD_HEADER } from './caller.ts';
import type { Admit } from './caller.ts';
import { inputOf } from './input.ts';
import type { OperatedDesk, Order, RunNowOrder } from './operated-desk.ts';
import { Refusal } from './refusal.ts';
import { approve, decide, halt, pause, rearm, reload, resolve, resume, stop } from './schema-commands.ts';

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
  const signatureOf = ({ name, kind, via }: Caller, said: string | undefined): Signature => {
    const token = { name, kind };
    if (said === undefined) return { by: name, token };
    if (via === 'session' && said !== name)
      throw new Refusal(403, 'your name comes from the sign-in: omit "by"');
    if (said !== name && bearers.some((bearer) => bearer.name.toLowerCase() === said.trim().toLowerCase()))
      throw new Refusal(403, `${said} has a token: only a request with that token may use the name`);
    const isOther = said.trim().toLowerCase() !== name.toLowerCase();
    if (kind !== 'machine' && isOther && isPerson?.(said) === true)
      throw new Refusal(403, `${said} is a person of this desk: only their own sign-in may use the name`);
    return { by: kind === 'machine' ? `${name} (${said})` : name, token };
  };
  const add = <B extends { readonly by?: string | undefined }>(
    path: string,
    needed: Role | ((body: unknown) => Role),
    schema: z.ZodType<B>,
    orderOf: (body: B, signature: Signature) => Order | ({ readonly do: 'run' } & RunNowOrder),
  ): void => {
    server.post(`/api/v1/${path}`, async (request, reply) => {
      if (request.headers[GUARD_HEADER] === undefined)
        throw new Refusal(403, `the header ${GUARD_HEADER} is missing`);
      const caller = admit(request, typeof needed === 'string' ? needed : needed(request.body));
      const body = inputOf(schema, request.body);
      const order = orderOf(body, signatureOf(caller, body.by));
      const { isDone, says, facts } = await (order.do === 'run' ? desk.runNow(order) : desk.obey(order));
      return await reply.code(isDone ? 200 : 409).send({ done: isDone, says, ...facts, ...desk.open() });
    });
  };
  /** If others must approve, the first need not be an approver. */
  const first = (kind: 'rearm' | 'doubt'): Role => (desk.needsApproval(kind) ? 'operator' : 'approver');

  add('pause', 'operator', pause, ({ reducing: isReducing = false, for: forMs, ...body }, signature) => ({
    do: 'pause',
    ...body,
    ...signature,
    isReducing,
    forMs,
  }));
  add('resume', 'operator', resume, (body, signature) => ({
    do: 'resume',
    ...body,
    ...signature,
    isReducing: false,
  }));
  add('halt', 'operator', halt, ({ why, kill: isKill = false }, signature) => ({
    do: 'halt',
    ...signature,
    why,
    isKill,
  }));
  add('reload', 'operator', reload, ({ why, dry_run: isDryRun = false }, signature) => ({
    do: 'reload',
    ...signature,
    why,
    isDryRun,
  }));
  add('stop', 'operator', stop, (body, signature) => ({ do: 'stop', ...body, ...signature }));
  add('strategies/run', 'operator', stop, (body, signature) => ({ do: 'run', ...body, ...signature }));
  add(
    'rearm',
    () => first('rearm'),
    rearm,
    (body, signature) => {
      if (body.confirm !== desk.desk) throw new Refusal(400, 'send the name of the desk as "confirm"');
      return { do: 'rearm', ...signature, why: body.why, withOpenDoubts: body.with_open_doubts ?? false };
    },
  );
  add(
    'doubts/resolve',
    (body) => (hasStatement(body) ? first('doubt') : 'approver'),
    resolve,
    (body, signature) => ({ do: 'resolve', ...signature, body }),
  );
  for (const [what, role, schema] of [
    ['approve', 'approver', approve],
    ['reject', 'operator', decide],
  ] as const)
    add<z.output<typeof approve>>(`approvals/${what}`, role, schema, (body, signature) => ({
      do: what,
      ...signature,
      request: body.id,
      hash: body.hash,
      why: body.why,
      assertion: body.assertion,
    }));
}

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
