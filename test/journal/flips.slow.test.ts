import { describe, expect, it } from 'vitest';
import { aJournalOfFifty, bitsOf, flip } from './flips.ts';

describe('a journal of fifty records with one flipped bit', () => {
  it.each([
    ['a closed journal', 'closed', ''],
    ['the write-ahead log of a killed process', 'dead', '-wal'],
  ] as const)(
    'is never accepted with different content, for 8 000 bits spread over all pages of %s',
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
