import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { GENESIS, link } from '../../src/journal/proof/chain.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow, everyKind, failureOf, thrownBy } from './records.ts';
import { open, written } from '../support/sqlite.ts';

const aJournalFile = (): string => written(...Array.from({ length: 100 }, everyKind));

function sql(file: string, text: string): unknown {
  const db = new DatabaseSync(file);
  try {
    db.exec('DROP TRIGGER IF EXISTS records_rest; DROP TRIGGER IF EXISTS records_stay');
    const statement = db.prepare(text);
    return text.startsWith('SELECT') ? statement.get() : statement.run();
  } finally {
    db.close();
  }
}
/** The number of a fill in the middle of the journal. */
function fillIn(file: string): number {
  const row = sql(file, `SELECT min(seq) AS seq FROM records WHERE seq > 600 AND body LIKE '%60000.12%'`);
  return (row as { seq: number }).seq;
}

const vocabularyOf = (file: string): unknown => sql(file, "SELECT value FROM meta WHERE key = 'vocabulary'");

describe.each([
  ['while it is read', 1],
  ['before it is read', undefined],
])('a long journal whose chain is checked %s', (_, apartFrom) => {
  it('returns all records, then those appended by this process', () => {
    const file = aJournalFile();
    const whole = [...open(file, { readOnly: true }).read()];
    const journal = open(file, { apartFrom });
    expect([...journal.read()]).toEqual(whole);
    const more = appendNow(journal, [aFill({ slice: 9 })]);
    expect([...journal.read()]).toEqual([...whole, ...more]);
  });

  it.each([
    ['a changed body', "UPDATE records SET body = replace(body, '60000.12', '60000.13') WHERE seq = ${at}"],
    ['a body that is not JSON', "UPDATE records SET body = '{' WHERE seq = ${at}"],
    ['a missing record', 'DELETE FROM records WHERE seq = ${at}'],
    ['a changed time', 'UPDATE records SET at = at + 1 WHERE seq = ${at}'],
  ])('is refused before any append if it has %s, naming the record', async (_name, damage) => {
    const file = aJournalFile();
    const at = fillIn(file);
    sql(file, damage.replace('${at}', String(at)));
    const error = thrownBy(() => {
      const journal = open(file, { apartFrom });
      expect([...journal.read()]).toEqual([]);
    });
    expect(error).toMatchObject({ exit: 'data' });
    expect(String(error)).toContain(`is damaged at record ${at}`);
    // A writer that does not read first is stopped as well.
    const again = thrownBy(() => {
      const journal = sqliteJournal(file, { apartFrom });
      try {
        appendNow(journal, [aFill()]);
      } finally {
        journal.close();
      }
    });
    expect(again).toBeInstanceOf(Error);
    expect(open(file, { readOnly: true }).verify()).toMatchObject({ ok: false, seq: at });
    expect(await failureOf(open(file, { readOnly: true }), [aFill()])).toMatchObject({ exit: 'storage' });
  });
});

describe('a journal written by another version with the same layout', () => {
  /** A journal with a valid chain and one record of a version that may know more than this one. */
  function foreign(body: string): string {
    const file = written();
    const hash = link(GENESIS, 1, 5, body);
    sql(file, `INSERT INTO records VALUES (1, 5, 'control', '${body}', '${hash}')`);
    sql(file, `UPDATE meta SET value = '1 ${hash}' WHERE key = 'head'`);
    return file;
  }
  const KNOWN = '{"kind":"control","by":"ops","state":"active","why":"x"}';
  const UNKNOWN = '{"kind":"control","by":"ops","state":"dreaming","why":"x"}';

  it('is checked record by record and refused if this version does not know one of its values', () => {
    const file = foreign(UNKNOWN);
    sql(file, "UPDATE meta SET value = 'theirs' WHERE key = 'vocabulary'");
    const journal = open(file);
    const error = thrownBy(() => [...journal.read()]);
    expect(error).toMatchObject({ exit: 'data' });
    expect(String(error)).toMatch(/record 1 \(control\) is intact, but this version cannot read it/u);
  });

  it('is checked once: after a full read, this version accepts it without a check', () => {
    const file = foreign(KNOWN);
    const ours = vocabularyOf(file);
    sql(file, "UPDATE meta SET value = 'theirs' WHERE key = 'vocabulary'");
    const journal = open(file);
    expect(vocabularyOf(file)).toEqual({ value: '' });
    expect([...journal.read()]).toHaveLength(1);
    expect(vocabularyOf(file)).toEqual(ours);
    journal.close();
    expect([...open(file).read()]).toHaveLength(1);
  });
});
