import { money, NO_MONEY } from '../../core/money.ts';
import type { Money } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ApprovalRule } from '../../wire/custody.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from '../exchange/orders.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';

export interface CustodySetup {
  readonly options: VenueOptions;
  readonly registry: OrderRegistry;
  readonly startedAt: Instant;
}

/** The only status that the specification shows. */
const STATUS = 'Pending Approval';

/** The approval rules and whitelisted addresses of the accounts, as the options state them. */
export class Custody {
  private readonly setup: CustodySetup;
  private readonly rules = new Map<string, readonly ApprovalRule[]>();
  private readonly addresses = new Map<string, Set<string>>();

  constructor(setup: CustodySetup) {
    this.setup = setup;
  }

  open(account: string): void {
    const { options, registry, startedAt } = this.setup;
    this.addresses.set(account, new Set(this.optionsOf(account)?.addresses.map(String)));
    this.rules.set(
      account,
      options.custody.rules.map(({ ruleType, requiredApprovals, threshold }) => ({
        id: registry.nextNumber(),
        availableApprovers: 1,
        addedAt: instant(Math.floor(startedAt)),
        ruleType,
        requiredApprovals,
        threshold: money(threshold),
        status: STATUS,
      })),
    );
  }

  /** Spec: "GET /v1/approval-rules". */
  list(account: string): Reply<readonly ApprovalRule[]> {
    if (this.optionsOf(account)?.custody === false) return assumed.custodyDisabled();
    return found(this.rules.get(account) ?? []);
  }

  /** Spec: "DELETE /v1/whitelisted-addresses/:address_id": an empty object. */
  removeAddress(account: string, id: string): Reply<object> {
    return this.addresses.get(account)?.delete(id) === true ? found({}) : assumed.unknownAddress();
  }

  /** Whether a withdrawal of this value needs approval. */
  needsApproval(account: string, usd: Money): boolean {
    return (this.rules.get(account) ?? []).some(
      ({ ruleType, threshold }) => ruleType === 'WITHDRAW' && usd.gt(threshold ?? NO_MONEY),
    );
  }

  private optionsOf(account: string): VenueOptions['accounts'][number] | undefined {
    return this.setup.options.accounts.find(({ name }) => name === account);
  }
}
