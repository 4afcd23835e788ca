import { EMPTY, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ControlRecord, FillRecord, RecordBody } from '../../core/record.ts';
import type { StateJournal } from '../state/state-journal.ts';

export const haltRecord = (why: string): RecordBody => ({
  kind: 'control',
  state: 'halted',
  by: 'tranche',
  why,
});

interface HaltContext {
  readonly state: { readonly control: ControlRecord['state'] };
  readonly journal: Pick<StateJournal, 'append'>;
}

/** Halts the desk, once. */
export function halt({ state, journal }: HaltContext, why: string): Observable<never> {
  if (state.control === 'halted') return EMPTY;
  return journal.append([haltRecord(why)]).pipe(mergeMap(() => EMPTY));
}

/** The reason for the halt when the venue executed more than was ordered. */
export const executedTwice = (
  { client_order_id: id }: Pick<FillRecord, 'client_order_id'>,
  why = '',
): string => `the venue executed more for ${id} than was ordered: ${why}`;
