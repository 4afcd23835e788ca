import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { addData } from '../../src/app/cli/data-cli.ts';
import { exitCodes } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import { runLine } from './support/cli.ts';
import type { Ran } from './support/cli.ts';
import { aFolder } from '../support/folder.ts';

const BARS = [
  'timestamp_ms,open,high,low,close,volume',
  ...[1, 2, 3, 6].map((minute) => `${minute * 60_000},2,3,1,2.5,0`),
  '360000,2,3,1,2.5,0',
  '',
].join('\n');

function world(): { readonly cwd: string; readonly run: (...line: readonly string[]) => Promise<Ran> } {
  const cwd = aFolder();
  const run = async (...line: readonly string[]): Promise<Ran> =>
    await runLine(addData, ['data', ...line], { cwd, now: instant(0), config: 'none' });
  writeFileSync(join(cwd, 'bars.csv'), BARS);
  return { cwd, run };
}

describe('tranche data import', () => {
  it('stores a tape and reports missing, duplicate and zero-volume rows', async () => {
    const { cwd, run } = world();
    const { code, out, err } = await run('import', 'bars.csv', '--pair', 'btcusd');
    expect(code).toBe(0);
    expect(out).toContain('4 bars of PT1M');
    expect(out).toContain(
      '2 bars missing (33.333 %) in 1 place; the longest lasts 2 bars from 1970-01-01T00:04:00.000Z',
    );
    expect(out).toContain('1 duplicate row dropped');
    expect(out).toContain('4 rows of volume 0');
    expect(err).toMatch(/^wrote .*tapes\/[0-9a-f]{32}\.arrow\n$/u);
    expect(readdirSync(join(cwd, 'var', 'tapes'))).toHaveLength(1);
    expect((await run('import', 'bars.csv', '--pair', 'btcusd')).err).toContain('was imported before: ');
  });

  it('reports the same as JSON', async () => {
    const { run } = world();
    const { out, err } = await run(
      'import',
      'bars.csv',
      '--pair',
      'btcusd',
      '--json',
      '--cache',
      'elsewhere',
    );
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
    expect((await run('import', 'bars.csv', '--pair', 'btcusd', '--out', 'b.arrow')).err).toContain(
      'b.arrow',
    );
    const again = await run('import', 'bars.csv', '--pair', 'btcusd', '--out', 'b.arrow');
    expect([again.code, again.err]).toEqual([exitCodes.usage, 'b.arrow exists: nothing was written']);
    const info = await run('info', 'b.arrow', '--json');
    expect(JSON.parse(info.out)).toMatchObject({
      pair: 'btcusd',
      rows: 4,
      duplicates: { identical: 1 },
      origin: 'tape',
    });
  });

  it('exits with the code for data errors and names the file and the row of an invalid row', async () => {
    const { cwd, run } = world();
    writeFileSync(join(cwd, 'bad.csv'), BARS.replace('120000,2,3', '120000,2,three'));
    const { code, err } = await run('import', 'bad.csv', '--pair', 'btcusd');
    expect([code, err]).toEqual([exitCodes.data, 'bad.csv:3: expected a price, got "three"']);
    expect((await run('import', 'none.csv', '--pair', 'btcusd')).code).toBe(exitCodes.data);
  });

  it('requires --pair and rejects invalid options', async () => {
    const { run } = world();
    expect((await run('import', 'bars.csv')).err).toContain('add --pair');
    for (const line of [['--format', 'none'], ['--unit', 'hours'], ['--bar', 'soon'], ['--bar', 'PT0S'], ['--keep', 'both'], ['--price-scale', '0'], ['--pair', 'BTC/USD']]) // prettier-ignore
      expect([line, (await run('import', 'bars.csv', '--pair', 'btcusd', ...line)).code]).toEqual([line, exitCodes.usage]); // prettier-ignore
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
    await run('import', 'bars.csv', '--pair', 'btcusd');
    await run('import', 'bars.csv', '--pair', 'btcusd', '--cache', 'by-option');
    expect(readdirSync(cwd).toSorted()).toEqual(['bars.csv', 'by-environment', 'by-option']);
  });
});

describe('tranche data generate', () => {
  it('writes one tape per pair, identical for the same seed', async () => {
    const { run } = world();
    const line = [
      'generate',
      'btcusd=60000',
      'ethusd=3000',
      '--rows',
      '50',
      '--bar',
      'PT1H',
      '--start',
      '2024-01-01T00:00:00Z',
    ];
    expect((await run(...line, '--out', 'a')).err).toMatch(
      /wrote .*a\/btcusd\.arrow\nwrote .*a\/ethusd\.arrow\n/u,
    );
    expect((await run(...line, '--out', 'b')).code).toBe(0);
    expect((await run(...line, '--out', 'c', '--seed', '2')).code).toBe(0);
    const info = async (name: string): Promise<string> => (await run('info', `${name}/btcusd.arrow`)).out;
    expect(await info('a')).toMatch(
      /btcusd\n.*50 bars of PT1H\n.*2024-01-01T00:00:00\.000Z\n(?:.*\n)*gaps +none/u,
    );
    expect(await info('b')).toBe(await info('a'));
    expect(await info('c')).not.toBe(await info('a'));
  });

  it('rejects invalid options and does not overwrite a tape', async () => {
    const { run } = world();
    expect((await run('generate', 'btcusd', '--rows', '5', '--out', 'a')).code).toBe(0);
    for (const line of [
      ['btcusd', '--rows', '5', '--out', 'a'],
      ['BTC/USD', '--out', 'b'],
      ['btcusd', 'btcusd=5', '--rows', '5', '--out', 'b'],
      ['btcusd', '--rows', '0', '--out', 'b'],
      ['btcusd', '--volatility', '2', '--out', 'b'],
      ['btcusd', '--correlation', '1.5', '--out', 'b'],
      ['btcusd', '--start', 'soon', '--out', 'b'],
    ])
      expect([line, (await run('generate', ...line)).code]).toEqual([line, exitCodes.usage]);
  });
});
