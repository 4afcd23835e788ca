import { MINUTE_MS, after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Role } from '../../core/roles.ts';
import type { Caller, Sessions } from '../access.ts';
import { SESSION_MS, cookiesIn } from './cookie.ts';
import { hashOf } from './secrets.ts';
import type { NewSecret } from './secrets.ts';

/** An idle session ends after this time. */
export const IDLE_MS = 30 * MINUTE_MS;
const SESSIONS_MAX = 500;
/** Maximum number of sessions per person; the oldest is ended. */
const OWN_MAX = 10;

/** The person of a session, with their current role; a removed person has none. */
export interface Standing {
  readonly role: Role;
}

export interface NewSession extends UsedToken {
  /** For the machine; a person's role is read from the journal at each request. */
  readonly role: Role;
  readonly via: 'link' | 'passkey';
  /** Whether the session came over TLS, in which case its cookie is sent only over TLS. */
  readonly isSecure: boolean;
}

/** The data of a session that lists show. */
export interface ShownSession {
  readonly session: string;
  readonly name: string;
  readonly role: Role;
  readonly via: 'link' | 'passkey';
  readonly begunAt: Instant;
  readonly usedAt: Instant;
  readonly endsAt: Instant;
}

/** A connection that stays open, such as an event stream. */
export interface Stream {
  destroy(): unknown;
}

/** Shortest interval between checks for ended sessions, whose streams send no further requests. */
const SWEEP_MS = 10_000;

interface Session extends NewSession {
  /** Identifies the session in lists; not the secret. */
  readonly id: string;
  readonly csrf: string;
  readonly begunAt: Instant;
  readonly endsAt: Instant;
  readonly until: number;
  usedAt: Instant;
  idleUntil: number;
  /** Open connections, which end with the session. */
  readonly streams: Set<Stream>;
}

export interface SessionWorld {
  readonly now: () => Monotonic;
  readonly wall: () => Instant;
  readonly newSecret: NewSecret;
  /** The current role of a person; `undefined` if they may not sign in. */
  readonly standingOf: (name: string) => Standing | undefined;
}

/** Sessions of people who signed in with a browser. They are stored in memory as hashes, so a restart signs everyone out. */
export class SessionStore implements Sessions {
  readonly #world: SessionWorld;
  readonly #byHash = new Map<string, Session>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(world: SessionWorld) {
    this.#world = world;
  }

  /** Starts a session; returns the secret for its cookie. */
  begin(given: NewSession): string {
    const { now, wall, newSecret } = this.#world;
    this.#forgetEnded();
    const own = [...this.#byHash].filter(([, { name }]) => name === given.name);
    if (own.length >= OWN_MAX) this.#drop(own[0]?.[0] ?? '');
    const [oldest] = this.#byHash.keys();
    if (this.#byHash.size >= SESSIONS_MAX && oldest !== undefined) this.#drop(oldest);
    const secret = newSecret();
    this.#byHash.set(hashOf(secret), {
      ...given,
      id: newSecret().slice(0, 12),
      csrf: newSecret(),
      begunAt: wall(),
      usedAt: wall(),
      endsAt: after(wall(), SESSION_MS),
      until: now() + SESSION_MS,
      idleUntil: now() + IDLE_MS,
      streams: new Set(),
    });
    return secret;
  }

  caller(cookie: string): Caller | undefined {
    if (this.#world.now() - this.#sweptAt >= SWEEP_MS) this.#forgetEnded();
    const found = this.#find(cookie);
    if (found === undefined) return undefined;
    const { session, standing } = found;
    session.usedAt = this.#world.wall();
    session.idleUntil = this.#world.now() + IDLE_MS;
    const { name, kind, csrf, id } = session;
    return { name, kind, csrf, session: id, via: 'session', role: standing.role };
  }

  /** Ends a connection together with its session. `gone`: the connection has ended already. */
  attach(cookie: string, stream: Stream): { readonly gone: () => void } {
    const streams = this.#find(cookie)?.session.streams;
    streams?.add(stream);
    return { gone: () => streams?.delete(stream) };
  }

  /** Whether the session is still valid. Does not count as use. */
  holds(cookie: string): boolean {
    return this.#find(cookie) !== undefined;
  }

  /** Sessions of one person, or all; oldest first. */
  all(name?: string): readonly ShownSession[] {
    this.#forgetEnded();
    return [...this.#byHash.values()]
      .filter((session) => name === undefined || session.name === name)
      .map(({ id: session, name: of, role, via, begunAt, usedAt, endsAt }) => ({
        session,
        name: of,
        role,
        via,
        begunAt,
        usedAt,
        endsAt,
      }));
  }

  /** The person of the session. */
  ownerOf(id: string): string | undefined {
    return [...this.#byHash.values()].find((session) => session.id === id)?.name;
  }

  /** Ends one session, or all of a person. Their cookies become invalid immediately. */
  end(which: { readonly id: string } | { readonly name: string }): void {
    for (const [hash, session] of this.#byHash)
      if ('id' in which ? session.id === which.id : session.name === which.name) this.#drop(hash);
  }

  #find(cookie: string): { readonly session: Session; readonly standing: Standing } | undefined {
    for (const { secret, isSecure } of cookiesIn(cookie)) {
      const hash = hashOf(secret);
      const session = this.#byHash.get(hash);
      // The cookie of a TLS session has the prefix that only TLS may set.
      if (session === undefined || session.isSecure !== isSecure) continue;
      const standing = this.#standingOf(session);
      if (standing !== undefined) return { session, standing };
      this.#drop(hash);
    }
    return undefined;
  }

  #standingOf({ name, kind, role, until, idleUntil }: Session): Standing | undefined {
    const now = this.#world.now();
    if (now >= until || now >= idleUntil) return undefined;
    return kind === 'person' ? this.#world.standingOf(name) : { role };
  }

  #drop(hash: string): void {
    const session = this.#byHash.get(hash);
    this.#byHash.delete(hash);
    for (const stream of session?.streams ?? []) stream.destroy();
  }

  #forgetEnded(): void {
    this.#sweptAt = this.#world.now();
    for (const [hash, session] of this.#byHash) if (this.#standingOf(session) === undefined) this.#drop(hash);
  }
}
