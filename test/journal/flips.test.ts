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
});
