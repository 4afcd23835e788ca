import { z } from 'zod';
import { OperatorError } from '../../../core/errors.ts';
import { pack, unpack } from '../../../core/text/pack.ts';
import { version } from '../../version.ts';
import type { SweepJob, SweepOutcome } from '../sweep-run.ts';
import { outcomeSchema } from '../sweep-store.ts';
import { readSharedTapes } from './shared-tapes.ts';
import type { SharedTapes } from './shared-tapes.ts';
import type { StoreConnection } from './store-connection.ts';

/** A job and the hash of everything that its outcome depends on. */
export interface KeyedJob {
  readonly key: string;
  readonly job: SweepJob;
}

export type SweepState = 'running' | 'cancelled' | 'done';

/** Largest number of workers that try a chunk that kills its workers. */
const ATTEMPTS_MAX = 5;
const KEYS_AT_A_TIME = 5_000;
const CHUNKS_AT_A_TIME = 200;

/** Returns the outcomes in the store, by key. */
export async function knownOutcomes(
  { pool, shown }: StoreConnection,
  keys: readonly string[],
): Promise<Map<string, SweepOutcome>> {
  const known = new Map<string, SweepOutcome>();
  for (let at = 0; at < keys.length; at += KEYS_AT_A_TIME) {
    const { rows } = await pool.query<{ key: string; outcome: string }>(
      'SELECT key, outcome FROM tranche_sweep.result WHERE key = ANY($1)',
      [keys.slice(at, at + KEYS_AT_A_TIME)],
    );
    for (const { key, outcome } of rows) {
      const read = outcomeSchema.safeParse(JSON.parse(outcome));
      if (!read.success)
        throw new OperatorError('data', `${shown}: the result ${key} is damaged: remove its row from tranche_sweep.result`);
      known.set(key, read.data);
    }
  }
  return known;
} // prettier-ignore

/** Stores outcomes by key. An outcome that is already in the store stays. */
export async function keepOutcomes(
  { pool }: StoreConnection,
  outcomes: ReadonlyMap<string, SweepOutcome>,
): Promise<void> {
  if (outcomes.size === 0) return;
  // In the order of the keys, because two workers that insert the same keys in different orders would block each other.
  const rows = [...outcomes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  await pool.query(
    'INSERT INTO tranche_sweep.result (key, outcome) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING',
    [rows.map(([key]) => key), rows.map(([, outcome]) => JSON.stringify(outcome))],
  );
}

/** Stores a sweep and all its chunks. Call it before the first chunk is queued. */
export async function createSweep(
  { pool }: StoreConnection,
  { id, base, tapes, chunks }: { readonly id: string; readonly base: string; readonly tapes: SharedTapes; readonly chunks: readonly (readonly KeyedJob[])[] },
): Promise<void> {
  await pool.query('INSERT INTO tranche_sweep.sweep (id, version, base, tapes) VALUES ($1, $2, $3, $4)', [id, version, base, JSON.stringify(tapes)]);
  for (let at = 0; at < chunks.length; at += CHUNKS_AT_A_TIME) {
    const part = chunks.slice(at, at + CHUNKS_AT_A_TIME);
    await pool.query(
      'INSERT INTO tranche_sweep.chunk (sweep, number, runs) SELECT $1, * FROM unnest($2::int[], $3::text[])',
      [id, part.map((_, i) => at + i), part.map((runs) => pack(runs))],
    );
  }
} // prettier-ignore

export async function sweepStateOf({ pool }: StoreConnection, id: string): Promise<SweepState | undefined> {
  const { rows } = await pool.query<{ state: SweepState }>(
    'SELECT state FROM tranche_sweep.sweep WHERE id = $1',
    [id],
  );
  return rows[0]?.state;
}

/** Cancels a sweep. Returns whether it was running. */
export async function cancelSweep({ pool }: StoreConnection, id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "UPDATE tranche_sweep.sweep SET state = 'cancelled' WHERE id = $1 AND state = 'running'",
    [id],
  );
  return rowCount === 1;
}

export interface StoredSweep {
  readonly version: string;
  readonly base: string;
  readonly tapes: SharedTapes;
}

export async function readSweep({ pool, shown }: StoreConnection, id: string): Promise<StoredSweep> {
  const { rows } = await pool.query<{ version: string; base: string; tapes: string }>(
    'SELECT version, base, tapes FROM tranche_sweep.sweep WHERE id = $1',
    [id],
  );
  const [row] = rows;
  if (row === undefined) throw new OperatorError('data', `${shown} has no sweep ${id}`);
  return { ...row, tapes: readSharedTapes(row.tapes) };
}

/** Returns a running sweep of another version, if any. */
export async function foreignSweep({
  pool,
}: StoreConnection): Promise<{ readonly id: string; readonly version: string } | undefined> {
  const { rows } = await pool.query<{ id: string; version: string }>(
    "SELECT id, version FROM tranche_sweep.sweep WHERE state = 'running' AND version <> $1 ORDER BY submitted LIMIT 1",
    [version],
  );
  return rows[0];
}

/** Starts an attempt at a chunk. Returns its runs, or `undefined` if nothing is left to do. */
export async function beginChunk(
  { pool }: StoreConnection,
  sweep: string,
  number: number,
): Promise<readonly KeyedJob[] | undefined> {
  const { rows } = await pool.query<{ runs: string; attempts: number }>(
    `UPDATE tranche_sweep.chunk SET attempts = attempts + 1
     WHERE sweep = $1 AND number = $2 AND NOT is_done AND problem IS NULL
       AND EXISTS (SELECT FROM tranche_sweep.sweep WHERE id = $1 AND state = 'running')
     RETURNING runs, attempts`,
    [sweep, number],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.attempts > ATTEMPTS_MAX) {
    await failChunk({ pool }, sweep, number, `${ATTEMPTS_MAX} workers died while running it`);
    return undefined;
  }
  return unpack(row.runs) as readonly KeyedJob[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what `createSweep` wrote
}

/** Withdraws an attempt that the worker did not complete and that must not count. */
export async function returnChunk(
  { pool }: Pick<StoreConnection, 'pool'>,
  sweep: string,
  number: number,
): Promise<void> {
  await pool.query(
    'UPDATE tranche_sweep.chunk SET attempts = greatest(attempts - 1, 0) WHERE sweep = $1 AND number = $2',
    [sweep, number],
  );
}

export async function endChunk({ pool }: StoreConnection, sweep: string, number: number): Promise<void> {
  await pool.query('UPDATE tranche_sweep.chunk SET is_done = true WHERE sweep = $1 AND number = $2', [
    sweep,
    number,
  ]);
  await pool.query(
    `UPDATE tranche_sweep.sweep SET state = 'done' WHERE id = $1 AND state = 'running'
       AND NOT EXISTS (SELECT FROM tranche_sweep.chunk WHERE sweep = $1 AND NOT is_done)`,
    [sweep],
  );
}

export async function failChunk(
  { pool }: Pick<StoreConnection, 'pool'>,
  sweep: string,
  number: number,
  problem: string,
): Promise<void> {
  await pool.query('UPDATE tranche_sweep.chunk SET problem = $3 WHERE sweep = $1 AND number = $2', [
    sweep,
    number,
    problem,
  ]);
}

const endedSchema = z.array(z.object({ number: z.int(), problem: z.string().nullable() }));

/** Returns the chunks that have ended, with or without a problem, except those in `known`. */
export async function endedChunks(
  { pool }: StoreConnection,
  sweep: string,
  known: readonly number[],
): Promise<readonly { readonly number: number; readonly problem: string | null }[]> {
  const { rows } = await pool.query(
    'SELECT number, problem FROM tranche_sweep.chunk WHERE sweep = $1 AND (is_done OR problem IS NOT NULL) AND number <> ALL($2::int[]) ORDER BY number',
    [sweep, known],
  );
  return endedSchema.parse(rows);
}

/**
 * Ends a sweep whose command no longer waits. The results are kept. A worker that holds one of the sweep's chunks finds
 * nothing left to do.
 */
export async function closeSweep({ pool }: StoreConnection, id: string): Promise<void> {
  await pool.query("UPDATE tranche_sweep.sweep SET state = 'done' WHERE id = $1 AND state = 'running'", [id]);
  await pool.query('DELETE FROM tranche_sweep.chunk WHERE sweep = $1', [id]);
}
