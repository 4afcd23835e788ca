import { describe, expect, it } from 'vitest';
import { aJournalOfFifty, bitsOf, flip } from './flips.ts';

describe('a bit that flips in a journal of fifty records', () => {
  it.each([
    ['a journal that was closed', 'closed', ''],
    ['the write-ahead log of a dead process', 'dead', '-wal'],
  ] as const)(
    'is never taken in silence for another content, at 8 000 places of all pages of %s',
    (_, state, part) => {
      const file = aJournalOfFifty(state);
      const step = Math.max(1, Math.floor(bitsOf(file, part) / 8_200));
      const { accepted, refused, tried } = flip(file, part, step);
      expect(accepted).toEqual([]);
      expect(tried).toBeGreaterThanOrEqual(part === '' ? 8_000 : 4_000);
      expect(refused).toBeGreaterThan(tried / 4);
    },
  );
});
