import { describe, expect, it } from 'vitest';
import { changesOf, feesInQuote, unpricedFees } from '../../src/core/cycle/balance-changes.ts';
import { text } from '../../src/core/money.ts';
import type { FillRecord } from '../../src/core/record.ts';
import { costOf } from '../../src/engine/state/totals.ts';
import { aFill } from '../journal/records.ts';

const figures = { quantity: '0.5', price: '60000', amount: '30000', notional_usd: '30000', fees: '2.4' };
const changes = (given: Partial<FillRecord>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    changesOf(aFill({ ...figures, ...given })).map(([currency, change]) => [currency, text(change)]),
  );

describe('the balance changes of a fill', () => {
  it('take a fee in the base currency from the base currency, once per currency', () => {
    const other_fees = { btc: '0.0002' };
    expect(changes({ other_fees })).toEqual({ btc: '0.4998', usd: '-30002.4' });
    expect(changes({ other_fees, side: 'sell' })).toEqual({ btc: '-0.5002', usd: '29997.6' });
    expect(changesOf(aFill({ ...figures, other_fees }))).toHaveLength(2);
  });

  it('take a fee in a third currency from that currency, and give a rebate', () => {
    expect(changes({ other_fees: { bnb: '0.1', btc: '-0.0001' } })).toEqual({
      btc: '0.5001',
      usd: '-30002.4',
      bnb: '-0.1',
    });
  });

  it('are those of both legs without other fees', () => {
    expect(changes({})).toEqual({ btc: '0.5', usd: '-30002.4' });
  });
});

describe('the fees of a fill as a cost', () => {
  it('count a fee in the base currency at the price of the fill', () => {
    expect(text(feesInQuote(aFill({ ...figures, other_fees: { btc: '0.0002' } })))).toBe('14.4');
    expect(text(costOf(aFill({ ...figures, other_fees: { btc: '0.0002' } })))).toBe('14.4');
    expect(text(feesInQuote(aFill({ ...figures, fees: '0', other_fees: { btc: '-0.0002' } })))).toBe('-12');
  });

  it('exclude fees in third currencies, which stay in their own', () => {
    const fill = aFill({ ...figures, other_fees: { bnb: '0.1', btc: '0.0002' } });
    expect([text(feesInQuote(fill)), unpricedFees(fill)]).toEqual(['14.4', { bnb: '0.1' }]);
    expect(unpricedFees(aFill(figures))).toEqual({});
  });
});
