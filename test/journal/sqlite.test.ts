import { existsSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { after } from '../../src/core/time.ts';
import { SCHEMA_VERSION, makeDurable } from '../../src/journal/sqlite/database.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { describeJournal } from './describe-journal.ts';
import { NINE, aFill, appendNow, everyKind, failureOf, thrownBy } from './records.ts';
import { aFolder } from '../support/folder.ts';
import { aFile, open, written } from '../support/sqlite.ts';

describeJournal('sqlite', () => sqliteJournal(aFile()));

/** A closed journal with one record of each kind. */
const aJournalFile = (): string => written(everyKind());

/** Changes the file directly, as a user with access to the machine could. */
function tamper(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(`DROP TRIGGER IF EXISTS records_stay; DROP TRIGGER IF EXISTS records_rest; ${sql}`);
  db.close();
}

describe('a journal file', () => {
  it('returns its records and its head after it was closed and continues from there', () => {
    const file = aFile();
    const first = open(file);
    const stored = appendNow(first, everyKind());
    const head = first.head();
    first.close();
    const second = open(file);
    expect(second.head()).toEqual(head);
    expect([...second.read()]).toEqual(stored);
    const [next] = appendNow(second, [aFill()], after(NINE, 1));
    expect(next?.seq).toBe(everyKind().length + 1);
    expect(second.verify()).toMatchObject({ ok: true, count: everyKind().length + 1 });
  });

  it('is readable only by its owner, as is a folder created for it', () => {
    const folder = join(aFolder(), 'var', 'main');
    const file = join(folder, 'journal.db');
    appendNow(open(file), [aFill()]);
    const modes = ['journal.db', 'journal.db-wal', 'journal.db-shm', 'journal.db.lock'].map(
      (name) => statSync(join(folder, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, '..')).mode & 0o777).toBe(0o700);
  });

  it('uses a write-ahead log and full synchronisation', () => {
    const db = new DatabaseSync(aFile());
    onTestFinished(() => db.close());
    db.exec('PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF');
    makeDurable(db, 'x.db');
    const read = (name: string): unknown => db.prepare(`PRAGMA ${name}`).get()?.[name];
    expect([read('journal_mode'), read('synchronous'), read('foreign_keys')]).toEqual(['wal', 2, 1]);
  });

  it('is refused if SQLite cannot use a write-ahead log', () => {
    const db = new DatabaseSync(':memory:');
    onTestFinished(() => db.close());
    const error = thrownBy(() => makeDurable(db, 'x.db'));
    expect(error).toMatchObject({ exit: 'storage' });
    expect(String(error)).toContain('keeps journal_mode at memory instead of wal');
  });

  it('refuses statements that change or remove records, also from other programs', () => {
    const file = aJournalFile();
    const db = new DatabaseSync(file);
    onTestFinished(() => db.close());
    expect(() => db.exec("UPDATE records SET at = 0 WHERE kind = 'fill'")).toThrow(
      'records are never changed',
    );
    expect(() => db.exec('DELETE FROM records')).toThrow('records are never removed');
  });

  it.each([
    [
      'a changed body',
      "UPDATE records SET body = replace(body, '60000.12', '60000.13') WHERE kind = 'fill'",
      6,
    ],
    ['a changed kind', "UPDATE records SET kind = 'slice' WHERE kind = 'fill'", 6],
    ['a changed time', 'UPDATE records SET at = at + 1 WHERE seq = 2', 2],
    ['a number that is too large', 'UPDATE records SET at = 9223372036854775807 WHERE seq = 2', 2],
    ['a removed first record', 'DELETE FROM records WHERE seq = 1', 1],
    ['a removed record', 'DELETE FROM records WHERE seq = 5', 5],
    ['removed last records', 'DELETE FROM records WHERE seq > 10', 11],
    ['a wrong hash at the end', "UPDATE records SET hash = '00' WHERE seq = 16", 16],
    ['an added record', "INSERT INTO records VALUES (17, 0, 'control', '{}', '00')", 17],
    ['a record before the first', "INSERT INTO records VALUES (0, 0, 'control', '{}', '00')", 1],
    [
      'exchanged records',
      'UPDATE records SET seq = -4 WHERE seq = 4; UPDATE records SET seq = 4 WHERE seq = 5; UPDATE records SET seq = 5 WHERE seq = -4',
      4,
    ],
    ['a changed stored head', "UPDATE meta SET value = '11 ' || substr(value, 4) WHERE key = 'head'", 12],
    ['a removed stored head', "DELETE FROM meta WHERE key = 'head'", 17],
  ])('is refused with %s, naming the record', (_, sql, seq) => {
    const file = aJournalFile();
    tamper(file, sql);
    const error = thrownBy(() => sqliteJournal(file).close());
    expect(error).toMatchObject({ exit: 'data' });
    expect(String(error)).toContain(`${file} is damaged at record ${seq}:`);
    expect(open(file, { readOnly: true }).verify()).toMatchObject({ ok: false, seq });
  });

  it('is refused if any byte of its records was flipped on the disk', () => {
    const file = aJournalFile();
    const intact = readFileSync(file);
    const journal = open(file, { readOnly: true });
    const lines = [...journal.lines()];
    journal.close();
    for (const { body, hash } of lines) {
      // The last copy: a page that SQLite no longer uses may contain an old copy, which is never read.
      const from = intact.lastIndexOf(body + hash);
      expect(from).toBeGreaterThan(0);
      for (let at = from; at < from + body.length; at += 7) {
        const flipped = Buffer.from(intact);
        flipped[at] = (flipped[at] ?? 0) ^ 0x10;
        writeFileSync(file, flipped);
        const error = thrownBy(() => sqliteJournal(file).close());
        expect(error).toMatchObject({ exit: 'data' });
      }
    }
    writeFileSync(file, intact);
    expect(thrownBy(() => sqliteJournal(file).close())).toBeUndefined();
  });

  it.each([
    [
      'text',
      (file: string) => writeFileSync(file, 'not a database, but long enough to be read as one '.repeat(40)),
      'data',
    ],
    ['the database of another program', (file: string) => tamper(file, 'CREATE TABLE t (x)'), 'data'],
    [
      'half a journal',
      (file: string) => {
        const whole = readFileSync(aJournalFile());
        writeFileSync(file, whole.subarray(0, whole.length / 2));
      },
      'data',
    ],
  ])('is refused and left unchanged if it contains %s', (_, write, exit) => {
    const file = aFile();
    write(file);
    const before = readFileSync(file);
    const error = thrownBy(() => sqliteJournal(file).close());
    expect(error).toMatchObject({ name: 'OperatorError', exit });
    expect(String(error)).toContain(file);
    expect(readFileSync(file).subarray(100)).toEqual(before.subarray(100)); // the header notes the write-ahead mode
  });

  it('is refused when a newer version wrote it', () => {
    const file = aJournalFile();
    tamper(file, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    for (const readOnly of [false, true]) {
      const error = thrownBy(() => sqliteJournal(file, { readOnly }).close());
      expect(error).toMatchObject({ exit: 'data' });
      expect(String(error)).toContain(`layout ${SCHEMA_VERSION + 1}`);
    }
  });

  it('is refused with exit storage and its path if its folder is a file', () => {
    const file = join(aJournalFile(), 'journal.db');
    const error = thrownBy(() => sqliteJournal(file).close());
    expect(error).toMatchObject({ exit: 'storage' });
    expect(String(error)).toContain(file);
  });

  it('refuses all appends after SQLite refused a write, even if the cause no longer exists', async () => {
    const file = aFile();
    const journal = open(file, { timeoutMs: 20 });
    const [first] = appendNow(journal, [aFill()]);
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    expect(await failureOf(journal, [aFill({ slice: 1 })])).toMatchObject({ exit: 'storage' });
    other.exec('ROLLBACK');
    other.close();
    expect(String(await failureOf(journal, [aFill({ slice: 2 })]))).toContain(
      'failed earlier and accepts no more records',
    );
    expect([...journal.read()]).toEqual([first]);
  });

  it('reports the duration of each commit, measured with the given clock', () => {
    const told: number[] = [];
    let now = 0;
    const journal = open(aFile(), { commits: { now: () => (now += 4), observe: (ms) => told.push(ms) } });
    appendNow(journal, [aFill()]);
    appendNow(journal, [aFill(), aFill()]);
    expect(told).toEqual([4, 4]);
  });
});

describe('opening a journal a second time', () => {
  it('is refused for writing while the first is open, naming the process that holds it', () => {
    const file = aFile();
    const journal = open(file);
    const error = thrownBy(() => sqliteJournal(file).close());
    expect(error).toMatchObject({ exit: 'again' });
    expect(String(error)).toContain(`in use by process ${process.pid} on `);
    // The refusal must not have freed the lock.
    expect(thrownBy(() => sqliteJournal(file).close())).toMatchObject({ exit: 'again' });
    journal.close();
    expect(thrownBy(() => sqliteJournal(file).close())).toBeUndefined();
  });

  it('is refused through a symbolic link to the file, too', () => {
    const file = aFile();
    open(file);
    const link = `${file}.link`;
    symlinkSync(file, link);
    expect(thrownBy(() => sqliteJournal(link).close())).toMatchObject({ exit: 'again' });
  });

  it('stops the first writer if the lock file was deleted and the second writer has written', async () => {
    const file = aFile();
    const journal = open(file);
    appendNow(journal, [aFill()]);
    unlinkSync(`${file}.lock`);
    const intruder = open(file);
    appendNow(intruder, [aFill({ slice: 1 })]);
    const failure = await failureOf(journal, [aFill({ slice: 2 })]);
    expect(failure).toMatchObject({ exit: 'storage' });
    expect(String(failure)).toContain(`journal ${file}: another process has written to it`);
    // Neither the disk nor the rights are at fault.
    expect(String(failure)).not.toContain('room');
    expect(String(await failureOf(journal, [aFill({ slice: 3 })]))).toContain('accepts no more records');
    expect(intruder.verify()).toMatchObject({ ok: true, count: 2 });
  });

  it('allows reading and verifying, but no appends, while the first one writes', async () => {
    const file = aFile();
    const journal = open(file);
    appendNow(journal, everyKind());
    const reader = open(file, { readOnly: true });
    const stored = [...reader.read()];
    expect(stored).toEqual([...journal.read()]);
    appendNow(journal, [aFill()]);
    expect([...reader.read()]).toHaveLength(stored.length + 1);
    expect(reader.verify()).toEqual(journal.verify());
    expect(await failureOf(reader, [aFill()])).toMatchObject({ exit: 'storage' });
    expect([...journal.read()]).toHaveLength(stored.length + 1);
  });

  it('is refused for reading if the file does not exist, and creates no file', () => {
    const file = aFile();
    expect(thrownBy(() => sqliteJournal(file, { readOnly: true }))).toMatchObject({ exit: 'storage' });
    expect(existsSync(file)).toBe(false);
  });
});
