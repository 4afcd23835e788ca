import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/folder.ts';

const repo = join(import.meta.dirname, '../..');

/** Runs a Node program as a user does, and returns its output. @throws unless it exits with code 0. */
const run = async (...args: readonly string[]): Promise<string> =>
  await new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: repo }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new Error(stderr, { cause: error }));
    });
  });

describe('an example of the repository', () => {
  it.each(['own-kernel/scale-in', 'kernel-with-bars/trend'])(
    'trades exactly its total in a backtest: %s',
    async (name) => {
      const folder = aFolder();
      await run('bin/tranche.js', 'data', 'generate', 'btcusd=60000', '--rows', '20000', '--out', folder);
      const more = ['--data', `btcusd=${folder}/btcusd.arrow`, '--holdings', 'usd=100000', '--cache', folder];
      const printed = await run('bin/tranche.js', 'backtest', `examples/${name}.yaml`, ...more);
      expect(printed).toMatch(/(?:scale-in|trend) .*buy .*\b10 /u);
      expect(printed).toContain('Balances at the end: 95,000 usd');
    },
  );

  it('passes its own tests: kernel-with-bars', async () => {
    const tested = await run('--conditions=source', '--test', '--test-reporter=tap', 'examples/kernel-with-bars/trend.test.ts'); // prettier-ignore
    expect(tested).toContain('# pass 4');
  });

  it('fills each of its eight slices: embedded-engine', async () => {
    const lines = (await run('examples/embedded-engine.ts')).trimEnd().split('\n');
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(/^2026-01-05T00:00:0.*Z {2}bought 0\.125 btc at /u);
  });

  it('trades at the prices of its own venue: custom-venue', async () => {
    const lines = (await run('examples/custom-venue.ts')).trimEnd().split('\n');
    expect(lines).toHaveLength(8);
    for (const line of lines) expect(line).toContain('bought 0.125 btc at 60030 for 7503.75 usd');
  });
});
