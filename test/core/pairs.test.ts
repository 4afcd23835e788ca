import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitPair } from '../../src/core/pairs.ts';

describe('a pair', () => {
  it.each([
    ['btcusd', ['btc', 'usd', 'eth'], { pair: 'btcusd', base: 'btc', quote: 'usd' }],
    ['usdcusdt', ['usd', 'usdc', 'usdt'], { pair: 'usdcusdt', base: 'usdc', quote: 'usdt' }],
    ['1inchusd', ['1inch', 'usd'], { pair: '1inchusd', base: '1inch', quote: 'usd' }],
  ])('%s is split with the currencies %o', (pair, currencies, parts) => {
    expect(splitPair(pair, currencies)).toEqual(parts);
  });

  it.each([
    ['usdcusdt', ['usdc']],
    ['usdcusdt', ['usd', 'usdt']],
    ['btcusd', []],
    ['btcbtc', ['btc']],
    ['btc', ['btc']],
    ['', ['btc']],
    ['BTCUSD', ['btc', 'usd']],
  ])('%s is not split with the currencies %o', (pair, currencies) => {
    expect(splitPair(pair, currencies)).toMatchObject({ problem: 'unknown_pair', pair });
  });

  it('is ambiguous if it can be split in two ways, and the error names both', () => {
    const answer = splitPair('abcd', ['a', 'bcd', 'ab', 'cd']);
    expect(answer).toMatchObject({ problem: 'ambiguous_pair' });
    expect('why' in answer && answer.why).toContain('a/bcd or ab/cd');
  });

  it('is split into known symbols or reported as ambiguous, for any two symbols', () => {
    const symbol = fc.stringMatching(/^[ab]{1,4}$/u);
    fc.assert(
      fc.property(symbol, symbol, fc.array(symbol), (base, quote, others) => {
        const answer = splitPair(base + quote, [base, quote, ...others]);
        const isRight =
          'problem' in answer
            ? base === quote || answer.problem === 'ambiguous_pair'
            : answer.base + answer.quote === base + quote && [base, quote, ...others].includes(answer.base);
        expect(isRight).toBe(true);
      }),
    );
  });
});
