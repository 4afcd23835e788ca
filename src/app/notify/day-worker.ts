import { parentPort, workerData } from 'node:worker_threads';
import { instant } from '../../core/time.ts';
import { openJournal } from '../../journal/open-journal.ts';
import { dayOf } from '../../report/day/day.ts';

/** Reads a journal for one day, on a thread of its own: the desk trades meanwhile. */
const { url, from, until } = workerData as {
  readonly url: string;
  readonly from: number;
  readonly until: number;
};
const journal = openJournal(url, { readOnly: true });
try {
  parentPort?.postMessage(dayOf(journal.read(), { from: instant(from), until: instant(until) }));
} finally {
  journal.close();
}
