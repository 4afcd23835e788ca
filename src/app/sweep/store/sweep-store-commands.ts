import { resolve } from 'node:path';
import { OperatorError } from '../../../core/errors.ts';
import type { SweepIo } from '../../commands/sweep.ts';
import { connectStore, storeFault } from './store-connection.ts';
import type { StoreConnection } from './store-connection.ts';
import { checkPrepared, prepareStore } from './store-schema.ts';
import { cancelSweep, sweepStateOf } from './store-sweeps.ts';
import { serveSweeps } from './sweep-service.ts';

/** Runs `tranche sweep prepare`. @throws OperatorError */
export async function prepareSweeps(
  url: string,
  { grant }: { readonly grant?: string | undefined },
  { stdout }: SweepIo,
): Promise<void> {
  await withStore(url, async (store) => {
    const layout = await prepareStore(store, grant);
    const granted = grant === undefined ? '' : `; ${grant} may submit sweeps and work on them`;
    stdout.write(`the tables of sweeps have layout ${layout}${granted}\n`);
  });
}

/** Runs `tranche sweep cancel`. @throws OperatorError `usage` for a sweep that is not running. */
export async function cancelStoredSweep(url: string, id: string, { stdout }: SweepIo): Promise<void> {
  await withStore(url, async (store) => {
    await checkPrepared(store);
    if (!(await cancelSweep(store, id))) {
      const state = await sweepStateOf(store, id);
      throw new OperatorError(
        'usage',
        state === undefined ? `${store.shown} has no sweep ${id}` : `sweep ${id} is ${state}, not running`,
      );
    }
    stdout.write(`sweep ${id} is cancelled; its results so far are kept\n`);
  });
}

/** Runs `tranche worker` until SIGINT or SIGTERM. Returns the exit code. @throws OperatorError */
export async function runWorker(
  { store, tapes, threads }: { readonly store: string; readonly tapes?: string | undefined; readonly threads: number },
  { stderr, cwd, onSignal, exitNow }: SweepIo,
): Promise<number> {
  const stop = new AbortController();
  const forget = onSignal((signal) => {
    if (signal === 'SIGUSR2') return;
    if (stop.signal.aborted) exitNow(130);
    stop.abort();
  });
  try {
    await serveSweeps({
      url: store,
      tapesFolder: tapes === undefined ? undefined : resolve(cwd, tapes),
      threads,
      stop: stop.signal,
      say: (line) => stderr.write(`${line}\n`),
    });
    return 0;
  } finally {
    forget();
  }
} // prettier-ignore

async function withStore(url: string, work: (store: StoreConnection) => Promise<void>): Promise<void> {
  const store = connectStore(url);
  try {
    await work(store);
  } catch (error) {
    throw storeFault(store.shown, error);
  } finally {
    await store.pool.end();
  }
}
