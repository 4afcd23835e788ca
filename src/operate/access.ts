import { createHash, timingSafeEqual } from 'node:crypto';
import { roles } from '../core/roles.ts';
import type { Role } from '../core/roles.ts';
import type { UsedToken } from '../core/record.ts';
import type { Monotonic } from '../core/time.ts';
import { WrongTokens } from './wrong-tokens.ts';

export type { Role } from '../core/roles.ts';

/** A caller: a token and its role. */
export interface Bearer {
  /** Name of the person, as the journal records it. */
  readonly name: string;
  readonly role: Role;
  /** Default: `person`. */
  readonly kind?: UsedToken['kind'] | undefined;
  readonly token: { reveal(): string };
}

/** The caller, identified by token or session. */
export interface Caller extends UsedToken {
  readonly role: Role;
  /** How the request identified its sender. */
  readonly via: 'token' | 'session';
  /** For a session: a command must repeat it in the header `X-Tranche-CSRF`. */
  readonly csrf?: string | undefined;
  /** For a session: its id in lists. */
  readonly session?: string | undefined;
}

/** What a request contains to identify its sender. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** Address of the sender. */
  readonly address: string;
}

/** Sessions of people who signed in with a browser. */
export interface Sessions {
  /** The caller of a `Cookie` header; `undefined` if it names no valid session. */
  caller(cookie: string): Caller | undefined;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Identifies the sender of a request. */
export interface Authenticator {
  /** The caller, identified by token or, without a token, by session. Takes constant time over all tokens. */
  caller(credentials: Credentials): Caller | undefined;
  /** Whether the address has sent too many wrong tokens, so that its other tokens are ignored for now. */
  isBlocked(address: string): boolean;
}

const ACCEPTED_MAX = 1_000;

/** `now` is the monotonic clock. The machine's token cannot be guessed, so it is never delayed. */
export function authenticatorOf(
  bearers: readonly Bearer[],
  now: () => Monotonic,
  sessions?: Sessions,
): Authenticator {
  const wrong = new WrongTokens(now);
  /** Names of tokens with the addresses from which they were used. */
  const accepted = new Set<string>();
  const byToken = (authorization: string, address: string): Caller | undefined => {
    const given = /^Bearer (?<token>[\x21-\x7e]{1,4096})$/u.exec(authorization)?.groups?.['token'];
    const hash = hashOf(given ?? '');
    let found: Caller | undefined;
    // Hashed for each request, because a token may be replaced.
    for (const { token, name, role, kind = 'person' } of bearers)
      if (timingSafeEqual(hash, hashOf(token.reveal())) && given !== undefined)
        found = { name, role, kind, via: 'token' };
    if (found?.kind === 'machine') return found;
    const pair = `${found?.name ?? ''} ${address}`;
    // Even after wrong tokens from an address, a token that was used there before can still halt the desk; guessing
    // reveals nothing.
    if (wrong.isBlocked(address)) return accepted.has(pair) ? found : undefined;
    if (found === undefined && given !== undefined) wrong.count(address);
    if (found !== undefined && accepted.size < ACCEPTED_MAX) accepted.add(pair);
    return found;
  };
  return {
    caller: ({ authorization, cookie, address }) =>
      authorization === undefined && cookie !== undefined
        ? sessions?.caller(cookie)
        : byToken(authorization ?? '', address),
    isBlocked: (address) => wrong.isBlocked(address),
  };
}

export const mayAct = (caller: Caller, needed: Role): boolean =>
  roles.indexOf(caller.role) >= roles.indexOf(needed);
