import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instant } from '../../src/core/time.ts';
import type { SliceFacts } from '../../src/report/figures/slices.ts';
import { Slices } from '../../src/report/figures/slices.ts';

const aSlice = (slice: number, attempts: number): SliceFacts => ({
  slice,
  slot: instant(0),
  at: instant(0),
  intent: { leg: 'all', parent: 'p', slice, pair: 'btcusd', side: 'buy', by: 'quantity', size: '1', deadline: instant(1) },
  attempts,
  end: undefined,
}); // prettier-ignore

describe('slices of a parent', () => {
  it('are stored as in a map, for none, one or many', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 4 }), { maxLength: 8 }), (numbers) => {
        const slices = new Slices();
        const plain = new Map<number, SliceFacts>();
        for (const [i, number] of numbers.entries()) {
          const facts = aSlice(number, i);
          slices.set(facts);
          plain.set(number, facts);
          expect(slices.values()).toEqual([...plain.values()]);
          expect(slices.size).toBe(plain.size);
          for (let other = 0; other <= 5; other++) expect(slices.get(other)).toBe(plain.get(other));
        }
        expect(slices.values()).toHaveLength(new Set(numbers).size);
      }),
    );
  });
});
