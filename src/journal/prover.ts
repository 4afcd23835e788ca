/** A worker that checks the chain of a journal while the main thread replays it: `proof.ts` starts it. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { readTask, answer } from './proof.ts';
import { verifyFile } from './verify-file.ts';

const { file, shared } = readTask(workerData);
const db = new DatabaseSync(file, { readOnly: true });
try {
  answer(shared, verifyFile(db, file));
} finally {
  db.close();
}
