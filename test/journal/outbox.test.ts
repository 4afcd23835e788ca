import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OutboxChange, OutboxPort, OutboxRow } from '../../src/core/outbox.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import type { SqliteOptions } from '../../src/journal/sqlite/sqlite-options.ts';
import { NINE, aFill, appendNow, failureOf } from './records.ts';
import { aFolder } from '../support/folder.ts';

const open = (file: string, options?: SqliteOptions): Journal => {
  const journal = sqliteJournal(file, options);
  onTestFinished(() => journal.close());
  return journal;
};
const aFile = (): string => join(aFolder(), 'journal.db');
const outboxOf = ({ outbox }: Journal): OutboxPort => {
  if (outbox === undefined) throw new TypeError('this journal has no outbox');
  return outbox;
};

const aRow = (id: number, differs: Partial<OutboxRow> = {}): OutboxRow => ({
  id,
  channel: 'chat',
  at: NINE,
  notice: '{"title":"x"}',
  ...differs,
});
const aChange = (differs: Partial<OutboxChange> = {}): OutboxChange => ({ put: [aRow(1)], remove: [], notes: { seen: '1' }, ...differs }); // prettier-ignore

describe('the outbox of a journal', () => {
  it('keeps its rows and notes over a restart and shows them to a reader meanwhile', () => {
    const file = aFile();
    const first = open(file);
    appendNow(first, [aFill()]);
    expect(outboxOf(first).save(aChange({ put: [aRow(1), aRow(2)] }))).toBe(true);
    outboxOf(first).save({ put: [aRow(2, { notice: '{}' }), aRow(3)], remove: [1], notes: { seen: '2' } });
    const expected = { rows: [aRow(2, { notice: '{}' }), aRow(3)], notes: new Map([['seen', '2']]) };
    expect(outboxOf(open(file, { readOnly: true })).load()).toEqual(expected);
    first.close();
    expect(outboxOf(open(file)).load()).toEqual(expected);
  });

  it('does not change the records, their hashes or their proof, and is created only when it is used', () => {
    const [file, other] = [aFile(), aFile()];
    const [journal, plain] = [open(file), open(other)];
    appendNow(journal, [aFill()]);
    outboxOf(journal).save(aChange());
    appendNow(journal, [aFill()]);
    appendNow(plain, [aFill()]);
    appendNow(plain, [aFill()]);
    expect(journal.head()).toEqual(plain.head());
    expect(journal.verify()).toMatchObject({ ok: true, count: 2 });
    const db = new DatabaseSync(other, { readOnly: true });
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'outbox%'").all()).toEqual([]);
    db.close();
    expect(outboxOf(plain).load()).toEqual({ rows: [], notes: new Map() });
  });

  const failing = (code: number, says: string): Journal =>
    open(aFile(), {
      reserveBytes: 256 * 1024,
      onStep(step) {
        if (step === 'outbox') throw Object.assign(new Error(says), { errcode: code });
      },
    });

  it('does not store a change if the disk is full or locked, keeps the reserve, and does not affect records', async () => {
    for (const [code, says] of [
      [13, 'database or disk is full'],
      [5, 'database is locked'],
    ] as const) {
      // prettier-ignore
      const file = aFile();
      const journal = open(file, {
        reserveBytes: 256 * 1024,
        onStep(step) {
          if (step === 'outbox') throw Object.assign(new Error(says), { errcode: code });
        },
      });
      await journal.reserved;
      expect(outboxOf(journal).save(aChange())).toBe(false);
      expect(existsSync(`${file}.reserve`)).toBe(true);
      expect(appendNow(journal, [aFill()])).toHaveLength(1);
      expect(outboxOf(journal).load().rows).toEqual([]);
    }
  });

  it('stores no changes once the reserve is in use, which is kept for the results of orders', async () => {
    const file = aFile();
    let isFull = true;
    const journal = open(file, {
      reserveBytes: 256 * 1024,
      onStep(step) {
        if (step === 'commit' && isFull) {
          isFull = false;
          throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
        }
      },
    });
    await journal.reserved;
    appendNow(journal, [aFill()]);
    expect(journal.isSpent).toBe(true);
    expect(outboxOf(journal).save(aChange())).toBe(false);
  });

  it('closes the journal after a failed flush, because the content of the disk is unknown', async () => {
    const journal = failing(1_034, 'disk I/O error');
    expect(() => outboxOf(journal).save(aChange())).toThrow('disk I/O error');
    expect(await failureOf(journal, [aFill()])).toMatchObject({ exit: 'storage' });
  });

  it('throws if its table has another layout, and the journal still accepts records', () => {
    const file = aFile();
    const journal = open(file);
    appendNow(journal, [aFill()]);
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE outbox (other TEXT)');
    db.close();
    expect(() => outboxOf(journal).save(aChange())).toThrow('outbox');
    expect(appendNow(journal, [aFill()])).toHaveLength(1);
  });

  it('leaves records and earlier rows intact, at whichever byte of a change the log is cut off', () => {
    const file = aFile();
    const journal = open(file);
    const many = (from: number): OutboxChange =>
      aChange({ put: Array.from({ length: 20 }, (_, n) => aRow(from + n, { notice: 'x'.repeat(500) })) });
    for (let n = 0; n < 3; n++) {
      appendNow(journal, [aFill({ slice: n, order_id: `o-${n}` })]);
      outboxOf(journal).save(many(n * 20));
    }
    const log = `${file}-wal`;
    const begin = readFileSync(log).length;
    outboxOf(journal).save(many(100));
    const whole = readFileSync(log);
    const dead = `${file}.dead`;
    copyFileSync(file, dead);
    expect(whole.length).toBeGreaterThan(begin);
    const wrong: string[] = [];
    for (let at = begin; at <= whole.length; at += 997) {
      const torn = aFile();
      copyFileSync(dead, torn);
      writeFileSync(`${torn}-wal`, whole.subarray(0, at));
      const next = open(torn);
      const slices = [...next.read()].map(({ body }) => (body.kind === 'fill' ? body.slice : body.kind));
      const rows = outboxOf(next).load().rows.length;
      if (slices.join() !== '0,1,2' || rows !== 60)
        wrong.push(`cut at ${at}: ${slices.join()}, ${rows} rows`);
      appendNow(next, [aFill({ slice: 6, order_id: 'o-6' })]);
      if (!next.verify().ok) wrong.push(`cut at ${at}: cannot be gone on with`);
    }
    expect(wrong).toEqual([]);
  });
});
