import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { runSeed } from './same-seed.ts';
import type { Leaving } from './same-seed.ts';

/** The same run in a separate process, with different memory and hash seeds of the runtime, and no warm-up. */
function runSeedElsewhere(seed: string): Leaving {
  const module = JSON.stringify(new URL('same-seed.ts', import.meta.url).href);
  const program = `import { runSeed } from ${module}; console.log(JSON.stringify(runSeed(${JSON.stringify(seed)})));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  return JSON.parse(output) as Leaving;
}

describe('the engine on virtual time', () => {
  const first = runSeed('17');

  it('fills its slices on a venue that refuses quotes and cancels orders', () => {
    expect(first.filled).toBeGreaterThan(250);
    expect(first.records).toBeGreaterThan(300 * 6);
  });

  it('writes the same journal twice for the same seed', () => {
    expect(runSeed('17')).toStrictEqual(first);
  });

  it('writes the same journal in another process', () => {
    expect(runSeedElsewhere('17')).toStrictEqual(first);
  });

  it('writes a different journal for a different seed', () => {
    expect(runSeed('18').head).not.toBe(first.head);
  });
});
