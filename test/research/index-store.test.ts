import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { indexBytes } from '../../src/research/tape/index-file.ts';
import { indexThrough, KEPT_ROWS_MIN } from '../../src/research/tape/index-store.ts';
import { indexPrices } from '../../src/research/tape/index.ts';
import { tapeFrom } from './markets.ts';

const tape = tapeFrom('btcusd', 60_000, [[0, 5], [60_000, 6], [120_000, 4]]); // prettier-ignore
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-index-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});
const open = () => indexThrough(join(folder, 'tapes'), tape, 1);
const onlyFile = (): string => {
  const [file = '', ...others] = readdirSync(join(folder, 'tapes'));
  expect(others).toStrictEqual([]);
  return join(folder, 'tapes', file);
};

describe('the stored index of a tape', () => {
  it('is used when the tape is opened again', () => {
    expect(open()).toStrictEqual(indexPrices(tape));
    // Wrong bounds show that the index comes from the file.
    const other = indexPrices(tape);
    other.bounds[0]?.fill(7);
    writeFileSync(onlyFile(), indexBytes(other));

    expect(open()).toStrictEqual(other);
  });

  it('is rebuilt and replaced if its file is damaged', () => {
    open();
    const file = onlyFile();
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, 100));

    expect(open()).toStrictEqual(indexPrices(tape));
    expect(readFileSync(file)).toStrictEqual(whole);
  });

  it('is stored separately for bars of another length, even if the columns are the same', () => {
    const closes = { ...tape, barMs: 1_000 };
    open();

    expect(indexThrough(join(folder, 'tapes'), closes, 1)).toStrictEqual(indexPrices(closes));
    expect(readdirSync(join(folder, 'tapes'))).toHaveLength(2);
  });

  it('is not stored if the tape is small or the folder cannot be written', () => {
    expect(tape.rows).toBeLessThan(KEPT_ROWS_MIN);
    expect(indexThrough(join(folder, 'tapes'), tape)).toStrictEqual(indexPrices(tape));
    expect(existsSync(join(folder, 'tapes'))).toBe(false);

    writeFileSync(join(folder, 'tapes'), 'a file where the folder would be');
    expect(open()).toStrictEqual(indexPrices(tape));
  });
});
