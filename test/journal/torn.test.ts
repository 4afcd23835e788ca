import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from './records.ts';
import { aFile } from '../support/sqlite.ts';

/** https://www.sqlite.org/fileformat2.html#walformat */
const FRAME_HEADER_BYTES = 24;

describe('a journal whose process died while it wrote its last record', () => {
  it('has all earlier records and no part of the last one, at whichever byte the log was cut off', () => {
    const file = aFile();
    const journal = sqliteJournal(file);
    for (let n = 0; n < 5; n++) appendNow(journal, [aFill({ slice: n, order_id: `o-${n}` })]);
    const log = `${file}-wal`;
    const begin = readFileSync(log).length;
    appendNow(journal, [aFill({ slice: 5, order_id: 'o-5' })]);
    const whole = readFileSync(log);
    const dead = `${file}.dead`;
    copyFileSync(file, dead);
    journal.close();

    // A frame counts only with its last byte: cut its header at every byte and its page in steps.
    const cuts = Array.from({ length: whole.length - begin }, (_, i) => begin + i).filter(
      (at) => (at - begin) % 4_120 <= FRAME_HEADER_BYTES || at % 251 === 0 || at === whole.length - 1,
    );
    expect(cuts.length).toBeGreaterThan(60);
    const wrong: string[] = [];
    for (const at of cuts) {
      const torn = aFile();
      copyFileSync(dead, torn);
      writeFileSync(`${torn}-wal`, whole.subarray(0, at));
      const next = sqliteJournal(torn);
      const slices = [...next.read()].map(({ body }) => (body.kind === 'fill' ? body.slice : body.kind));
      if (slices.join() !== '0,1,2,3,4') wrong.push(`cut at ${at}: ${slices.join()}`);
      appendNow(next, [aFill({ slice: 6, order_id: 'o-6' })]);
      if (!next.verify().ok) wrong.push(`cut at ${at}: cannot be gone on with`);
      next.close();
    }
    expect(wrong).toEqual([]);
  });
});
