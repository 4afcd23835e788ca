import type { Monotonic } from '../../core/time.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { sealed, unsealed } from './secrets.ts';
import type { NewSecret } from './secrets.ts';

/** Time to touch the device. */
export const CEREMONY_MS = 5 * MINUTE_MS;
/** Longest id of one: a challenge, a page, a host, an invitation. */
export const CEREMONY_ID_MAX = 2_000;
/** Successful ones of one person within that time. */
const OWN_MAX = 100;

/** What a browser was asked to prove with a passkey. */
export interface Ceremony {
  readonly does: 'enrol' | 'sign_in';
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
  /** Of an enrolment. */
  readonly invitation?: string | undefined;
}

/**
 * Challenges that the browser keeps for us, signed: any number of requests takes no memory, and no place of another caller. The
 * store remembers those that completed a sign-in, each until it would have expired.
 */
export class Ceremonies {
  readonly #now: () => Monotonic;
  /** Of this process: a restart ends all of them. */
  readonly #key: string;
  /** Used challenges and when they end, by person. */
  readonly #used = new Map<string, Map<string, number>>();

  constructor(now: () => Monotonic, newSecret: NewSecret) {
    this.#now = now;
    this.#key = newSecret();
  }

  /** Text with which the browser comes back. */
  ask(ceremony: Ceremony): string {
    return sealed(this.#key, JSON.stringify({ ...ceremony, until: this.#now() + CEREMONY_MS }));
  }

  /** What was asked; `undefined`: it ended, or is none of this process. */
  asked(id: string): Ceremony | undefined {
    const text = unsealed(this.#key, id);
    if (text === undefined) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this process has sealed it
    const { until, ...ceremony } = JSON.parse(text) as Ceremony & { readonly until: number };
    return until > this.#now() ? ceremony : undefined;
  }

  /** Uses a challenge up; `false`: it was used before, or the person used very many. */
  use({ challenge }: Ceremony, person: string): boolean {
    const now = this.#now();
    for (const [name, own] of this.#used) {
      for (const [each, until] of own) if (until <= now) own.delete(each);
      if (own.size === 0) this.#used.delete(name);
    }
    const own = this.#used.get(person) ?? new Map<string, number>();
    if (own.has(challenge) || own.size >= OWN_MAX) return false;
    this.#used.set(person, own.set(challenge, now + CEREMONY_MS));
    return true;
  }
}
