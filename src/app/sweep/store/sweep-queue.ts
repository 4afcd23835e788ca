import type { PgBoss } from 'pg-boss';
import { OperatorError } from '../../../core/errors.ts';
import { factsOf } from '../../../journal/postgres/postgres-errors.ts';
import { readPostgresUrl, withDesk } from '../../../journal/postgres/postgres-url.ts';
import { version } from '../../version.ts';

/** The queue of sweeps in a PostgreSQL database: the tables of pg-boss, and beside them what all runs of a sweep share. */
export interface SweepQueue {
  readonly boss: PgBoss;
  /** Name of the database in messages. */
  readonly shown: string;
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>; // prettier-ignore
}

/** Data of a job of the queue. */
export interface Chunk {
  readonly sweep: string;
  /** Packed jobs of the sweep. */
  readonly jobs: string;
}

/** Result of a job of the queue: the outcomes in the order of the jobs as JSON, or why no worker can have them. */
export type ChunkResult = { readonly outcomes: string } | { readonly problem: string };

/** Name of the queue. Each version of the program has its own, so that no worker receives a chunk of another version. */
export const QUEUE = `sweep-${version.replaceAll(/[^\w.-]/gu, '-')}`;

/** A schema of its own, so that a worker needs no rights on journals. */
const SCHEMA = 'tranche_sweep';
/** A sweep has a row as long as its command waits; the command keeps `seen` new. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS tranche_sweep.sweep (
    id text PRIMARY KEY,
    base text NOT NULL,            -- what all runs share: sweep-run.ts
    seen timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE IF NOT EXISTS tranche_sweep.tape (
    sweep text NOT NULL REFERENCES tranche_sweep.sweep ON DELETE CASCADE,
    number integer NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL,          -- a part of an Arrow file
    is_delisted boolean NOT NULL,
    PRIMARY KEY (sweep, number, part)
  );`;

/** Whether the command of a sweep still waits; longer than its wait for a server that is away. */
export const IS_SEEN = "seen > now() - interval '2 minutes'";

const settings = {
  schema: SCHEMA,
  application_name: 'tranche sweep',
  max: 4,
  keepAlive: true,
  /** Longest wait for a statement; one statement transfers a part of a tape. */
  query_timeout: 60_000,
  superviseIntervalSeconds: 1,
  monitorIntervalSeconds: 1,
  queueCacheIntervalSeconds: 1,
  schedule: false,
  // Rebuilding indexes and monitoring vacuum require the owner's rights.
  reindex: false,
  monitorVacuum: false,
};

interface Role {
  /** `owner` creates the tables; `worker` detects dead workers and passes their chunks on. */
  readonly as: 'owner' | 'command' | 'worker';
  /** Called with errors of the connection after the start. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

/**
 * Runs `work` with the queue of a database, under the rules of journals: no password in the URL, a verified certificate for other hosts.
 *
 * @throws OperatorError `config` for an unusable URL, role or database, `unavailable` without its server
 */
export async function withQueue<T>(url: string, { as, failed }: Role, work: (queue: SweepQueue) => Promise<T>): Promise<T> {
  const { connectionString, shown } = placeOf(url);
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({ ...settings, connectionString, migrate: as === 'owner', supervise: as === 'worker' });
  boss.on('error', failed ?? (() => undefined));
  const sql: SweepQueue['sql'] = async (text, values) => {
    const { rows }: { readonly rows: readonly Readonly<Record<string, unknown>>[] } = await boss.getDb().executeSql(text, values && [...values]);
    return rows;
  };
  try {
    await boss.start();
    if (as !== 'owner')
      await boss.createQueue(QUEUE, {
        /** Time without a report after which a worker counts as dead; the shortest that pg-boss accepts. */
        heartbeatSeconds: 10,
        expireInSeconds: 23 * 3_600,
        retryLimit: RETRIES_MAX,
        retryDelay: 0,
        deleteAfterSeconds: 3_600,
      });
    return await work({ boss, shown, sql });
  } catch (error) {
    throw storeFault(shown, error);
  } finally {
    await boss.stop({ graceful: false });
  }
} // prettier-ignore

/** How often a chunk is taken again after a worker died or stopped. */
export const RETRIES_MAX = 10;

function placeOf(url: string): { readonly connectionString: string; readonly shown: string } {
  try {
    const { connectionString, shown } = readPostgresUrl(withDesk(url, 'sweeps'));
    return { connectionString, shown: shown.replace(/^"[^"]*" at /u, '') };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError('config', error.message.replace(/^journal: /u, '--store: '), error);
  }
}

/** Creates or migrates the tables as their owner, and grants a role what it needs to submit sweeps and to work on them. */
export async function prepareSweeps(url: string, role: string | undefined): Promise<void> {
  await withQueue(url, { as: 'owner' }, async ({ sql }) => {
    await sql(TABLES);
    if (role === undefined) return;
    const name = `"${role.replaceAll('"', '""')}"`;
    await sql(
      `GRANT USAGE ON SCHEMA ${SCHEMA} TO ${name};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${SCHEMA} TO ${name};
       GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${SCHEMA} TO ${name};
       GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${SCHEMA} TO ${name}`,
    );
  });
}

/** Returns the error that tells an operator why the database cannot be used. */
function storeFault(shown: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const { message, code } = factsOf(error);
  const [exit, why] = ((): readonly ['config' | 'unavailable', string] => {
    switch (code) {
      case '28P01':
      case '28000':
        return ['config', `the server refuses the login: ${message}. Check the user in the URL and its password in ~/.pgpass`]; // prettier-ignore
      case '42501':
        return ['config', `the role lacks a privilege: ${message}. Run "tranche sweep prepare --store URL --grant ROLE" as the owner of the database`]; // prettier-ignore
      case '3D000':
        return ['config', `${message}. Create the database first`];
      case '42P01':
        return ['config', NOT_PREPARED];
      default:
        return message.startsWith('pg-boss') ? ['config', NOT_PREPARED] : ['unavailable', message];
    }
  })();
  return new OperatorError(exit, `--store ${shown} cannot be used: ${why}`, error);
}

const NOT_PREPARED =
  'it is not prepared for sweeps of this version: run "tranche sweep prepare --store URL" as the owner of the database';
