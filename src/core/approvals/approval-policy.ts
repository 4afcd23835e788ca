import { money } from '../money.ts';
import type { Money } from '../money.ts';
import { canonicalValue } from '../text/json.ts';
import { DAY_MS, MINUTE_MS } from '../time.ts';

/** Kinds of requests that may need approval, with one sentence each. Names are stable: configs and journals rely on them. */
export const requestKinds = {
  parent: 'a parent order sends its first slice',
  strategy: 'a strategy begins, or takes over from a running one with another text',
  limits: 'a limit allows more than before',
  channels: 'the channels of operate.notify change while the desk runs',
  override: 'one order may exceed a limit',
  rearm: 'a halt is lifted',
  doubt: 'a doubt is resolved with figures from a person',
  policy: 'the approval rules or the groups change',
} as const;
export type RequestKind = keyof typeof requestKinds;
export const isRequestKind = (name: string): name is RequestKind => Object.hasOwn(requestKinds, name);

/** The built-in group: everyone whose role is approver or admin. */
export const APPROVERS = 'approvers';

/** This number of different people from these groups. */
export interface Need {
  readonly count: number;
  readonly groups: readonly string[];
}

/** One rule of a policy, as plain JSON: the journal stores it. */
export interface ApprovalRule {
  readonly for: readonly RequestKind[];
  /** Only parents above this amount, in the currency of the limits. */
  readonly above?: string | undefined;
  /** Only requests by members of these groups. */
  readonly by?: readonly string[] | undefined;
  /** Only these strategies; for parents and strategies. */
  readonly strategies?: readonly string[] | undefined;
  /** Only these limits; for overrides. */
  readonly limits?: readonly string[] | undefined;
  /** All of these needs must be met, each by different people. */
  readonly outcome: 'allow' | 'block' | readonly Need[];
  /** `required`: a passkey must sign each approval. Omitted: required once anyone has a passkey in the journal. */
  readonly passkey?: 'required' | 'optional' | undefined;
  /** A request expires after this time. Omitted: `defaultWithinMs`. */
  readonly within_ms?: number | undefined;
}

/** Who must approve what. The first matching rule applies; a request that no rule matches is blocked. */
export interface ApprovalPolicy {
  readonly rules: readonly ApprovalRule[];
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /**
   * `one_more`: if the requester is unknown, one more person must approve, because one of the approvers may have
   * changed the file. Omitted: the policy comes from an older version, and the rules of that version apply.
   */
  readonly unknown_asker?: 'one_more' | undefined;
}

/** The parts of a request that rules match. */
export interface PolicyQuestion {
  readonly kind: RequestKind;
  /** Value of a parent, in the currency of the limits; omitted if unknown. An unknown value counts as above every amount. */
  readonly amount?: Money | undefined;
  /** Name of the requester; omitted if the desk does not know it, for example for an edited file. */
  readonly by?: string | undefined;
  readonly strategy?: string | undefined;
  readonly limit?: string | undefined;
}

export interface Requirement {
  readonly outcome: 'allow' | 'block' | 'require';
  /** Empty unless the outcome is `require`. */
  readonly needs: readonly Need[];
  readonly passkey?: ApprovalRule['passkey'];
  readonly withinMs: number;
  /** Number of the rule that matched, from 1; omitted if none did. */
  readonly rule?: number | undefined;
}

/** A person's own request may be approved only for minutes, because the desk's situation changes. */
const SHORT_MS = 15 * MINUTE_MS;
const isShort = (kind: RequestKind): boolean => kind === 'override' || kind === 'rearm' || kind === 'doubt';
export const defaultWithinMs = (kind: RequestKind): number => (isShort(kind) ? SHORT_MS : DAY_MS);

/** Kinds that files can request without a person. */
const FROM_FILES: ReadonlySet<RequestKind> = new Set(['parent', 'strategy']);

/** Whether a request needs one more person than its rule states. */
export const isOneMore = (
  { unknown_asker: unknown }: ApprovalPolicy,
  { by, kind }: Pick<PolicyQuestion, 'by' | 'kind'>,
): boolean => unknown === 'one_more' && by === undefined && FROM_FILES.has(kind);

/** The same needs with one more person from the same groups, so that enough others approve even if one approver is the requester. */
export function withOneMore(needs: readonly Need[]): readonly Need[] {
  const [first, ...more] = needs;
  if (first === undefined) return needs;
  if (more.length === 0) return [{ ...first, count: first.count + 1 }];
  const groups = [...new Set(needs.flatMap((need) => need.groups))];
  return [...needs, { count: 1, groups }];
}

/** Names that differ only in case are the same person. */
export const sameName = (a: string, b: string): boolean => nameKey(a) === nameKey(b);
const nameKey = (name: string): string => name.trim().toLowerCase();

/** Returns what this request needs under the policy. */
export function requirementOf(policy: ApprovalPolicy, question: PolicyQuestion): Requirement {
  const at = policy.rules.findIndex((rule) => matches(policy, rule, question));
  const rule = policy.rules[at];
  const mostMs = defaultWithinMs(question.kind);
  if (rule === undefined) return { outcome: 'block', needs: [], withinMs: mostMs };
  const wantedMs = rule.within_ms ?? mostMs;
  const needs = typeof rule.outcome === 'string' ? [] : rule.outcome;
  return {
    outcome: typeof rule.outcome === 'string' ? rule.outcome : 'require',
    needs: isOneMore(policy, question) ? withOneMore(needs) : needs,
    passkey: rule.passkey,
    withinMs: isShort(question.kind) ? Math.min(wantedMs, mostMs) : wantedMs,
    rule: at + 1,
  };
}

function matches(policy: ApprovalPolicy, rule: ApprovalRule, question: PolicyQuestion): boolean {
  const { kind, amount, by, strategy, limit } = question;
  if (!rule.for.includes(kind)) return false;
  if (rule.above !== undefined && amount !== undefined && !amount.gt(money(rule.above))) return false;
  if (rule.by !== undefined && (by === undefined || !isMember(policy, by, rule.by))) return false;
  if (rule.strategies !== undefined && !rule.strategies.includes(strategy ?? '')) return false;
  return rule.limits === undefined || rule.limits.includes(limit ?? '');
}

/** Whether a person belongs to one of the groups. The desk has already checked that an approver has the role. */
export const isMember = ({ groups }: ApprovalPolicy, name: string, of: readonly string[]): boolean =>
  of.some((group) => group === APPROVERS || (groups[group] ?? []).some((member) => sameName(member, name)));

/**
 * Combines two requirements. The result is blocked if either is blocked. The same people may meet both requirements'
 * needs of the same groups.
 */
export function bothRequirements(a: Requirement, b: Requirement): Requirement {
  const outcomes = new Set([a.outcome, b.outcome]);
  const outcome = outcomes.has('block') ? 'block' : outcomes.has('require') ? 'require' : 'allow';
  const needs = [...a.needs];
  for (const need of b.needs) {
    const at = needs.findIndex(({ groups }) => groups.join('\n') === need.groups.join('\n'));
    const same = needs[at];
    if (same === undefined) needs.push(need);
    else if (same.count < need.count) needs[at] = need;
  }
  const withinMs = Math.min(a.withinMs, b.withinMs);
  const isRequired = a.passkey === 'required' || b.passkey === 'required';
  const isOptional =
    [a, b].some(({ passkey }) => passkey === 'optional') &&
    [a, b].every(({ passkey, outcome: its }) => its !== 'require' || passkey === 'optional');
  const passkey = isRequired ? 'required' : isOptional ? 'optional' : undefined;
  return { outcome, needs: outcome === 'require' ? needs : [], passkey, withinMs, rule: a.rule };
}

/** Whether a request needs at least as many people as `needed`. */
export function isAtLeast(needs: readonly Need[], needed: Requirement): boolean {
  const given: Requirement = { outcome: 'require', needs, withinMs: 0 };
  const both = bothRequirements(given, needed).needs;
  return needed.outcome === 'require' && canonicalValue(both) === canonicalValue(needs);
}

export interface MetNeed extends Need {
  /** People who count for a need. */
  readonly have: readonly string[];
}

/**
 * Assigns people to needs, each person to at most one, so that a member of two groups is still one person. The initiator never
 * counts.
 */
export function metNeeds(
  policy: ApprovalPolicy,
  needs: readonly Need[],
  people: readonly string[],
  initiator?: string,
): readonly MetNeed[] {
  const seats = needs.flatMap(({ count }, need) => Array.from({ length: count }, () => need));
  const taken: (string | undefined)[] = seats.map(() => undefined);
  const groupsOf = (seat: number): readonly string[] => needs[seats[seat] ?? 0]?.groups ?? [];
  // A maximum matching by augmenting paths, in which a later person may move an earlier one to another need.
  const place = (name: string, tried: Set<number>): boolean => {
    for (const seat of seats.keys()) {
      if (tried.has(seat) || !isMember(policy, name, groupsOf(seat))) continue;
      tried.add(seat);
      const there = taken[seat];
      if (there !== undefined && !place(there, tried)) continue;
      taken[seat] = name;
      return true;
    }
    return false;
  };
  const known = new Set<string>();
  for (const name of people) {
    const isNew = !known.has(nameKey(name));
    known.add(nameKey(name));
    if (isNew && (initiator === undefined || !sameName(name, initiator))) place(name, new Set());
  }
  return needs.map((need, index) => ({
    ...need,
    have: taken.filter((name, seat): name is string => name !== undefined && seats[seat] === index),
  }));
}

export const areMet = (needs: readonly MetNeed[]): boolean =>
  needs.every(({ count, have }) => have.length >= count);

/** `2 of risk and 1 of desk or treasury`. */
export const needWords = (needs: readonly Need[]): string =>
  needs.map(({ count, groups }) => `${count} of ${groups.join(' or ')}`).join(' and ');

/** Describes a requirement for people. */
export function requirementWords({ outcome, needs }: Requirement): string {
  if (outcome === 'require') return `needs ${needWords(needs)}`;
  return outcome === 'allow' ? 'needs no approval' : 'is blocked';
}

/**
 * The policy of a desk without `operate.policy`. An override always takes a second person. With four eyes, so do
 * lifting a halt, resolving a doubt with figures, raising a limit, and turning four eyes off.
 */
export function builtInPolicy(hasFourEyes: boolean): ApprovalPolicy {
  const second: ApprovalRule['outcome'] = [{ count: 1, groups: [APPROVERS] }];
  const guarded: readonly RequestKind[] = ['rearm', 'doubt', 'limits', 'policy'];
  const free: readonly RequestKind[] = ['parent', 'strategy', 'channels', ...(hasFourEyes ? [] : guarded)];
  return {
    rules: [
      { for: hasFourEyes ? ['override', ...guarded] : ['override'], outcome: second },
      { for: free, outcome: 'allow' },
    ],
    groups: {},
  };
}
