import { describe, expect, it } from 'vitest';
import { aJournalOfFifty, bitsOf, flip } from './flips.ts';

describe('a journal of fifty records with one flipped bit', () => {
  it.each([
    ['a closed journal', 'closed', ''],
    ['the write-ahead log of a killed process', 'dead', '-wal'],
  ] as const)(
    'is never accepted with different content, for a sample of the bits of %s',
    (_, state, part) => {
      const file = aJournalOfFifty(state);
      const step = 8 * Math.floor(bitsOf(file, part) / 8 / 400) + 3;
      const { accepted, refused } = flip(file, part, step);
      expect(accepted).toEqual([]);
      expect(refused).toBeGreaterThan(50);
    },
  );

  it('is never accepted with different content, for bits in the header of each log frame', () => {
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
