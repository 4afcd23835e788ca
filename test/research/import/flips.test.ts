import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

/** `FLIPS=10000` flips as many bits of each file, instead of a sample. */
const FLIPS = Number(process.env['FLIPS'] ?? 40);
/** Far longer than what ends a decoder that loops. */
const SILENCE_MS = 30_000;
const tables = fileURLToPath(new URL('../../fixtures/tables/', import.meta.url));

interface Flipped {
  readonly seed: number;
  readonly end: string;
}

/** How each flip ended; the last one is `silent` where nothing was heard of it. */
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

describe.each(readdirSync(tables))('%s with one bit flipped', (file) => {
  it('becomes a tape, or is refused in a sentence with its name; it never hangs, and is never a bug', async () => {
    const flips = await flipsOf(file);
    expect(flips.filter(({ end }) => end !== 'taken' && end !== 'refused')).toEqual([]);
    expect(flips).toHaveLength(FLIPS);
    expect(new Set(flips.map(({ end }) => end))).toEqual(new Set(['taken', 'refused']));
  }, 3_600_000);
});

describe('the one flip of 60,000 that was an error nobody expected', () => {
  it('which makes a decimal a fraction, is refused like the others', async () => {
    // Some more after it: the error came a moment later.
    const flips = await flipsOf('decimal-zstd.parquet', 9_441, 5);
    expect(flips).toHaveLength(5);
    expect(flips[0]).toMatchObject({ seed: 9_441, end: 'refused' });
  });
});
