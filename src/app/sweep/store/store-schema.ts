import { OperatorError } from '../../../core/errors.ts';
import type { StoreConnection } from './store-connection.ts';
import { installQueue, QUEUE_SCHEMA } from './sweep-queue.ts';

/**
 * Tables of sweeps, in a schema of their own so that a worker needs no rights on journals. Steps run in order and are
 * never undone. Never edit a released step; add a new step instead.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE tranche_sweep.sweep (
    id text PRIMARY KEY,
    version text NOT NULL,             -- of the program: results of two versions are never mixed
    base text NOT NULL,                -- what all runs share: sweep-run.ts
    tapes text NOT NULL,               -- JSON: shared-tapes.ts
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'cancelled', 'done')),
    submitted timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE tranche_sweep.chunk (   -- what a worker takes at a time
    sweep text NOT NULL REFERENCES tranche_sweep.sweep,
    number integer NOT NULL,
    runs text NOT NULL,                -- packed: keys and jobs
    attempts integer NOT NULL DEFAULT 0,
    is_done boolean NOT NULL DEFAULT false,
    problem text,                      -- why it cannot end
    PRIMARY KEY (sweep, number)
  );
  CREATE TABLE tranche_sweep.result (
    key text PRIMARY KEY,              -- hash of everything that the outcome depends on
    outcome text NOT NULL,             -- JSON
    at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE tranche_sweep.tape (
    sha256 text PRIMARY KEY,           -- of the bytes
    bytes bytea NOT NULL               -- an Arrow file
  );
  `,
];

/** Number of the advisory lock for these migrations; journal migrations use another. */
const LOCK = 7_216_042_002;

/** Creates or migrates the tables and the queue as their owner, and grants a role the rights of a worker. Returns the layout. */
export async function prepareStore(store: StoreConnection, role?: string): Promise<number> {
  const client = await store.pool.connect();
  try {
    refuseNewer(await layoutOf(store), store.shown);
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query('CREATE SCHEMA IF NOT EXISTS tranche_sweep');
    await client.query('CREATE TABLE IF NOT EXISTS tranche_sweep.layout (step integer PRIMARY KEY)');
    const { rows } = await client.query<{ step: number }>('SELECT step FROM tranche_sweep.layout');
    const taken = new Set(rows.map(({ step }) => step));
    for (const [index, step] of STEPS.entries()) {
      if (taken.has(index + 1)) continue;
      await client.query(step);
      await client.query('INSERT INTO tranche_sweep.layout VALUES ($1)', [index + 1]);
    }
    await client.query('COMMIT');
    await installQueue(store.connectionString);
    if (role !== undefined) await client.query(grants(role).join(';\n'));
    return STEPS.length;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // report the first error
    throw error;
  } finally {
    client.release();
  }
}

/** Checks the layout. @throws OperatorError `config` if the tables are missing or older, `data` if they are newer. */
export async function checkPrepared(store: StoreConnection): Promise<void> {
  const layout = await layoutOf(store);
  refuseNewer(layout, store.shown);
  if (layout < STEPS.length)
    throw new OperatorError(
      'config',
      `--store ${store.shown} ${layout === 0 ? 'is not prepared for sweeps' : `has layout ${layout}, this version reads ${STEPS.length}`}: run "tranche sweep prepare --store URL" as the owner of the database`,
    );
}

function refuseNewer(layout: number, shown: string): void {
  if (layout > STEPS.length)
    throw new OperatorError(
      'data',
      `--store ${shown} has layout ${layout}, but this version of tranche reads layout ${STEPS.length}. Run the version that prepared it`,
    );
}

async function layoutOf({ pool }: StoreConnection): Promise<number> {
  const there = await pool.query<{ is: boolean }>(
    "SELECT to_regclass('tranche_sweep.layout') IS NOT NULL AS is",
  );
  if (there.rows[0]?.is !== true) return 0;
  const { rows } = await pool.query<{ step: number }>(
    'SELECT coalesce(max(step), 0) AS step FROM tranche_sweep.layout',
  );
  return rows[0]?.step ?? 0;
}

/** Returns the grants for a role that submits sweeps or works on them. Quotes the name. */
function grants(role: string): readonly string[] {
  const name = `"${role.replaceAll('"', '""')}"`;
  return [
    `GRANT USAGE ON SCHEMA tranche_sweep, ${QUEUE_SCHEMA} TO ${name}`,
    `GRANT SELECT ON tranche_sweep.layout TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE ON tranche_sweep.sweep TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON tranche_sweep.chunk TO ${name}`,
    `GRANT SELECT, INSERT ON tranche_sweep.result, tranche_sweep.tape TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${name}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} TO ${name}`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${QUEUE_SCHEMA} TO ${name}`,
  ];
}
