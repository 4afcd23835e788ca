import { expect, it } from 'vitest';
import { QuoteIds } from '../../src/engine/attempt/quote-ids.ts';

it('knows the last hundred thousand ids of quotes, and forgets older ones in the end', () => {
  const ids = new QuoteIds();
  const isKnown = (i: number): boolean => ids.has(`quote ${i}`);
  let known = 0;
  for (let i = 0; i < 250_000; i++) {
    if (isKnown(i)) known++;
    ids.add(`quote ${i}`);
  }
  expect(known).toBe(0);
  expect([249_999, 200_000, 199_999, 150_000].map(isKnown)).toEqual([true, true, true, true]);
  expect(isKnown(0)).toBe(false);
});
