import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { OperatorError } from '../../../core/errors.ts';
import { pack } from '../../../core/text/pack.ts';
import { factsOf, isTransient } from '../../../journal/postgres/postgres-errors.ts';
import { tapeToArrow } from '../../../research/tape/arrow-file.ts';
import { version } from '../../version.ts';
import type { PoolOptions } from '../sweep-pool.ts';
import type { SweepJob, SweepOutcome } from '../sweep-run.ts';
import { outcomeSchema } from '../sweep-store.ts';
import { IS_SEEN, QUEUE, RETRIES_MAX, withQueue } from './sweep-queue.ts';
import type { Chunk, SweepQueue } from './sweep-queue.ts';

export interface Submitted extends Pick<PoolOptions, 'jobs' | 'base' | 'tapes' | 'done'> {
  readonly url: string;
  readonly stop: AbortSignal;
  /** Prints a line for the operator. */
  readonly say: (line: string) => void;
}

/** Largest part of the remaining runs in one chunk: 1 / SHARES. */
const SHARES = 40;
const RUNS_MAX = 25;
const POLL_MS = 250;
/** Longest server outage before the command fails. */
const AWAY_MS = 60_000;
const PART_BYTES = 32_000_000;

/**
 * Divides runs into chunks that become smaller towards the end (guided self-scheduling): large chunks are queued and
 * taken less often, and with small ones at the end all workers finish at about the same time.
 */
export function inChunks<T>(runs: readonly T[]): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let at = 0; at < runs.length; at += chunks.at(-1)?.length ?? 0)
    chunks.push(runs.slice(at, at + Math.min(RUNS_MAX, Math.ceil((runs.length - at) / SHARES))));
  return chunks;
}

/**
 * Makes workers run jobs, and reports each outcome to `done` as soon as its chunk has ended, in any order. If `stop` aborts, the workers
 * stop as well.
 *
 * @throws OperatorError as `withQueue`, and `software` for a chunk that no worker can complete.
 */
export async function submitSweep(sweep: Submitted): Promise<void> {
  const { url, jobs, say, stop } = sweep;
  if (jobs.length === 0 || stop.aborted) return;
  await withQueue(url, { as: 'command' }, async (queue) => {
    const id = randomUUID();
    const waiting = new Map<string, readonly number[]>();
    try {
      await share(queue, id, sweep);
      const chunks = inChunks([...jobs.keys()]);
      await send(queue, { id, jobs, chunks, waiting });
      say(`sweep ${id}: ${jobs.length} runs in ${chunks.length} chunks wait for workers of version ${version} ("tranche worker")`); // prettier-ignore
      await collect(queue, { ...sweep, id, waiting });
    } finally {
      // Workers drop the chunks of a sweep that has no row. If the server is away, the row is too old soon.
      if (waiting.size > 0) await queue.boss.cancel(QUEUE, [...waiting.keys()]).catch(() => undefined);
      await queue.sql('DELETE FROM tranche_sweep.sweep WHERE id = $1', [id]).catch(() => undefined);
    }
  });
}

/** Stores what all runs of the sweep share. Removes sweeps whose commands ended without doing so. */
async function share({ sql }: SweepQueue, id: string, { base, tapes }: Submitted): Promise<void> {
  await sql(`DELETE FROM tranche_sweep.sweep WHERE NOT ${IS_SEEN}`);
  await sql('INSERT INTO tranche_sweep.sweep (id, base) VALUES ($1, $2)', [id, base]);
  for (const [number, tape] of tapes.entries()) {
    const bytes = Buffer.from(tapeToArrow(tape));
    for (let part = 0; part * PART_BYTES < bytes.byteLength; part++)
      await sql('INSERT INTO tranche_sweep.tape VALUES ($1, $2, $3, $4, $5)', [
        id,
        number,
        part,
        bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES),
        tape.isDelisted === true,
      ]);
  }
}

interface Chunks {
  readonly id: string;
  readonly jobs: readonly SweepJob[];
  /** Indices of jobs. */
  readonly chunks: readonly (readonly number[])[];
  /** Indices of jobs by the id of their chunk in the queue. */
  readonly waiting: Map<string, readonly number[]>;
}

/** Queues chunks, the large ones first. */
async function send({ boss }: SweepQueue, { id, jobs, chunks, waiting }: Chunks): Promise<void> {
  const made = chunks.map((indices) => {
    const data: Chunk = { sweep: id, jobs: pack(indices.map((index) => jobs[index])) };
    return { indices, job: { id: randomUUID(), priority: indices.length, data } };
  });
  await boss.insert(QUEUE, made.map(({ job }) => job)); // prettier-ignore
  for (const { indices, job } of made) waiting.set(job.id, indices);
}

const endedSchema = z.array(
  z.object({
    id: z.string(),
    output: z.union([z.object({ outcomes: z.string() }), z.object({ problem: z.string() }), z.unknown().transform(() => undefined)]),
  }),
); // prettier-ignore

async function collect(
  queue: SweepQueue,
  { id, waiting, done, stop }: Submitted & Pick<Chunks, 'id' | 'waiting'>,
): Promise<void> {
  let reachedAt = performance.now();
  while (waiting.size > 0 && !stop.aborted) {
    for (const { id: chunk, output } of await ended()) {
      const indices = waiting.get(chunk) ?? [];
      waiting.delete(chunk);
      for (const [at, outcome] of outcomesOf(output, indices.length).entries())
        done(indices[at] ?? 0, outcome);
    }
    if (waiting.size > 0) await sleep(POLL_MS, undefined, { signal: stop }).catch(() => undefined); // stopped
  }

  async function ended(): Promise<z.output<typeof endedSchema>> {
    try {
      const row = await queue.sql('UPDATE tranche_sweep.sweep SET seen = now() WHERE id = $1 RETURNING id', [id]); // prettier-ignore
      if (row.length === 0) throw dropped();
      const rows = await queue.sql(
        "SELECT id, output FROM tranche_sweep.job WHERE name = $1 AND id = ANY($2) AND state IN ('completed', 'failed', 'cancelled')",
        [QUEUE, [...waiting.keys()]],
      );
      reachedAt = performance.now();
      return endedSchema.parse(rows);
    } catch (error) {
      const isPassing = !(error instanceof OperatorError) && isTransient(factsOf(error));
      if (isPassing && performance.now() - reachedAt < AWAY_MS) return [];
      throw error;
    }
  }
}

/** @throws OperatorError `software` if no worker can complete the chunk. */
function outcomesOf(
  output: z.output<typeof endedSchema>[number]['output'],
  count: number,
): readonly SweepOutcome[] {
  if (output === undefined || 'problem' in output) {
    const why = output?.problem ?? `its workers died or stopped ${RETRIES_MAX + 1} times`;
    throw new OperatorError('software', `a chunk of the sweep cannot end: ${why}. With --out, the finished settings are kept: run the same command to resume`); // prettier-ignore
  }
  const outcomes = z.array(outcomeSchema).parse(JSON.parse(output.outcomes));
  if (outcomes.length < count) throw dropped();
  return outcomes;
}

const dropped = (): OperatorError =>
  new OperatorError('again', 'the workers dropped the sweep, because this command did not reach the database for two minutes. Run the same command to resume'); // prettier-ignore
