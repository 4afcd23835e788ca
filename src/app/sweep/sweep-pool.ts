import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PriceIndex } from '../../research/tape/index.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';
import type { SweepJob, SweepOutcome } from './sweep-run.ts';

export interface PoolOptions {
  readonly jobs: readonly SweepJob[];
  /** As `packBase` gives it. */
  readonly base: string;
  /** As `sharedTape` gives them. */
  readonly tapes: readonly Tape[];
  /** As `sharedIndex` gives them. A tape without one is indexed by each worker. */
  readonly indexes?: readonly PriceIndex[] | undefined;
  readonly workers: number;
  /** Called as soon as a job has ended, in no certain order. `index`: of `jobs`. What it throws ends the sweep. */
  readonly done: (index: number, outcome: SweepOutcome) => void;
  /** Aborted: running work stops, and no more starts. */
  readonly stop?: AbortSignal | undefined;
  /** Another worker than that of the program. */
  readonly script?: URL | undefined;
  /** Called when a worker has died. */
  readonly kept?: string | undefined;
}

interface WorkerTask {
  readonly index: number;
  readonly job: SweepJob;
}
interface WorkerAnswer {
  readonly index: number;
  readonly outcome: SweepOutcome;
}

export const isWorkerData = (value: unknown): value is Pick<PoolOptions, 'base' | 'tapes' | 'indexes'> =>
  typeof value === 'object' && value !== null && 'base' in value && 'tapes' in value;
export const isWorkerTask = (value: unknown): value is WorkerTask =>
  typeof value === 'object' && value !== null && 'index' in value && 'job' in value;
export const isWorkerAnswer = (value: unknown): value is WorkerAnswer =>
  typeof value === 'object' && value !== null && 'index' in value && 'outcome' in value;

/** Of this file and its neighbours: another one once they are compiled. */
export const SCRIPT = new URL(`sweep-worker${extname(import.meta.url)}`, import.meta.url);
/** Jobs that a worker knows of: it need not wait for the next one. */
const AHEAD = 2;

/** The index of a tape in memory that all threads read. */
export function sharedIndex(index: PriceIndex): PriceIndex {
  const starts = new Int32Array(new SharedArrayBuffer(index.starts.byteLength));
  starts.set(index.starts);
  const bounds = index.bounds.map((level) => {
    const copy = new Float32Array(new SharedArrayBuffer(level.byteLength));
    copy.set(level);
    return copy;
  });
  return { ...index, starts, bounds };
}

/** A tape whose columns all threads read from the same memory. */
export function sharedTape(tape: Tape): Tape {
  const shared = (column: Float64Array): Float64Array => {
    const copy = new Float64Array(new SharedArrayBuffer(column.byteLength));
    copy.set(column);
    return copy;
  };
  const { times, open, high, low, close, volume } = tape;
  return {
    ...tape,
    times: shared(times),
    open: shared(open),
    high: shared(high),
    low: shared(low),
    close: shared(close),
    volume: shared(volume),
    part: undefined, // no thread can be given a function
  };
}

/**
 * Runs jobs on worker threads, to the end or until it is stopped. All workers are gone when it settles.
 *
 * @throws OperatorError `software` when a worker has died; what `done` has been called with stays done.
 */
export async function runPool({
  jobs,
  base,
  tapes,
  indexes,
  workers,
  done,
  stop,
  kept = 'no finished setting is kept',
  script = SCRIPT,
}: PoolOptions): Promise<void> {
  if (jobs.length === 0 || stop?.aborted === true) return;
  const pool: Worker[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  let [next, finished] = [0, 0];
  const give = (worker: Worker): void => {
    const job = jobs[next];
    if (job === undefined) return;
    worker.postMessage({ index: next, job } satisfies WorkerTask, []);
    next++;
  };
  const fail = (why: string, cause?: unknown): void => {
    const said = `a worker thread died: ${why}; ${kept}`;
    reject(new OperatorError('software', said, cause));
  };
  const end = (): void => {
    resolve(undefined);
  };
  stop?.addEventListener('abort', end, { once: true });
  try {
    for (let i = 0; i < Math.min(workers, jobs.length); i++) {
      const worker = new Worker(script, { workerData: { base, tapes, indexes } });
      pool.push(worker);
      worker.on('error', (error: unknown) => {
        fail(error instanceof Error ? error.message : String(error), error);
      });
      worker.on('exit', (code) => {
        fail(`it ended with code ${code}`);
      });
      worker.on('message', (answer: unknown) => {
        if (stop?.aborted === true || !isWorkerAnswer(answer)) return;
        try {
          done(answer.index, answer.outcome);
        } catch (error) {
          reject(error);
          return;
        }
        if (++finished === jobs.length) resolve(undefined);
        else give(worker);
      });
    }
    for (let round = 0; round < AHEAD; round++) for (const worker of pool) give(worker);
    await promise;
  } finally {
    stop?.removeEventListener('abort', end);
    await Promise.all(pool.map(async (worker) => await worker.terminate()));
  }
}
