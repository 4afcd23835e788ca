import { OperatorError } from '../../core/errors.ts';
import { BlockingClient } from './blocking-client.ts';
import { storageFault } from './postgres-errors.ts';
import { isPostgres, readPostgresUrl, withDesk } from './postgres-url.ts';
import { LAYOUT, grants, migrate } from './schema.ts';

/**
 * Creates the tables, or migrates them to the layout of this version, as their owner. With a role, creates the desk of
 * the URL, and grants the role the rights to run this desk and no other. Returns the layout.
 *
 * @throws OperatorError `usage` for another kind of journal, and the errors of `postgresJournal`.
 */
export function preparePostgres(url: string, role?: string): number {
  if (!isPostgres(url))
    throw new OperatorError('usage', `only a journal in PostgreSQL can be prepared, not ${url}`);
  const { connectionString, desk, shown } = readPostgresUrl(role === undefined ? withDesk(url, 'main') : url);
  const client = new BlockingClient(connectionString, 60_000);
  try {
    migrate(client, shown);
    if (role !== undefined) client.transaction(grants(desk, role));
    return LAYOUT;
  } catch (error) {
    throw storageFault(shown, error);
  } finally {
    client.close();
  }
}
