import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import { extentOf, missingOf } from '../../src/core/cycle/order-extent.ts';
import type { Asked, Extent } from '../../src/core/cycle/order-extent.ts';
import { anIntent } from './builders.ts';

const PRECISIONS = { basePrecision: 8, quotePrecision: 2 };
const quoted = { quantity: quantity('0.5'), amount: money('30000') };
const byQuantity: Asked = { intent: anIntent(), quoted, precisions: PRECISIONS };
const byAmount: Asked = { intent: anIntent({ by: 'amount', size: '30000' }), quoted, precisions: PRECISIONS };
const unquoted: Asked = { intent: anIntent(), precisions: PRECISIONS };
const oneUnit: Asked = { intent: anIntent({ size: '0.00000001' }), precisions: PRECISIONS };
const traded = (
  base: string,
  amount: string,
): { quantity: typeof quoted.quantity; amount: typeof quoted.amount } => ({
  quantity: quantity(base),
  amount: money(amount),
});

describe('the extent of a trade compared with its order', () => {
  it.each<readonly [Extent, string, Asked, string, string, number]>([
    ['whole', 'exactly what was quoted', byQuantity, '0.5', '30000', 1],
    ['whole', 'with a cent of rounding', byQuantity, '0.5', '29999.99', 1],
    ['whole', 'with a cent for each of three trades', byQuantity, '0.5', '29999.97', 3],
    ['whole', 'all of the quantity, with an unknown quote', unquoted, '0.5', '31000', 1],
    ['whole', 'all of the requested amount', byAmount, '0.49999999', '30000', 1],
    ['other', 'a millionth too little', byQuantity, '0.4999995', '29999.97', 1],
    ['other', 'a unit too little', byQuantity, '0.49999999', '30000', 1],
    ['other', 'a thousandth too little', byQuantity, '0.4995', '29970', 1],
    ['other', 'a cent less than the requested amount', byAmount, '0.5', '29999.99', 1],
    ['other', 'all of the quantity for less', byQuantity, '0.5', '29000', 1],
    ['other', 'a part, with an unknown quote', unquoted, '0.4999', '31000', 1],
    ['more', 'twice as much', byQuantity, '1', '60000', 2],
    ['more', 'a little more', byQuantity, '0.50000002', '30000', 2],
    ['more', 'the smallest unit twice, with an unknown quote', oneUnit, '0.00000002', '0.0012', 2],
    ['more', 'twice the amount', byAmount, '1', '60000', 2],
  ])('is %s: %s', (extent, _, asked, base, amount, parts) => {
    expect(extentOf(asked, { ...traded(base, amount), parts })).toBe(extent);
  });
});

describe('the missing part of an order', () => {
  it('is the rest of its quote', () => {
    expect(missingOf(byQuantity, traded('0.3', '18000'))).toEqual({
      quantity: '0.2',
      amount: '12000',
      notional_usd: '12120',
    });
  });

  it('is valued at the worst price if the quote is unknown', () => {
    expect(missingOf(unquoted, traded('0.3', '18000'))).toMatchObject({ quantity: '0.2', amount: '12120' });
  });

  it('is reported in both currencies if an amount was requested', () => {
    expect(missingOf(byAmount, traded('0.3', '18000'))).toMatchObject({ quantity: '0.2', amount: '12000' });
    expect(missingOf({ ...byAmount, quoted: undefined }, traded('0.3', '18000'))).toMatchObject({
      quantity: '0.19801980198019802',
      amount: '12000',
    });
  });

  it('does not exist once the whole quantity was traded', () => {
    expect(missingOf(byQuantity, traded('0.5', '29000'))).toBeUndefined();
  });
});
