import { isDeepStrictEqual } from 'node:util';
import { canonicalValue } from '../../src/core/text/json.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { pack } from '../../src/core/text/pack.ts';
import { EngineState } from '../../src/engine/state/engine-state.ts';
import { savedOf } from '../../src/engine/state/snapshot.ts';
import type { KeptState, StatePort } from '../../src/engine/ports.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { stateIn, stateText } from '../../src/journal/sidecar/snapshot-file.ts';

/** The state of all records, folded one by one. */
export function foldOf(records: Iterable<StoredRecord>): EngineState {
  const state = new EngineState();
  for (const record of records) state.apply(record);
  return state;
}

/**
 * All of a state as one text: equal for equal states, however their members are sorted, and whether a record that came from
 * the disk leaves a member out or one that was just written has it as `undefined`.
 */
export const wordsOf = (state: EngineState): string =>
  canonicalValue(
    JSON.parse(pack(savedOf(state)), (_, value: unknown) =>
      isDeepStrictEqual(value, { $u: 1 }) ? undefined : value,
    ),
  );

export interface Shelf {
  readonly states: StatePort;
  /** The file, as text; `undefined` when there is none. */
  file: string | undefined;
  /** Every state that was kept, in turn. */
  readonly kept: KeptState[];
}

const OPTIONS = { program: 'test' };

/** Keeps states in memory, as the text of the file, checked against the records of `journal`. */
export function aShelf(journal: Journal, every: number): Shelf {
  const put = (state: KeptState): void => {
    shelf.file = stateText(OPTIONS, state);
    shelf.kept.push(state);
  };
  const shelf: Shelf = {
    file: undefined,
    kept: [],
    states: {
      every,
      read: () =>
        shelf.file === undefined
          ? undefined
          : stateIn(shelf.file, OPTIONS, (seq) => [...journal.lines()][seq - 1]?.hash),
      keep: put,
      keepNow: put,
    },
  };
  return shelf;
}
