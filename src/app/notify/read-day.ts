import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Instant } from '../../core/time.ts';
import type { Journal } from '../../journal/journal.ts';
import { dayOf } from '../../report/day/day.ts';
import type { Day } from '../../report/day/day.ts';

/** File name extension of this module and its neighbours, which differs when they are compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Reads one day of the journal, on another thread unless the journal is in memory. Rejects if the journal cannot be read. */
export async function readDay(
  url: string,
  journal: Pick<Journal, 'read'>,
  span: { readonly from: Instant; readonly until: Instant },
): Promise<Day> {
  if (url === 'memory:') return dayOf(journal.read(), span);
  const worker = new Worker(new URL(`day-worker${EXTENSION}`, import.meta.url), {
    workerData: { url, ...span },
  });
  worker.unref();
  const [day] = (await once(worker, 'message')) as [Day]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what `day-worker.ts` posts
  return day;
}
