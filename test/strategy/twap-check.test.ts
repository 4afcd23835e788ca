import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import type { Minimum } from '../../src/core/instrument.ts';
import { twap } from '../../src/strategy/kinds/twap.ts';
import { problemsOf } from './views.ts';

const PLAN = {
  pair: 'btcusd',
  side: 'buy',
  total_quantity: { amount: '1', currency: 'btc' },
  duration: 'PT4H',
  slices: 4,
};
const NONE = {
  total_quantity: undefined,
  total_notional: undefined,
  interval: undefined,
  slices: undefined,
  duration: undefined,
  end_time: undefined,
};
const messages = (over: object, minimum: Minimum = {}): readonly string[] =>
  problemsOf(twap, { ...PLAN, ...over }, minimum);
const shapeFaults = (over: object): readonly string[] => {
  const result = twap.params.safeParse({ ...PLAN, ...over });
  return result.success ? [] : result.error.issues.map((one) => `${one.path.join('.')}: ${one.message}`);
};

describe('a twap document', () => {
  it('reports no problem if it is valid', () => {
    expect(messages({})).toEqual([]);
    expect(messages({ slices: undefined, interval: 'PT15M' })).toEqual([]);
  });

  it.each([
    [
      'total_notional',
      { total_notional: { amount: '1', currency: 'usd' } },
      'give either total_quantity or total_notional, not both: remove one',
    ],
    ['slices', { interval: 'PT1H' }, 'give either interval or slices, not both: remove one'],
    [
      'end_time',
      { end_time: '2026-12-01T09:00:00Z' },
      'give either duration or end_time, not both: remove one',
    ],
  ])('with two exclusive fields reports the problem at %s', (path, over, message) => {
    expect(messages(over)).toEqual([`${path}: ${message}`]);
  });

  it('names both fields of every required choice that is missing', () => {
    expect(messages(NONE)).toEqual([
      ': give one of total_quantity and total_notional',
      ': give one of interval and slices',
      ': give one of duration and end_time',
    ]);
  });

  it.each([
    [
      { total_quantity: { amount: '1', currency: 'usd' } },
      'total_quantity.currency: total_quantity of btcusd must be in btc, not usd; for usd write total_notional',
    ],
    [
      { total_quantity: undefined, total_notional: { amount: '1', currency: 'btc' } },
      'total_notional.currency: total_notional of btcusd must be in usd, not btc; for btc write total_quantity',
    ],
    [
      { total_quantity: { amount: '1', currency: 'eth' } },
      'total_quantity.currency: total_quantity of btcusd must be in btc, not eth',
    ],
  ])('with a total in a wrong currency names the right one', (over, message) => {
    expect(messages(over)).toEqual([message]);
  });

  it.each([
    ['PT7M', 'interval: interval does not divide the window of 14400 s; write slices: 34 instead'],
    ['PT5H', 'interval: interval does not divide the window of 14400 s; write slices: 1 instead'],
    ['P1D', 'interval: interval does not divide the window of 14400 s; write slices: 1 instead'],
  ])(
    'with an interval of %s that does not divide the window suggests a number of slices',
    (interval, message) => {
      expect(messages({ slices: undefined, interval })).toEqual([message]);
    },
  );

  it.each([
    [
      { duration: undefined, end_time: '2026-12-01T09:00:00Z' },
      'end_time: end_time needs start_time; or write duration instead',
    ],
    [
      {
        duration: undefined,
        start_time: '2026-12-01T09:00:00Z',
        end_time: '2026-12-01T10:00:00[Europe/Berlin]',
      },
      'end_time: end_time must be later than start_time',
    ],
    [
      { slices: undefined, interval: 'PT0.1S' },
      'interval: more than 100000 slices: choose a longer interval',
    ],
  ])('with an impossible window is refused: %j', (over, message) => {
    expect(messages(over)).toEqual([message]);
  });
});

describe('slices compared with the minimum of the venue', () => {
  const minimum = { quantity: quantity('0.1'), notional: money('1000') };

  it('are allowed down to exactly the minimum', () => {
    expect(messages({ slices: 10 }, minimum)).toEqual([]);
    expect(messages({ slices: 11 }, minimum)).toEqual([
      "slices: 1 btc in 11 slices is below the venue's minimum of 0.1 btc each; at most 10 slices are possible",
    ]);
  });

  it('leave room for jitter to make one of them smaller', () => {
    const jitter = { time_pct: 0, size_pct: 30, seed: 1 };
    expect(messages({ slices: 7, jitter }, minimum)).toEqual([]);
    expect(messages({ slices: 8, jitter }, minimum)).toEqual([expect.stringMatching(/at most 7 slices/u)]);
  });

  it('of a notional are compared with the minimum notional', () => {
    const notional = { total_quantity: undefined, total_notional: { amount: '5000', currency: 'usd' } };
    expect(messages({ ...notional, slices: 5 }, minimum)).toEqual([]);
    expect(messages({ ...notional, slices: 6 }, minimum)).toEqual([
      expect.stringMatching(/1000 usd each; at most 5/u),
    ]);
  });

  it('of a quantity are also compared with the minimum notional, at their limit price', () => {
    // 1 btc at 5000 is 5000 usd: at most 5 slices of 1000, though 10 would meet the minimum quantity.
    expect(messages({ slices: 5, limit_price: '5000' }, minimum)).toEqual([]);
    expect(messages({ slices: 6, limit_price: '5000' }, minimum)).toEqual([
      expect.stringMatching(/5000 usd .* at most 5/u),
    ]);
    expect(messages({ slices: 11, limit_price: '50000' }, minimum)).toEqual([
      expect.stringMatching(/1 btc .* at most 10/u),
    ]);
  });

  it('of a total below the minimum are refused', () => {
    expect(messages({ total_quantity: { amount: '0.09', currency: 'btc' } }, minimum)).toEqual([
      "slices: the whole total is below the venue's minimum of 0.1 btc",
    ]);
  });

  it('are not compared if there is no applicable minimum', () => {
    expect(messages({ slices: 1000 })).toEqual([]);
    expect(messages({ slices: 1000 }, { notional: money('1000') })).toEqual([]);
    expect(messages({ slices: 1000 }, { quantity: quantity('0') })).toEqual([]);
  });
});

describe('the schema of a twap document', () => {
  it.each<readonly [object, string]>([
    [{ slices: 0 }, 'slices'],
    [{ slices: 1.5 }, 'slices'],
    [{ slices: '4' }, 'slices'],
    [{ side: 'BUY' }, 'side'],
    [{ duration: '4h' }, 'duration'],
    [{ duration: 'PT0S' }, 'duration'],
    [{ total_quantity: { amount: 1.5, currency: 'btc' } }, 'total_quantity.amount'],
    [{ total_quantity: { amount: '0', currency: 'btc' } }, 'total_quantity.amount'],
    [{ total_quantity: { amount: '-1', currency: 'btc' } }, 'total_quantity.amount'],
    [{ total_quantity: { amount: '1e3', currency: 'btc' } }, 'total_quantity.amount'],
    [{ total_quantity: '1.5' }, 'total_quantity'],
    [{ limit_price: '0.000' }, 'limit_price'],
    [{ start_time: '2026-12-01T09:00:00' }, 'start_time'],
    [{ start_time: '2026-03-29T01:30:00[Europe/London]' }, 'start_time'],
    [{ jitter: { time_pct: 96, seed: 1 } }, 'jitter.time_pct'],
    [{ jitter: { size_pct: 51, seed: 1 } }, 'jitter.size_pct'],
    [{ jitter: { size_pct: 10 } }, 'jitter.seed'],
    [{ catch_up: 'burst' }, 'catch_up'],
    [{ catchup: 'pace' }, ''],
  ])('refuses %j', (over, path) => {
    expect(shapeFaults(over)).toEqual([
      expect.stringMatching(new RegExp(`^${path.replace('.', '\\.')}: .+`, 'u')),
    ]);
  });
});
