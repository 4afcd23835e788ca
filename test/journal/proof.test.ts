import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beginProof, partsOf } from '../../src/journal/proof/proof.ts';
import { headOf } from '../../src/journal/proof/verify-file.ts';
import { verifyPart } from '../../src/journal/proof/verify-part.ts';
import { everyKind } from './records.ts';
import { written } from '../support/sqlite.ts';

function aJournal(records: number): DatabaseSync {
  const file = written(...Array.from({ length: records }, () => everyKind().slice(0, 1)));
  const db = new DatabaseSync(file);
  onTestFinished(() => {
    db.close();
  });
  db.exec('DROP TRIGGER records_rest; DROP TRIGGER records_stay');
  return db;
}

/** Whether the parts of a journal are intact, for one to four threads. */
const verdicts = (db: DatabaseSync): readonly boolean[] => {
  const file = db.location() ?? '';
  return [1, 2, 3, 4].map((count) =>
    partsOf(db, file, headOf(db, file), count).every((part) => verifyPart(db, part)?.ok === true),
  );
};

describe('the parts of a chain that are verified by threads', () => {
  it.each([0, 1, 2, 3, 10])('are intact in an intact journal of %i records', (records) => {
    expect(verdicts(aJournal(records))).toEqual([true, true, true, true]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('are not intact if record %i was changed', (seq) => {
    const db = aJournal(10);
    db.exec(`UPDATE records SET body = replace(body, 'a', 'b') WHERE seq = ${seq}`);
    expect(verdicts(db)).toEqual([false, false, false, false]);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('are not intact if record %i is missing', (seq) => {
    const db = aJournal(10);
    db.exec(`DELETE FROM records WHERE seq = ${seq}`);
    expect(verdicts(db)).toEqual([false, false, false, false]);
  });

  it.each([1, 3, 5, 7, 10])('are not intact if the stored hash of record %i was changed', (seq) => {
    const db = aJournal(10);
    db.exec(`UPDATE records SET hash = '${'7'.repeat(64)}' WHERE seq = ${seq}`);
    expect(verdicts(db)).toEqual([false, false, false, false]);
  });

  it('are not intact if a record is stored under another kind or before the first one', () => {
    const db = aJournal(4);
    db.exec("UPDATE records SET kind = 'fill' WHERE seq = 3");
    expect(verdicts(db)).toEqual([false, false, false, false]);
    const below = aJournal(4);
    below.exec("INSERT INTO records VALUES (-1, 5, 'fill', '{}', '')");
    expect(verdicts(below)).toEqual([false, false, false, false]);
  });

  it('are verified by threads, and the first damaged record is named', () => {
    const db = aJournal(10);
    const file = db.location() ?? '';
    const begin = (): unknown => beginProof(db, file, headOf(db, file), 2)();
    expect(begin()).toMatchObject({ ok: true, count: 10 });
    db.exec('UPDATE records SET at = at + 1 WHERE seq IN (3, 8)');
    expect(begin()).toMatchObject({ ok: false, seq: 3 });
  });
});
