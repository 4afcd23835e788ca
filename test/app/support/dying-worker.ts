/** A thread of a sweep that finishes two jobs and dies during the third. */
import process from 'node:process';
import { parentPort } from 'node:worker_threads';

let left = 2;
parentPort?.on('message', () => {
  if (left-- === 0) process.exit(3);
  parentPort?.postMessage({ refused: 'a test' }, []);
});
