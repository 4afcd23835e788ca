import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PriceIndex } from '../../research/tape/index.ts';
import { columnsBy } from '../../research/tape/tape.ts';
import type { Tape } from '../../research/tape/tape.ts';
import { OperatorError } from '../../core/errors.ts';
import type { SweepJob, SweepOutcome } from './sweep-run.ts';

/** Data of all runs of a sweep. */
export interface SweepBasis {
  /** Text that `packBase` returned. */
  readonly base: string;
  /** Tapes that `sharedTape` returned. */
  readonly tapes: readonly Tape[];
  /** Indexes that `sharedIndex` returned. Each thread indexes a tape that has none. */
  readonly indexes?: readonly PriceIndex[] | undefined;
}

export interface PoolOptions extends SweepBasis {
  readonly jobs: readonly SweepJob[];
  readonly workers: number;
  /** Called as soon as a job has ended, in any order. `index`: index in `jobs`. An error that it throws ends the sweep. */
  readonly done: (index: number, outcome: SweepOutcome) => void;
  /** When aborted, running jobs stop, and no more start. */
  readonly stop?: AbortSignal | undefined;
  /** Script of the threads; omitted: the program's own. */
  readonly script?: URL | undefined;
  /** End of the error message after a thread has died, which states what happens to the finished settings. */
  readonly kept?: string | undefined;
}

export const isSweepBasis = (value: unknown): value is SweepBasis =>
  typeof value === 'object' && value !== null && 'base' in value && 'tapes' in value;

/** Script of a thread. It has the same extension as this file, which changes when the files are compiled. */
export const SCRIPT = new URL(`sweep-worker${extname(import.meta.url)}`, import.meta.url);
/** Number of jobs that a thread holds at a time, so that it need not wait for the next one. */
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
  return { ...tape, ...columnsBy((name) => shared(tape[name])) };
}

/** A thread that runs settings has died. */
export class ThreadDied extends Error {
  override readonly name = 'ThreadDied';
}

interface Task extends Pick<PromiseWithResolvers<SweepOutcome>, 'resolve' | 'reject'> {
  readonly job: SweepJob;
  readonly stop: AbortSignal | undefined;
}

interface Thread {
  readonly worker: Worker;
  /** Tasks in the order in which the thread answers. */
  readonly tasks: Task[];
}

/** Threads that run the settings of one sweep. If one of them dies, all runs fail. */
export class SweepThreads {
  readonly #threads: readonly Thread[];
  readonly #waiting: Task[] = [];
  #ended: Error | undefined;

  constructor(basis: SweepBasis, { threads, script = SCRIPT }: { readonly threads: number; readonly script?: URL | undefined }) {
    this.#threads = Array.from({ length: threads }, () => this.#begin(new Worker(script, { workerData: basis })));
  } // prettier-ignore

  #begin(worker: Worker): Thread {
    const thread: Thread = { worker, tasks: [] };
    worker.on('error', (error: unknown) => this.#end(new ThreadDied(error instanceof Error ? error.message : String(error), { cause: error }))); // prettier-ignore
    worker.on('exit', (code) => this.#end(new ThreadDied(`it ended with code ${code}`)));
    worker.on('message', (outcome: SweepOutcome) => {
      thread.tasks.shift()?.resolve(outcome);
      this.#give();
    });
    return thread;
  }

  /**
   * Runs a job as soon as a thread is free.
   *
   * @throws ThreadDied; Error after `close`; the reason of `stop` if it aborted before the job began
   */
  async run(job: SweepJob, stop?: AbortSignal): Promise<SweepOutcome> {
    if (this.#ended !== undefined) throw this.#ended;
    const { promise, resolve, reject } = Promise.withResolvers<SweepOutcome>();
    this.#waiting.push({ job, stop, resolve, reject });
    this.#give();
    return await promise;
  }

  async close(): Promise<void> {
    this.#end(new Error('the threads were stopped'));
    await Promise.all(this.#threads.map(async ({ worker }) => await worker.terminate()));
  }

  /** Gives waiting jobs to the threads that hold the fewest. */
  #give(): void {
    for (let held = 0; held < AHEAD; held++)
      for (const { worker, tasks } of this.#threads) {
        if (tasks.length > held) continue;
        const task = this.#next();
        if (task === undefined) return;
        tasks.push(task);
        worker.postMessage(task.job, []);
      }
  }

  #next(): Task | undefined {
    for (;;) {
      const task = this.#waiting.shift();
      if (task?.stop?.aborted !== true) return task;
      task.reject(task.stop.reason);
    }
  }

  #end(why: Error): void {
    this.#ended ??= why;
    for (const { reject } of [...this.#waiting.splice(0), ...this.#threads.flatMap(({ tasks }) => tasks.splice(0))]) reject(why); // prettier-ignore
  }
}

/**
 * Runs jobs on threads until all have ended or `stop` aborts. When it settles, all threads have ended.
 *
 * @throws OperatorError `software` if a thread died; the outcomes already passed to `done` remain valid.
 */
export async function runPool(options: PoolOptions): Promise<void> {
  const { jobs, workers, done, stop, kept = 'no finished setting is kept', script, base, tapes, indexes } = options; // prettier-ignore
  if (jobs.length === 0 || stop?.aborted === true) return;
  const threads = new SweepThreads(
    { base, tapes, indexes },
    { threads: Math.min(workers, jobs.length), script },
  );
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  stop?.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([stopped, Promise.all(jobs.map(async (job, index) => done(index, await threads.run(job))))]); // prettier-ignore
  } catch (error) {
    if (!(error instanceof ThreadDied)) throw error;
    throw new OperatorError('software', `a worker thread died: ${error.message}; ${kept}`, error);
  } finally {
    stop?.removeEventListener('abort', end);
    await threads.close();
  }
}
