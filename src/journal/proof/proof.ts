import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { EMPTY } from './link.ts';
import type { Head, Verdict } from './link.ts';
import { ANSWER_BYTES } from './proof-task.ts';
import { hashAt } from './verify-file.ts';
import type { Part } from './verify-part.ts';

/** The suffix of this file and its neighbours: `.js` once they are compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Even a slow worker needs less than half a minute per million records, so a worker that takes longer has died. */
const WAIT_MS = 120_000;
/** More threads would only wait for the disk. */
const PARTS_MAX = 4;

/**
 * Starts checking the chain up to `head` on other threads, because that takes longer than the rest of a start. Each
 * thread checks a part, from the stored hash before it to the stored hash of its last record, so that valid parts form
 * one chain. The returned function waits for the verdict: that all parts are valid, or the first invalid part;
 * `undefined` if not all threads responded.
 */
export function beginProof(
  db: DatabaseSync,
  file: string,
  head: Head,
  count = Math.min(availableParallelism(), PARTS_MAX),
): () => Verdict | undefined {
  const waits = partsOf(db, file, head, count).map(beginPart);
  return () => {
    for (const wait of waits) {
      const verdict = wait();
      if (verdict?.ok !== true) return verdict;
    }
    return { ok: true, count: head.seq, head: head.hash };
  };
}

/** Where the parts of a chain up to `head` start and end. */
export function partsOf(db: DatabaseSync, file: string, head: Head, count: number): readonly Part[] {
  const ends = Array.from({ length: count }, (_, i): Head => {
    const seq = Math.floor((head.seq * (i + 1)) / count);
    if (i === count - 1) return head;
    // A missing record has no hash, so the part that should end with it is refused.
    return seq === 0 ? EMPTY : { seq, hash: hashAt(db, seq) ?? '' };
  });
  return ends.map((last, i) => ({ file, after: ends[i - 1] ?? EMPTY, last }));
}

function beginPart(part: Part): () => Verdict | undefined {
  const shared = new SharedArrayBuffer(4 + ANSWER_BYTES);
  const worker = new Worker(new URL(`proof-worker${EXTENSION}`, import.meta.url), {
    workerData: { part, shared },
  });
  worker.unref();
  worker.on('error', () => undefined);
  return () => {
    const length = new Int32Array(shared, 0, 1);
    if (Atomics.wait(length, 0, 0, WAIT_MS) === 'timed-out') return undefined;
    const text = Buffer.from(new Uint8Array(shared, 4, Atomics.load(length, 0))).toString('utf8');
    const verdict = JSON.parse(text) as Verdict | false; // oxlint-disable-line typescript/no-unsafe-type-assertion -- our own worker wrote it
    return verdict === false ? undefined : verdict;
  };
}
