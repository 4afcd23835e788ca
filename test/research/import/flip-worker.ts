import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { seededRandom } from '../../../src/simulator/market/random.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { importTape } from '../../../src/research/import/read.ts';

/** Reads a file repeatedly, each time with another bit flipped, and reports each result; without a report, a read hangs. */
const { file, from, count } = workerData as {
  readonly file: string;
  readonly from: number;
  readonly count: number;
};
const whole = readFileSync(file);
const name = file.split('/').at(-1) ?? file;
for (let seed = from; seed < from + count; seed++) {
  const random = seededRandom(`flip ${seed}`);
  const bytes = Buffer.from(whole);
  const at = Math.floor(random.next() * bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
  const began = performance.now();
  let end: string;
  try {
    await importTape([{ name, bytes }], { pair: 'btcusd' });
    end = 'taken';
  } catch (error) {
    end =
      error instanceof OperatorError && error.message.includes(name) ? 'refused' : `thrown: ${String(error)}`;
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ seed, end, ms: performance.now() - began, mb: process.memoryUsage().rss / 1e6 });
}
