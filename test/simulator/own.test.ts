import { describe, expect, it } from 'vitest';
import { own } from '../../src/simulator/exchange/own.ts';

describe('what an object itself has', () => {
  it.each(['toString', '__proto__', 'constructor', 'hasOwnProperty', 'eth'])('is nothing for %s', (name) => {
    expect(own({ btc: 1 }, name)).toBeUndefined();
  });

  it('is the value under the name', () => {
    expect(own({ btc: 1 }, 'btc')).toBe(1);
  });
});
