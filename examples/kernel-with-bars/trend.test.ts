// oxlint-disable typescript/no-floating-promises -- node:test waits for its tests by itself
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testKernel } from 'tranche/strategy/testing';
import type { KernelTest } from 'tranche/strategy/testing';
import { kernel } from './trend.ts';

const document = {
  pairs: ['btcusd'],
  side: 'buy',
  total_notional: { amount: '1000', currency: 'usd' },
  params: { pair: 'btcusd', interval: 'PT15M', short: 1, long: 3, each: '500' },
} as const;

/** A kernel that has seen bars with these closes. */
function after(...closes: readonly string[]): KernelTest {
  const trend = testKernel(kernel, document, { balances: { usd: '10000' }, prices: { btcusd: '100' } });
  for (const close of closes) trend.bar('btcusd', 'PT15M', { open: close, high: close, low: close, close });
  return trend;
}

test('waits until it has seen enough bars', () => {
  const trend = after('100', '99');
  assert.equal(trend.steps.at(-1)?.note, '2 of 3 bars');
  assert.deepEqual(trend.intents, []);
});

test('buys once when the close rises above the mean', () => {
  const trend = after('100', '99', '98', '102', '103');
  assert.deepEqual(
    trend.intents.map(({ side, notional }) => ({ side, notional })),
    [{ side: 'buy', notional: '500' }],
  );
});

test('ends when its total is used up', () => {
  const trend = after('100', '99', '98', '102');
  trend.fill(0);
  for (const close of ['90', '80', '120'])
    trend.bar('btcusd', 'PT15M', { open: close, high: close, low: close, close });
  trend.fill(1, { price: '120' });
  assert.equal(trend.isFinished, true);
});

test('asks again after an order that did not trade', () => {
  const trend = after('100', '99', '98', '102');
  trend.skip(0, 'collar');
  for (const close of ['90', '80', '120'])
    trend.bar('btcusd', 'PT15M', { open: close, high: close, low: close, close });
  assert.equal(trend.intents.length, 2);
  assert.equal(trend.fault, undefined);
});
