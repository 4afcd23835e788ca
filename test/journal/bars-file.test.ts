import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { price } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import { barsFile } from '../../src/journal/sidecar/bars-file.ts';
import { aFolder } from '../support/folder.ts';

const aFile = (): string => join(aFolder(), 'paper.db.bars');
const bar = {
  from: instant(0),
  open: price('60000.5'),
  high: price('60001'),
  low: price('59999.25'),
  close: price('60000'),
};
const series = [{ pair: 'btcusd', intervalMs: 300_000, bars: [bar] }];
const noWarning = (): never => {
  throw new Error('no warning is due');
};

describe('the file of bars', () => {
  it('returns the bars that were stored last and is readable only by its owner', () => {
    const file = aFile();
    const bars = barsFile(file, noWarning);
    bars.keep([]);
    bars.keep(series);
    expect(barsFile(file, noWarning).read()).toEqual(series);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('returns no bars if the file is missing or damaged', () => {
    const file = aFile();
    const bars = barsFile(file, noWarning);
    expect(bars.read()).toEqual([]);
    bars.keep(series);
    const whole = readFileSync(file, 'utf8');
    for (const odd of [
      '',
      whole.slice(0, -9),
      '[]',
      whole.replace('60000.5', 'x'),
      whole.replace('1', '2'),
    ]) {
      writeFileSync(file, odd);
      expect(bars.read()).toEqual([]);
    }
  });

  it('reports why the bars could not be stored, without throwing', () => {
    const said: string[] = [];
    barsFile('/nowhere/paper.db.bars', (why) => said.push(why)).keep(series);
    expect(said).toEqual([expect.stringContaining('ENOENT')]);
  });
});
