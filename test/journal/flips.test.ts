import { describe, expect, it } from 'vitest';
import { aJournalOfFifty, bitsOf, flip } from './flips.ts';

describe('a bit that flips in a journal of fifty records', () => {
  it.each([
    ['a journal that was closed', 'closed', ''],
    ['the write-ahead log of a dead process', 'dead', '-wal'],
  ] as const)('is never taken in silence for another content: one in many, in %s', (_, state, part) => {
    const file = aJournalOfFifty(state);
    const step = 8 * Math.floor(bitsOf(file, part) / 8 / 400) + 3;
    const { accepted, refused } = flip(file, part, step);
    expect(accepted).toEqual([]);
    expect(refused).toBeGreaterThan(50);
  });

  it('is detected in the head of every log frame before the last transaction', () => {
    const file = aJournalOfFifty('dead');
    const frame = 24 + 4_096;
    const heads = Array.from(
      { length: Math.floor((bitsOf(file, '-wal') / 8 - 32) / frame) },
      (_, i) => 32 + i * frame,
    );
    expect(heads.length).toBeGreaterThan(20);
    const { accepted } = flip(
      file,
      '-wal',
      heads.flatMap((at) => [4, 7, 8, 11, 12, 15, 16, 23].map((offset) => 8 * (at + offset) + (offset % 8))),
    );
    expect(accepted).toEqual([]);
  });
});
