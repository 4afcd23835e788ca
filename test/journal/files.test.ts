import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { beforeEach, describe, expect, it } from 'vitest';
import { createPrivate } from '../../src/journal/sqlite/files.ts';
import { aFolder } from '../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('a private file', () => {
  it('is created readable only by its owner, like its folder', () => {
    const file = join(folder, 'state', 'journal.db');
    createPrivate(file);
    expect([modeOf(file), modeOf(join(folder, 'state'))]).toEqual(['600', '700']);
  });

  it.each([0o644, 0o660, 0o606, 0o777])('is closed to other users if it exists with mode %o', (mode) => {
    const file = join(folder, 'journal.db');
    writeFileSync(file, 'kept');
    chmodSync(file, mode);
    createPrivate(file);
    expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual(['600', 'kept']);
  });

  it('is refused if its path is a folder, whose mode does not change', () => {
    chmodSync(folder, 0o755);
    expect(() => {
      createPrivate(folder);
    }).toThrow(expect.objectContaining({ exit: 'storage', message: `${folder} is a folder: name a file` }));
    expect(modeOf(folder)).toBe('755');
  });

  const within = (mode: number): (() => void) => {
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    chmodSync(inside, mode);
    return () => {
      createPrivate(join(inside, 'journal.db'));
    };
  };

  it.each([0o755, 0o700, 0o1777])('is created in a folder of mode %o', (mode) => {
    expect(within(mode)).not.toThrow();
  });

  it.each([0o775, 0o757, 0o777])('is not created in a folder of mode %o', (mode) => {
    expect(within(mode)).toThrow(expect.objectContaining({ exit: 'storage' }));
  });

  // Only root can give a folder to another user.
  it.runIf(process.getuid?.() === 0)('is not created in a folder of another user', async () => {
    const { chownSync } = await import('node:fs');
    const theirs = join(folder, 'theirs');
    mkdirSync(theirs);
    chownSync(theirs, 12_345, 12_345);
    expect(() => {
      createPrivate(join(theirs, 'journal.db'));
    }).toThrow(expect.objectContaining({ exit: 'storage' }));
  });
});
