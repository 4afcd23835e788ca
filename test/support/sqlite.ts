import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import type { Journal } from '../../src/journal/journal.ts';
import type { SqliteOptions } from '../../src/journal/sqlite/sqlite-options.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from '../journal/records.ts';
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

/**
 * The faults of a journal of fills as crashes leave it, whose log is cut off at some bytes from `begin` on: those of `faultOf`,
 * other slices than `slices`, and that it cannot be continued.
 */
export function tornFaults(
  file: string,
  { begin, cuts, slices }: { begin: number; cuts: (at: number, end: number) => boolean; slices: string },
  faultOf: (journal: Journal, isWhole: boolean) => string | undefined = () => undefined,
): readonly string[] {
  const log = readFileSync(`${file}-wal`);
  const rest = readFileSync(file);
  const found: string[] = [];
  for (let at = begin; at <= log.length; at++) {
    if (!cuts(at, log.length)) continue;
    const torn = aFile();
    writeFileSync(torn, rest);
    writeFileSync(`${torn}-wal`, log.subarray(0, at));
    const next = sqliteJournal(torn);
    const seen = [...next.read()].map(({ body }) => (body.kind === 'fill' ? body.slice : body.kind)).join();
    const fault = seen === slices ? faultOf(next, at === log.length) : `slices ${seen}`;
    appendNow(next, [aFill({ slice: 6, order_id: 'o-6' })]);
    if (fault !== undefined || !next.verify().ok)
      found.push(`cut at ${at}: ${fault ?? 'cannot be continued'}`);
    next.close();
  }
  return found;
}
