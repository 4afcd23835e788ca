import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { expectRan, runLine } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';

const BARS = [
  'timestamp_ms,open,high,low,close,volume',
  ...[1, 2, 3, 6].map((minute) => `${minute * 60_000},2,3,1,2.5,0`),
  '360000,2,3,1,2.5,0',
  '',
].join('\n');

const IMPORT = ['import', 'bars.csv', '--pair', 'btcusd'];

function world(): { readonly cwd: string; readonly run: (...line: readonly string[]) => Promise<Ran> } {
  const cwd = aFolder({ 'bars.csv': BARS });
  return { cwd, run: async (...line) => await runLine(['data', ...line], { cwd }) };
}

describe('tranche data import', () => {
  it('stores a tape and reports missing, duplicate and zero-volume rows', async () => {
    const { cwd, run } = world();
    const ran = await run(...IMPORT);
    const gap =
      '2 bars missing (33.333 %) in 1 place; the longest lasts 2 bars from 1970-01-01T00:04:00.000Z';
    expectRan(ran, 0, '4 bars of PT1M', gap, '1 duplicate row dropped', '4 rows of volume 0');
    expect(ran.err).toMatch(/^wrote .*tapes\/[0-9a-f]{32}\.arrow\n$/u);
    expect(readdirSync(join(cwd, 'var', 'tapes'))).toHaveLength(1);
    expect((await run(...IMPORT)).err).toContain('was imported before: ');
  });

  it('reports the same as JSON', async () => {
    const { run } = world();
    const { out, err } = await run(...IMPORT, '--json', '--cache', 'elsewhere');
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({
      pair: 'btcusd',
      bar_ms: 60_000,
      rows: 4,
      first: '1970-01-01T00:01:00.000Z',
      last: '1970-01-01T00:06:00.000Z',
      gaps: { missing: 2, holes: 1, longest: { bars: 2, after: 180_000 } },
      duplicates: { identical: 1, conflicting: 0 },
      zero_volume: 4,
      origin: 'imported',
      sources: [{ name: 'bars.csv', container: 'plain', formats: ['tranche'], rows: 5 }],
    });
  });

  it('writes the tape to a new file, which info reads', async () => {
    const { run } = world();
    expect((await run(...IMPORT, '--out', 'b.arrow')).err).toContain('b.arrow');
    const info = await run('info', 'b.arrow', '--json');
    const tape = { pair: 'btcusd', rows: 4, duplicates: { identical: 1 }, origin: 'tape' };
    expect(JSON.parse(info.out)).toMatchObject(tape);
  });
});

describe('tranche data info', () => {
  it('reports the pair as unknown if the file name contains none', async () => {
    const { cwd, run } = world();
    const { code, out } = await run('info', 'bars.csv');
    expect([code, out]).toEqual([0, expect.stringContaining('unknown: an import needs --pair')]);
    expect(JSON.parse((await run('info', 'bars.csv', '--json')).out)).not.toHaveProperty('pair');
    expect(readdirSync(cwd)).toEqual(['bars.csv']);
  });
});

describe('the folder of tapes', () => {
  it('is set by --cache or by TRANCHE_CACHE', async () => {
    const { cwd, run } = world();
    vi.stubEnv('TRANCHE_CACHE', 'by-environment');
    await run(...IMPORT);
    await run(...IMPORT, '--cache', 'by-option');
    expect(readdirSync(cwd).toSorted()).toEqual(['bars.csv', 'by-environment', 'by-option']);
  });
});

describe('tranche data generate', () => {
  it('writes one tape per pair, identical for the same seed', async () => {
    const { run } = world();
    const pairs = ['generate', 'btcusd=60000', 'ethusd=3000'];
    const line = [...pairs, '--rows', '50', '--bar', 'PT1H', '--start', '2024-01-01T00:00:00Z'];
    expectRan(await run(...line, '--out', 'a'), 0, /wrote .*a\/btcusd\.arrow\nwrote .*a\/ethusd\.arrow\n/u);
    expectRan(await run(...line, '--out', 'b'), 0);
    expectRan(await run(...line, '--out', 'c', '--seed', '2'), 0);
    expectRan(await run(...line, '--out', 'a'), 64);
    const info = async (name: string): Promise<string> => (await run('info', `${name}/btcusd.arrow`)).out;
    expect(await info('a')).toMatch(
      /btcusd\n.*50 bars of PT1H\n.*2024-01-01T00:00:00\.000Z\n(?:.*\n)*gaps +none/u,
    );
    expect(await info('b')).toBe(await info('a'));
    expect(await info('c')).not.toBe(await info('a'));
  });
});
