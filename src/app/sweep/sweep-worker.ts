/**
 * Thread of a sweep, which `sweep-pool.ts` starts. The columns of its tapes and their indexes are in memory that all threads share. It
 * reads and writes no files.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../../core/errors.ts';
import { isSweepBasis } from './sweep-pool.ts';
import { SettingRunner, unpackBase } from './sweep-run.ts';
import type { SweepJob } from './sweep-run.ts';

const given: unknown = workerData;
invariant(isSweepBasis(given), 'this file is a thread of tranche sweep and cannot run on its own');
const runner = new SettingRunner(unpackBase(given.base), given.tapes, given.indexes);
parentPort?.on('message', (job: SweepJob) => {
  parentPort?.postMessage(runner.run(job), []);
});
