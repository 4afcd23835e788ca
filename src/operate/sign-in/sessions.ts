import { MINUTE_MS, after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Role } from '../../core/roles.ts';
import type { Caller, Sessions } from '../access.ts';
import { SESSION_MS, cookiesIn } from './cookie.ts';
import { hashOf } from './secrets.ts';
import type { NewSecret } from './secrets.ts';

/** A session that nobody uses ends. */
export const IDLE_MS = 30 * MINUTE_MS;
const SESSIONS_MAX = 500;
/** Of one person; the oldest gives way. */
const OWN_MAX = 10;

/** Who a session is for, as it stands now: a person who was removed has no standing. */
export interface Standing {
  readonly role: Role;
  readonly groups?: readonly string[] | undefined;
}

export interface NewSession extends UsedToken {
  /** Of the machine; a person has the role of the journal, at each request. */
  readonly role: Role;
  readonly via: 'link' | 'passkey';
  /** Came over TLS: its cookie is sent over TLS alone. */
  readonly isSecure: boolean;
}

/** What is shown of a session. */
export interface ShownSession {
  readonly session: string;
  readonly name: string;
  readonly role: Role;
  readonly via: 'link' | 'passkey';
  readonly begunAt: Instant;
  readonly usedAt: Instant;
  readonly endsAt: Instant;
}

/** A connection that stays open, such as that of the events. */
export interface Stream {
  destroy(): unknown;
}

/** Ended sessions are looked for at most this often: their streams send no request that would be refused. */
const SWEEP_MS = 10_000;

interface Session extends NewSession {
  /** Names it in lists: not the secret. */
  readonly id: string;
  readonly csrf: string;
  readonly begunAt: Instant;
  readonly endsAt: Instant;
  readonly until: number;
  usedAt: Instant;
  idleUntil: number;
  /** Connections that stay open: they end with the session. */
  readonly streams: Set<Stream>;
}

export interface SessionWorld {
  readonly now: () => Monotonic;
  readonly wall: () => Instant;
  readonly newSecret: NewSecret;
  /** The standing of a person; `undefined`: may not sign in. */
  readonly standingOf: (name: string) => Standing | undefined;
}

/** Sessions of people who signed in with a browser. In memory alone, as hashes: a restart signs everybody out. */
export class SessionStore implements Sessions {
  readonly #world: SessionWorld;
  readonly #byHash = new Map<string, Session>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(world: SessionWorld) {
    this.#world = world;
  }

  /** Begins a session; returns the secret for its cookie. */
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
    return { name, kind, csrf, session: id, via: 'session', role: standing.role, groups: standing.groups };
  }

  /** Ends a connection once its session does. `gone`: forgets it. */
  attach(cookie: string, stream: Stream): { readonly gone: () => void } {
    const streams = this.#find(cookie)?.session.streams;
    streams?.add(stream);
    return { gone: () => streams?.delete(stream) };
  }

  /** Whether the session still holds. Does not count as use. */
  holds(cookie: string): boolean {
    return this.#find(cookie) !== undefined;
  }

  /** Those of one person, or of all, the oldest first. */
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

  /** Whose session it is. */
  ownerOf(id: string): string | undefined {
    return [...this.#byHash.values()].find((session) => session.id === id)?.name;
  }

  /** Ends one session, or all of a person. From now on its cookie is worth nothing. */
  end(which: { readonly id: string } | { readonly name: string }): void {
    for (const [hash, session] of this.#byHash)
      if ('id' in which ? session.id === which.id : session.name === which.name) this.#drop(hash);
  }

  #find(cookie: string): { readonly session: Session; readonly standing: Standing } | undefined {
    for (const { secret, isSecure } of cookiesIn(cookie)) {
      const hash = hashOf(secret);
      const session = this.#byHash.get(hash);
      // The cookie of a session that came over TLS has the prefix that only TLS may set.
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
