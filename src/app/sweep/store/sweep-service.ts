import { OperatorError } from '../../../core/errors.ts';
import { unpack } from '../../../core/text/pack.ts';
import { factsOf } from '../../../journal/postgres/postgres-errors.ts';
import { delistedTape } from '../../../research/run/delisting.ts';
import { tapeFromArrow } from '../../../research/tape/arrow-file.ts';
import { indexPrices } from '../../../research/tape/index.ts';
import type { RunIo } from '../../commands/io.ts';
import { version } from '../../version.ts';
import { SweepThreads, ThreadDied, sharedIndex, sharedTape } from '../sweep-pool.ts';
import type { SweepJob } from '../sweep-run.ts';
import { IS_SEEN, QUEUE, withQueue } from './sweep-queue.ts';
import type { Chunk, ChunkResult, SweepQueue } from './sweep-queue.ts';

export interface ServiceOptions {
  readonly url: string;
  readonly threads: number;
  /** When aborted, the worker returns its chunks and ends. */
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

/** Runs `tranche worker` until SIGINT or SIGTERM. Returns the exit code. @throws OperatorError */
export async function runWorker(
  { store, threads }: { readonly store: string; readonly threads: number },
  { stderr, onSignal, exitNow }: RunIo,
): Promise<number> {
  const stop = new AbortController();
  const forget = onSignal((signal) => {
    if (signal === 'SIGUSR2') return;
    if (stop.signal.aborted) exitNow(130);
    stop.abort();
  });
  try {
    await serveSweeps({ url: store, threads, stop: stop.signal, say: (line) => stderr.write(`${line}\n`) });
    return 0;
  } finally {
    forget();
  }
}

/** Runs chunks of any sweep of this version until `stop` aborts. Waits while the server is away. @throws OperatorError as `withQueue` */
export async function serveSweeps({ url, threads, stop, say }: ServiceOptions): Promise<void> {
  let said = '';
  const failed = (error: unknown): void => {
    const { message } = factsOf(error);
    if (message !== said) say(`the store: ${message}; trying again`);
    said = message;
  };
  await withQueue(url, { as: 'worker', failed }, async (queue) => {
    const open = new OpenSweeps(queue, threads);
    const options = { localConcurrency: threads, pollingIntervalSeconds: 0.5, burstWhenReadyExceeds: 1, heartbeatRefreshSeconds: 3 };
    await queue.boss.work<Chunk, ChunkResult>(QUEUE, options, async ([held]) => {
      if (held === undefined) return { outcomes: '[]' };
      return await open.run(held.data, AbortSignal.any([held.signal, stop]));
    });
    say(`worker of version ${version} waits for sweeps at ${queue.shown}, ${threads} threads`);
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      else stop.addEventListener('abort', () => resolve(), { once: true });
    });
    const ended = queue.boss.offWork(QUEUE);
    await open.close();
    await ended;
  });
} // prettier-ignore

interface OpenSweep {
  readonly threads: Promise<SweepThreads>;
  /** Number of chunks that are running. */
  running: number;
}

/** The sweeps whose chunks this worker runs, each with its own threads. */
class OpenSweeps {
  readonly #queue: SweepQueue;
  readonly #threads: number;
  readonly #open = new Map<string, OpenSweep>();

  constructor(queue: SweepQueue, threads: number) {
    this.#queue = queue;
    this.#threads = threads;
  }

  /**
   * Runs a chunk. The result has no outcomes if the command of the sweep no longer waits.
   *
   * @throws the reason of `stop`, or an error of the database: the queue then passes the chunk on
   */
  async run({ sweep, jobs: packed }: Chunk, stop: AbortSignal): Promise<ChunkResult> {
    const [row] = await this.#queue.sql(`SELECT base FROM tranche_sweep.sweep WHERE id = $1 AND ${IS_SEEN}`, [sweep]); // prettier-ignore
    if (row === undefined) return { outcomes: '[]' };
    await this.close(([id, { running }]) => id !== sweep && running === 0);
    const open = this.#open.get(sweep) ?? { threads: this.#load(sweep, String(row['base'])), running: 0 };
    this.#open.set(sweep, open);
    open.running += 1;
    try {
      const threads = await open.threads;
      const jobs = unpack(packed) as readonly SweepJob[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- what `submitSweep` packed
      const outcomes = await Promise.all(jobs.map(async (job) => await threads.run(job, stop)));
      return { outcomes: JSON.stringify(outcomes) };
    } catch (error) {
      if (!stop.aborted) await this.close(([id]) => id === sweep);
      // What kills a thread, or makes data unreadable, would do so on every worker.
      if (error instanceof ThreadDied || error instanceof OperatorError) return { problem: error.message };
      throw error;
    } finally {
      open.running -= 1;
    }
  }

  /** Ends the threads of sweeps. Their runs fail. */
  async close(which: (each: readonly [id: string, sweep: OpenSweep]) => boolean = () => true): Promise<void> {
    for (const [id, { threads }] of [...this.#open].filter(which)) {
      this.#open.delete(id);
      await threads.then(async (each) => await each.close()).catch(() => undefined); // `run` rejects
    }
  }

  async #load(sweep: string, base: string): Promise<SweepThreads> {
    const rows = await this.#queue.sql(
      'SELECT number, bytes, is_delisted FROM tranche_sweep.tape WHERE sweep = $1 ORDER BY number, part',
      [sweep],
    );
    const tapes = [...Map.groupBy(rows, (row) => row['number']).values()].map((parts) => {
      const bytes = Buffer.concat(parts.flatMap(({ bytes: part }) => (part instanceof Buffer ? [part] : [])));
      // A copy, because its columns are views of bytes whose offset must be a multiple of eight.
      const read = tapeFromArrow(new Uint8Array(bytes), `a tape of sweep ${sweep}`);
      if (read === undefined) throw new OperatorError('data', `a tape of sweep ${sweep} is damaged`);
      return sharedTape(parts[0]?.['is_delisted'] === true ? delistedTape(read.tape) : read.tape);
    });
    const indexes = tapes.map((tape) => sharedIndex(indexPrices(tape)));
    return new SweepThreads({ base, tapes, indexes }, { threads: this.#threads });
  }
}
