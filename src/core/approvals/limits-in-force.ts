import { bothRequirements, builtInPolicy, needWords, requirementOf } from './approval-policy.ts';
import type { ApprovalPolicy, ApprovalRule, Requirement } from './approval-policy.ts';
import type { ReloadRecord, StartedRecord } from '../record.ts';
import { canonicalValue } from '../text/json.ts';
import { loosenedLimits } from '../risk/limit-changes.ts';
import type { LimitTexts } from '../risk/limit-changes.ts';

/** The limits and policy of a start, and who must approve if they are raised. */
export interface KeptLimits {
  readonly limits: LimitTexts;
  readonly fourEyes: boolean;
  readonly policy?: ApprovalPolicy | undefined;
}

/** Limits as the journal records them. */
export interface LimitsInForce {
  /** Those of the last start that needed no approval or was approved. */
  readonly agreed?: KeptLimits | undefined;
  /** The limits and policy of this process, until they are approved. */
  readonly raised?: KeptLimits | undefined;
}

/** Applies the record of a start. */
export function limitsAtStart({ agreed }: LimitsInForce, record: StartedRecord): LimitsInForce {
  const { limits, four_eyes: fourEyes, policy } = record;
  if (limits === undefined) return { agreed };
  const now = { limits, fourEyes: fourEyes === true, ...(policy === undefined ? {} : { policy }) };
  return raisedLimits(agreed, now).length > 0 ? { agreed, raised: now } : { agreed: now };
}

/**
 * Applies a reload. A desk raises a limit only after all approvals, and raises no limit while other raised limits await
 * a rearm. A lowered limit is lowered in both sets.
 */
export function limitsAtReload({ agreed, raised }: LimitsInForce, { limits }: ReloadRecord): LimitsInForce {
  if (limits === undefined) return { agreed, raised };
  return raised === undefined
    ? { agreed: agreed && { ...agreed, limits } }
    : { agreed, raised: { ...raised, limits } };
}

/** Applies a rearm. The person who lifts the halt has seen the raised limits. */
export const agreedTo = ({ agreed, raised }: LimitsInForce): LimitsInForce => ({ agreed: raised ?? agreed });

/** The rules without `operate.policy`, with and without four eyes. */
export const BUILT_IN = { two: builtInPolicy(true), one: builtInPolicy(false) };

/**
 * Who must approve. While the limits or policy of this start are not approved, the policy of the last start that needed
 * no approval or was approved applies. Turning four eyes on, however, takes effect immediately.
 */
export function policyOfBoth(agreed: KeptLimits | undefined, now: KeptLimits | undefined): ApprovalPolicy {
  const kept = agreed ?? now;
  if (kept?.policy !== undefined) return kept.policy;
  const isTwo = kept?.fourEyes === true || (now?.fourEyes === true && now.policy === undefined);
  return isTwo ? BUILT_IN.two : BUILT_IN.one;
}

/** The raised settings that others must approve before the desk trades with the config of this start, in words. */
export function raisedLimits(agreed: KeptLimits | undefined, now: KeptLimits | undefined): readonly string[] {
  const { limits, policy } = raisedParts(agreed, now);
  return [...limits, ...policy];
}

/** The raised settings in words, by their kind. */
export interface RaisedParts {
  readonly limits: readonly string[];
  readonly policy: readonly string[];
}

/**
 * What a rearm requires: the requirement for lifting a halt, combined with those for the limits and policies that this
 * start raised.
 */
export function rearmRequirement(policy: ApprovalPolicy, raised: RaisedParts, by?: string): Requirement {
  const parts: Requirement[] = [requirementOf(policy, { kind: 'rearm', by })];
  if (raised.limits.length > 0) parts.push(requirementOf(policy, { kind: 'limits', by }));
  if (raised.policy.length > 0) parts.push(requirementOf(policy, { kind: 'policy', by }));
  return parts.reduce(bothRequirements);
}

/** The kind of a request that lifts a halt, by the largest part of its differences. */
export const kindOfRearm = ({ limits, policy }: RaisedParts): 'rearm' | 'limits' | 'policy' =>
  policy.length > 0 ? 'policy' : limits.length > 0 ? 'limits' : 'rearm';

/** The raised settings of this start, by their kind. */
export function raisedParts(agreed: KeptLimits | undefined, now: KeptLimits | undefined): RaisedParts {
  if (agreed === undefined || now === undefined) return { limits: [], policy: [] };
  const inForce = policyOfBoth(agreed, now);
  const isGuarded = (kind: 'limits' | 'policy'): boolean =>
    requirementOf(inForce, { kind }).outcome !== 'allow';
  return {
    limits: isGuarded('limits') ? loosenedLimits(agreed.limits, now.limits) : [],
    policy: isGuarded('policy') ? policyChanges(agreed, now) : [],
  };
}

/** Differences between two policies and their groups, in words. */
function policyChanges(before: KeptLimits, now: KeptLimits): readonly string[] {
  if (before.policy === undefined && now.policy === undefined)
    return before.fourEyes && !now.fourEyes ? ['four_eyes on -> off'] : [];
  const [was, is] = [policyLines(before), policyLines(now)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
    const [old = 'none', fresh = 'none'] = [was.get(name), is.get(name)];
    return old === fresh ? [] : [`${name}: ${old} -> ${fresh}`];
  });
}

function policyLines({ policy, fourEyes }: KeptLimits): ReadonlyMap<string, string> {
  if (policy === undefined) return new Map([['four_eyes', fourEyes ? 'on' : 'off']]);
  const rules = policy.rules.map((rule, at) => [`policy rule ${at + 1}`, ruleWords(rule)] as const);
  const groups = Object.entries(policy.groups).map(
    ([name, members]) => [`group ${name}`, members.toSorted().join(' and ')] as const,
  );
  return new Map([...rules, ...groups]);
}

function ruleWords({ for: kinds, outcome: its, ...rest }: ApprovalRule): string {
  const outcome = typeof its === 'string' ? its : `require ${needWords(its)}`;
  const more = canonicalValue(rest);
  return `${kinds.join(' and ')} ${more === '{}' ? '' : `${more} `}${outcome}`;
}
