import type { Monotonic } from '../../core/time.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { sealed, unsealed } from './secrets.ts';
import type { NewSecret } from './secrets.ts';

/** How long a person may take to confirm on the device. */
export const CEREMONY_MS = 5 * MINUTE_MS;
/** Maximum length of an id, which contains a challenge, a page, a host and an invitation. */
export const CEREMONY_ID_MAX = 2_000;
/** Maximum number of successful ceremonies of one person within that time. */
const OWN_MAX = 100;

/** A challenge that a browser must sign with a passkey. */
export interface Ceremony {
  readonly does: 'enrol' | 'sign_in';
  readonly challenge: string;
  readonly origin: string;
  readonly rpId: string;
  /** Only for an enrolment. */
  readonly invitation?: string | undefined;
}

/**
 * Challenges that the browser stores for us, sealed. Requests thus take no memory, and cannot displace other callers'
 * challenges. This class remembers the challenges that completed a sign-in, each until it expires.
 */
export class Ceremonies {
  readonly #now: () => Monotonic;
  /** Key of this process. A restart invalidates all challenges. */
  readonly #key: string;
  /** Used challenges and when they expire, by person. */
  readonly #used = new Map<string, Map<string, number>>();

  constructor(now: () => Monotonic, newSecret: NewSecret) {
    this.#now = now;
    this.#key = newSecret();
  }

  /** Returns the sealed text that the browser sends back. */
  ask(ceremony: Ceremony): string {
    return sealed(this.#key, JSON.stringify({ ...ceremony, until: this.#now() + CEREMONY_MS }));
  }

  /** Unseals a ceremony; `undefined`: the ceremony has expired, or belongs to another process. */
  asked(id: string): Ceremony | undefined {
    const text = unsealed(this.#key, id);
    if (text === undefined) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this process has sealed it
    const { until, ...ceremony } = JSON.parse(text) as Ceremony & { readonly until: number };
    return until > this.#now() ? ceremony : undefined;
  }

  /** Marks a challenge as used; `false`: it was used before, or the person has used too many. */
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
