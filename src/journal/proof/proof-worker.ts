/**
 * A worker that checks part of the chain of a journal while the main thread continues the start; `proof.ts` starts it.
 * It has few imports, because each thread loads them again.
 */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { readTask, answer } from './proof-task.ts';
import { verifyPart } from './verify-part.ts';
import type { Part } from './verify-part.ts';

const { part, shared } = readTask(workerData);
answer(shared, look(part));

function look(at: Part): ReturnType<typeof verifyPart> {
  try {
    using db = new DatabaseSync(at.file, { readOnly: true, timeout: 5_000 });
    return verifyPart(db, at);
  } catch {
    return undefined; // the main thread checks it itself
  }
}
