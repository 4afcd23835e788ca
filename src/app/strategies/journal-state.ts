import { EngineState } from '../../engine/state/engine-state.ts';
import { journalExists, openJournal } from '../../journal/open-journal.ts';

/**
 * Folds a journal without writing to it, even while a daemon runs on it. Returns `undefined` if there is no journal
 * yet, or if it cannot be read; `tell` then receives why.
 */
export function readJournalState(url: string, tell?: (why: string) => void): EngineState | undefined {
  const state = new EngineState();
  try {
    if (!journalExists(url)) return undefined;
    const journal = openJournal(url, { readOnly: true });
    try {
      for (const record of journal.read()) state.apply(record);
    } finally {
      journal.close();
    }
    return state;
  } catch (cause) {
    tell?.(cause instanceof Error ? cause.message : 'unknown');
    return undefined;
  }
}
