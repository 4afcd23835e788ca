import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { OutboxPort } from '../../src/core/outbox.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { aFill, appendNow, failureOf } from './records.ts';
import { aFile, open, tornFaults } from '../support/sqlite.ts';

const outboxOf = ({ outbox }: Journal): OutboxPort => {
  if (outbox === undefined) throw new TypeError('this journal has no outbox');
  return outbox;
};

const STATE = '{"seen":1}';

describe('the outbox of a journal', () => {
  it('keeps its state over a restart and shows them to a reader meanwhile', () => {
    const file = aFile();
    const first = open(file);
    appendNow(first, [aFill()]);
    expect(outboxOf(first).save(STATE)).toBe(true);
    outboxOf(first).save('{"seen":2}');
    expect(outboxOf(open(file, { readOnly: true })).load()).toBe('{"seen":2}');
    first.close();
    expect(outboxOf(open(file)).load()).toBe('{"seen":2}');
  });

  it('does not change the records, their hashes or their proof, and is created only when it is used', () => {
    const [file, other] = [aFile(), aFile()];
    const [journal, plain] = [open(file), open(other)];
    appendNow(journal, [aFill()]);
    outboxOf(journal).save(STATE);
    appendNow(journal, [aFill()]);
    appendNow(plain, [aFill()]);
    appendNow(plain, [aFill()]);
    expect(journal.head()).toEqual(plain.head());
    expect(journal.verify()).toMatchObject({ ok: true, count: 2 });
    const db = new DatabaseSync(other, { readOnly: true });
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'outbox%'").all()).toEqual([]);
    db.close();
    expect(outboxOf(plain).load()).toBeUndefined();
  });

  const failing = (code: number, says: string, file = aFile()): Journal =>
    open(file, {
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
      const file = aFile();
      const journal = failing(code, says, file);
      await journal.reserved;
      expect(outboxOf(journal).save(STATE)).toBe(false);
      expect(existsSync(`${file}.reserve`)).toBe(true);
      expect(appendNow(journal, [aFill()])).toHaveLength(1);
      expect(outboxOf(journal).load()).toBeUndefined();
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
    expect(outboxOf(journal).save(STATE)).toBe(false);
  });

  it('closes the journal after a failed flush, because the content of the disk is unknown', async () => {
    const journal = failing(1_034, 'disk I/O error');
    expect(() => outboxOf(journal).save(STATE)).toThrow('disk I/O error');
    expect(await failureOf(journal, [aFill()])).toMatchObject({ exit: 'storage' });
  });

  it('throws if its table has another layout, and the journal still accepts records', () => {
    const file = aFile();
    const journal = open(file);
    appendNow(journal, [aFill()]);
    const db = new DatabaseSync(file);
    db.exec('CREATE TABLE outbox (other TEXT)');
    db.close();
    expect(() => outboxOf(journal).save(STATE)).toThrow('outbox');
    expect(appendNow(journal, [aFill()])).toHaveLength(1);
  });

  it('leaves records and the earlier state intact, at whichever byte of a change the log is cut off', () => {
    const file = aFile();
    const journal = open(file);
    const large = (name: string): string => name.repeat(10_000);
    for (let n = 0; n < 3; n++) {
      appendNow(journal, [aFill({ slice: n, order_id: `o-${n}` })]);
      outboxOf(journal).save(large('x'));
    }
    const log = `${file}-wal`;
    const begin = readFileSync(log).length;
    outboxOf(journal).save(large('y'));
    expect(readFileSync(log).length).toBeGreaterThan(begin);
    const cuts = (at: number): boolean => (at - begin) % 997 === 0;
    const faults = tornFaults(file, { begin, cuts, slices: '0,1,2' }, (next, isWhole) => {
      const state = outboxOf(next).load();
      return state === large('x') || isWhole ? undefined : `${state?.length} characters`;
    });
    expect(faults).toEqual([]);
  });
});
