import { OperatorError } from '../core/errors.ts';
import type { Journal } from './journal.ts';
import { memoryJournal } from './memory.ts';
import { sqliteJournal } from './sqlite/sqlite.ts';
import type { SqliteOptions } from './sqlite/sqlite-options.ts';

/**
 * Opens the journal that a config names: `sqlite:./var/journal.db` (relative to the working folder) or `memory:`.
 *
 * @throws OperatorError `config` for any other URL; else as the driver does.
 */
export function openJournal(url: string, options: SqliteOptions = {}): Journal {
  if (url === 'memory:') return memoryJournal();
  const groups = /^(?<scheme>[a-z]+):(?:\/\/(?=\/))?(?<rest>.*)$/u.exec(url)?.groups;
  const rest = groups?.['rest'] ?? '';
  switch (groups?.['scheme']) {
    case 'sqlite':
      if (rest !== '' && !rest.startsWith('//')) return sqliteJournal(rest, options);
      break;
    case 'postgres':
    case 'postgresql':
      // Not repeated in the message: the URL may contain a password.
      throw new OperatorError(
        'config',
        'a journal in PostgreSQL is not available yet; use sqlite:./var/journal.db',
      );
    case undefined:
    default:
  }
  throw new OperatorError(
    'config',
    `journal: expected "sqlite:" and a path, as in "sqlite:./var/journal.db", got "${url}"`,
  );
}
