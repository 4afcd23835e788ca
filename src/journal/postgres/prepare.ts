import { OperatorError } from '../../core/errors.ts';
import { BlockingClient } from './blocking-client.ts';
import { storageFault } from './postgres-errors.ts';
import { isPostgres, readPostgresUrl, withDesk } from './postgres-url.ts';
import { LAYOUT, grants, migrate } from './schema.ts';

/**
 * Creates the tables, or migrates them to the layout of this version, as their owner. Grants a role the rights to run
 * desks. Returns the layout.
 *
 * @throws OperatorError `usage` for another kind of journal, and the errors of `postgresJournal`.
 */
export function preparePostgres(url: string, role?: string): number {
  if (!isPostgres(url))
    throw new OperatorError('usage', `only a journal in PostgreSQL can be prepared, not ${url}`);
  const { connectionString, shown } = readPostgresUrl(withDesk(url, 'main'));
  const client = new BlockingClient(connectionString, 60_000);
  try {
    migrate(client, shown);
    if (role !== undefined) client.transaction(grants(role).map((text) => ({ text })));
    return LAYOUT;
  } catch (error) {
    throw storageFault(shown, error);
  } finally {
    client.close();
  }
}
