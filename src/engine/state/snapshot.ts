import type { EngineState } from './engine-state.ts';
import type { Person } from './people-state.ts';
import type { OverridesData } from './override-state.ts';
import type { SavedTotals } from './totals.ts';

type Field = {
  [K in keyof EngineState]: EngineState[K] extends (...args: never) => unknown ? never : K;
}[keyof EngineState];

/** The fields of an `EngineState` as plain data, including its totals. */
export type SavedState = {
  readonly [
    K in Exclude<Field, 'totals' | 'overrides' | 'people' | 'doubts' | 'bookedSince' | 'bookedFrom'>
  ]: EngineState[K];
} & {
  readonly bookedSince: ReadonlySet<string>;
  readonly totals: SavedTotals;
  readonly overrides: OverridesData;
  readonly people: Map<string, Person>;
};

/**
 * The folded state as plain data. Valid only until the next record, because it shares objects with the state.
 */
export function savedOf(state: EngineState): SavedState {
  return {
    ...(Object.fromEntries(Object.entries(state)) as SavedState), // oxlint-disable-line typescript/no-unsafe-type-assertion -- its own fields
    bookedSince: new Set(state.filledIds.keys().drop(state.bookedFrom)),
    totals: state.totals.saved(),
    overrides: state.overrides.data,
    people: state.people.data,
  };
}

/** Restores what `savedOf` returned into an empty state. */
export function restoreInto(state: EngineState, { totals, overrides, people, ...fields }: SavedState): void {
  if (!(totals.days instanceof Map && overrides.known instanceof Map && people instanceof Map))
    throw new TypeError('not a state');
  Object.assign(state, fields, { bookedSince: fields.bookedSince.size });
  state.totals.restore(totals);
  state.overrides.data = overrides;
  state.people.data = people;
}
