import { filter, merge } from 'rxjs';
import type { Observable } from 'rxjs';
import { areMet, metNeeds, needWords, requirementOf } from '../../core/approvals/approval-policy.ts';
import type { ApprovalPolicy, PolicyQuestion, Requirement } from '../../core/approvals/approval-policy.ts';
import { figureWords, isInitiator, nameOf } from '../../core/approvals/approval-request.ts';
import { sha256 } from '../../core/ids.ts';
import { text } from '../../core/money.ts';
import type { UsedToken } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { Command } from '../ports.ts';
import type { Agreement, Override } from '../state/override-state.ts';
import type { Guarded } from './proposals.ts';
import { policyOfBoth, raisedParts, rearmRequirement } from '../../core/approvals/limits-in-force.ts';
import type { RaisedParts } from '../../core/approvals/limits-in-force.ts';
import { ownPolicy } from '../state/kept-limits.ts';

/** The parts of a desk that this file uses. */
export type ApprovalsContext = Pick<Desk, 'agreed$' | 'policy' | 'ports' | 'state'>;

/** Who must approve: the config's policy, or the previous one until its change is approved. */
export function policyInForce({ policy, state }: Pick<Desk, 'policy' | 'state'>): ApprovalPolicy {
  const { agreed, raised } = state.limits;
  return raised === undefined ? ownPolicy(policy) : policyOfBoth(agreed, raised);
}

/** What this request needs under the policy in force. */
export const requirementFor = (desk: Pick<Desk, 'policy' | 'state'>, question: PolicyQuestion): Requirement =>
  requirementOf(policyInForce(desk), question);

const raisedNow = ({ state: { limits } }: Pick<Desk, 'state'>): RaisedParts =>
  raisedParts(limits.agreed, limits.raised);

/** What a person's command needs before it is executed. */
export function commandRequirement(
  desk: Pick<Desk, 'policy' | 'state'>,
  { do: what, by, token }: Guarded,
): Requirement {
  const name = nameOf({ by, token });
  return what === 'rearm'
    ? rearmRequirement(policyInForce(desk), raisedNow(desk), name)
    : requirementFor(desk, { kind: 'doubt', by: name });
}

/** A rearm, or a doubt resolved with figures: commands that may need approval. */
export const isGuarded = (command: Command): command is Guarded =>
  command.do === 'rearm' || (command.do === 'resolve' && command.figures !== undefined);

/** Whether the command needs approval first, or is blocked. */
export const isHeld = (desk: ApprovalsContext, command: Command): command is Guarded =>
  isGuarded(command) && commandRequirement(desk, command).outcome !== 'allow';

/** Commands to execute: those that need no approval, and those that were approved. */
export const commands = (desk: ApprovalsContext): Observable<Command> =>
  merge(desk.ports.operator$.pipe(filter((command) => !isHeld(desk, command))), desk.agreed$);

/** Whether the desk distinguishes people. If it does, the requester must be a person, too. */
export const isStrict = ({ policy, state }: Pick<Desk, 'policy' | 'state'>): boolean =>
  policy.approvals !== undefined ||
  policy.fourEyes === true ||
  state.limits.agreed?.fourEyes === true ||
  state.limits.agreed?.policy !== undefined;

/** Why this token does not count as one of two people; `undefined` if it does, or if no token was given. */
export function personFault(token: UsedToken | undefined): string | undefined {
  if (token === undefined || token.kind === 'person') return undefined;
  const whose = token.kind === 'machine' ? 'the token of this machine' : `${token.name} is a program`;
  return `${whose} does not count as one of two people: use the token of a person in operate.tokens, with --url`;
}

/** States that the policy blocks the request, and by which rule. */
export const blockedWords = ({ rule }: Requirement): string =>
  rule === undefined
    ? 'no rule of operate.policy matches it, so it is blocked'
    : `rule ${rule} of operate.policy blocks it`;

/** Who must still approve, in words. */
export function missingWords(desk: Pick<Desk, 'policy' | 'state'>, { proposal, agreed }: Override): string {
  const met = metNeeds(policyInForce(desk), proposal.needs ?? [], agreed.map(nameOf), nameOf(proposal));
  const missing = met.flatMap(({ count, groups, have }) =>
    have.length < count ? [{ count: count - have.length, groups }] : [],
  );
  return missing.length === 0 ? '' : needWords(missing);
}

/** Whether one more approval completes the request, counting only people who still qualify. */
export function isComplete(
  desk: Pick<Desk, 'policy' | 'state'>,
  { proposal, agreed }: Override,
  more: Agreement,
): boolean {
  if (proposal.needs === undefined) return true;
  const counting = [...agreed, more].filter(
    (one) => !isInitiator(proposal, one) && desk.state.people.get(nameOf(one))?.state !== 'removed',
  );
  return areMet(metNeeds(policyInForce(desk), proposal.needs, counting.map(nameOf), nameOf(proposal)));
}

/** The text that approvers see, and a hash that changes when the desk changes. */
export function asked(
  desk: Pick<Desk, 'state'>,
  command:
    | { readonly do: 'rearm'; readonly withOpenDoubts?: boolean | undefined }
    | (Guarded & { readonly do: 'resolve' }),
  parts = raisedNow(desk),
): { readonly limit: string; readonly asks: string; readonly subject: string } {
  const raised = [...parts.limits, ...parts.policy];
  const limit = command.do === 'rearm' ? 'halt' : 'doubt';
  const asks =
    command.do === 'rearm'
      ? rearmWords(desk, command.withOpenDoubts === true, raised)
      : resolutionWords(command);
  const { controlSince = 0 } = desk.state;
  return {
    limit,
    asks,
    subject: sha256(JSON.stringify([limit, asks, command.do === 'rearm' ? controlSince : 0])),
  };
}

function rearmWords(
  { state }: Pick<Desk, 'state'>,
  withOpenDoubts: boolean,
  raised: readonly string[],
): string {
  const doubts = withOpenDoubts ? [...state.attempts.keys()].toSorted() : [];
  const limits = raised.length === 0 ? '' : ` with ${raised.join(', ')}`;
  return `lift the halt (${state.controlWhy})${limits}${doubts.length === 0 ? '' : ` with open doubts: ${doubts.join(', ')}`}`;
}

function resolutionWords({ clientOrderId, verdict, figures }: Guarded & { readonly do: 'resolve' }): string {
  if (figures === undefined || verdict !== 'filled') return `${clientOrderId} ${verdict}`;
  const { orderId: order_id, quantity, amount, fees } = figures;
  return figureWords(clientOrderId, {
    order_id,
    quantity: text(quantity),
    amount: text(amount),
    fees: text(fees),
  });
}
