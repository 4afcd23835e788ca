import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Monotonic } from '../../core/time.ts';

/** Returns text that cannot be guessed: 256 random bits as base64url. */
export type NewSecret = () => string;

/** The stored form of a secret, with which nobody can sign in. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** Whether a text has the form of a secret. */
export const isSecretLike = (text: unknown): text is string =>
  typeof text === 'string' && /^[\w-]{43}$/u.test(text);

const macOf = (key: string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** A text with a seal, so that nobody outside this process can change it unnoticed. */
export const sealed = (key: string, text: string): string => {
  const body = Buffer.from(text).toString('base64url');
  return `${body}.${macOf(key, body).toString('base64url')}`;
};

/** The sealed text; `undefined`: the text was not sealed with this key. */
export function unsealed(key: string, given: string): string | undefined {
  const [body = '', mac = '', ...more] = given.split('.');
  const [theirs, ours] = [Buffer.from(mac, 'base64url'), macOf(key, body)];
  const isOurs = more.length === 0 && theirs.length === ours.length && timingSafeEqual(theirs, ours);
  return isOurs ? Buffer.from(body, 'base64url').toString() : undefined;
}

const KEPT_MAX = 1_000;
/** Maximum per owner, so that one owner's requests cannot displace those of others. */
const OWN_MAX = 100;

interface Kept<T> {
  readonly value: T;
  readonly owner: string;
  readonly until: number;
}

export interface Issue<T> {
  readonly value: T;
  /** The owner, an address or a name. If an owner has too many secrets, the oldest is dropped. */
  readonly owner: string;
  readonly lifeMs: number;
}

/** Secrets that work once and for a short time. Only their hashes are stored, in this process. */
export class OneTimeSecrets<T> {
  readonly #now: () => Monotonic;
  readonly #newSecret: NewSecret;
  readonly #kept = new Map<string, Kept<T>>();

  constructor(now: () => Monotonic, newSecret: NewSecret) {
    this.#now = now;
    this.#newSecret = newSecret;
  }

  /** `undefined`: there are too many secrets. */
  issue({ value, owner, lifeMs }: Issue<T>): string | undefined {
    const now = this.#now();
    for (const [hash, { until }] of this.#kept) if (until <= now) this.#kept.delete(hash);
    const own = [...this.#kept].filter(([, kept]) => kept.owner === owner);
    if (own.length >= OWN_MAX) this.#kept.delete(own[0]?.[0] ?? '');
    if (this.#kept.size >= KEPT_MAX) return undefined;
    const secret = this.#newSecret();
    this.#kept.set(hashOf(secret), { value, owner, until: now + lifeMs });
    return secret;
  }

  /** The grant that the secret identifies, without consuming it. */
  look(secret: unknown): T | undefined {
    if (!isSecretLike(secret)) return undefined;
    const kept = this.#kept.get(hashOf(secret));
    return kept !== undefined && kept.until > this.#now() ? kept.value : undefined;
  }

  /** The grant that the secret identifies; consumes it. */
  take(secret: unknown): T | undefined {
    const value = this.look(secret);
    if (isSecretLike(secret)) this.#kept.delete(hashOf(secret));
    return value;
  }

  /** Invalidates all secrets of an owner. */
  end(owner: string): void {
    for (const [hash, kept] of this.#kept) if (kept.owner === owner) this.#kept.delete(hash);
  }
}
