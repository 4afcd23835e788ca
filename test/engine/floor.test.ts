import { describe, expect, it } from 'vitest';
import { quantity, text } from '../../src/core/money.ts';
import { MINUTE_MS } from '../../src/core/time.ts';
import { aPolicy, aTwap, started } from './harness.ts';
import { executedTotal, faultsOf } from './oracle.ts';

/** How much of 0.15 btc is sold, with 0.1 held, in one slice a minute after the start. */
function sold(
  mode: 'Enabled' | 'Short-Only' | 'Reduce-Only' | 'Long-Only',
  floor: string | undefined,
): string {
  const policy = aPolicy();
  const bench = started(
    {
      strategies: [
        aTwap('twap', {
          side: 'sell',
          total_quantity: { amount: '0.15', currency: 'btc' },
          slices: 1,
          start_time: '2026-01-05T00:01:00Z',
        }),
      ],
      policy: {
        pts: { ...policy.pts, use: 'when_enabled' },
        limits: {
          ...policy.limits,
          ...(floor === undefined ? {} : { positionMin: new Map([['btc', quantity(floor)]]) }),
        },
      },
      venue: { accounts: [{ balances: { btc: '0.1' } }], pts: { modes: { btcusd: mode } } },
    },
    15 * MINUTE_MS,
  );
  expect(faultsOf(bench).filter((fault) => fault !== 'not done')).toEqual([]);
  return text(executedTotal(bench.exchange));
}

describe('a desk with 0.1 btc that may use PTS', () => {
  it.each([
    ['0', 'Enabled', '0.1'],
    ['0', 'Short-Only', '0.1'],
    ['0', 'Reduce-Only', '0.1'],
    ['0.04', 'Enabled', '0.06'],
    ['-0.02', 'Enabled', '0.12'],
    ['-0.05', 'Enabled', '0.15'],
    ['-0.05', 'Short-Only', '0.15'],
    ['-0.05', 'Long-Only', '0.1'],
    ['-0.05', 'Reduce-Only', '0.1'],
    [undefined, 'Enabled', '0.15'],
  ] as const)('with a floor of %s in risk mode %s sells %s of 0.15 btc', (floor, mode, expected) => {
    expect(sold(mode, floor)).toBe(expected);
  });
});
