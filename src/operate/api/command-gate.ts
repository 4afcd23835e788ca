import Fastify from 'fastify';
import type { Caller } from '../access.ts';
import { mayAct } from '../access.ts';
import { acceptJson, noCompilers } from './api.ts';
import { GUARD_HEADER } from './caller.ts';
import { addCommands } from './commands.ts';
import type { CommandOptions } from './commands.ts';
import { Refusal, refusalText } from './refusal.ts';

/** A command that did not arrive through the listener, from a person who was identified elsewhere. */
export interface GivenCommand {
  /** Route of the API. */
  readonly path: string;
  /** JSON. */
  readonly body: string;
  readonly caller: Caller;
}

export interface CommandAnswered {
  /** HTTP status: 200 if done, 409 if the desk refuses, 403 if the caller may not do this. */
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

export type CommandGate = (given: GivenCommand) => Promise<CommandAnswered>;

/** Header with the caller of a request; the network cannot set it. */
const CALLER = 'x-tranche-caller';

/**
 * Executes commands through the API routes, with the same roles, the same body checks and the same records, but without
 * a listener.
 */
export async function commandGate({
  desk,
  bearers,
  isPerson,
}: Omit<CommandOptions, 'admit'>): Promise<CommandGate> {
  const server = Fastify({ logger: false, bodyLimit: 16 * 1024, schemaController: noCompilers });
  const callers = new Map<string, Caller>();
  let count = 0;
  acceptJson(server);
  server.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof Refusal)
      return await reply.code(error.statusCode).send({ error: refusalText(error) });
    const isOfSender = error instanceof Error && 'statusCode' in error && error.statusCode === 400;
    return await reply
      .code(isOfSender ? 400 : 500)
      .send({ error: isOfSender ? 'bad request' : 'internal error' });
  });
  addCommands(server, {
    desk,
    bearers,
    isPerson,
    admit(request, needed) {
      const caller = callers.get(String(request.headers[CALLER]));
      if (caller !== undefined && mayAct(caller, needed)) return caller;
      const path = request.routeOptions.url ?? '';
      desk.refused({ path, by: caller?.name ?? 'none', role: caller?.role, needed });
      throw new Refusal(403, `this action requires the ${needed} role; ${caller === undefined ? 'the sender is unknown' : `${caller.name} has the ${caller.role} role`}`); // prettier-ignore
    },
  });
  await server.ready();
  return async ({ path, body, caller }) => {
    count += 1;
    const id = String(count);
    callers.set(id, caller);
    try {
      const headers = { [CALLER]: id, [GUARD_HEADER]: '1', 'content-type': 'application/json' };
      const { statusCode, payload } = await server.inject({
        method: 'POST',
        url: path,
        headers,
        payload: body,
      });
      return { status: statusCode, body: payload };
    } finally {
      callers.delete(id);
    }
  };
}
