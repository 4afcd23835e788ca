import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import { jsonReader } from '../../core/text/json.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Authenticator, Bearer } from '../access.ts';
import type { EventStream } from '../events.ts';
import { addPeople } from '../sign-in/people-routes.ts';
import { addSignIn } from '../sign-in/routes.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { admission } from './caller.ts';
import { addCommands } from './commands.ts';
import type { DeskReads } from './desk-reads.ts';
import type { OperatedDesk } from './operated-desk.ts';
import { addReads } from './reads.ts';
import { Refusal } from './refusal.ts';

export interface ApiOptions {
  readonly desk: OperatedDesk;
  /** Omitted: the desk serves only its status and doubts. */
  readonly reads?: DeskReads | undefined;
  readonly events: EventStream;
  readonly bearers: readonly Bearer[];
  /** Omitted: nobody can sign in, and only tokens are accepted. */
  readonly signIn?: SignIn | undefined;
  /** The monotonic clock, because wrong tokens count for a limited time. */
  readonly now: () => Monotonic;
}

const readJson = jsonReader({ amounts: [] });

/**
 * Adds the control plane: reads for viewers and commands for operators, as in `apiRoutes`. Every route requires a bearer token or a
 * session cookie. No `GET` changes anything.
 */
export function addApi(
  server: FastifyInstance,
  { desk, reads, events, bearers, signIn }: ApiOptions,
  { authenticator, version }: { readonly authenticator: Authenticator; readonly version: string },
): void {
  const admit = admission(desk, authenticator);
  addReads(server, { desk, reads, events, admit, version, sessions: signIn?.sessions });
  const isPerson = (name: string): boolean => signIn?.people.get(name) !== undefined;
  addCommands(server, { desk, bearers, admit, isPerson });
  if (signIn === undefined) return;
  addSignIn(server, { desk, signIn, version });
  addPeople(server, { desk, bearers, signIn, admit });
}

/** Parses JSON bodies. Refuses bodies that two parsers could read differently. */
export function acceptJson(server: FastifyInstance): void {
  server.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => {
      try {
        return await Promise.resolve(readJson(body));
      } catch {
        throw new Refusal(400, 'the body is not JSON, or repeats a name');
      }
    },
  );
}

/**
 * Keeps Fastify from loading its JSON Schema compilers, which took 25 of the 90 ms that Fastify adds to a start. Zod
 * checks what routes receive.
 */
export const noCompilers: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
};

/** Fails if a route has a Fastify schema, which nothing would check. */
function refuseSchema(): never {
  throw new Error('invariant broken: routes have no schemas of Fastify');
}
