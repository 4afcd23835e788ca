import type { FastifyRequest } from 'fastify';
import { mayAct } from '../access.ts';
import type { Authenticator, Caller, Role } from '../access.ts';
import type { OperatedDesk } from './operated-desk.ts';
import { Refusal, SLOWER } from './refusal.ts';

/** A header that no form and no simple request of a browser can carry. */
export const GUARD_HEADER = 'x-tranche';
/** Repeats the secret of a session, which no page of another origin can read. */
export const CSRF_HEADER = 'x-tranche-csrf';

/** Gives the caller of a request, who has at least the role that is needed. @throws Refusal for everybody else. */
export type Admit = (request: FastifyRequest, needed: Role) => Caller;

/** Who sends a request, by its token or its session; `undefined` when nobody is known. */
export const senderOf = (request: FastifyRequest, authenticator: Authenticator): Caller | undefined =>
  authenticator.caller({
    authorization: request.headers.authorization,
    cookie: request.headers.cookie,
    address: request.ip,
  });

/** The one place that decides who may do what. A refused caller is told to the desk. */
export const admission =
  (desk: Pick<OperatedDesk, 'refused'>, authenticator: Authenticator): Admit =>
  (request, needed) => {
    const caller = senderOf(request, authenticator);
    if (caller !== undefined && mayAct(caller, needed)) {
      if (request.method !== 'GET') refuseForged(request, caller);
      return caller;
    }
    const path = request.routeOptions.url ?? '';
    desk.refused({ path, by: caller?.name ?? 'none', role: caller?.role, needed });
    if (caller === undefined && authenticator.isBlocked(request.ip)) throw new Refusal(429, SLOWER);
    if (caller === undefined) throw new Refusal(401, 'this desk does not know the bearer token');
    const what = caller.via === 'session' ? caller.name : 'the token';
    throw new Refusal(403, `this action needs the role ${needed}; ${what} has the role ${caller.role}`);
  };

/** A browser sends the cookie of a session with every request, also with one that another page made it send. */
function refuseForged(request: FastifyRequest, { via, csrf }: Caller): void {
  if (via !== 'session') return;
  if (request.headers.origin === undefined) throw new Refusal(403, 'the header Origin is missing');
  if (csrf === undefined || request.headers[CSRF_HEADER] !== csrf)
    throw new Refusal(403, `the header ${CSRF_HEADER} is missing or not of this session`);
}
