import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PersonRecord } from '../../core/record.ts';
import { GUARD_HEADER } from '../api/caller.ts';
import type { OperatedDesk } from '../api/operated-desk.ts';
import { Refusal, SLOWER } from '../api/refusal.ts';
import { meOf } from '../api/me.ts';
import { readBody } from './body.ts';
import { pageOf, rpIdOf } from './browser.ts';
import type { Page } from './browser.ts';
import { setCookie } from './cookie.ts';
import { enrolmentOptions, signInOptions, verifyAssertion, verifyRegistration } from './passkeys.ts';
import type { KnownPerson } from './people-desk.ts';
import type { NewSession } from './sessions.ts';
import type { Ceremony } from './ceremonies.ts';
import type { SignIn } from './sign-in.ts';

export interface SignInOptions {
  readonly desk: Pick<OperatedDesk, 'desk' | 'mode' | 'refused'>;
  readonly signIn: SignIn;
  readonly version: string;
}

/** Paths of the sign-in itself, which need no sign-in. */
export const openPaths: ReadonlySet<string> = new Set([
  '/api/v1/sign-in/link',
  '/api/v1/sign-in/passkey/options',
  '/api/v1/sign-in/passkey',
  '/api/v1/enrol/options',
  '/api/v1/enrol',
]);

const BEGIN_AGAIN = 'this sign-in has expired or was already used: start again';

/**
 * Adds the ways to sign in: a link from the machine, a passkey, an invitation to enrol one. Each response sets the
 * cookie of a session. A wrong attempt counts against the address that sent it.
 */
export function addSignIn(server: FastifyInstance, { desk, signIn, version }: SignInOptions): void {
  const { people, sessions, links, invitations, ceremonies, wrong } = signIn;

  const pageFor = (request: FastifyRequest): Page => {
    if (request.headers[GUARD_HEADER] === undefined)
      throw new Refusal(403, `the header ${GUARD_HEADER} is missing`);
    return pageOf(request);
  };
  /**
   * Only wrong attempts are limited. A right attempt always succeeds, so that nobody can lock out others behind the
   * same address, such as a proxy.
   */
  const refuse = (request: FastifyRequest, says: string): Refusal => {
    if (wrong.isBlocked(request.ip)) return new Refusal(429, SLOWER);
    wrong.count(request.ip);
    const path = request.routeOptions.url ?? '';
    desk.refused({ path, by: 'none', address: request.ip, needed: 'viewer' });
    return new Refusal(401, says);
  };
  const enter = async (
    reply: FastifyReply,
    page: Page,
    given: Omit<NewSession, 'isSecure'>,
  ): Promise<unknown> => {
    const cookie = setCookie(page, sessions.begin({ ...given, isSecure: page.isSecure }));
    const caller = sessions.caller(cookie.split(';', 1)[0] ?? '');
    if (caller === undefined) throw new Refusal(403, `${given.name} may not sign in`);
    return await reply.header('set-cookie', cookie).send(meOf(caller, desk, version));
  };
  const asked = (request: FastifyRequest, page: Page, id: string, does: Ceremony['does']): Ceremony => {
    const ceremony = ceremonies.asked(id);
    if (ceremony?.does !== does || ceremony.origin !== page.origin) throw refuse(request, BEGIN_AGAIN);
    return ceremony;
  };
  /** The person whom an invitation names. */
  const invited = (request: FastifyRequest, invitation: unknown): KnownPerson => {
    const person = people.get(invitations.look(invitation)?.person ?? '');
    if (person === undefined || person.state === 'removed')
      throw refuse(request, 'this invitation is unknown, expired or already used: ask for another');
    return person;
  };
  const write = async (record: Omit<PersonRecord, 'kind' | 'token'>): Promise<void> => {
    const token = { name: record.person, kind: 'person' as const };
    const { isDone, says } = await people.record({ kind: 'person', ...record, token });
    if (!isDone) throw new Refusal(409, says);
  };

  server.post('/api/v1/sign-in/link', async (request, reply) => {
    const page = pageFor(request);
    const { link } = await readBody('/api/v1/sign-in/link', request.body);
    const given = links.take(link);
    if (given === undefined)
      throw refuse(
        request,
        "this link has expired or was already used: print another with tranche sign-in, on the desk's machine",
      );
    return await enter(reply, page, { name: 'local', kind: 'machine', role: given.role, via: 'link' });
  });

  server.post('/api/v1/sign-in/passkey/options', async (request, reply) => {
    const page = pageFor(request);
    await readBody('/api/v1/sign-in/passkey/options', request.body);
    const rpId = rpIdOf(page);
    const options = await signInOptions(rpId);
    const { challenge } = options;
    return await reply.send({
      options,
      id: ceremonies.ask({ does: 'sign_in', challenge, rpId, origin: page.origin }),
    });
  });

  server.post('/api/v1/sign-in/passkey', async (request, reply) => {
    const page = pageFor(request);
    const { id, response } = await readBody('/api/v1/sign-in/passkey', request.body);
    const ceremony = asked(request, page, id, 'sign_in');
    const { challenge, rpId, origin } = ceremony;
    const person = people.ownerOf(response.id);
    const passkey = person?.passkeys.find((each) => each.id === response.id);
    if (person === undefined || passkey === undefined)
      throw refuse(request, 'this desk does not know this passkey: ask for an invitation');
    const judged = await verifyAssertion({ challenge, rpId, origin, response, passkey });
    if ('problem' in judged) throw refuse(request, `sign-in with this passkey failed: ${judged.problem}`);
    const { name, role } = person;
    // Everything from here on happens in one tick, so that two requests cannot share a challenge.
    if (!ceremonies.use(ceremony, name)) throw refuse(request, BEGIN_AGAIN);
    const used = { id: passkey.id, counter: judged.counter, origin, rp_id: rpId };
    await write({ person: name, step: 'signed_in', role, passkey: used, by: name, why: `on ${origin}` });
    return await enter(reply, page, { name, kind: 'person', role, via: 'passkey' });
  });

  server.post('/api/v1/enrol/options', async (request, reply) => {
    const page = pageFor(request);
    const { invitation } = await readBody('/api/v1/enrol/options', request.body);
    const { name, role, passkeys } = invited(request, invitation);
    const rpId = rpIdOf(page);
    const known = passkeys.map((each) => each.id);
    const options = await enrolmentOptions({ rpId, desk: desk.desk, person: name, known });
    const { challenge } = options;
    return await reply.send({
      options,
      id: ceremonies.ask({ does: 'enrol', challenge, rpId, origin: page.origin, invitation }),
      name,
      role,
    });
  });

  server.post('/api/v1/enrol', async (request, reply) => {
    const page = pageFor(request);
    const { id, response } = await readBody('/api/v1/enrol', request.body);
    const { challenge, rpId, origin, invitation } = asked(request, page, id, 'enrol');
    const made = await verifyRegistration({ challenge, rpId, origin, response });
    if ('problem' in made) throw refuse(request, `the passkey cannot be enrolled: ${made.problem}`);
    // Everything from here on happens in one tick, so that two enrolments cannot share an invitation.
    const { name, role } = invited(request, invitation);
    invitations.take(invitation);
    const { id: key, publicKey, counter } = made.passkey;
    const passkey = { id: key, public_key: publicKey, counter, origin, rp_id: rpId };
    await write({
      person: name,
      step: 'enrolled',
      role,
      passkey,
      by: name,
      why: `by invitation, on ${origin}`,
    });
    return await enter(reply, page, { name, kind: 'person', role, via: 'passkey' });
  });
}
