/** Worker thread that handles requests from a journal file, so that they do not delay the desk. `read-thread.ts` starts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { openJournal } from '../../journal/open-journal.ts';
import { historyOf } from './history.ts';
import type { HistoryRequest } from './history-requests.ts';

export interface ReadTask {
  readonly id: number;
  readonly request: HistoryRequest;
}

export type ReadResult =
  { readonly id: number; readonly answer: unknown } | { readonly id: number; readonly problem: string };

const url = String(workerData);
let journal: ReturnType<typeof openJournal> | undefined;

parentPort?.on('message', ({ id, request }: ReadTask) => {
  parentPort?.postMessage(resultOf(id, request), []);
});

function resultOf(id: number, request: HistoryRequest): ReadResult {
  try {
    journal ??= openJournal(url, { readOnly: true });
    return { id, answer: historyOf(journal, request) };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}
