import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from './records.ts';
import { aFolder } from '../support/folder.ts';
import { aFile, open } from '../support/sqlite.ts';

interface Place {
  readonly file: string;
  readonly anchor: string;
  open(): Journal;
}

function aPlace(): Place {
  const file = aFile();
  const anchor = join(aFolder(), 'elsewhere', 'anchor');
  return {
    file,
    anchor,
    open: () => open(file, { anchor }),
  };
}

/** Opens a journal `runs` times and returns a copy of it from after each time. */
function written(place: Place, runs: number): readonly string[] {
  return Array.from({ length: runs }, (_, run) => {
    const journal = place.open();
    appendNow(journal, [aFill({ slice: 2 * run }), aFill({ slice: 2 * run + 1 })]);
    journal.close();
    const copy = `${place.file}.${run}`;
    copyFileSync(place.file, copy);
    return copy;
  });
}

describe('the journal anchor', () => {
  it('is refused with its path if the path is a folder', () => {
    const [file, anchor] = [aFile(), aFolder()];
    expect(() => sqliteJournal(file, { anchor })).toThrow(`${anchor} is a folder: name a file`);
  });

  it('reports no oddity for a journal that continues, after a clean end or a crash of its process', () => {
    const place = aPlace();
    expect(place.open().oddity).toBeUndefined();
    written(aPlace(), 1);
    const first = aPlace();
    written(first, 3);
    const journal = first.open();
    appendNow(journal, [aFill({ slice: 90 })]);
    appendNow(journal, [aFill({ slice: 91 })]);
    // The state after a crash: the log is not written back and the end is not in the anchor.
    for (const end of ['', '-wal']) copyFileSync(first.file + end, `${first.file}.dead${end}`);
    journal.close();
    const dead = open(`${first.file}.dead`, { anchor: first.anchor });
    expect(dead.head().seq).toBe(8);
    expect(dead.oddity).toBeUndefined();
  });

  it('reports a journal that was replaced by an older copy, with the last record that it had reached', () => {
    const place = aPlace();
    const copies = written(place, 4);
    for (const [run, copy] of copies.slice(0, -1).entries()) {
      const before = readFileSync(place.anchor);
      copyFileSync(copy, place.file);
      const journal = sqliteJournal(place.file, { anchor: place.anchor });
      expect(journal.oddity).toEqual({
        what: 'rolled_back',
        why: `the journal ends with record ${2 * run + 2}, but it had reached record 8`,
      });
      journal.close();
      // No record was appended, so the anchor does not change.
      expect(readFileSync(place.anchor)).toEqual(before);
    }
  });

  it('distinguishes a journal that was deleted from a new one', () => {
    const place = aPlace();
    written(place, 2);
    rmSync(place.file);
    expect(place.open().oddity).toEqual({
      what: 'rolled_back',
      why: 'the journal is empty, but it had reached record 4',
    });
  });

  it('reports an older copy to which records were appended elsewhere', () => {
    const place = aPlace();
    const [first = ''] = written(place, 2);
    copyFileSync(first, place.file);
    const fork = sqliteJournal(place.file);
    appendNow(fork, [aFill({ slice: 50 }), aFill({ slice: 51 }), aFill({ slice: 52 })]);
    fork.close();
    expect(place.open().oddity).toEqual({
      what: 'rolled_back',
      why: 'record 4 of the journal differs from the journal anchor',
    });
  });

  it.each([
    ['missing', (anchor: string): void => rmSync(anchor)],
    ['unreadable', (anchor: string): void => writeFileSync(anchor, 'x')],
  ])('is reported as %s and created again', (state, spoil) => {
    const place = aPlace();
    written(place, 1);
    spoil(place.anchor);
    const journal = place.open();
    expect(journal.oddity?.what).toBe('no_anchor');
    expect(journal.oddity?.why).toContain(state);
    appendNow(journal, [aFill({ slice: 70 })]);
    journal.close();
    expect(place.open().oddity).toBeUndefined();
  });

  it('is written at the first append, every thousand records and at the end, readable only by its owner', () => {
    const place = aPlace();
    const journal = place.open();
    expect(existsSync(place.anchor)).toBe(false);
    const noted = (): number => Number(readFileSync(place.anchor, 'utf8').split(' ')[0]);
    appendNow(journal, [aFill()]);
    expect(noted()).toBe(1);
    appendNow(
      journal,
      Array.from({ length: 999 }, (_, slice) => aFill({ slice })),
    );
    expect(noted()).toBe(1);
    appendNow(journal, [aFill({ slice: 5_000 })]);
    expect(noted()).toBe(1_001);
    appendNow(journal, [aFill({ slice: 5_001 })]);
    journal.close();
    expect(noted()).toBe(1_002);
    expect(statSync(place.anchor).mode & 0o777).toBe(0o600);
  });
});
