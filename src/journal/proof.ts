import { Worker } from 'node:worker_threads';
import type { Verdict } from './chain.ts';

/** Bytes for the answer, which is a line of text. */
const ANSWER_BYTES = 8_192;
/** Half a minute a million records is slow; a worker that takes longer has died. */
const WAIT_MS = 120_000;

interface Task {
  readonly file: string;
  readonly shared: SharedArrayBuffer;
}

export function readTask(data: unknown): Task {
  if (typeof data === 'object' && data !== null && 'file' in data && 'shared' in data) {
    const { file, shared } = data;
    if (typeof file === 'string' && shared instanceof SharedArrayBuffer) return { file, shared };
  }
  throw new TypeError('expected the file of a journal and room for the answer');
}

/** The length of the answer wakes whoever waits for it. */
export function answer(shared: SharedArrayBuffer, verdict: Verdict): void {
  const text = Buffer.from(JSON.stringify(verdict)).subarray(0, ANSWER_BYTES);
  new Uint8Array(shared, 4).set(text);
  const length = new Int32Array(shared, 0, 1);
  Atomics.store(length, 0, text.length);
  Atomics.notify(length, 0);
}

/**
 * Begins to check the chain of `file` on another thread, since that takes as long as all the rest of a start. The returned
 * function waits for the verdict; `undefined` when none came.
 */
export function beginProof(file: string): () => Verdict | undefined {
  const shared = new SharedArrayBuffer(4 + ANSWER_BYTES);
  const worker = new Worker(new URL('prover.ts', import.meta.url), { workerData: { file, shared } });
  worker.unref();
  worker.on('error', () => undefined);
  let verdict: Verdict | undefined;
  return () => {
    const length = new Int32Array(shared, 0, 1);
    if (verdict === undefined && Atomics.wait(length, 0, 0, WAIT_MS) !== 'timed-out') {
      const text = Buffer.from(new Uint8Array(shared, 4, Atomics.load(length, 0))).toString('utf8');
      verdict = JSON.parse(text) as Verdict; // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own worker wrote it
    }
    return verdict;
  };
}
