import type { PersonRecord } from '../../core/record.ts';
import type { Role } from '../../core/roles.ts';
import type { Instant } from '../../core/time.ts';
import type { CommandAnswer } from '../../engine/ports.ts';
import type { NewPasskey } from './passkeys.ts';

/** A person according to the journal. */
export interface KnownPerson {
  readonly name: string;
  readonly role: Role;
  readonly state: 'invited' | 'active' | 'removed';
  readonly invitedBy: string;
  readonly passkeys: readonly (NewPasskey & { readonly enrolledAt: Instant })[];
}

/** Who may sign in to a desk. */
export interface PeopleDesk {
  get(name: string): KnownPerson | undefined;
  all(): Iterable<KnownPerson>;
  /** The owner of the passkey, if that person may sign in. */
  ownerOf(passkeyId: string): KnownPerson | undefined;
  /** Records the change, or responds with why not. Responds once the record is durable. */
  record(record: PersonRecord): CommandAnswer | Promise<CommandAnswer>;
}
