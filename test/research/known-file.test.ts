import { createHash } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KNOWN_BYTES_MIN, keepHash, knownHash, sight } from '../../src/research/tape/known-file.ts';
import type { Sighting } from '../../src/research/tape/known-file.ts';
import { openTape } from '../../src/research/tape/store.ts';

const AGO_S = 1_000_000_000;
const PAUSE_S = 3;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'tranche-known-'));
  mkdirSync(join(path, 'tapes'));
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** Makes the stored hashes younger than their files by `seconds`: the time of a change cannot be set. */
function letPass(cwd: string, seconds = PAUSE_S): void {
  for (const name of readdirSync(join(cwd, 'tapes'))) {
    const path = join(cwd, 'tapes', name);
    const at = statSync(path).mtimeMs / 1_000 + seconds;
    utimesSync(path, at, at);
  }
}

const HASH = 'a'.repeat(64);
function seen(cwd: string, path: string): Sighting {
  const sighting = sight(path, join(cwd, 'tapes'));
  if (sighting === undefined) throw new Error('it is large enough');
  return sighting;
}
function kept(cwd: string, text = 'x'.repeat(KNOWN_BYTES_MIN)) {
  const path = join(cwd, 'a.csv');
  writeFileSync(path, text);
  keepHash(join(cwd, 'tapes'), seen(cwd, path), HASH);
  return path;
}
const known = (cwd: string, path: string): string | undefined => {
  const sighting = sight(path);
  return sighting && knownHash(join(cwd, 'tapes'), sighting);
};

describe('the stored hash of a file', () => {
  it('is used as long as the file does not change', () => {
    const cwd = folder();
    const path = kept(cwd);
    letPass(cwd);
    expect(known(cwd, path)).toBe(HASH);
    expect(known(cwd, path)).toBe(HASH);
    expect(readdirSync(join(cwd, 'tapes'))).toHaveLength(1);
  });

  it('is not used if it was stored right after the file was written', () => {
    const cwd = folder();
    const path = kept(cwd);
    expect(known(cwd, path)).toBeUndefined();
    letPass(cwd, 1.5);
    expect(known(cwd, path)).toBeUndefined();
    letPass(cwd, 1);
    expect(known(cwd, path)).toBe(HASH);
  });

  it('is not used if the file was seen right after it was written, however long its import took', () => {
    const cwd = folder();
    const path = kept(cwd);
    const sighting = seen(cwd, path);
    const changedMs = statSync(path).mtimeMs;
    for (const [ms, is] of [[1_500, undefined], [2_500, HASH]] as const) {
      keepHash(join(cwd, 'tapes'), { ...sighting, seenMs: changedMs + ms }, HASH);
      expect(known(cwd, path)).toBe(is);
    }
  }); // prettier-ignore

  it.each([
    ['a change of its bytes', (path: string) => { writeFileSync(path, 'y'.repeat(KNOWN_BYTES_MIN)); }],
    ['a change of its bytes with the old modification time', (path: string) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, 'y'.repeat(KNOWN_BYTES_MIN));
      utimesSync(path, atime, mtime);
    }],
    ['a replacement by another file', (path: string) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(`${path}.2`, 'y'.repeat(KNOWN_BYTES_MIN));
      utimesSync(`${path}.2`, atime, mtime);
      renameSync(`${path}.2`, path);
    }],
    ['a change of its length', (path: string) => { writeFileSync(path, 'y'.repeat(KNOWN_BYTES_MIN + 1)); }],
    ['a change of its modification time', (path: string) => { utimesSync(path, AGO_S, AGO_S); }],
    ['the creation of a hard link', (path: string) => { linkSync(path, `${path}.2`); }],
  ])('is not used after %s', (_, change) => {
    const cwd = folder();
    const path = kept(cwd);
    letPass(cwd);
    expect(known(cwd, path)).toBe(HASH);
    change(path);
    expect(known(cwd, path)).toBeUndefined();
  }); // prettier-ignore

  it('is not stored for a file that changed while it was read, nor for a small file', () => {
    const cwd = folder();
    const path = join(cwd, 'a.csv');
    writeFileSync(path, 'x'.repeat(KNOWN_BYTES_MIN));
    const before = seen(cwd, path);
    writeFileSync(path, 'y'.repeat(KNOWN_BYTES_MIN + 1));
    keepHash(join(cwd, 'tapes'), before, HASH);
    expect(readdirSync(join(cwd, 'tapes'))).toEqual([]);
    writeFileSync(path, 'x'.repeat(KNOWN_BYTES_MIN - 1));
    expect(sight(path)).toBeUndefined();
    expect(sight(cwd)).toBeUndefined();
    expect(sight(join(cwd, 'none'))).toBeUndefined();
  });

  it('is not used if it is damaged', () => {
    const cwd = folder();
    const path = kept(cwd);
    const [name = ''] = readdirSync(join(cwd, 'tapes'));
    writeFileSync(join(cwd, 'tapes', name), 'something');
    letPass(cwd);
    expect(known(cwd, path)).toBeUndefined();
  });
});

describe('opening the tape of a large file again', () => {
  const ROWS = 200_000;
  const csv = (last: string): string =>
    [
      'timestamp_ms,close',
      ...Array.from({ length: ROWS }, (_, n) => `${(n + 1) * 60_000},1.5`),
      `${(ROWS + 1) * 60_000},${last}`,
    ].join('\n');
  const open = async (cwd: string) =>
    await openTape(['a.csv'], { cwd, cacheFolder: 'tapes', pair: 'btcusd' });

  it('returns the same tape without reading the file, and reads the file after any change', async () => {
    const cwd = folder();
    const path = join(cwd, 'a.csv');
    writeFileSync(path, csv('2'));
    const first = await open(cwd);
    expect(first.origin).toBe('imported');
    letPass(cwd);
    const again = await open(cwd);
    expect([again.origin, again.file, again.tape.hash]).toEqual(['cached', first.file, first.tape.hash]);
    expect(again.report).toEqual(first.report);

    writeFileSync(path, csv('3'));
    const changed = await open(cwd);
    expect([changed.origin, changed.tape.close.at(-1)]).toEqual(['imported', 3]);
    letPass(cwd);
    expect((await open(cwd)).tape.close.at(-1)).toBe(3);
    // A tape that was removed or damaged is rebuilt from the file.
    writeFileSync(changed.file ?? '', 'hello');
    const anew = await open(cwd);
    expect([anew.origin, anew.said]).toEqual(['imported', expect.stringContaining('made anew')]);
    rmSync(changed.file ?? '');
    expect((await open(cwd)).origin).toBe('imported');
    rmSync(path);
    await expect(open(cwd)).rejects.toThrow('cannot read a.csv: there is no such file');
    symlinkSync('a.csv', path);
    await expect(open(cwd)).rejects.toThrow(/^cannot read a\.csv: /u);
  });

  it('trusts the stored hash without reading the file', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'a.csv'), csv('2'));
    expect((await open(cwd)).tape.close.at(-1)).toBe(2);
    const before = seen(cwd, join(cwd, 'a.csv'));
    const other = csv('3');
    mkdirSync(join(cwd, 'other'));
    writeFileSync(join(cwd, 'other/a.csv'), other);
    await openTape(['other/a.csv'], { cwd, cacheFolder: 'tapes', pair: 'btcusd' });
    // A wrong hash, which a reading of the file would detect.
    keepHash(join(cwd, 'tapes'), before, createHash('sha256').update(other).digest('hex'));
    letPass(cwd);
    expect((await open(cwd)).tape.close.at(-1)).toBe(3);
  });
});
