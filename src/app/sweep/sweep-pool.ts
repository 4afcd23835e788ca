import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PriceIndex } from '../../research/tape/index.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';
import type { SweepJob, SweepOutcome } from './sweep-run.ts';

export interface PoolOptions {
  readonly jobs: readonly SweepJob[];
  /** Text that `packBase` returned. */
  readonly base: string;
  /** Tapes that `sharedTape` returned. */
  readonly tapes: readonly Tape[];
  /** Indexes that `sharedIndex` returned. Each worker indexes a tape that has none. */
  readonly indexes?: readonly PriceIndex[] | undefined;
  readonly workers: number;
  /** Called as soon as a job has ended, in any order. `index`: index in `jobs`. An error that it throws ends the sweep. */
  readonly done: (index: number, outcome: SweepOutcome) => void;
  /** When aborted, running jobs stop, and no more start. */
  readonly stop?: AbortSignal | undefined;
  /** Script of the workers; omitted: the program's own. */
  readonly script?: URL | undefined;
  /** End of the error message after a worker has died, which states what happens to the finished settings. */
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

/** Script of a worker. It has the same extension as this file, which changes when the files are compiled. */
export const SCRIPT = new URL(`sweep-worker${extname(import.meta.url)}`, import.meta.url);
/** Number of jobs that a worker holds at a time, so that it need not wait for the next one. */
const AHEAD = 2;

/** Copies the index of a tape into memory that all threads share. */
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

/** Copies the columns of a tape into memory that all threads share. */
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
    part: undefined, // a function cannot be passed to a thread
  };
}

/**
 * Runs jobs on worker threads until all have ended or `stop` aborts. When it settles, all workers have ended.
 *
 * @throws OperatorError `software` if a worker died; the outcomes already passed to `done` remain valid.
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
