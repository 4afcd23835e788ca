import type { Instant, Monotonic } from '../../core/time.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Role } from '../../core/roles.ts';
import { WrongTokens } from '../wrong-tokens.ts';
import { Ceremonies } from './ceremonies.ts';
import type { PeopleDesk } from './people-desk.ts';
import { OneTimeSecrets } from './secrets.ts';
import type { NewSecret } from './secrets.ts';
import { SessionStore } from './sessions.ts';

/** How long links and invitations are valid. A link is used immediately; an invitation is used by a person elsewhere. */
export const LINK_MS = 10 * MINUTE_MS;
export const INVITATION_MS = 24 * HOUR_MS;

/** The sign-in state of a process, shared by all addresses that it listens on. */
export interface SignIn {
  readonly people: PeopleDesk;
  readonly sessions: SessionStore;
  /** Links, each of which starts a session on the desk's machine. */
  readonly links: OneTimeSecrets<{ readonly role: Role }>;
  /**
   * Invitations, each of which lets one person enrol a passkey. They are stored in memory as hashes, so a restart
   * invalidates them, and the inviter must invite again.
   */
  readonly invitations: OneTimeSecrets<{ readonly person: string }>;
  readonly ceremonies: Ceremonies;
  /** Wrong links, invitations and assertions, by address. */
  readonly wrong: WrongTokens;
  /** URL of the pages for the browser on this machine, as in `http://localhost:8321`, and for other people's browsers. */
  pageUrl: string;
  invitationUrl: string;
}

export interface SignInWorld {
  readonly people: PeopleDesk;
  readonly now: () => Monotonic;
  readonly wall: () => Instant;
  readonly newSecret: NewSecret;
}

export function signInOf({ people, now, wall, newSecret }: SignInWorld): SignIn {
  return {
    people,
    sessions: new SessionStore({
      now,
      wall,
      newSecret,
      standingOf: (name) => {
        const person = people.get(name);
        return person?.state === 'active' ? { role: person.role } : undefined;
      },
    }),
    links: new OneTimeSecrets(now, newSecret),
    invitations: new OneTimeSecrets(now, newSecret),
    ceremonies: new Ceremonies(now, newSecret),
    wrong: new WrongTokens(now),
    pageUrl: '',
    invitationUrl: '',
  };
}

/** A new link for the browser on this machine. It works once. */
export function newLink({ links, pageUrl }: SignIn, role: Role = 'admin'): string | undefined {
  const secret = links.issue({ value: { role }, owner: 'this machine', lifeMs: LINK_MS });
  return secret === undefined ? undefined : `${pageUrl}/sign-in?link=${secret}`;
}
