import { describe, expect, it } from 'vitest';
import { keepNewest } from '../../src/core/keep-newest.ts';

const numbered = (count: number): Map<string, number> =>
  new Map(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

describe('keepNewest', () => {
  it('removes no entry until there are a quarter more than the limit', () => {
    const map = numbered(10);
    expect(keepNewest(map, 8)).toBe(0);
    expect(map.size).toBe(10);
  });

  it('removes the oldest entries beyond the limit at once', () => {
    const map = numbered(11);
    expect(keepNewest(map, 8)).toBe(3);
    expect([...map.keys()]).toStrictEqual([...numbered(11).keys()].slice(3));
  });

  it('stops at the first entry that must be kept', () => {
    const map = numbered(100);
    expect(keepNewest(map, 8, (value) => value < 5)).toBe(5);
    expect([...map.values()].at(0)).toBe(5);
  });
});
