import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

/** `FLIPS=10000` flips as many bits of each file, instead of a sample. */
const FLIPS = Number(process.env['FLIPS'] ?? 100);
/** Time without a message after which a decoder counts as hanging. */
const SILENCE_MS = 30_000;
const tables = fileURLToPath(new URL('../../fixtures/tables/', import.meta.url));

interface Flipped {
  readonly seed: number;
  readonly end: string;
}

/** The result of each flip; the last one is `silent` if the worker sent no result. */
async function flipsOf(file: string, from = 1, count = FLIPS): Promise<readonly Flipped[]> {
  const worker = new Worker(new URL('flip-worker.ts', import.meta.url), {
    workerData: { file: `${tables}${file}`, from, count },
  });
  const found: Flipped[] = [];
  worker.on('message', (one: Flipped) => found.push(one));
  const ended = once(worker, 'exit');
  for (let known = -1; known < found.length;) {
    known = found.length;
    const heard = AbortSignal.timeout(SILENCE_MS);
    const isOver = await Promise.race([
      ended.then(() => true),
      once(worker, 'message', { signal: heard }).then(
        () => false,
        () => false,
      ),
    ]);
    if (isOver) return found;
  }
  await worker.terminate();
  return [...found, { seed: found.length + 1, end: 'silent' }];
}

describe('a Parquet file with one bit flipped', () => {
  it('is imported or refused with a message, and never hangs or fails unexpectedly', async () => {
    const flips = await flipsOf('float32-brotli.parquet');
    expect(flips.filter(({ end }) => end !== 'taken' && end !== 'refused')).toEqual([]);
    expect(flips).toHaveLength(FLIPS);
    expect(new Set(flips.map(({ end }) => end))).toEqual(new Set(['taken', 'refused']));
  }, 3_600_000);
});
