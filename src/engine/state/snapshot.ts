import type { EngineState } from './engine-state.ts';
import type { Person } from '../../core/people.ts';
import type { AccountRows } from './account-rows.ts';
import type { Approvals } from '../../core/approvals/requests.ts';
import type { SavedTotals } from './totals.ts';

type Field = {
  [K in keyof EngineState]: EngineState[K] extends (...args: never) => unknown ? never : K;
}[keyof EngineState];

/** The fields of an `EngineState` as plain data, including its totals. */
export type SavedState = {
  readonly [
    K in Exclude<Field, 'totals' | 'approvals' | 'people' | 'rows' | 'doubts' | 'bookedSince' | 'bookedFrom'>
  ]: EngineState[K];
} & {
  readonly bookedSince: ReadonlySet<string>;
  readonly totals: SavedTotals;
  readonly approvals: Approvals['data'];
  readonly people: Map<string, Person>;
  readonly rows: AccountRows['data'];
};

/**
 * The folded state as plain data. Valid only until the next record, because it shares objects with the state.
 */
export function savedOf(state: EngineState): SavedState {
  return {
    ...(Object.fromEntries(Object.entries(state)) as SavedState), // oxlint-disable-line typescript/no-unsafe-type-assertion -- its own fields
    bookedSince: new Set(state.filledIds.keys().drop(state.bookedFrom)),
    totals: state.totals.saved(),
    approvals: state.approvals.data,
    people: state.people.data,
    rows: state.rows.data,
  };
}

/** Restores what `savedOf` returned into an empty state. */
export function restoreInto(
  state: EngineState,
  { totals, approvals, people, rows, ...fields }: SavedState,
): void {
  const maps = [totals.days, approvals.known, people, rows.seen];
  if (!maps.every((one) => one instanceof Map)) throw new TypeError('not a state');
  Object.assign(state, fields, { bookedSince: fields.bookedSince.size });
  state.totals.restore(totals);
  state.approvals.data = approvals;
  state.people.data = people;
  state.rows.data = rows;
}
