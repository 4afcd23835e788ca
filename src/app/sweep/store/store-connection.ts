import pg from 'pg';
import type { Pool } from 'pg';
import { OperatorError } from '../../../core/errors.ts';
import { factsOf, isTransient } from '../../../journal/postgres/postgres-errors.ts';
import { readPostgresUrl, withDesk } from '../../../journal/postgres/postgres-url.ts';

/** The database that a sweep and its workers share. */
export interface StoreConnection {
  readonly pool: Pool;
  readonly connectionString: string;
  /** Name of the database in messages. */
  readonly shown: string;
}

/** Longest wait for a statement; one statement transfers a whole tape. */
const TIMEOUT_MS = 60_000;
const CONNECT_MS = 10_000;

/**
 * Opens the database of a URL under the rules of journals: no password in the URL, a verified certificate for other hosts. The caller closes
 * the pool.
 *
 * @throws OperatorError `config`
 */
export function connectStore(url: string): StoreConnection {
  const { connectionString, shown } = placeOf(url);
  const pool = new pg.Pool({
    connectionString,
    application_name: 'tranche sweep',
    max: 4,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // The library emits an event for a lost idle connection; the next statement opens another one.
  pool.on('error', () => undefined);
  return { pool, connectionString, shown };
}

function placeOf(url: string): Pick<StoreConnection, 'connectionString' | 'shown'> {
  try {
    const { connectionString, shown } = readPostgresUrl(withDesk(url, 'sweeps'));
    return { connectionString, shown: shown.replace(/^"[^"]*" at /u, '') };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError('config', error.message.replace(/^journal: /u, '--store: '), error);
  }
}

/** Returns whether the same statement may soon succeed, because the server is restarting or the network is interrupted. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof OperatorError) && error instanceof Error && isTransient(factsOf(error));

/** Returns the error that tells an operator why the store cannot be used. */
export function storeFault(shown: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const { message, code } = factsOf(error);
  if (code === '28P01' || code === '28000')
    return new OperatorError(
      'config',
      `--store ${shown}: the server refuses the login: ${message}. Check the user in the URL and its password in ~/.pgpass`,
      error,
    );
  if (code === '42501')
    return new OperatorError(
      'config',
      `--store ${shown}: the role lacks a privilege: ${message}. Run "tranche sweep prepare --store URL --grant ROLE" as the owner of the database`,
      error,
    );
  if (code === '3D000')
    return new OperatorError('config', `--store ${shown}: ${message}. Create the database first`, error);
  return new OperatorError('unavailable', `--store ${shown} cannot be used: ${message}`, error);
}
