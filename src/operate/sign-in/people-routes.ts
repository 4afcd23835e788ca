import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isoOf } from '../../core/time.ts';
import type { Bearer, Caller, Role } from '../access.ts';
import { GUARD_HEADER } from '../api/caller.ts';
import type { Admit } from '../api/caller.ts';
import type { OperatedDesk } from '../api/operated-desk.ts';
import { Refusal } from '../api/refusal.ts';
import { readBody } from './body.ts';
import { pageOf } from './browser.ts';
import { clearCookie } from './cookie.ts';
import { INVITATION_MS, LINK_MS, newLink } from './sign-in.ts';
import type { SignIn } from './sign-in.ts';

export interface PeopleOptions {
  readonly desk: Pick<OperatedDesk, 'hasApprovals'>;
  readonly bearers: readonly Bearer[];
  readonly signIn: SignIn;
  readonly admit: Admit;
}

/** Adds the routes for people and their invitations, and the routes that list and end sessions. */
export function addPeople(server: FastifyInstance, { desk, bearers, signIn, admit }: PeopleOptions): void {
  const { people, sessions, invitations } = signIn;
  const commanded = (request: FastifyRequest, needed: Role): Caller => {
    if (request.headers[GUARD_HEADER] === undefined)
      throw new Refusal(403, `the header ${GUARD_HEADER} is missing`);
    return admit(request, needed);
  };
  const isMachine = ({ kind, via }: Caller): boolean => kind === 'machine' && via === 'token';

  server.get('/api/v1/people', async (request, reply) => {
    admit(request, 'viewer');
    const items = [...people.all()].map(({ name, role, state, invitedBy, passkeys }) => ({
      name,
      role,
      state,
      passkeys: passkeys.map(({ id, enrolledAt }) => ({ id, enrolled_at: isoOf(enrolledAt) })),
      invited_by: invitedBy,
    }));
    return await reply.send({ items });
  });

  server.post('/api/v1/people/invite', async (request, reply) => {
    const caller = commanded(request, 'admin');
    const { name, role, why, by: said } = await readBody('/api/v1/people/invite', request.body);
    // Over the network, an admin could invent a second person, and propose or approve in that name.
    const isOfMachine = desk.hasApprovals ? isMachine(caller) : caller.kind === 'machine';
    const token = bearers.find((bearer) => sameName(bearer.name, name));
    // A passkey under the name of a token would act for that person.
    if ((desk.hasApprovals || role !== 'viewer' || token !== undefined) && !isOfMachine)
      throw new Refusal(
        403,
        `${desk.hasApprovals ? 'with operate.approvals, people' : 'people with a role above viewer'} can be invited only on the desk's machine: run tranche people invite ${name} --role ${role} there`,
      );
    if (token !== undefined && (token.kind ?? 'person') !== 'person')
      throw new Refusal(409, `${token.name} is the name of a program: choose another for a person`);
    const by = nameOf(caller, said);
    const { isDone, says } = await people.record({
      kind: 'person', person: name, step: 'invited', role, by, why, token: { name: caller.name, kind: caller.kind },
    }); // prettier-ignore
    if (!isDone) throw new Refusal(409, says);
    invitations.end(name.toLowerCase());
    const owner = name.toLowerCase();
    const secret = invitations.issue({ value: { person: name }, owner, lifeMs: INVITATION_MS });
    if (secret === undefined)
      throw new Refusal(503, 'too many invitations are open: remove people who no longer need theirs');
    const base = request.headers.origin ?? signIn.invitationUrl;
    return await reply.send({
      done: true,
      says,
      link: `${base}/enrol?invitation=${secret}`,
      life_s: INVITATION_MS / 1_000,
    });
  });

  server.post('/api/v1/people/remove', async (request, reply) => {
    const caller = commanded(request, 'admin');
    const { name, why, by: said } = await readBody('/api/v1/people/remove', request.body);
    const known = people.get(name);
    const by = nameOf(caller, said);
    const { isDone, says } = await people.record({
      kind: 'person', person: known?.name ?? name, step: 'removed', role: known?.role ?? 'viewer', by, why,
      token: { name: caller.name, kind: caller.kind },
    }); // prettier-ignore
    if (!isDone) throw new Refusal(409, says);
    invitations.end(name.toLowerCase());
    sessions.end({ name: known?.name ?? name });
    return await reply.send({ done: true, says });
  });

  server.get('/api/v1/sessions', async (request, reply) => {
    const caller = admit(request, 'viewer');
    const items = sessions.all(caller.role === 'admin' ? undefined : caller.name).map((one) => ({
      session: one.session,
      name: one.name,
      role: one.role,
      via: one.via,
      begun_at: isoOf(one.begunAt),
      used_at: isoOf(one.usedAt),
      ends_at: isoOf(one.endsAt),
      is_own: one.session === caller.session,
    }));
    return await reply.send({ items });
  });

  server.post('/api/v1/sessions/revoke', async (request, reply) => {
    const caller = commanded(request, 'viewer');
    const { session: id } = await readBody('/api/v1/sessions/revoke', request.body);
    const owner = sessions.ownerOf(id);
    // All sessions of the machine have the same name, so each may end only itself.
    const isOwn =
      caller.via === 'session' && (caller.kind === 'machine' ? id === caller.session : owner === caller.name);
    if (owner === undefined || (!isOwn && caller.role !== 'admin'))
      throw new Refusal(404, 'you have no such session');
    sessions.end({ id });
    return await reply.send({ done: true, says: `the session of ${owner} has ended` });
  });

  server.post('/api/v1/sign-out', async (request, reply) => {
    const { session: id } = commanded(request, 'viewer');
    if (id === undefined) throw new Refusal(400, 'a request with a token has no session to end');
    sessions.end({ id });
    reply.header('set-cookie', clearCookie(pageOf(request)));
    return await reply.send({ done: true, says: 'signed out' });
  });

  server.post('/api/v1/sign-in/new-link', async (request, reply) => {
    const caller = commanded(request, 'admin');
    if (!isMachine(caller))
      throw new Refusal(
        403,
        "sign-in links can be created only on the desk's machine: run tranche sign-in there",
      );
    const { role } = await readBody('/api/v1/sign-in/new-link', request.body);
    const link = newLink(signIn, role);
    if (link === undefined) throw new Refusal(503, 'too many links are open: retry in a few minutes');
    return await reply.send({ link, life_s: LINK_MS / 1_000 });
  });
}

const sameName = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

/** The name to record. Only the machine's token adds a fact to the sign-in: the user who ran the command. */
function nameOf({ name, kind, via }: Caller, said: string | undefined): string {
  if (said === undefined || said === name) return name;
  if (kind !== 'machine' || via !== 'token')
    throw new Refusal(403, 'your name comes from the sign-in: omit "by"');
  return `${name} (${said})`;
}
