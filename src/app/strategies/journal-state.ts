import { EngineState } from '../../engine/state/engine-state.ts';
import { journalExists, openJournal } from '../../journal/open-journal.ts';

/**
 * Folds a journal without writing to it, even while a daemon runs on it. Returns `undefined` if there is no journal
 * yet.
 *
 * @throws OperatorError, or the journal's error if it is damaged.
 */
export function readJournalState(url: string): EngineState | undefined {
  if (!journalExists(url)) return undefined;
  const journal = openJournal(url, { readOnly: true });
  const state = new EngineState();
  try {
    for (const record of journal.read()) state.apply(record);
  } finally {
    journal.close();
  }
  return state;
}
