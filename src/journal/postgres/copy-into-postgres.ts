import { firstValueFrom } from 'rxjs';
import { FencedOut, OperatorError } from '../../core/errors.ts';
import type { Journal } from '../journal.ts';
import type { Line } from '../proof/chain.ts';
import { storageFault } from './postgres-errors.ts';
import { openWriter } from './postgres.ts';

/** Number of records per append. */
const BATCH = 500;

/**
 * Writes the records of `source` into the journal at `url`, which is empty or contains the first of them.
 *
 * @throws OperatorError `usage` when it contains other records, and the errors of `postgresJournal`.
 */
export async function copyIntoPostgres(url: string, source: Journal): Promise<void> {
  const { store, lease, end, shown, close } = openWriter(url);
  const { head } = end;
  try {
    let batch: Line[] = [];
    const flush = async (): Promise<void> => {
      const isHeld = batch.length === 0 || (await firstValueFrom(store.insert(lease, batch)));
      if (!isHeld) throw new FencedOut(lease.desk);
      batch = [];
    };
    if (head.seq > source.head().seq) throw holdsOthers(shown);
    for (const line of source.lines()) {
      if (line.seq === head.seq && line.hash !== head.hash) throw holdsOthers(shown);
      if (line.seq <= head.seq) continue;
      batch.push(line);
      if (batch.length === BATCH) await flush();
    }
    await flush();
  } catch (error) {
    throw storageFault(shown, error);
  } finally {
    close();
  }
}

const holdsOthers = (shown: string): OperatorError =>
  new OperatorError(
    'usage',
    `journal ${shown} contains other records, and journals are never overwritten. Name another desk`,
  );
