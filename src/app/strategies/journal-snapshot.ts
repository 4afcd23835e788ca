import type { Money } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import { EngineState } from '../../engine/state/engine-state.ts';
import { journalExists, openJournal } from '../../journal/open-journal.ts';

/** Started strategies and traded totals from a journal. */
export interface JournalSnapshot {
  /** The newest life under this id. */
  life(strategy: string): SnapshotRun | undefined;
  /** Traded since midnight UTC of `at`, in the currency of the limits: of one pair, or all together. */
  dayNotional(at: Instant, pair?: string): Money;
}

export interface SnapshotRun {
  /** Of its text. */
  readonly hash: string;
  readonly begunAt: Instant;
  readonly isFinished: boolean;
}

/**
 * Reads a journal without writing to it, also while a daemon runs on it. `undefined` when there is none yet.
 *
 * @throws OperatorError or what the journal throws when it is damaged.
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
