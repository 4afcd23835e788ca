import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forgetOldest, oldestOf } from '../../src/engine/oldest.ts';

describe('the oldest entry of a map', () => {
  it('is the first of those that are left, whatever was added, replaced, moved to the end or forgotten', () => {
    const steps = fc.array(fc.record({ key: fc.nat(20), what: fc.constantFrom('use', 'look', 'forget') }));
    fc.assert(
      fc.property(steps, fc.boolean(), (all, isMoved) => {
        const map = new Map<number, number>();
        for (const [at, { key, what }] of all.entries()) {
          // A map whose entries move is only ever asked to forget.
          if (what === 'look' && !isMoved) expect(oldestOf(map)).toBe(map.keys().next().value);
          else if (what === 'use') {
            if (isMoved) map.delete(key);
            map.set(key, at);
          } else {
            const first = map.keys().next().value;
            const kept = [...map.keys()].filter((one) => one !== first);
            forgetOldest(map);
            expect([...map.keys()]).toEqual(kept);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is none of an empty map, and is found again once there is one', () => {
    const map = new Map<string, number>();
    expect(oldestOf(map)).toBeUndefined();
    forgetOldest(map);
    map.set('a', 1);
    expect(oldestOf(map)).toBe('a');
  });
});
