import type { Money } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import { EngineState } from '../../engine/state/engine-state.ts';
import { journalExists, openJournal } from '../../journal/open-journal.ts';

/** Lives and traded totals from a journal. */
export interface JournalSnapshot {
  /** Returns the newest life of a strategy. */
  life(strategy: string): SnapshotRun | undefined;
  /** Returns the notional traded since midnight UTC of `at`, in the currency of the limits: of one pair or of all pairs. */
  dayNotional(at: Instant, pair?: string): Money;
}

export interface SnapshotRun {
  /** Hash of its text. */
  readonly hash: string;
  readonly begunAt: Instant;
  readonly isFinished: boolean;
}

/**
 * Reads a journal without writing to it, even while a daemon runs on it. Returns `undefined` if there is no journal
 * yet.
 *
 * @throws OperatorError, or the journal's error if it is damaged.
 */
export function readJournalSnapshot(url: string): JournalSnapshot | undefined {
  if (!journalExists(url)) return undefined;
  const journal = openJournal(url, { readOnly: true });
  const state = new EngineState();
  try {
    for (const record of journal.read()) state.apply(record);
  } finally {
    journal.close();
  }
  return {
    life(strategy) {
      const life = state.lives.get(strategy);
      return life && { hash: life.hash, begunAt: life.begunAt, isFinished: life.finished !== undefined };
    },
    dayNotional: (at, pair) => state.totals.dayNotional(at, pair),
  };
}
