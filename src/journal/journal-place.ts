import { resolve } from 'node:path';
import { isPostgres, readPostgresUrl } from './postgres/postgres-url.ts';
import { journalFileOf } from './sqlite/files.ts';

/**
 * Where the files beside a journal are: the absolute path that their names begin with. Beside the file of a journal in SQLite; as
 * `files` of the URL says, or in `var/` of the working folder, for one in PostgreSQL; a journal in memory has none.
 *
 * @throws OperatorError `config` for a PostgreSQL URL that cannot be used
 */
export function placeOfJournal(url: string): string | undefined {
  return isPostgres(url) ? resolve(readPostgresUrl(url).files) : journalFileOf(url);
}
