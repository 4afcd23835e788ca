import { existsSync } from 'node:fs';
import { OperatorError } from '../core/errors.ts';
import type { Journal } from './journal.ts';
import { memoryJournal } from './memory.ts';
import { hasPostgresJournal, postgresJournal } from './postgres/postgres.ts';
import { isPostgres } from './postgres/postgres-url.ts';
import type { PostgresOptions } from './postgres/postgres.ts';
import { journalFileOf } from './sqlite/files.ts';
import { sqliteJournal } from './sqlite/sqlite.ts';
import type { SqliteOptions } from './sqlite/sqlite-options.ts';

/**
 * Opens the journal that a config names: `sqlite:./var/journal.db` (relative to the working folder),
 * `postgres://user@host/database?desk=NAME` or `memory:`.
 *
 * @throws OperatorError `config` for any other URL, and the errors of the driver.
 */
export function openJournal(url: string, options: SqliteOptions & PostgresOptions = {}): Journal {
  if (url === 'memory:') return memoryJournal();
  const groups = /^(?<scheme>[a-z]+):(?:\/\/(?=\/))?(?<rest>.*)$/u.exec(url)?.groups;
  const rest = groups?.['rest'] ?? '';
  switch (groups?.['scheme']) {
    case 'sqlite':
      if (rest !== '' && !rest.startsWith('//')) return sqliteJournal(rest, options);
      break;
    case 'postgres':
    case 'postgresql':
      return postgresJournal(url, options);
    case undefined:
    default:
  }
  throw new OperatorError(
    'config',
    `journal: expected "sqlite:" and a path, as in "sqlite:./var/journal.db", or a postgres:// URL, got "${url}"`,
  );
}

/** Whether the journal exists. A journal in memory never does. @throws OperatorError, the errors of the driver. */
export function journalExists(url: string): boolean {
  if (isPostgres(url)) return hasPostgresJournal(url);
  const file = journalFileOf(url);
  return file !== undefined && existsSync(file);
}
