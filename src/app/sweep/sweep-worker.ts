/**
 * Worker thread of a sweep, which `sweep-pool.ts` and `setting-thread.ts` start. The columns of its tapes and their indexes are in memory
 * that all threads share. It reads and writes no files.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../../core/errors.ts';
import { isWorkerData, isWorkerTask } from './sweep-pool.ts';
import { SettingRunner, unpackBase } from './sweep-run.ts';

const given: unknown = workerData;
invariant(isWorkerData(given), 'this file is a worker of tranche sweep and cannot run on its own');
const runner = new SettingRunner(unpackBase(given.base), given.tapes, given.indexes);
parentPort?.on('message', (task: unknown) => {
  if (!isWorkerTask(task)) return;
  parentPort?.postMessage({ index: task.index, outcome: runner.run(task.job) }, []);
});
