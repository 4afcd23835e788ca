import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { networkName } from '../../src/journal/sqlite/filesystem-place.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import type { SqliteOptions } from '../../src/journal/sqlite/sqlite-options.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { aFill, appendNow, failureOf, thrownBy } from './records.ts';
import { aFolder } from '../support/folder.ts';
import { aFile, open } from '../support/sqlite.ts';

const RESERVE = 256 * 1024;

/** Errors of SQLite about a disk. Codes: https://www.sqlite.org/rescode.html */
const refusals = {
  'a full disk': { code: 13, says: 'database or disk is full' },
  'a failed write': { code: 778, says: 'disk I/O error' },
  'a failed flush': { code: 1_034, says: 'disk I/O error' },
} as const;

interface Failing {
  readonly journal: Journal;
  readonly file: string;
  /** Steps of appends so far. */
  readonly steps: () => number;
}

/** A journal whose disk fails at the `at`-th step of its appends, and again until its reserve is released. */
async function failing(
  refusal: keyof typeof refusals,
  at: number,
  options: SqliteOptions = {},
): Promise<Failing> {
  const file = aFile();
  let steps = 0;
  const { code, says } = refusals[refusal];
  const journal = sqliteJournal(file, {
    reserveBytes: RESERVE,
    ...options,
    onStep() {
      steps++;
      if (steps >= at && existsSync(`${file}.reserve`) === (options.reserveBytes !== 0))
        throw Object.assign(new Error(says), { errcode: code });
    },
  });
  onTestFinished(() => journal.close());
  await journal.reserved;
  return { journal, file, steps: () => steps };
}

describe('a journal on a disk', () => {
  const reserving = async (file: string, reserveBytes: number): Promise<void> => {
    const journal = sqliteJournal(file, { reserveBytes });
    try {
      await journal.reserved;
    } finally {
      journal.close();
    }
  };

  it('writes out its reserve and keeps it for the next process', async () => {
    const file = aFile();
    await reserving(file, RESERVE);
    const { ino, size, blocks } = statSync(`${file}.reserve`);
    expect(size).toBe(RESERVE);
    expect(blocks * 512).toBeGreaterThanOrEqual(RESERVE);
    await reserving(file, RESERVE);
    expect(statSync(`${file}.reserve`).ino).toBe(ino);
  });

  it.each(['a full disk', 'a failed write'] as const)(
    'survives %s at any step of an append by using its reserve, and reports the reserve as spent',
    async (refusal) => {
      for (let at = 1; at <= 9; at++) {
        const { journal, file } = await failing(refusal, at);
        for (let slice = 0; slice < 5; slice++)
          appendNow(journal, [aFill({ slice }), aFill({ slice: 10 + slice })]);
        expect(journal.isSpent).toBe(true);
        expect(existsSync(`${file}.reserve`)).toBe(false);
        expect(journal.verify()).toMatchObject({ ok: true, count: 10 });
        journal.close();
        expect(open(file).head().seq).toBe(10);
      }
    },
  );

  it.each([
    ['a full disk', 0],
    ['a failed flush', RESERVE],
  ] as const)(
    'refuses appends after %s with a reserve of %i bytes, at any step, and keeps all acknowledged records',
    async (refusal, reserveBytes) => {
      for (let at = 1; at <= 9; at++) {
        const { journal, file, steps } = await failing(refusal, at, { reserveBytes });
        const acknowledged = Math.floor((at - 1) / 3);
        for (let slice = 0; slice < acknowledged; slice++) appendNow(journal, [aFill({ slice })]);
        expect(await failureOf(journal, [aFill({ slice: 20 })])).toMatchObject({ exit: 'storage' });
        const tried = steps();
        expect(String(await failureOf(journal, [aFill({ slice: 21 })]))).toContain('accepts no more records');
        // A failed flush is never retried: the kernel may have dropped the data.
        expect(steps()).toBe(tried);
        expect(journal.isSpent).toBe(false);
        journal.close();
        expect(open(file).head().seq).toBe(acknowledged);
      }
    },
  );

  it('reserves exactly the requested number of bytes, also if it is not a multiple of a piece', async () => {
    for (const bytes of [1, 1_048_575, 3 * 1_048_576, 3 * 1_048_576 + 7]) {
      const file = aFile();
      await reserving(file, bytes);
      expect(statSync(`${file}.reserve`).size).toBe(bytes);
    }
  });

  it('is refused with exit storage if the reserve does not fit, and leaves no file of the reserve', async () => {
    const file = aFile();
    const error = await reserving(file, 2 ** 50).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ exit: 'storage' });
    expect(String(error)).toMatch(/no space for the reserve of 1073741824 MiB at .*: only \d+ MiB are free/u);
    expect(existsSync(`${file}.reserve`)).toBe(false);
    expect(thrownBy(() => sqliteJournal(file).close())).toBeUndefined();
  });

  it.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [-0x00acb2be, 'CIFS'],
    [0xef53, undefined],
    [0x01021994, undefined],
  ])('identifies network file systems: type %i is %s', (type, name) => {
    expect(networkName(type)).toBe(name);
  });
});

describe('reading a journal', () => {
  it('leaves no new files beside the journal', () => {
    const file = join(mkdtempSync(join(aFolder(), 'read-')), 'journal.db');
    const journal = sqliteJournal(file);
    appendNow(journal, [aFill()]);
    journal.close();
    rmSync(`${file}.lock`);
    const before = readFileSync(file);
    const reader = sqliteJournal(file, { readOnly: true });
    expect(reader.verify()).toMatchObject({ ok: true, count: 1 });
    expect([...reader.read()]).toHaveLength(1);
    const beside = ['-wal', '-shm', '.lock'].filter((end) => existsSync(file + end));
    reader.close();
    expect([...beside, ...['-wal', '-shm', '.lock'].filter((end) => existsSync(file + end))]).toEqual([]);
    expect(readFileSync(file)).toEqual(before);
  });
});
