import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forgetOldest, oldestOf } from '../../src/engine/oldest.ts';

describe('the oldest entry of a map', () => {
  it('is the first of those that are left, whatever was added, replaced, moved to the end or forgotten', () => {
    const steps = fc.array(fc.record({ key: fc.nat(20), what: fc.constantFrom('use', 'forget') }));
    fc.assert(
      fc.property(steps, fc.boolean(), (all, isMoved) => {
        const map = new Map<number, number>();
        const plain = new Map<number, number>();
        for (const [at, { key, what }] of all.entries()) {
          if (what === 'use') {
            for (const one of [map, plain]) {
              if (isMoved) one.delete(key);
              one.set(key, at);
            }
          } else if (what === 'forget') {
            forgetOldest(map);
            plain.delete(plain.keys().next().value ?? -1);
          }
          // Where entries move nobody looks without forgetting.
          const seen = isMoved ? map.keys().next().value : oldestOf(map);
          expect([seen, ...map]).toEqual([plain.keys().next().value, ...plain]);
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
