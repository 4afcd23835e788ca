import { digest } from '../../core/ids.ts';
import { after, DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { UserToken } from '../../wire/user-tokens.ts';
import type { VenueOptions } from '../options/options.ts';
import { uuidOf } from '../exchange/quotes.ts';
import { assumed, created, documented, found } from './reply.ts';
import type { Refusal, Reply } from './reply.ts';

export interface AccountAccess {
  readonly name: string;
  readonly token: string;
}

/** Maximum number of valid tokens that a partner may have. */
const ISSUED_MAX = 100_000;

/** The owner of a token: an account, the partner, or (for one day) an account that the partner acts for. */
export class Access {
  /** Configured accounts. */
  readonly accounts: readonly AccountAccess[];
  readonly partner: AccountAccess;
  private readonly byToken: ReadonlyMap<string, string>;
  private readonly issued = new Map<string, { readonly account: string; readonly expiresAt: Instant }>();
  private readonly seed: string;
  private lastIssued = 0;

  constructor({ accounts, partner, seed }: VenueOptions) {
    this.seed = seed;
    const tokenOf = (name: string, token: string | undefined): string =>
      token ?? `sim-${digest(`${seed}\n${name}`, 32)}`;
    this.accounts = accounts.map(({ name, token }) => ({ name, token: tokenOf(name, token) }));
    this.partner = { name: partner.name, token: tokenOf(`partner\n${partner.name}`, partner.token) };
    this.byToken = new Map([this.partner, ...this.accounts].map(({ name, token }) => [token, name]));
  }

  /** The account that the token belongs to. */
  identify(token: string, now: Instant): Reply<string> {
    const known = this.byToken.get(token);
    if (known !== undefined) return found(known);
    const lent = this.issued.get(token);
    return lent === undefined || lent.expiresAt <= now ? documented.invalidToken() : found(lent.account);
  }

  /** Why `account` may not obtain tokens for these users; `undefined` if it may. */
  refusal(account: string, userIds: readonly string[]): Refusal | undefined {
    if (account !== this.partner.name) return assumed.notPartner();
    const unknown = userIds.find((userId) => !this.accounts.some(({ name }) => name === userId));
    return unknown === undefined ? undefined : assumed.unknownUser(unknown);
  }

  /**
   * A token for a user of the partner; here, every account in the settings is such a user. It is valid for 24 hours and
   * does not end an earlier token. Source: public documentation, "User tokens"; that earlier tokens remain valid is
   * chosen here.
   */
  issue(account: string, userId: string, now: Instant): Reply<UserToken> {
    const refused = this.refusal(account, [userId]);
    if (refused !== undefined) return refused;
    for (const [token, { expiresAt }] of this.issued) {
      if (expiresAt > now && this.issued.size < ISSUED_MAX) break;
      this.issued.delete(token);
    }
    this.lastIssued += 1;
    const half = (part: string): string =>
      uuidOf(`${part} ${this.seed} ${userId} ${this.lastIssued}`).replaceAll('-', '');
    const token = `${half('user')}${half('token')}`;
    const expiresAt = after(instant(Math.floor(now)), DAY_MS);
    this.issued.set(token, { account: userId, expiresAt });
    return created({ token, userId, expiresAt });
  }
}
