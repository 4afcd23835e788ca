import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tapeFromArrow, tapeToArrow } from '../../src/research/tape/arrow-file.ts';
import { generateTape } from '../../src/research/tape/generate.ts';
import { openTape } from '../../src/research/tape/store.ts';
import type { OpenTape } from '../../src/research/tape/store.ts';
import { columnNames, decimalText, hashOf, tapeOf } from '../../src/research/tape/tape.ts';
import { instant, MINUTE_MS } from '../../src/core/time.ts';
import { aFolder } from '../support/folder.ts';

const BEGIN = instant(Date.UTC(2026, 0, 5));
const aTape = (over: Partial<Parameters<typeof generateTape>[0]> = {}) =>
  generateTape({ pair: 'btcusd', rows: 500, barMs: MINUTE_MS, startsAt: BEGIN, seed: 's', startPrice: 60_000, volatility: 0.03, correlation: 0.5, ...over }); // prettier-ignore

/** A folder with a file of closes. */
function withFile(text = csv()): string {
  const cwd = aFolder();
  writeFileSync(join(cwd, 'a.csv'), text);
  return cwd;
}
const csv = (close = '2'): string => `timestamp_ms,close\n60000,1.5\n120000,${close}\n180000,3\n`;

describe('a tape as an Arrow file', () => {
  it('is restored exactly, as views of the bytes of the file', () => {
    const tape = aTape();
    const bytes = tapeToArrow(tape, { said: 'something' });
    const back = tapeFromArrow(bytes, 'x.arrow');
    expect(back?.tape).toEqual(tape);
    expect(back?.notes.get('said')).toBe('something');
    expect(back?.tape.close.buffer).toBe(bytes.buffer);
    expect(back === undefined ? '' : hashOf(back.tape)).toBe(tape.hash);
  });

  it('is restored exactly at an odd address and without volume', () => {
    const { pair, barMs, ...columns } = aTape();
    const tape = tapeOf({
      pair,
      barMs,
      columns: { ...columns, volume: new Float64Array(500).fill(Number.NaN) },
    });
    const bytes = tapeToArrow(tape);
    const moved = new Uint8Array(bytes.length + 3);
    moved.set(bytes, 3);
    expect(tapeFromArrow(moved.subarray(3), 'x.arrow')?.tape).toEqual(tape);
  });

  it('is refused if a byte of its columns was changed or if it is cut off', () => {
    const bytes = tapeToArrow(aTape());
    for (const at of [0.2, 0.4, 0.6, 0.8, 0.95]) {
      const damaged = new Uint8Array(bytes);
      const place = Math.floor(bytes.length * at);
      damaged[place] = (damaged[place] ?? 0) ^ 1;
      expect(() => tapeFromArrow(damaged, 'x.arrow')).toThrow('x.arrow: damaged tape');
    }
    for (const length of [20, 1_000, bytes.length - 3_000, bytes.length - 1])
      expect(() => tapeFromArrow(bytes.slice(0, length), 'x.arrow')).toThrow(
        /x\.arrow: damaged tape: it(?: is truncated, or another program wrote it|s columns)/u,
      );
  });
});

describe('a generated tape', () => {
  it('is the same for the same seed, and different for another one', () => {
    expect(aTape().hash).toBe('168edfdb9db0bba22ed692946de1fc2c07df370ec4a6ffe08d61035b8d3617b6');
    expect(aTape({ seed: 't' }).hash).not.toBe(aTape().hash);
    expect(aTape({ pair: 'ethusd' }).hash).not.toBe(aTape().hash);
  });

  it('has the configured volatility and the configured correlation with other tapes of its seed', () => {
    const steps = (pair: string, correlation: number): readonly number[] => {
      const { close } = aTape({ pair, correlation, rows: 20_000, barMs: 3_600_000 });
      return Array.from({ length: close.length - 1 }, (_, n) =>
        Math.log((close[n + 1] ?? 1) / (close[n] ?? 1)),
      );
    };
    const deviation = (of: readonly number[]): number =>
      Math.sqrt(of.reduce((sum, x) => sum + x * x, 0) / of.length);
    const [a, b] = [steps('btcusd', 0.5), steps('ethusd', 0.5)];
    expect(deviation(a) * Math.sqrt(24)).toBeCloseTo(0.03, 3);
    const together =
      a.reduce((sum, x, n) => sum + x * (b[n] ?? 0), 0) / a.length / deviation(a) / deviation(b);
    expect(together).toBeCloseTo(0.5, 1);
    expect(steps('btcusd', 1)).toEqual(steps('ethusd', 1));
  });

  it('has prices of few digits, also if they are small', () => {
    const { close } = aTape({ startPrice: 0.000_012_34 });
    const digits = (price: number): string => decimalText(price).replace('.', '').replace(/^0+/u, '');
    expect(Math.max(...Array.from(close, (price) => digits(price).length))).toBeLessThan(9);
  });
});

describe('opening a tape', () => {
  const open = async (cwd: string, files: readonly string[], options: Partial<OpenTape> = {}) =>
    await openTape(files, { cwd, cacheFolder: 'tapes', pair: 'btcusd', ...options });

  it('imports a file once and then uses the cache, with the same report', async () => {
    const cwd = withFile();
    const first = await open(cwd, ['a.csv']);
    expect([first.origin, [...first.tape.close]]).toEqual(['imported', [1.5, 2, 3]]);
    const again = await open(cwd, ['a.csv']);
    expect([again.origin, again.file]).toEqual(['cached', first.file]);
    expect(again.tape).toEqual(first.tape);
    expect(again.report).toEqual(first.report);
    expect(readdirSync(join(cwd, 'tapes'))).toHaveLength(1);
  });

  it('identifies a cached tape by content and options, not by the time of the file', async () => {
    const cwd = aFolder();
    const file = join(cwd, 'a.csv');
    writeFileSync(file, csv());
    await open(cwd, ['a.csv']);
    const { mtime } = statSync(file);
    writeFileSync(file, csv('4'));
    utimesSync(file, mtime, mtime);
    expect((await open(cwd, ['a.csv'])).origin).toBe('imported');
    expect((await open(cwd, ['a.csv'], { barMs: 30_000 })).origin).toBe('imported');
    expect((await open(cwd, ['a.csv'], { pair: 'ethusd' })).tape.pair).toBe('ethusd');
    expect(readdirSync(join(cwd, 'tapes'))).toHaveLength(4);
  });

  it.each(['a changed byte', 'a cut', 'other content'])('rebuilds a cached tape after %s', async (what) => {
    const cwd = withFile();
    const { file = '', tape } = await open(cwd, ['a.csv']);
    const bytes = readFileSync(file);
    const place = bytes.indexOf(Buffer.from(Float64Array.of(1.5).buffer));
    bytes[place] = 1;
    writeFileSync(
      file,
      what === 'a cut' ? bytes.subarray(0, 300) : what === 'a changed byte' ? bytes : 'hello',
    );
    const again = await open(cwd, ['a.csv']);
    expect([again.origin, again.tape.hash]).toEqual(['imported', tape.hash]);
    expect(again.said).toMatch(/(?:damaged tape|is no tape).*made anew/u);
    expect((await open(cwd, ['a.csv'])).origin).toBe('cached');
  });

  it.each(['tapes', '/proc/none/tapes'])(
    'continues without a cache in %s, and reports that',
    async (cache) => {
      const cwd = withFile();
      writeFileSync(join(cwd, 'tapes'), 'a file in its place');
      const opened = await open(cwd, ['a.csv'], { cacheFolder: cache });
      expect([opened.origin, opened.tape.rows]).toEqual(['not_cached', 3]);
      expect(opened.said).toContain(`not kept in ${resolve(cwd, cache)}`);
    },
  );

  it('loads a tape file directly and refuses it for another pair', async () => {
    const cwd = withFile();
    const { file = '', tape } = await open(cwd, ['a.csv']);
    const loaded = await open(cwd, [file], { pair: undefined });
    expect([loaded.origin, loaded.tape]).toEqual(['tape', tape]);
    await expect(open(cwd, [file], { pair: 'ethusd' })).rejects.toThrow('holds btcusd, not ethusd');
  });

  it('leaves no files behind if it fails', async () => {
    const cwd = aFolder();
    mkdirSync(join(cwd, 'tapes'));
    writeFileSync(join(cwd, 'a.csv'), csv('x'));
    await expect(open(cwd, ['a.csv'])).rejects.toThrow('a.csv:3: expected a price, got "x"');
    await expect(open(cwd, ['b.csv'])).rejects.toThrow('cannot read b.csv');
    expect(readdirSync(join(cwd, 'tapes'))).toEqual([]);
  });

  it('removes partial files that another process left long ago, but not recent ones', async () => {
    const cwd = withFile();
    const [old, young] = ['0123.arrow.new-AbCdEf', '4567.arrow.new-GhIjKl'].map((name) =>
      join(cwd, 'tapes', name),
    );
    for (const path of [old ?? '', young ?? '']) {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'tape.arrow'), 'half');
    }
    utimesSync(old ?? '', 1, 1);
    await open(cwd, ['a.csv']);
    expect(readdirSync(join(cwd, 'tapes'))).toHaveLength(2);
    expect([old, young].map((path) => existsSync(path ?? ''))).toEqual([false, true]);
  });

  it('explains why a file cannot be read', async () => {
    const cwd = aFolder();
    mkdirSync(join(cwd, 'd'));
    await expect(open(cwd, ['none.csv'])).rejects.toThrow('cannot read none.csv: there is no such file');
    await expect(open(cwd, ['d'])).rejects.toThrow('cannot read d: it is a folder: name the files in it');
  });

  it('joins files of one pair in any order', async () => {
    const cwd = aFolder();
    const whole = aTape();
    const lines = Array.from(whole.times, (at, n) => `${at},${columnNames.slice(1).map((name) => whole[name][n]).join(',')}`); // prettier-ignore
    const head = 'timestamp_ms,open,high,low,close,volume';
    writeFileSync(join(cwd, 'late.csv'), [head, ...lines.slice(200)].join('\n'));
    // Overlapping: 50 bars are in both files.
    writeFileSync(join(cwd, 'early.csv'), [head, ...lines.slice(0, 250)].join('\n'));
    const { tape, report } = await open(cwd, ['late.csv', 'early.csv']);
    expect(tape.hash).toBe(whole.hash);
    expect(report).toMatchObject({ rows: 500, duplicates: { identical: 50, conflicting: 0 } });
  });

  it.each([
    ['pair', 'btcusd', 'btbusd'],
    ['length of a bar', '60000', '20000'],
  ])('is rebuilt if its %s is damaged, which its hash does not cover', async (_, was, is) => {
    const cwd = aFolder();
    writeFileSync(join(cwd, 'x.csv'), csv());
    const options = { cwd, cacheFolder: 'tapes', pair: 'btcusd' };
    const { file = '' } = await openTape(['x.csv'], options);
    const bytes = readFileSync(file);
    const noted = (word: string): Buffer => Buffer.concat([Buffer.of(word.length, 0, 0, 0), Buffer.from(word)]); // prettier-ignore
    for (let at = bytes.indexOf(noted(was)); at >= 0; at = bytes.indexOf(noted(was), at + 1))
      bytes.set(noted(is), at);
    writeFileSync(file, bytes);
    const again = await openTape(['x.csv'], options);
    expect(again.said).toContain('damaged tape: it does not match the report of its import: made anew');
    expect([again.tape.pair, again.tape.barMs]).toEqual(['btcusd', 60_000]);
  });
});
