import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PriceIndex } from '../../../research/tape/index.ts';
import type { Tape } from '../../../research/tape/tape.ts';
import { SCRIPT, isWorkerAnswer } from '../sweep-pool.ts';
import type { SweepJob, SweepOutcome } from '../sweep-run.ts';

/** Data of all runs of a sweep, in memory that threads share. */
export interface SweepBasis {
  readonly base: string;
  readonly tapes: readonly Tape[];
  readonly indexes: readonly PriceIndex[];
}

/** One thread that runs settings of one sweep, one at a time. */
export class SettingThread {
  readonly #worker: Worker;

  constructor(basis: SweepBasis) {
    this.#worker = new Worker(SCRIPT, { workerData: basis });
    this.#worker.on('error', () => undefined); // `run` rejects
  }

  /** Runs one job. @throws Error if the thread died; the reason of `stop` if it was aborted. */
  async run(job: SweepJob, stop: AbortSignal): Promise<SweepOutcome> {
    const ended = new AbortController();
    const { signal } = ended;
    const answer = once(this.#worker, 'message', { signal: AbortSignal.any([stop, signal]) });
    const died = once(this.#worker, 'exit', { signal }).then(() => {
      throw new Error('a thread of this worker died');
    });
    try {
      this.#worker.postMessage({ index: 0, job }, []);
      const [message] = (await Promise.race([answer, died])) as readonly unknown[];
      if (!isWorkerAnswer(message)) throw new Error('a thread returned no outcome');
      return message.outcome;
    } finally {
      answer.catch(() => undefined);
      died.catch(() => undefined);
      ended.abort();
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
