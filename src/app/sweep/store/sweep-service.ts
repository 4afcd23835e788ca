import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../../core/errors.ts';
import { indexPrices } from '../../../research/tape/index.ts';
import { version } from '../../version.ts';
import { sharedIndex, sharedTape } from '../sweep-pool.ts';
import type { SweepOutcome } from '../sweep-run.ts';
import { SettingThread } from './setting-thread.ts';
import type { SweepBasis } from './setting-thread.ts';
import { loadTapes } from './shared-tapes.ts';
import { connectStore, isPassing, storeFault } from './store-connection.ts';
import type { StoreConnection } from './store-connection.ts';
import { checkPrepared } from './store-schema.ts';
import {
  beginChunk,
  endChunk,
  failChunk,
  foreignSweep,
  keepOutcomes,
  knownOutcomes,
  readSweep,
  returnChunk,
  sweepStateOf,
} from './store-sweeps.ts';
import { TOUCH_MS, openQueue } from './sweep-queue.ts';
import type { HeldChunk, SweepQueue } from './sweep-queue.ts'; // prettier-ignore

export interface ServiceOptions {
  readonly url: string;
  readonly tapesFolder?: string | undefined;
  readonly threads: number;
  /** When aborted, the worker returns its chunks and ends. */
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

const IDLE_MS = 300;
const AGAIN_MS = 1_000;
/** A worker that dies loses the outcomes of this time, and its current run. */
const SAVE_MS = 1_000;

/**
 * Runs chunks of any sweep of this version until `stop` aborts. Waits while the server is unreachable.
 *
 * @throws OperatorError `config` for an unprepared store, a missing tape, or a sweep of another version.
 */
export async function serveSweeps(options: ServiceOptions): Promise<void> {
  const store = connectStore(options.url);
  try {
    await checkPrepared(store);
    await refuseForeign(store);
    const queue = await openQueue(store.connectionString, { isWorker: true, failed: () => undefined });
    try {
      await serve(store, queue, options);
    } finally {
      await queue.close();
    }
  } catch (error) {
    throw storeFault(store.shown, error);
  } finally {
    await store.pool.end();
  }
}

async function refuseForeign(store: StoreConnection): Promise<void> {
  const foreign = await foreignSweep(store);
  if (foreign !== undefined)
    throw new OperatorError(
      'config',
      `sweep ${foreign.id} has version ${foreign.version}, but this worker has version ${version}: a sweep cannot mix results of two versions. Run a worker of version ${foreign.version}, or end the sweep with "tranche sweep cancel ${foreign.id}"`,
    );
}

/** Runs the threads. Each thread takes its own chunks; the first fault ends all threads. */
async function serve(store: StoreConnection, queue: SweepQueue, options: ServiceOptions): Promise<void> {
  const fault = new AbortController();
  const stop = AbortSignal.any([options.stop, fault.signal]);
  const bases = new BasisCache(store, options.tapesFolder);
  options.say(`worker of version ${version} waits for sweeps at ${store.shown}, ${options.threads} threads`);
  const slots = Array.from({ length: options.threads }, async () => {
    try {
      await new Slot(store, queue, { bases, stop, say: options.say }).serve();
    } catch (error) {
      fault.abort();
      throw error;
    }
  });
  const failed = (await Promise.allSettled(slots)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Shared data of the latest sweep, loaded once for all threads. */
class BasisCache {
  readonly #store: StoreConnection;
  readonly #folder: string | undefined;
  #latest: { readonly sweep: string; readonly basis: Promise<SweepBasis> } | undefined;

  constructor(store: StoreConnection, folder: string | undefined) {
    this.#store = store;
    this.#folder = folder;
  }

  async of(sweep: string): Promise<SweepBasis> {
    if (this.#latest?.sweep !== sweep) this.#latest = { sweep, basis: this.#load(sweep) };
    try {
      return await this.#latest.basis;
    } catch (error) {
      this.#latest = undefined;
      throw error;
    }
  }

  async #load(sweep: string): Promise<SweepBasis> {
    const { base, tapes: named } = await readSweep(this.#store, sweep);
    const tapes = (await loadTapes(this.#store, named, this.#folder)).map(sharedTape);
    return { base, tapes, indexes: tapes.map((tape) => sharedIndex(indexPrices(tape))) };
  }
}

interface SlotOptions {
  readonly bases: BasisCache;
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

/** One thread of a worker and the chunk that it holds. */
class Slot {
  readonly #store: StoreConnection;
  readonly #queue: SweepQueue;
  readonly #options: SlotOptions;
  #thread: { readonly sweep: string; readonly runs: SettingThread } | undefined;

  constructor(store: StoreConnection, queue: SweepQueue, options: SlotOptions) {
    this.#store = store;
    this.#queue = queue;
    this.#options = options;
  }

  async serve(): Promise<void> {
    const { stop, say } = this.#options;
    try {
      while (!stop.aborted) {
        let wait = 0;
        try {
          const held = await this.#queue.take();
          if (held === undefined) wait = IDLE_MS;
          else await this.#work(held);
        } catch (error) {
          if (!isPassing(error)) throw error;
          say(`the store cannot be reached: ${error instanceof Error ? error.message : ''}; trying again`);
          wait = AGAIN_MS;
        }
        if (wait > 0) await sleep(wait, undefined, { signal: stop }).catch(() => undefined); // stopped
      }
    } finally {
      await this.#thread?.runs.close();
    }
  }

  async #work(held: HeldChunk): Promise<void> {
    const { stop } = this.#options;
    const { sweep, number } = held;
    const cancelled = new AbortController();
    const ended = AbortSignal.any([stop, cancelled.signal]);
    // A failed heartbeat is ignored, because the next one may succeed.
    const beat = setInterval(() => {
      held.touch().catch(() => undefined);
      this.#isRunning(sweep)
        .then((isRunning) => isRunning || cancelled.abort())
        .catch(() => undefined);
    }, TOUCH_MS);
    try {
      const isWhole = await this.#runAll(held, ended);
      if (!isWhole && stop.aborted) {
        await returnChunk(this.#store, sweep, number);
        await held.handBack();
        return;
      }
      await held.complete();
    } catch (error) {
      await this.#giveUp(held, error);
    } finally {
      clearInterval(beat);
    }
  }

  async #isRunning(sweep: string): Promise<boolean> {
    return (await sweepStateOf(this.#store, sweep)) === 'running';
  }

  /** Runs a chunk. Returns whether the whole chunk is done. */
  async #runAll({ sweep, number }: HeldChunk, ended: AbortSignal): Promise<boolean> {
    const runs = await beginChunk(this.#store, sweep, number);
    if (runs === undefined) return true;
    const known = await knownOutcomes(
      this.#store,
      runs.map(({ key }) => key),
    );
    const unsaved = new Map<string, SweepOutcome>();
    let savedAt = performance.now();
    const save = async (): Promise<void> => {
      const outcomes = new Map(unsaved);
      unsaved.clear();
      savedAt = performance.now();
      await keepOutcomes(this.#store, outcomes);
    };
    for (const { key, job } of runs) {
      if (known.has(key)) continue;
      if (ended.aborted) break;
      const thread = await this.#threadOf(sweep);
      try {
        unsaved.set(key, await thread.run(job, ended));
      } catch (error) {
        await this.#dropThread();
        if (ended.aborted) break;
        await save();
        throw new ThreadDied(error);
      }
      if (performance.now() - savedAt >= SAVE_MS) await save();
    }
    await save();
    if (ended.aborted) return false;
    await endChunk(this.#store, sweep, number);
    return true;
  }

  async #threadOf(sweep: string): Promise<SettingThread> {
    if (this.#thread?.sweep !== sweep) {
      await this.#dropThread();
      this.#thread = { sweep, runs: new SettingThread(await this.#options.bases.of(sweep)) };
    }
    return this.#thread.runs;
  }

  async #dropThread(): Promise<void> {
    await this.#thread?.runs.close();
    this.#thread = undefined;
  }

  /**
   * Ends the work on a chunk after an error. A run that killed its thread would kill it on every worker, so the chunk
   * fails. After any other error, returns the chunk to the queue, because another worker may have what this one lacks.
   */
  async #giveUp(held: HeldChunk, error: unknown): Promise<void> {
    const { sweep, number } = held;
    try {
      if (error instanceof ThreadDied) {
        await failChunk(this.#store, sweep, number, error.message);
        await held.complete();
        this.#options.say(`sweep ${sweep}, chunk ${number}: ${error.message}`);
        return;
      }
      await returnChunk(this.#store, sweep, number);
      await held.handBack();
    } catch (further) {
      if (!isPassing(further)) throw further; // otherwise the heartbeats stop, and the queue passes the chunk on
    }
    throw error;
  }
}

class ThreadDied extends Error {
  override readonly name = 'ThreadDied';
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
