import { resolve } from 'node:path';
import { isPostgres, readPostgresUrl } from './postgres/postgres-url.ts';
import { journalFileOf } from './sqlite/files.ts';

/**
 * The absolute path prefix of the files that accompany a journal: for SQLite, the path of the journal file;
 * for PostgreSQL, `files` in the URL, or a path in `var/` of the working folder. A journal in memory has none.
 *
 * @throws OperatorError `config` for an invalid PostgreSQL URL.
 */
export function placeOfJournal(url: string): string | undefined {
  return isPostgres(url) ? resolve(readPostgresUrl(url).files) : journalFileOf(url);
}
