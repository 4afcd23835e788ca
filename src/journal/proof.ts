import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { EMPTY } from './chain.ts';
import type { Head, Verdict } from './chain.ts';
import { hashAt } from './verify-file.ts';
import type { Part } from './verify-part.ts';

/** Bytes for the answer, which is a line of text. */
const ANSWER_BYTES = 8_192;
/** Half a minute a million records is slow; a worker that takes longer has died. */
const WAIT_MS = 120_000;
/** More threads than that wait for the disk and not for one another. */
const PARTS_MAX = 4;

interface Task {
  readonly part: Part;
  readonly shared: SharedArrayBuffer;
}

export function readTask(data: unknown): Task {
  if (typeof data === 'object' && data !== null && 'part' in data && 'shared' in data) {
    const { part, shared } = data;
    if (shared instanceof SharedArrayBuffer && typeof part === 'object' && part !== null)
      return { part: part as Part, shared }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `beginProof` made it
  }
  throw new TypeError('expected a part of a journal and room for the answer');
}

/** The length of the answer wakes whoever waits for it. `undefined`: the part could not be looked at. */
export function answer(shared: SharedArrayBuffer, verdict: Verdict | undefined): void {
  const text = Buffer.from(JSON.stringify(verdict ?? false)).subarray(0, ANSWER_BYTES);
  new Uint8Array(shared, 4).set(text);
  const length = new Int32Array(shared, 0, 1);
  Atomics.store(length, 0, text.length);
  Atomics.notify(length, 0);
}

/**
 * Begins to check the chain up to `head` on other threads, since that takes longer than all the rest of a start: each
 * takes a part, from the stored hash of the record before it to the stored hash of its last one, so that parts which hold
 * are one chain. The returned function waits for the verdict: that all of them hold, or the first that does not;
 * `undefined` when not all answered.
 */
export function beginProof(
  db: DatabaseSync,
  file: string,
  head: Head,
  count = Math.min(availableParallelism(), PARTS_MAX),
): () => Verdict | undefined {
  const ends = Array.from({ length: count }, (_, i): Head => {
    const seq = Math.floor((head.seq * (i + 1)) / count);
    if (i === count - 1) return head;
    // A record that is missing has no hash: then no part ends with it, and the part is refused.
    return seq === 0 ? EMPTY : { seq, hash: hashAt(db, seq) ?? '' };
  });
  const waits = ends.map((last, i) => beginPart({ file, after: ends[i - 1] ?? EMPTY, last }));
  return () => {
    for (const wait of waits) {
      const verdict = wait();
      if (verdict?.ok !== true) return verdict;
    }
    return { ok: true, count: head.seq, head: head.hash };
  };
}

function beginPart(part: Part): () => Verdict | undefined {
  const shared = new SharedArrayBuffer(4 + ANSWER_BYTES);
  const worker = new Worker(new URL('prover.ts', import.meta.url), { workerData: { part, shared } });
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
