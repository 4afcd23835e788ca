import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from './support/desk.ts';
import { finish, ROOT } from './support/program.ts';

const CONFIG = join(ROOT, 'config/paper.yaml');

describe('tranche data record', () => {
  it('writes bars of venue prices that data import can read, and resumes where it ended', async () => {
    const cwd = aFolder();
    const line = ['data', 'record', 'btcusd', 'ethusd', '--config', CONFIG, '--out', 'seen', '--bar', 'PT1S', '--for', 'PT5S']; // prettier-ignore
    const first = await finish(line, { cwd });
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/btcusd: \d+ bars\nethusd: \d+ bars/u);
    // A partial line, as after a power failure.
    appendFileSync(join(cwd, 'seen/btcusd.csv'), '17');
    const again = await finish(line, { cwd });
    expect(again.stderr).toContain('continues after ');
    const bars = readFileSync(join(cwd, 'seen/btcusd.csv'), 'utf8').trimEnd().split('\n').slice(1);
    expect(bars.length).toBeGreaterThan(1);
    const read = await finish(
      ['data', 'import', 'seen/btcusd.csv', '--pair', 'btcusd', '--bar', 'PT1S', '--json'],
      { cwd },
    );
    expect(JSON.parse(read.stdout)).toMatchObject({ pair: 'btcusd', bar_ms: 1_000, rows: bars.length });
  });

  it('refuses to continue with another bar length, or to write to a path that is not a folder', async () => {
    const cwd = aFolder();
    const line = (...more: readonly string[]) => ['data', 'record', 'btcusd', '--config', CONFIG, '--for', 'PT2S', ...more]; // prettier-ignore
    const rows = Array.from({ length: 30 }, (_, n) => `${1_700_000_000_000 + n * 5_000},1,1,1,1`);
    mkdirSync(join(cwd, 'seen'));
    writeFileSync(join(cwd, 'seen/btcusd.csv'), ['timestamp_ms,open,high,low,close', ...rows, ''].join('\n'));
    for (const bar of ['PT1S', 'PT7S'])
      expect(await finish(line('--out', 'seen', '--bar', bar), { cwd })).toMatchObject({
        code: 64,
        stderr: expect.stringContaining(
          'btcusd.csv has bars of PT5S: use --bar PT5S or another folder',
        ) as string,
      });
    expect((await finish(line('--out', 'seen', '--bar', 'PT5S'), { cwd })).stderr).toContain(
      'continues after 30 bars',
    );
    const file = await finish(line('--out', 'seen/btcusd.csv'), { cwd });
    expect([file.code, file.stderr]).toEqual([74, expect.stringContaining('cannot be written')]);
  });

  it.each([
    [
      'an unknown pair',
      ['btcusd', 'btcusdd', '--config', CONFIG],
      64,
      /"btcusdd" is not two currencies .* it lists .*\bbtc\b/u,
    ],
    ['an invalid pair', ['BTC/USD', '--config', CONFIG], 64, /BTC/u],
    ['no config file', ['btcusd', '--config', 'none.yaml'], 78, /none\.yaml/u],
  ] as const)('refuses to start with %s, and creates no folder', async (_, args, code, says) => {
    const cwd = aFolder();
    const ran = await finish(['data', 'record', ...args, '--out', 'seen', '--for', 'PT2S'], { cwd });
    expect(ran.code).toBe(code);
    expect(ran.stderr).toMatch(says);
    expect(existsSync(join(cwd, 'seen'))).toBe(false);
  });
});
