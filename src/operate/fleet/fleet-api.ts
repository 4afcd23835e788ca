import type { FastifyInstance } from 'fastify';
import type { Monotonic } from '../../core/time.ts';
import type { Authenticator, Bearer, Caller, Role } from '../access.ts';
import { admission } from '../api/caller.ts';
import { meOf } from '../api/me.ts';
import type { RefusedAccess } from '../api/operated-desk.ts';
import { totalsOf } from './totals.ts';
import type { FleetRow } from './totals.ts';

/** The desks of a store, as a daemon shows them. */
export interface FleetPort {
  /** Name of the daemon that answers. */
  readonly daemon: string;
  /** @throws Refusal when the store cannot be read */
  desks(): Promise<readonly FleetRow[]>;
  /** What a caller may do with a desk; `undefined`: not even see it. */
  roleOn(caller: Caller, desk: string): Role | undefined;
  /** A refused caller. */
  refused(attempt: RefusedAccess): void;
}

export interface FleetApiOptions {
  readonly fleet: FleetPort;
  readonly bearers: readonly Bearer[];
  readonly now: () => Monotonic;
}

/** Adds the API of a daemon of a fleet. Callers see the desks on which they have a role. */
export function addFleetApi(
  server: FastifyInstance,
  { fleet }: FleetApiOptions,
  { authenticator, version }: { readonly authenticator: Authenticator; readonly version: string },
): void {
  const admit = admission(fleet, authenticator);
  server.get('/api/v1/openapi.json', async (request, reply) => {
    admit(request, 'viewer');
    const { openApi } = await import('../api/openapi.ts');
    return await reply.send(openApi(version));
  });
  server.get('/api/v1/me', async (request, reply) => {
    return await reply.send(meOf(admit(request, 'viewer'), { desk: fleet.daemon, mode: 'fleet' }, version));
  });
  server.get('/api/v1/fleet', async (request, reply) => {
    const caller = admit(request, 'viewer');
    const items = (await fleet.desks()).filter(({ name }) => fleet.roleOn(caller, name) !== undefined);
    return await reply.send({ items, totals: totalsOf(items) });
  });
}

/** Routes of `addFleetApi` and their methods. */
export const fleetMethods: Readonly<Record<string, string>> = {
  '/api/v1/openapi.json': 'GET',
  '/api/v1/me': 'GET',
  '/api/v1/fleet': 'GET',
};
