import { filter, merge } from 'rxjs';
import type { Observable } from 'rxjs';
import { countWords } from '../../core/approvals/approval-settings.ts';
import { doubtSubject, rearmSubject, statementWords } from '../../core/approvals/requests.ts';
import type { ApprovalSettings, Requirement } from '../../core/approvals/approval-settings.ts';
import {
  approvalsInForce,
  raisedLimits,
  requirementOfRequest,
} from '../../core/approvals/limits-in-force.ts';
import { text } from '../../core/money.ts';
import type { ApprovalRecord } from '../../core/record.ts';
import type { Desk } from '../desk.ts';
import type { Command } from '../ports.ts';
import type { ApprovalRequest } from '../../core/approvals/requests.ts';
import type { Guarded, Wish } from './proposals.ts';

/** What other people must approve now. */
export const settingsNow = ({
  policy,
  state,
}: Pick<Desk, 'policy' | 'state'>): ApprovalSettings | undefined =>
  approvalsInForce(state.limits, policy.approvals);

/** What a request needs now; `undefined`: no approval. */
export const neededNow = (
  desk: Pick<Desk, 'policy' | 'state'>,
  request: Pick<ApprovalRecord, 'for' | 'token' | 'amount'>,
): Requirement | undefined =>
  requirementOfRequest(request, settingsNow(desk), raisedLimits(desk.state.limits));

/** Whether the command needs approval first: a rearm, a doubt resolved with figures, or rows attributed. */
export function isHeld(desk: Pick<Desk, 'policy' | 'state'>, command: Command): command is Guarded {
  if (command.do === 'rearm') return neededNow(desk, { for: 'rearm' }) !== undefined;
  if (command.do !== 'resolve') return false;
  const { rows, figures, verdict } = command;
  const isStated = rows !== undefined || (figures !== undefined && verdict === 'filled');
  return isStated && neededNow(desk, { for: 'doubt' }) !== undefined;
}

/** Commands to execute: those that need no approval, and those that were approved. */
export const commands = (desk: Pick<Desk, 'agreed$' | 'policy' | 'ports' | 'state'>): Observable<Command> =>
  merge(desk.ports.operator$.pipe(filter((command) => !isHeld(desk, command))), desk.agreed$);

/** Who must still approve, in words. */
export const missingWords = ({ proposal, agreed }: ApprovalRequest): string =>
  countWords(proposal.count - agreed.length);

/** The request as approvers see it, with a subject that changes when the desk changes. */
export function asked(
  { state }: Pick<Desk, 'state'>,
  command:
    | { readonly do: 'rearm'; readonly withOpenDoubts?: boolean | undefined }
    | (Guarded & { readonly do: 'resolve' }),
  raised = raisedLimits(state.limits),
): Pick<Wish, 'for' | 'asks' | 'difference' | 'subject'> {
  if (command.do === 'resolve') {
    const { clientOrderId, verdict, rows, figures } = command;
    const trade = rows === undefined &&
      figures !== undefined && {
        order_id: figures.orderId,
        quantity: text(figures.quantity),
        amount: text(figures.amount),
        fees: text(figures.fees),
      };
    const asks = statementWords(clientOrderId, trade === false ? { verdict, rows: rows ?? [] } : trade);
    return { for: 'doubt', asks, subject: doubtSubject(asks) };
  }
  const doubts = command.withOpenDoubts === true ? [...state.attempts.keys()].toSorted() : [];
  const limits = raised.length === 0 ? '' : ` with ${raised.join(', ')}`;
  const open = doubts.length === 0 ? '' : ` with open doubts: ${doubts.join(', ')}`;
  const asks = `lift the halt (${state.controlWhy})${limits}${open}`;
  return {
    for: 'rearm',
    asks,
    ...(raised.length === 0 ? {} : { difference: raised }),
    subject: rearmSubject(asks, state.controlSince ?? 0),
  };
}
