import type { FastifyRequest } from 'fastify';
import { isLoopbackName } from '../listen.ts';
import { Refusal } from '../api/refusal.ts';
import type { CookiePlace } from './cookie.ts';

/** The page from which a request comes. */
export interface Page extends CookiePlace {
  /** For example, `https://tranche.example:8321`. */
  readonly origin: string;
  /** Host that passkeys belong to; `undefined` for an IP address, which cannot have passkeys. */
  readonly rpId: string | undefined;
}

/**
 * The page from which a browser sends a request. @throws Refusal if the request names no page, or a page on which
 * nobody may sign in.
 */
export function pageOf(request: FastifyRequest): Page {
  const { origin } = request.headers;
  if (origin === undefined)
    throw new Refusal(403, 'the header Origin is missing: sign in with a browser, on the page of the desk');
  const url = URL.parse(origin);
  if (url === null) throw new Refusal(403, 'the header Origin is not an address');
  const { hostname, protocol, port } = url;
  const isSecure = protocol === 'https:';
  if (!isSecure && !isLoopbackName(hostname.replaceAll(/[[\]]/gu, '')))
    throw new Refusal(
      403,
      'signing in needs an encrypted connection: set operate.tls, or put a TLS proxy in front of the desk',
    );
  const isAddress = hostname.startsWith('[') || /^\d+(?:\.\d+){3}$/u.test(hostname);
  return { origin: url.origin, isSecure, port, rpId: isAddress ? undefined : hostname };
}

/** Host that passkeys belong to. @throws Refusal for a page whose host is an IP address. */
export function rpIdOf({ rpId, origin, port }: Page): string {
  if (rpId !== undefined) return rpId;
  throw new Refusal(
    400,
    `passkeys belong to a name, and ${origin} has none: open http://localhost:${port}, or a name of operate.hosts`,
  );
}
