import type { FastifyRequest } from 'fastify';
import { mayAct } from '../access.ts';
import type { Authenticator, Caller, Role } from '../access.ts';
import type { OperatedDesk } from './operated-desk.ts';
import { Refusal, SLOWER } from './refusal.ts';

/** A header that no form and no simple browser request can send. */
export const GUARD_HEADER = 'x-tranche';
/** Repeats the secret of a session, which a page of another origin cannot read. */
export const CSRF_HEADER = 'x-tranche-csrf';

/** Returns the caller of a request if they have at least the required role. @throws Refusal otherwise. */
export type Admit = (request: FastifyRequest, needed: Role) => Caller;

/** The sender of a request, by token or session; `undefined` if unknown. */
export const senderOf = (request: FastifyRequest, authenticator: Authenticator): Caller | undefined =>
  authenticator.caller({
    authorization: request.headers.authorization,
    cookie: request.headers.cookie,
    address: request.ip,
  });

/** This is the only place that decides which caller may do what. Reports a refused caller to the desk. */
export const admission =
  (desk: Pick<OperatedDesk, 'refused'>, authenticator: Authenticator): Admit =>
  (request, needed) => {
    const caller = senderOf(request, authenticator);
    if (caller !== undefined && mayAct(caller, needed)) {
      if (request.method !== 'GET') refuseForged(request, caller);
      return caller;
    }
    const path = request.routeOptions.url ?? '';
    const by = caller?.name ?? 'none';
    desk.refused({ path, by, address: request.ip, role: caller?.role, needed });
    if (caller === undefined && authenticator.isBlocked(request.ip)) throw new Refusal(429, SLOWER);
    if (caller === undefined) throw new Refusal(401, 'this desk does not know the bearer token');
    const what = caller.via === 'session' ? caller.name : 'the token';
    throw new Refusal(403, `this action requires the ${needed} role; ${what} has the ${caller.role} role`);
  };

/** A browser also sends the session cookie with requests that another page triggered. */
function refuseForged(request: FastifyRequest, { via, csrf }: Caller): void {
  if (via !== 'session') return;
  if (request.headers.origin === undefined) throw new Refusal(403, 'the header Origin is missing');
  if (csrf === undefined || request.headers[CSRF_HEADER] !== csrf)
    throw new Refusal(403, `the header ${CSRF_HEADER} is missing or not of this session`);
}
