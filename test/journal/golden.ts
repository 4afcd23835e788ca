import { EngineState } from '../../src/engine/state/engine-state.ts';
import type { Journal } from '../../src/journal/journal.ts';

/** The state of a desk according to its journal, as plain text, which must not depend on its representation in memory. */
export function storyOf(journal: Journal): unknown {
  const state = new EngineState();
  const kinds = new Map<string, number>();
  for (const stored of journal.read()) {
    state.apply(stored);
    kinds.set(stored.body.kind, (kinds.get(stored.body.kind) ?? 0) + 1);
  }
  return {
    head: journal.head(),
    kinds: Object.fromEntries(kinds),
    control: state.control,
    why: state.controlWhy,
    account: state.account,
    fills: state.fills,
    balances: [...(state.balances ?? [])]
      .map(([currency, amount]) => `${currency} ${amount.toFixed()}`)
      .toSorted(),
    lives: [...state.lives.values()].map(
      ({ strategy, begunAt, state: kernel, waits, finished, slicesDone }) => ({
        strategy,
        begunAt,
        kernel,
        waits,
        finished: finished ?? '',
        slicesDone,
      }),
    ),
    slices: [...state.slices.values()].map(({ intent, attempts, filled, openAttempt }) => ({
      intent,
      attempts,
      filled: filled.toFixed(),
      openAttempt: openAttempt ?? '',
    })),
    doubts: state.doubts.map(({ intent, quote, doubt }) => ({ intent, quote, doubt })),
    filledIds: [...state.filledIds.keys()].toSorted(),
    closedIds: [...state.closedIds.keys()].toSorted(),
  };
}
