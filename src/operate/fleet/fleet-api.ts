import type { FastifyInstance, FastifyRequest } from 'fastify';
import { roles } from '../../core/roles.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Authenticator, Bearer, Caller, Role } from '../access.ts';
import { GUARD_HEADER, admission } from '../api/caller.ts';
import type { CommandAnswered } from '../api/command-gate.ts';
import { meOf } from '../api/me.ts';
import type { RefusedAccess } from '../api/operated-desk.ts';
import { Refusal } from '../api/refusal.ts';
import { apiRoutes } from '../api/routes.ts';
import type { ApiRoute } from '../api/routes.ts';
import { addPeople } from '../sign-in/people-routes.ts';
import { addSignIn } from '../sign-in/routes.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { totalsOf } from './totals.ts';
import type { FirmLimitRow, FleetRow } from './totals.ts';

/** The desks of a store, as a fleet daemon shows them. */
export interface FleetPort {
  /** Name of the daemon that responds. */
  readonly daemon: string;
  /** @throws Refusal when the store cannot be read */
  desks(): Promise<readonly FleetRow[]>;
  /** Limits over all desks, with their use. @throws Refusal when the store cannot be read */
  limits(): Promise<readonly FirmLimitRow[]>;
  /** The role of a caller on a desk; `undefined`: the caller may not even see it. */
  roleOn(caller: Caller, desk: string): Role | undefined;
  /** Passes a command to the owner of a desk, and waits for its response. */
  command(given: DeskCommand): Promise<CommandAnswered>;
  /** A refused caller. */
  refused(attempt: RefusedAccess): void;
}

export interface DeskCommand {
  readonly desk: string;
  /** Route of a desk's API. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The caller, with the role on this desk. */
  readonly caller: Caller;
}

export interface FleetApiOptions {
  readonly fleet: FleetPort;
  readonly bearers: readonly Bearer[];
  /** How browsers sign in. */
  readonly signIn: SignIn;
  readonly now: () => Monotonic;
}

/** Adds the API of a fleet daemon. Callers see the desks on which they have a role. */
export function addFleetApi(
  server: FastifyInstance,
  { fleet, bearers, signIn }: FleetApiOptions,
  { authenticator, version }: { readonly authenticator: Authenticator; readonly version: string },
): void {
  const admit = admission(fleet, authenticator);
  const self = { desk: fleet.daemon, mode: 'fleet', refused: (attempt: RefusedAccess) => { fleet.refused(attempt); } };
  addSignIn(server, { desk: self, signIn, version });
  addPeople(server, { desk: {}, bearers, signIn, admit });
  server.get('/api/v1/openapi.json', async (request, reply) => {
    admit(request, 'viewer');
    const { openApi } = await import('../api/openapi.ts');
    return await reply.send(openApi(version));
  });
  server.get('/api/v1/me', async (request, reply) => {
    return await reply.send(meOf(admit(request, 'viewer'), self, version));
  });
  server.get('/api/v1/fleet', async (request, reply) => {
    const caller = admit(request, 'viewer');
    const items = (await fleet.desks()).filter(({ name }) => fleet.roleOn(caller, name) !== undefined);
    return await reply.send({ items, totals: totalsOf(items) });
  });
  server.get('/api/v1/fleet/limits', async (request, reply) => {
    const caller = admit(request, 'viewer');
    const hidden = (await fleet.desks()).find(({ name }) => fleet.roleOn(caller, name) === undefined);
    if (hidden !== undefined) {
      fleet.refused({ path: '/api/v1/fleet/limits', by: caller.name, role: undefined, needed: 'viewer' });
      throw new Refusal(403, `firm limits show figures of all desks: ${caller.name} requires the viewer role on every desk`);
    }
    return await reply.send({ items: await fleet.limits() });
  });
  server.post('/api/v1/fleet/command', async (request, reply) => {
    const caller = admit(request, 'viewer');
    const { desk, command, body } = await commandIn(request);
    const path = `/api/v1/${command}`;
    const route = Object.entries<ApiRoute>(apiRoutes).find(([known]) => known === path)?.[1];
    if (route?.method !== 'POST') throw new Refusal(400, `"command": a desk has no command ${command}`);
    const role = fleet.roleOn(caller, desk);
    if (role === undefined || roles.indexOf(role) < roles.indexOf(route.role)) {
      fleet.refused({ path, by: caller.name, role, needed: route.role });
      throw new Refusal(403, `${command} requires the ${route.role} role on desk ${desk}; ${caller.name} has ${role === undefined ? 'no role there' : `the ${role} role`}`);
    }
    if (!(await fleet.desks()).some(({ name }) => name === desk)) throw new Refusal(404, `the store has no desk ${desk}`);
    const { status, body: answer } = await fleet.command({ desk, path, body, caller: { ...caller, role } });
    return await reply.code(status).type('application/json').send(answer);
  });
} // prettier-ignore

/** Parses a command. @throws Refusal for an invalid command, or one that a page of another origin may have sent. */
async function commandIn(request: FastifyRequest): Promise<Pick<DeskCommand, 'desk' | 'body'> & { readonly command: string }> {
  if (request.headers[GUARD_HEADER] === undefined)
    throw new Refusal(403, `the header ${GUARD_HEADER} is missing`);
  const { fleetRoutes } = await import('./fleet-routes.ts');
  const read = fleetRoutes['/api/v1/fleet/command'].body.safeParse(request.body);
  if (read.success) return read.data;
  const [{ path, message } = { path: [], message: '' }] = read.error.issues;
  throw new Refusal(400, `"${path.join('.')}": ${message}`);
} // prettier-ignore

/** Routes of `addFleetApi` and their methods. */
export const fleetMethods: Readonly<Record<string, string>> = {
  '/api/v1/openapi.json': 'GET',
  '/api/v1/me': 'GET',
  '/api/v1/fleet': 'GET',
  '/api/v1/fleet/limits': 'GET',
  '/api/v1/fleet/command': 'POST',
};
