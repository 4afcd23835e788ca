import { BlockingClient } from './blocking-client.ts';
import { storageFault } from './postgres-errors.ts';
import { readPostgresUrl } from './postgres-url.ts';

/** Prevents every process from taking the desk, with a lease that never ends. */
export function retirePostgres(url: string, why: string): void {
  const { connectionString, desk, shown } = readPostgresUrl(url);
  const client = new BlockingClient(connectionString, 30_000);
  try {
    client.query(
      "UPDATE tranche.desk SET epoch = epoch + 1, until = 'infinity', owner = $2 WHERE desk = $1",
      [desk, why],
    );
  } catch (error) {
    throw storageFault(shown, error);
  } finally {
    client.close();
  }
}
