import { describe, expect, it } from 'vitest';
import { own } from '../../src/simulator/exchange/own.ts';

describe('own()', () => {
  it.each(['toString', '__proto__', 'constructor', 'hasOwnProperty', 'eth'])(
    'returns undefined for %s, which is not a property of the object itself',
    (name) => {
      expect(own({ btc: 1 }, name)).toBeUndefined();
    },
  );

  it('returns the value of a property of the object itself', () => {
    expect(own({ btc: 1 }, 'btc')).toBe(1);
  });
});
