import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from './support/desk.ts';
import { finish, ROOT } from './support/program.ts';

const CONFIG = join(ROOT, 'config/paper.yaml');

describe('tranche data record', () => {
  it('writes bars of the prices of the venue, goes on where it ended, and is read by data import', async () => {
    const cwd = aFolder();
    const line = ['data', 'record', 'btcusd', 'ethusd', '--config', CONFIG, '--out', 'seen', '--bar', 'PT1S', '--for', 'PT5S']; // prettier-ignore
    const first = await finish(line, { cwd });
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/btcusd: \d+ bars\nethusd: \d+ bars/u);
    // As after a power cut: a piece of a line.
    appendFileSync(join(cwd, 'seen/btcusd.csv'), '17');
    const again = await finish(line, { cwd });
    expect(again.stderr).toContain('goes on after its');
    const bars = readFileSync(join(cwd, 'seen/btcusd.csv'), 'utf8').trimEnd().split('\n').slice(1);
    expect(bars.length).toBeGreaterThan(1);
    const read = await finish(
      ['data', 'import', 'seen/btcusd.csv', '--pair', 'btcusd', '--bar', 'PT1S', '--json'],
      { cwd },
    );
    expect(JSON.parse(read.stdout)).toMatchObject({ pair: 'btcusd', bar_ms: 1_000, rows: bars.length });
  });

  it('needs pairs, and a config', async () => {
    const cwd = aFolder();
    expect(await finish(['data', 'record', 'BTC/USD', '--config', CONFIG, '--out', 'seen'], { cwd })).toMatchObject({ code: 64 }); // prettier-ignore
    expect(await finish(['data', 'record', 'btcusd', '--config', 'none.yaml', '--out', 'seen'], { cwd })).toMatchObject({ code: 78 }); // prettier-ignore
  });
});
