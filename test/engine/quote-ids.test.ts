import { expect, it } from 'vitest';
import { QuoteIds } from '../../src/engine/attempt/quote-ids.ts';

it('QuoteIds keeps at least the last 100,000 ids of quotes, and drops older ones', () => {
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
