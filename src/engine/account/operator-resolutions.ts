import { EMPTY, defer, filter, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { certain } from '../../core/cycle/proof.ts';
import type { ResolvedRecord } from '../../core/record.ts';
import { attributionFault, isPart, missingFault, resolutionFault } from '../../core/cycle/resolution.ts';
import { fillFromResolution } from '../attempt/booking.ts';
import type { Desk } from '../desk.ts';
import type { AttemptEnd, OperatorResolution } from '../attempt/execute.ts';
import type { Command } from '../ports.ts';
import { commands } from '../operator/approvals.ts';

type Resolve = Command & { readonly do: 'resolve' };

/**
 * Ends doubts with a person's resolution, which is the only way if the account never shows the outcome. Responds to a
 * resolution that is not allowed, and changes nothing. If a trade appears later, the desk books it and halts.
 */
export const resolutions = (desk: Desk): Observable<AttemptEnd> =>
  commands(desk).pipe(
    filter((command) => command.do === 'resolve'),
    mergeMap((command) => defer(() => resolve(desk, command))),
  );

const resolvedRecord = ({ clientOrderId, verdict, rows, by, why, token }: Resolve): ResolvedRecord => ({
  kind: 'resolved',
  client_order_id: clientOrderId,
  verdict,
  ...(rows === undefined ? {} : { rows }),
  by,
  why,
  ...(token === undefined ? {} : { token }),
});

/** A person confirms that the missing part of a fill never traded, so it no longer counts as filled. */
function resolveMissing(desk: Desk, command: Resolve): Observable<never> {
  const { clientOrderId } = command;
  const fault = missingFault(command);
  if (fault !== undefined) {
    command.answer({ isDone: false, says: fault });
    return EMPTY;
  }
  const record = resolvedRecord(command);
  return desk.journal.append([record]).pipe(
    mergeMap(() => {
      command.answer({
        isDone: true,
        says: `the missing part of ${clientOrderId} is closed as not executed`,
      });
      return EMPTY;
    }),
  );
}

/** A person says whose rows are. The next read of the account, which follows at once, draws the conclusions. */
function attributeRows(desk: Desk, command: Resolve): Observable<never> {
  const { clientOrderId, verdict, rows = [] } = command;
  const held = desk.account.evidence.get(clientOrderId)?.rows ?? [];
  const isOpen = desk.state.attempts.get(clientOrderId)?.doubt !== undefined;
  const fault = isOpen
    ? attributionFault(command, new Set(held.map(({ id }) => id)))
    : `${clientOrderId} is not in doubt`;
  if (fault !== undefined) {
    command.answer({ isDone: false, says: fault });
    return EMPTY;
  }
  return desk.journal.append([resolvedRecord(command)]).pipe(
    mergeMap(() => {
      const whose = verdict === 'ours' ? `belong to ${clientOrderId}` : 'are not ours';
      command.answer({
        isDone: true,
        says: `rows ${rows.join(', ')} ${whose}; the desk reads the account now`,
      });
      desk.account.isHinted = true;
      desk.changed$.next();
      return EMPTY;
    }),
  );
}

function resolve(desk: Desk, command: Resolve): Observable<AttemptEnd> {
  const { clientOrderId, verdict, figures, by, why } = command;
  if (verdict === 'ours' || verdict === 'not_ours') return attributeRows(desk, command);
  const { clock } = desk.ports;
  const open = desk.state.attempts.get(clientOrderId);
  const phase = desk.account.doubts.get(clientOrderId);
  if (open === undefined && desk.state.lacking.has(clientOrderId)) return resolveMissing(desk, command);
  const known = open === undefined || phase === undefined ? undefined : { ...open, phase };
  const fault = resolutionFault(command, known, clock.monotonic());
  if (fault !== undefined || known === undefined) {
    command.answer({ isDone: false, says: fault ?? `${clientOrderId} is not in doubt` });
    return of();
  }
  const { intent } = known;
  const record = resolvedRecord(command);
  const resolution: OperatorResolution = {
    record,
    answer: (answer) => {
      command.answer(answer);
    },
  };
  if (verdict === 'not_executed')
    return of({
      end: 'closed',
      intent,
      resolution,
      phase: {
        state: 'ended',
        result: 'absent',
        reason: 'by_operator',
        detail: `${by}: ${why}`,
        next: { do: 'again' },
      },
    });
  if (figures === undefined) return of({ end: 'doubt', intent, resolution, phase: certain(known.phase) });
  const fill = fillFromResolution(known, figures, {
    now: desk.limitDay.now(),
    decisionPrice: desk.state.decisionPrice(intent),
  });
  const differs = isPart(intent, figures) ? 'the operator reports that less was filled' : undefined;
  return of({ end: 'filled', intent, resolution, fill, differs });
}
