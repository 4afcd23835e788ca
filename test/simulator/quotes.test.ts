import { describe, expect, it } from 'vitest';
import { uuidRow } from '../../src/simulator/exchange/quotes.ts';

const FIRST = 1_764_000_000_000;
const COUNT = 100_000;

describe('a sequence of UUIDs', () => {
  it('has the format of version 8 and no duplicates', () => {
    const idAt = uuidRow('quote a 1');
    const ids = Array.from({ length: COUNT }, (_, place) => idAt(FIRST + place));
    const odd = ids.find(
      (id) => !/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u.test(id),
    );
    expect(odd).toBeUndefined();
    expect(new Set(ids).size).toBe(COUNT);
  });

  it('is the same for the same name and number, and different for another name or number', () => {
    expect(uuidRow('a')(FIRST)).toBe(uuidRow('a')(FIRST));
    expect(uuidRow('a')(FIRST)).not.toBe(uuidRow('b')(FIRST));
    expect(uuidRow('a')(FIRST)).not.toBe(uuidRow('a')(FIRST + 2 ** 32));
  });

  it('varies every free bit evenly', () => {
    const idAt = uuidRow('spread');
    const words = Array.from({ length: 2_000 }, (_, place) => BigInt(`0x${idAt(place).replaceAll('-', '')}`));
    for (let bit = 0n; bit < 128n; bit++) {
      if ((bit >= 76n && bit < 80n) || (bit >= 62n && bit < 64n)) continue; // version and variant
      const set = words.filter((word) => ((word >> bit) & 1n) === 1n).length;
      expect(Math.abs(set - 1_000), `bit ${bit}`).toBeLessThan(150);
    }
  });
});
