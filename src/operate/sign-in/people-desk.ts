import type { PersonRecord } from '../../core/record.ts';
import type { Role } from '../../core/roles.ts';
import type { Instant } from '../../core/time.ts';
import type { CommandAnswer } from '../../engine/ports.ts';
import type { NewPasskey } from './passkeys.ts';

/** A person as the journal knows them. */
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
  /** Whose passkey it is, if that person may sign in. */
  ownerOf(passkeyId: string): KnownPerson | undefined;
  /** Groups of the config that a person or a token belongs to. Omitted: there are none. */
  groupsOf?(name: string): readonly string[];
  /** Writes it down, or says why not. Answered once durable. */
  record(record: PersonRecord): CommandAnswer | Promise<CommandAnswer>;
}
