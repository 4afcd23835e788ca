import type { Verdict } from './link.ts';
import type { Part } from './verify-part.ts';

/** Size of the buffer for the response, which is a line of text. */
export const ANSWER_BYTES = 8_192;

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
  throw new TypeError('expected a part of a journal and a buffer for the answer');
}

/** Setting the response's length wakes the waiting thread. `undefined`: the part could not be read. */
export function answer(shared: SharedArrayBuffer, verdict: Verdict | undefined): void {
  const text = Buffer.from(JSON.stringify(verdict ?? false)).subarray(0, ANSWER_BYTES);
  new Uint8Array(shared, 4).set(text);
  const length = new Int32Array(shared, 0, 1);
  Atomics.store(length, 0, text.length);
  Atomics.notify(length, 0);
}
