import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import type { Journal } from '../../src/journal/journal.ts';
import type { SqliteOptions } from '../../src/journal/sqlite/sqlite-options.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { appendNow } from '../journal/records.ts';
import { aFolder } from './folder.ts';

/** The file of a journal that does not exist yet, in a new folder. */
export const aFile = (): string => join(aFolder(), 'journal.db');

/** Opens a journal until the end of the test. */
export function open(file: string, options?: SqliteOptions): Journal {
  const journal = sqliteJournal(file, options);
  onTestFinished(() => journal.close());
  return journal;
}

/** The file of a closed journal, with one append for each list of records. */
export function written(...appends: readonly (readonly RecordBody[])[]): string {
  const file = aFile();
  const journal = sqliteJournal(file);
  for (const bodies of appends) appendNow(journal, bodies);
  journal.close();
  return file;
}
