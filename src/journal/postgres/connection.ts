import pg, { TypeOverrides } from 'pg';
import type { Client } from 'pg';
import { from, lastValueFrom, of, timeout } from 'rxjs';
import type { Row, Statement, Value } from './blocking-client.ts';

export interface ConnectionOptions {
  /** Longest wait for a connection, a lock or a statement, milliseconds. */
  readonly timeoutMs: number;
  /** Called once when the connection is lost. */
  readonly onEnd: () => void;
}

/** Object id of `bigint` in PostgreSQL. All of our values are below 2^53. */
const BIGINT = 20;

/**
 * Opens a connection on which every wait has a timeout. The library reports a lost connection as an event, which needs
 * a listener.
 */
export async function connectTo(
  connectionString: string,
  { timeoutMs, onEnd }: ConnectionOptions,
): Promise<Client> {
  const types = new TypeOverrides(pg.types);
  types.setTypeParser(BIGINT, Number);
  const client = new pg.Client({
    connectionString,
    application_name: 'tranche',
    keepAlive: true,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    types,
  });
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
  };
  client.on('error', end);
  client.on('end', end);
  await client.connect();
  await client.query(
    `SET statement_timeout = ${timeoutMs}; SET lock_timeout = ${timeoutMs}; SET idle_in_transaction_session_timeout = ${timeoutMs}; ` +
      "SET default_transaction_isolation = 'read committed'; SET client_encoding = 'UTF8'",
  );
  await client.query(NOTE_TIMELINE);
  return client;
}

/**
 * Stores the cluster and its timeline as a setting of the connection, because a primary keeps its timeline. The first
 * eight digits of the name of a WAL file are the current timeline.
 */
const NOTE_TIMELINE = `SELECT set_config('tranche.timeline', CASE WHEN pg_is_in_recovery() THEN '' ELSE
  (SELECT system_identifier::text FROM pg_control_system()) || '/' ||
  ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END, false)`;

/** The rows of one statement as arrays, in the order of its columns. */
export async function rowsOf(
  client: Client,
  { name, text, values = [] }: Statement,
): Promise<readonly Row[]> {
  const { rows } = await client.query<(Value | boolean)[]>({
    ...(name !== undefined && { name }),
    text,
    values: [...values],
    rowMode: 'array',
  });
  return rows;
}

/** How long a server may take to confirm the end of a connection. */
const END_MS = 2_000;

/**
 * Ends a connection, or one that is being opened. An unreachable server never confirms the end. After two seconds,
 * nothing waits for it any longer, and the connection does not keep the process alive. The result of closing a broken
 * connection does not matter.
 */
export async function endConnection(connecting: Promise<Client>): Promise<void> {
  try {
    const client = await connecting;
    // The types of the library omit this method.
    if ('unref' in client && typeof client.unref === 'function') Reflect.apply(client.unref, client, []);
    const late = { first: END_MS, with: () => of(undefined) };
    await lastValueFrom(from(client.end()).pipe(timeout(late)));
  } catch {
    // The connection is already lost.
  }
}
