import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tape } from '../../../research/tape/tape.ts';
import { OperatorError } from '../../../core/errors.ts';
import type { SweepOutcome } from '../sweep-run.ts';
import { shareTapes } from './shared-tapes.ts';
import { connectStore, isPassing, storeFault } from './store-connection.ts';
import type { StoreConnection } from './store-connection.ts';
import { checkPrepared } from './store-schema.ts';
import {
  cancelSweep,
  closeSweep,
  createSweep,
  endedChunks,
  knownOutcomes,
  sweepStateOf,
} from './store-sweeps.ts';
import type { KeyedJob } from './store-sweeps.ts';
import { openQueue } from './sweep-queue.ts'; // prettier-ignore

export interface StoreRun {
  readonly url: string;
  /** Folder of tapes that this machine and all workers share. */
  readonly tapesFolder?: string | undefined;
  readonly runs: readonly KeyedJob[];
  /** Text that `packBase` returned. */
  readonly base: string;
  readonly tapes: readonly Tape[];
  /** Called as soon as an outcome is known, in any order. `index`: index in `runs`. */
  readonly done: (index: number, outcome: SweepOutcome) => void;
  readonly stop: AbortSignal;
  /** Prints a line for the operator. */
  readonly say: (line: string) => void;
}

/** Largest part of the remaining runs in one chunk: 1 / SHARES. */
const SHARES = 40;
const RUNS_MAX = 25;
const POLL_MS = 250;
/** Longest server outage before the command fails; the results remain stored. */
const AWAY_MS = 60_000;

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
 * Makes workers run the jobs for which the store has no outcome. If `stop` aborts, cancels the sweep.
 *
 * @throws OperatorError `config` for an unusable store, `unavailable` without its server, `software` for a chunk that no worker can
 * complete.
 */
export async function runThroughStore(options: StoreRun): Promise<void> {
  const store = connectStore(options.url);
  try {
    await checkPrepared(store);
    const wanted = await knownFirst(store, options);
    if (wanted.size > 0) await submit(store, wanted, options);
  } catch (error) {
    throw storeFault(store.shown, error);
  } finally {
    await store.pool.end();
  }
}

type Wanted = Map<string, readonly number[]>;

/** Reports the outcomes in the store. Returns the other jobs as indices in `runs`, by key. */
async function knownFirst(store: StoreConnection, { runs, done, say }: StoreRun): Promise<Wanted> {
  const wanted: Wanted = new Map();
  for (const [index, { key }] of runs.entries()) wanted.set(key, [...(wanted.get(key) ?? []), index]);
  const known = await knownOutcomes(store, [...wanted.keys()]);
  report(known, wanted, done);
  if (known.size > 0) say(`${known.size} runs are already in the store and are not repeated`);
  return wanted;
}

function report(outcomes: ReadonlyMap<string, SweepOutcome>, wanted: Wanted, done: StoreRun['done']): void {
  for (const [key, outcome] of outcomes) {
    for (const index of wanted.get(key) ?? []) done(index, outcome);
    wanted.delete(key);
  }
}

async function submit(store: StoreConnection, wanted: Wanted, options: StoreRun): Promise<void> {
  const { runs, base, tapes, tapesFolder, say, stop } = options;
  const rest = [...wanted.values()].flatMap(([index]) => runs[index ?? 0] ?? []);
  const chunks = inChunks(rest);
  const id = randomUUID();
  await createSweep(store, { id, base, tapes: await shareTapes(store, tapes, tapesFolder), chunks });
  const queue = await openQueue(store.connectionString, { isWorker: false, failed: () => undefined });
  try {
    // The queue gives out chunks of one call in any order, and large chunks must come first.
    for (const numbers of Map.groupBy(chunks.keys(), (number) => chunks[number]?.length).values())
      await queue.send(id, numbers);
  } finally {
    await queue.close();
  }
  say(`sweep ${id}: ${rest.length} runs in ${chunks.length} chunks wait for workers ("tranche worker")`);
  try {
    await collect(store, { id, chunks, wanted }, options);
  } catch (error) {
    await cancelSweep(store, id).catch(() => undefined); // report the first error
    throw error;
  }
  if (stop.aborted && wanted.size > 0) await cancelSweep(store, id);
  await closeSweep(store, id);
}

interface Submitted {
  readonly id: string;
  readonly chunks: readonly (readonly KeyedJob[])[];
  readonly wanted: Wanted;
}

async function collect(
  store: StoreConnection,
  { id, chunks, wanted }: Submitted,
  { done, stop, say }: StoreRun,
): Promise<void> {
  const ended: number[] = [];
  let reachedAt = performance.now();
  while (wanted.size > 0 && !stop.aborted) {
    try {
      for (const { number, problem } of await endedChunks(store, id, ended)) {
        if (problem !== null)
          throw new OperatorError(
            'software',
            `sweep ${id}: chunk ${number} cannot end: ${problem}. The results of the other chunks are kept: run the same command to resume`,
          );
        report(await knownOutcomes(store, chunks[number]?.map(({ key }) => key) ?? []), wanted, done);
        ended.push(number);
      }
      if (wanted.size > 0 && (await sweepStateOf(store, id)) === 'cancelled') {
        say(`sweep ${id} was cancelled`);
        return;
      }
      reachedAt = performance.now();
    } catch (error) {
      if (!isPassing(error) || performance.now() - reachedAt > AWAY_MS) throw error;
    }
    await sleep(POLL_MS, undefined, { signal: stop }).catch(() => undefined); // stopped
  }
}
