import { homeAfter, usesIn } from './approvals/passkey-assertion.ts';
import type { PasskeyHome } from './approvals/passkey-assertion.ts';
import type { ApprovalRecord, PersonRecord } from './record.ts';
import type { Role } from './roles.ts';
import type { Instant } from './time.ts';

/** A public key whose private half is on the person's device. */
export interface Passkey {
  readonly id: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** Number of uses at the last sign-in or approval, as the authenticator reports it; 0 if it does not count. */
  readonly counter: number;
  readonly enrolledAt: Instant;
  /** The host and pages of the passkey; unknown if its records name none. */
  readonly home?: PasskeyHome | undefined;
}

/** A person who may sign in, has been invited to enrol a passkey, or was removed. */
export interface Person {
  readonly name: string;
  readonly role: Role;
  readonly state: 'invited' | 'active' | 'removed';
  readonly invitedBy: string;
  readonly passkeys: readonly Passkey[];
}

/** Number of most recently removed people that are kept for lists. */
const REMOVED_KEPT = 200;

/** The people who may sign in, as a fold of the journal. Two names never differ only in case. */
export class People {
  /** All data of this class. A snapshot stores this map. */
  data = new Map<string, Person>();

  get(name: string): Person | undefined {
    return this.data.get(keyOf(name));
  }

  all(): Iterable<Person> {
    return this.data.values();
  }

  /** The owner of the passkey, if that person may sign in. */
  ownerOf(passkeyId: string): Person | undefined {
    for (const person of this.data.values())
      if (person.passkeys.some(({ id }) => id === passkeyId)) return person;
    return undefined;
  }

  /** The person after this record. */
  after(body: PersonRecord, at: Instant): Person | undefined {
    const people = new People();
    people.data = new Map(this.data);
    people.apply(body, at);
    return people.get(body.person);
  }

  apply(body: PersonRecord, at: Instant): void {
    const { person: name, step, role, passkey, by } = body;
    const known = this.get(name);
    switch (step) {
      case 'invited':
        if (known?.state === 'active') return;
        this.data.delete(keyOf(name));
        this.#set({ name, role, state: 'invited', invitedBy: by, passkeys: [] });
        return;
      case 'enrolled': {
        if (known === undefined || known.state === 'removed' || passkey?.public_key === undefined) return;
        const { id, public_key: publicKey, counter } = passkey;
        const home = homeAfter(undefined, passkey);
        const passkeys = [...known.passkeys, { id, publicKey, counter, enrolledAt: at, home }];
        this.#set({ ...known, state: 'active', passkeys });
        return;
      }
      case 'signed_in':
        if (known === undefined || passkey === undefined) return;
        this.#set({
          ...known,
          passkeys: known.passkeys.map((each) =>
            each.id === passkey.id
              ? { ...each, counter: passkey.counter, home: homeAfter(each.home, passkey) }
              : each,
          ),
        });
        return;
      case 'removed':
        if (known === undefined) return;
        this.data.delete(keyOf(name));
        this.#set({ ...known, state: 'removed', passkeys: [] });
        this.#forgetRemoved();
    }
  }

  /** The passkey that signed an approval was used once more. */
  signed({ assertion }: Pick<ApprovalRecord, 'assertion'>): void {
    const owner = assertion && this.ownerOf(assertion.credential_id);
    if (assertion === undefined || owner === undefined) return;
    const used = ({ id }: Passkey): boolean => id === assertion.credential_id;
    const passkeys = owner.passkeys.map((each) =>
      used(each) ? { ...each, counter: usesIn(assertion) } : each,
    );
    this.#set({ ...owner, passkeys });
  }

  #set(person: Person): void {
    this.data.set(keyOf(person.name), person);
  }

  #forgetRemoved(): void {
    const removed = [...this.data].filter(([, { state }]) => state === 'removed');
    for (const [key] of removed.slice(0, -REMOVED_KEPT)) this.data.delete(key);
  }
}

const keyOf = (name: string): string => name.trim().toLowerCase();
