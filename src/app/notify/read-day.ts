import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Instant } from '../../core/time.ts';
import type { Journal } from '../../journal/journal.ts';
import { dayOf } from '../../report/day/day.ts';
import type { Day } from '../../report/day/day.ts';

/** Of this file and its neighbours: another one once they are compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** What the journal says of a day: read on another thread, but for a journal in memory. Rejects when it cannot be read. */
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
