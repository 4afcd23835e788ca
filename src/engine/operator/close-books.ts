import { EMPTY, filter, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ClosingRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import type { Command } from '../ports.ts';

/** The parts of a desk that this file uses. */
export type CloseBooksContext = Pick<Desk, 'journal' | 'ports' | 'state'>;

type CloseCommand = Command & { readonly do: 'close' };

/** Records closed periods of the books, each of which follows the previous one. */
export const closeBooks = (desk: CloseBooksContext): Observable<unknown> =>
  desk.ports.operator$.pipe(
    filter((command): command is CloseCommand => command.do === 'close'),
    mergeMap((command) => {
      const { record } = command;
      const fault = closingFault(record, desk.state.closedUntil, desk.ports.clock.wall());
      if (fault !== undefined) {
        command.answer({ isDone: false, says: fault });
        return EMPTY;
      }
      return desk.journal.append([record]).pipe(
        tap(() => {
          command.answer({ isDone: true, says: `the books are closed up to ${isoOf(record.until)}` });
        }),
      );
    }),
  );

/** Why a period cannot be closed; `undefined` when it can. `closedUntil`: the end of the last closed period. */
export function closingFault(
  { from, until, by, why }: Pick<ClosingRecord, 'from' | 'until' | 'by' | 'why'>,
  closedUntil: Instant | undefined,
  now: Instant,
): string | undefined {
  if (by.trim() === '') return 'name the person who closes the period';
  if (why.trim() === '') return 'give the reason';
  if (until > now)
    return `the period ends at ${isoOf(until)}, which is in the future: close it once it is over`;
  if (closedUntil !== undefined && until <= closedUntil)
    return `the books are closed up to ${isoOf(closedUntil)} already: give a later end`;
  if (from !== closedUntil)
    return closedUntil === undefined
      ? 'no period has been closed yet: the first period must begin with the opening balances'
      : `this period does not begin where the closed books end, at ${isoOf(closedUntil)}: another period was closed in the meantime`;
  return undefined;
}
