import { money } from '../money.ts';
import {
  APPROVERS,
  areMet,
  isMember,
  metNeeds,
  needWords,
  requestKinds,
  sameName,
  withOneMore,
} from './approval-policy.ts';
import type { ApprovalPolicy, ApprovalRule, RequestKind } from './approval-policy.ts';

/** A fault in a policy and its location: the index of the rule, from 0, or the group. */
export interface PolicyFault {
  readonly rule?: number | undefined;
  readonly group?: string | undefined;
  readonly problem: string;
}

/** A person known to the config, and whether they may approve. The journal may know others. */
export interface KnownPerson {
  readonly name: string;
  readonly mayApprove: boolean;
}

/** Kinds that a named person requests; that person does not count as an approver. */
const BY_PERSON: ReadonlySet<RequestKind> = new Set(['override', 'rearm', 'doubt', 'limits', 'policy']);

/** Finds faults in a policy that its author cannot have intended. */
export function policyFaults(policy: ApprovalPolicy, known: readonly KnownPerson[]): readonly PolicyFault[] {
  const groups = Object.entries(policy.groups).flatMap(([group, members]) =>
    groupFaults(group, members, known).map((problem) => ({ group, problem })),
  );
  const rules = policy.rules.flatMap((rule, index) =>
    [...ruleFaults(policy, rule), ...coverFaults(policy, rule, index)].map((problem) => ({
      rule: index,
      problem,
    })),
  );
  return [...groups, ...rules, ...(rules.length + groups.length === 0 ? deadEnds(policy) : [])];
}

function groupFaults(
  group: string,
  members: readonly string[],
  known: readonly KnownPerson[],
): readonly string[] {
  const faults: string[] = [];
  if (group === APPROVERS)
    faults.push(
      `${APPROVERS} is a reserved name for everybody with the approver or admin role: choose another name`,
    );
  members.forEach((name, at) => {
    if (members.findIndex((other) => sameName(other, name)) < at) faults.push(`${name} is written twice`);
    const person = known.find((one) => sameName(one.name, name));
    if (person?.mayApprove === false)
      faults.push(
        `${name} cannot approve: the token is that of a program, or its role is not approver or admin`,
      );
  });
  return faults;
}

function ruleFaults(policy: ApprovalPolicy, rule: ApprovalRule): readonly string[] {
  const faults: string[] = [];
  const needs = typeof rule.outcome === 'string' ? [] : rule.outcome;
  const named = [...needs.flatMap(({ groups }) => groups), ...(rule.by ?? [])];
  const unknown = [...new Set(named)].filter(
    (group) => group !== APPROVERS && policy.groups[group] === undefined,
  );
  for (const group of unknown) faults.push(`there is no group ${group} in operate.groups`);
  const only = (field: 'above' | 'strategies' | 'limits', kinds: readonly RequestKind[]): void => {
    if (rule[field] !== undefined && !rule.for.every((kind) => kinds.includes(kind)))
      faults.push(
        `${field} narrows rules for ${kinds.join(' and ')} alone: give the other kinds a rule of their own`,
      );
  };
  only('above', ['parent']);
  only('strategies', ['parent', 'strategy']);
  only('limits', ['override']);
  if (typeof rule.outcome === 'string' && rule.passkey !== undefined)
    faults.push(`passkey says how people approve, but this rule requires nobody: it says ${rule.outcome}`);
  return unknown.length > 0 ? faults : [...faults, ...peopleFaults(policy, rule, needs)];
}

/** Whether there are enough people for every possible requester. The number of approvers outside the groups is unknown here. */
function peopleFaults(
  policy: ApprovalPolicy,
  rule: ApprovalRule,
  needs: readonly { readonly count: number; readonly groups: readonly string[] }[],
): readonly string[] {
  const countable = needs.filter(({ groups }) => !groups.includes(APPROVERS));
  const people = [
    ...new Set(countable.flatMap(({ groups }) => groups.flatMap((group) => policy.groups[group] ?? []))),
  ];
  if (!areMet(metNeeds(policy, countable, people)))
    return [`${needWords(countable)}: these groups have too few different people`];
  const isFromFile =
    rule.by === undefined && rule.for.some((kind) => kind === 'parent' || kind === 'strategy');
  const [more] = isFromFile && policy.unknown_asker === 'one_more' ? [withOneMore(countable)] : [];
  if (more !== undefined && !areMet(metNeeds(policy, more, people)))
    return [
      `if the requester is not known, as for a file at a start, ${needWords(more)} must agree: these groups have too few different people`,
    ];
  if (!rule.for.some((kind) => BY_PERSON.has(kind))) return [];
  const initiators = people.filter((name) => rule.by === undefined || isMember(policy, name, rule.by));
  const stuck = initiators.find((name) => !areMet(metNeeds(policy, countable, people, name)));
  return stuck === undefined
    ? []
    : [
        `when ${stuck} asks, ${needWords(countable)} cannot be reached without ${stuck}: add people, or narrow the rule with by`,
      ];
}

/** A rule that an earlier one makes unreachable. */
function coverFaults({ rules }: ApprovalPolicy, rule: ApprovalRule, index: number): readonly string[] {
  const before = rules.slice(0, index);
  const same = before.findIndex((other) => isCoveredBy(rule, other) && isCoveredBy(other, rule));
  if (same !== -1) return [`it is for the same requests as rule ${same + 1}: keep one`];
  const covers = rule.for.map((kind) =>
    before.findIndex((other) => isCoveredBy({ ...rule, for: [kind] }, other)),
  );
  return covers.includes(-1)
    ? []
    : [`it never matches: rule ${Math.max(...covers) + 1} comes before it and matches all of its requests`];
}

const isWithin = (names: readonly string[] | undefined, wider: readonly string[] | undefined): boolean =>
  wider === undefined || (names !== undefined && names.every((name) => wider.includes(name)));

const isCoveredBy = (rule: ApprovalRule, other: ApprovalRule): boolean =>
  rule.for.every((kind) => other.for.includes(kind)) &&
  (other.above === undefined || (rule.above !== undefined && money(other.above).lte(money(rule.above)))) &&
  isWithin(rule.by, other.by) &&
  isWithin(rule.strategies, other.strategies) &&
  isWithin(rule.limits, other.limits);

/** A policy that nobody may change would stay in force for the journal's life. */
function deadEnds({ rules }: ApprovalPolicy): readonly PolicyFault[] {
  return rules.some((rule) => rule.for.includes('policy') && rule.outcome !== 'block')
    ? []
    : [
        {
          problem:
            'no rule lets the policy itself be changed, so it could never be changed again: add { for: policy, require: … }',
        },
      ];
}

/** Kinds with requests that match no rule, and so are blocked. */
export const uncoveredKinds = ({ rules }: ApprovalPolicy): readonly RequestKind[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
  (Object.keys(requestKinds) as RequestKind[]).filter(
    (kind) => !rules.some((rule) => isCoveredBy({ for: [kind], outcome: 'block' }, rule)),
  );
