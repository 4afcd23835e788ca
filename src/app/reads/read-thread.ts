import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Journal } from '../../journal/journal.ts';
import { placeOfJournal } from '../../journal/journal-place.ts';
import { Refusal } from '../../operate/api/refusal.ts';
import type { HistoryRequest } from './history-requests.ts';
import type { ReadResult, ReadTask } from './read-worker.ts';

/** Script of the thread, with the extension of this file: `.js` once compiled. */
const SCRIPT = new URL(`read-worker${extname(import.meta.url)}`, import.meta.url);
/** Largest number of waiting requests; the thread refuses more. */
const WAITING_MAX = 32;
/** Memory of the thread. A request that needs more ends the thread, not the desk. */
const HEAP_MB = 512;

/** Handles requests about the past of a desk. */
export interface History {
  /** @throws Refusal if there is no response in time, or the journal cannot be read. */
  ask(request: HistoryRequest): Promise<unknown>;
  close(): void;
}

/**
 * Reads the journal at `url`: on a thread with `timeoutMs` for each request if it is a file; directly if it is in memory, where it is small.
 */
export const historyAt = (url: string, journal: Journal, timeoutMs: number): History =>
  placeOfJournal(url) === undefined ? ofMemory(journal) : new ReadThread(url, timeoutMs);

const ofMemory = (journal: Journal): History => ({
  async ask(request) {
    const { historyOf } = await import('./history.ts');
    return historyOf(journal, request);
  },
  close: () => undefined,
});

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (why: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Starts a thread at the first request. A request that takes too long ends the thread, and the next request starts another. */
export class ReadThread implements History {
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #id = 0;
  #isClosed = false;

  constructor(url: string, timeoutMs: number) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  async ask(request: HistoryRequest): Promise<unknown> {
    if (this.#isClosed) throw new Refusal(503, 'the desk is stopping');
    if (this.#waiting.size >= WAITING_MAX)
      throw new Refusal(503, 'too many history requests are waiting: retry in a moment');
    const id = (this.#id += 1);
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#end(`no response within ${this.#timeoutMs / 1000} s: request a shorter time, or one strategy`);
      }, this.#timeoutMs);
      timer.unref();
      this.#waiting.set(id, { resolve, reject, timer });
      this.#thread().postMessage({ id, request } satisfies ReadTask, []);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#end('the desk is stopping');
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(SCRIPT, {
      workerData: this.#url,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    worker.on('message', (result: ReadResult) => {
      this.#answer(result);
    });
    worker.on('error', () => {
      if (this.#worker === worker) this.#end('the journal could not be read: request a shorter time');
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#end('the journal could not be read');
    });
    this.#worker = worker;
    return worker;
  }

  #answer(result: ReadResult): void {
    const waiting = this.#waiting.get(result.id);
    if (waiting === undefined) return;
    this.#waiting.delete(result.id);
    clearTimeout(waiting.timer);
    if ('answer' in result) waiting.resolve(result.answer);
    else waiting.reject(new Refusal(503, result.problem));
  }

  #end(why: string): void {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Refusal(503, why));
    }
    this.#waiting.clear();
    void worker?.terminate();
  }
}
