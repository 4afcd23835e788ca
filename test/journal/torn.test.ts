import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { aFill, appendNow } from './records.ts';
import { aFile, tornFaults } from '../support/sqlite.ts';

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
    // A frame counts only with its last byte: cut its header at every byte and its page in steps.
    const cuts = (at: number, end: number): boolean =>
      at < end && ((at - begin) % 4_120 <= FRAME_HEADER_BYTES || at % 251 === 0 || at === end - 1);
    expect(readFileSync(log).length - begin).toBeGreaterThan(4_000);
    expect(tornFaults(file, { begin, cuts, slices: '0,1,2,3,4' })).toEqual([]);
    journal.close();
  });
});
