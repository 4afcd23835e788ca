import { parentPort, workerData } from 'node:worker_threads';
import { instant } from '../../core/time.ts';
import { openJournal } from '../../journal/open-journal.ts';
import { dayOf } from '../../report/day/day.ts';

/** Request to a thread of `read-day.ts`. */
export interface DayRequest {
  readonly url: string;
  readonly from: number;
  readonly until: number;
}

/** Reads one day of a journal on a separate thread, so that the desk can keep trading. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `read-day.ts` gives
const { url, from, until } = workerData as DayRequest;
const journal = openJournal(url, { readOnly: true });
try {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window
  parentPort?.postMessage(dayOf(journal.read(), { from: instant(from), until: instant(until) }));
} finally {
  journal.close();
}
