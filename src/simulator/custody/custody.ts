import { money, NO_MONEY } from '../../core/money.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { ApprovalRequest, ApprovalRule, RuleType } from '../../wire/custody.ts';
import type { VenueOptions } from '../options/options.ts';
import type { OrderRegistry } from '../exchange/orders.ts';
import { assumed, found } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import type { Transfers } from './transfers.ts';
import type { Asker } from './asker.ts';

export interface CustodySetup {
  readonly options: VenueOptions;
  readonly registry: OrderRegistry;
  readonly transit: Transfers;
  /** Names of the users of an account: the possible approvers. */
  readonly usersOf: (account: string) => readonly string[];
  readonly startedAt: Instant;
}

interface NewRule {
  readonly ruleType: RuleType;
  readonly requiredApprovals: number;
  readonly threshold: Money | undefined;
}

/** The action that follows once a request is approved or refused. */
type Subject =
  | { readonly kind: 'withdrawal'; readonly transfer: number }
  | { readonly kind: 'rule'; readonly ruleId: string; readonly change: Partial<NewRule> };

interface Request extends ApprovalRequest {
  readonly subject: Subject;
}

const IN_FORCE = 'Approved';
const RULES_MAX = 1_000;

/**
 * Approval rules and the requests that they create. Fields and texts of requests come from a public sample. The
 * following is chosen here: a new or changed rule waits for approvals of its own, and a requester may not approve their
 * own request unless there is no other user.
 */
export class Custody {
  private readonly setup: CustodySetup;
  private readonly rules = new Map<string, ApprovalRule[]>();
  private readonly requests = new Map<string, Request[]>();

  constructor(setup: CustodySetup) {
    this.setup = setup;
  }

  /** Creates an account with the configured rules in force. */
  open(account: string): void {
    const { options, startedAt } = this.setup;
    const rules = options.custody.rules.map(({ ruleType, requiredApprovals, threshold }) =>
      this.newRule(
        account,
        { ruleType, requiredApprovals, threshold: money(threshold) },
        IN_FORCE,
        startedAt,
      ),
    );
    this.rules.set(account, rules);
  }

  list(account: string): Reply<readonly ApprovalRule[]> {
    return this.withAccess(account, () => found(this.of(account)));
  }

  add({ account, user }: Asker, rule: NewRule, now: Instant): Reply<ApprovalRule> {
    return this.withAccess(account, () => {
      if (this.of(account).length >= RULES_MAX) return assumed.tooMany('rules');
      const added = this.newRule(account, rule, this.setup.options.custody.newRuleStatus, now);
      this.rules.set(account, [...this.of(account), added]);
      const subject: Subject = { kind: 'rule', ruleId: added.id, change: {} };
      this.request({ account, user }, { subject, threshold: rule.threshold }, now);
      return found(added);
    });
  }

  change(
    { account, user }: Asker,
    { id, change }: { readonly id: string; readonly change: Partial<NewRule> },
    now: Instant,
  ): Reply<ApprovalRule> {
    return this.withAccess(account, () => {
      const rule = this.of(account).find((each) => each.id === id);
      if (rule === undefined) return assumed.unknownRule();
      const subject: Subject = { kind: 'rule', ruleId: id, change };
      this.request({ account, user }, { subject, threshold: change.threshold ?? rule.threshold }, now);
      return found({ ...changed(rule, change), status: this.setup.options.custody.newRuleStatus });
    });
  }

  /** The rule in force for a withdrawal of this value: of all rules that apply, the one that requires the most approvals. */
  ruleFor(account: string, usd: Money): ApprovalRule | undefined {
    return this.of(account)
      .filter(({ ruleType, status, threshold }) => {
        return ruleType === 'WITHDRAW' && status === IN_FORCE && usd.gt(threshold ?? NO_MONEY);
      })
      .toSorted((a, b) => b.requiredApprovals - a.requiredApprovals)[0];
  }

  requestWithdrawal(
    asker: Asker,
    withdrawal: {
      readonly rule: ApprovalRule;
      readonly currency: string;
      readonly amount: Quantity;
      readonly address: string;
      readonly transfer: number;
    },
    now: Instant,
  ): void {
    const { rule, transfer, ...details } = withdrawal;
    const subject: Subject = { kind: 'withdrawal', transfer };
    this.request(asker, { subject, rule, details, threshold: rule.threshold }, now);
  }

  /** Newest first. */
  requestsOf(account: string, { pending }: { readonly pending: boolean }): Reply<readonly ApprovalRequest[]> {
    return this.withAccess(account, () =>
      found(
        (this.requests.get(account) ?? [])
          .filter(({ status }) => !pending || status === 'Pending')
          .toReversed(),
      ),
    );
  }

  /** One refusal ends a request; enough approvals fulfil it. */
  answer(
    { account, user }: Asker,
    { id, approved }: { readonly id: string; readonly approved: boolean },
    now: Instant,
  ): Reply<object> {
    return this.withAccess(account, () => {
      const requests = this.requests.get(account) ?? [];
      const index = requests.findIndex((each) => each.id === id);
      const request = requests[index];
      if (request === undefined) return assumed.unknownRequest();
      if (request.status !== 'Pending') return assumed.requestEnded();
      if (request.responses.some(({ username }) => username === user)) return assumed.answeredBefore();
      if (request.requestedBy === user && this.setup.usersOf(account).length > 1) return assumed.ownRequest();
      const responses = [...request.responses, { username: user, approved }];
      const receivedApprovals = responses.filter((each) => each.approved).length;
      const isEnough = receivedApprovals >= request.requiredApprovals;
      const status = approved ? (isEnough ? 'Approved' : 'Pending') : 'Rejected';
      requests[index] = { ...request, responses, receivedApprovals, status };
      if (status !== 'Pending') this.conclude(account, request.subject, status, now);
      return found({});
    });
  }

  private conclude(account: string, subject: Subject, status: 'Approved' | 'Rejected', now: Instant): void {
    if (subject.kind === 'withdrawal') {
      if (status === 'Approved') this.setup.transit.approve(subject.transfer, now);
      else this.setup.transit.cancel(account, subject.transfer);
      return;
    }
    const rules = this.of(account).flatMap((rule): readonly ApprovalRule[] => {
      if (rule.id !== subject.ruleId) return [rule];
      if (status === 'Approved') return [{ ...changed(rule, subject.change), status: IN_FORCE }];
      return rule.status === IN_FORCE ? [rule] : [{ ...rule, status: 'Rejected' }];
    });
    this.rules.set(account, rules);
  }

  private request(
    { account, user }: Asker,
    what: {
      readonly subject: Subject;
      readonly rule?: ApprovalRule | undefined;
      readonly threshold: Money | undefined;
      readonly details?: { readonly currency: string; readonly amount: Quantity; readonly address: string };
    },
    now: Instant,
  ): void {
    const guard = this.of(account).find(
      ({ ruleType, status }) => ruleType === 'ALTER_SAFE' && status === IN_FORCE,
    );
    const required = (what.rule ?? guard)?.requiredApprovals ?? 1;
    const request: Request = {
      id: this.setup.registry.nextNumber(),
      requestedBy: user,
      addedAt: instant(Math.floor(now)),
      status: 'Pending',
      approvalType: what.rule?.ruleType ?? 'ALTER_SAFE',
      requiredApprovals: required,
      receivedApprovals: 0,
      details: {
        currency: what.details?.currency ?? '',
        amount: what.details?.amount,
        address: what.details?.address ?? '',
        threshold: what.threshold,
      },
      responses: [],
      subject: what.subject,
    };
    const requests = this.requests.get(account) ?? [];
    requests.push(request);
    this.requests.set(account, requests);
  }

  private newRule(account: string, rule: NewRule, status: string, now: Instant): ApprovalRule {
    return {
      id: this.setup.registry.nextNumber(),
      availableApprovers: this.setup.usersOf(account).length,
      addedAt: instant(Math.floor(now)),
      ...rule,
      status,
    };
  }

  private of(account: string): readonly ApprovalRule[] {
    return this.rules.get(account) ?? [];
  }

  private withAccess<T>(account: string, answer: () => Reply<T>): Reply<T> {
    const settings = this.setup.options.accounts.find(({ name }) => name === account);
    return settings?.custody === false ? assumed.custodyDisabled() : answer();
  }
}

const changed = (rule: ApprovalRule, change: Partial<NewRule>): ApprovalRule => ({
  ...rule,
  requiredApprovals: change.requiredApprovals ?? rule.requiredApprovals,
  threshold: change.threshold ?? rule.threshold,
});
