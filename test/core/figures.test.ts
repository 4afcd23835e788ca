import { describe, expect, it } from 'vitest';
import { evidenceOf } from '../../src/core/cycle/evidence.ts';
import { compareFill } from '../../src/core/cycle/compare-fill.ts';
import type { Comparison } from '../../src/core/cycle/compare-fill.ts';
import type { FillRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { aTrade } from './builders.ts';

const aFill = (over: Partial<FillRecord> = {}): FillRecord => ({
  kind: 'fill',
  client_order_id: 'c-1',
  order_id: '77',
  quote_id: 'q-1',
  pair: 'btcusd',
  base: 'btc',
  quote: 'usd',
  side: 'buy',
  quantity: '0.5',
  price: '60000',
  amount: '30000',
  fees: '1.5',
  executed_at: instant(0),
  strategy: 's',
  parent: 'p',
  slice: 0,
  attempt: 0,
  notional_usd: '30000',
  decision_price: '',
  source: 'order',
  ...over,
});
const SHORT = { quantity: '0.2', amount: '12000', notional_usd: '12000' };

const part = (base: string, quote: string, tradeId: string): readonly Transaction[] =>
  aTrade('buy', base, quote, { tradeId }).map((row) => ({
    ...row,
    fees: row.fees.times('0') as Transaction['fees'], // oxlint-disable-line typescript/no-unsafe-type-assertion -- nothing of a quantity
  }));

function compared(fill: FillRecord, rows: readonly Transaction[], isDue: boolean): Comparison {
  return compareFill({
    fill,
    trade: rows.length === 0 ? undefined : evidenceOf('c-1', rows, { base: 'btc', quote: 'usd' }),
    readAt: instant(30_000),
    isDue,
    basePrecision: 8,
    quotePrecision: 2,
  });
}
const free = (over: Partial<FillRecord> = {}): FillRecord => aFill({ fees: '0', ...over });

describe('the comparison of a fill with the account', () => {
  const whole = part('0.5', '30000', 't-1');
  const [some, rest] = [part('0.3', '18000', 't-1'), part('0.2', '12000', 't-2')];

  it.each<readonly [string, readonly Transaction[], boolean, object]>([
    ['nothing yet', [], false, { is: 'early' }],
    ['all of it', whole, false, { is: 'shown' }],
    ['all of it, in parts', [...some, ...rest], false, { is: 'shown' }],
    ['a part, within the margin', some, false, { is: 'booking', isMore: false }],
    ['a unit less, within the margin', part('0.49999999', '30000', 't-1'), false, { is: 'booking' }],
    ['a part, after the margin', some, true, { is: 'differs', by: 'grave', correction: { missing: SHORT } }],
    ['one leg', whole.slice(0, 1), true, { is: 'booking', isMore: false }],
    ['twice as much', [...whole, ...part('0.5', '30000', 't-2')], false, { is: 'differs', isMore: true }],
    ['one leg of a second execution', [...whole, ...part('0.5', '30000', 't-2').slice(0, 1)], false, { is: 'booking', isMore: true }],
    ['a cent more', part('0.5', '30000.01', 't-1'), false, { is: 'differs', by: 'rounding', isMore: false }],
  ])('classifies a fill of which the account shows %s', (_, rows, isDue, expected) => {
    expect(compared(free(), rows, isDue)).toMatchObject(expected);
  }); // prettier-ignore

  it('takes the price of the account if an operator reported the fill', () => {
    const told = free({ source: 'operator', price: '60000.000000000000000001' });
    expect(compared(told, whole, false)).toMatchObject({ is: 'differs', by: 'rounding', correction: { price: '60000' } }); // prettier-ignore
  });
});

describe('a fill whose rows are known', () => {
  const [some, rest] = [part('0.3', '18000', 't-1'), part('0.2', '12000', 't-2')];
  const known = (rows: readonly Transaction[]): readonly number[] => rows.map(({ id }) => id);
  const short = free({ quantity: '0.3', amount: '18000', notional_usd: '18000', rows: known(some), missing: SHORT });

  it('is unchanged while no new row appears, even if a read shows only some of its rows', () => {
    expect(compared(free({ rows: known([...some, ...rest]) }), some, true)).toEqual({ is: 'agreed' });
  });

  it('is completed by its missing part', () => {
    const found = compared(short, rest, true);
    expect(found).toMatchObject({ is: 'differs', isMore: false, correction: { quantity: '0.5', amount: '30000' } });
    expect(found.is === 'differs' && found.correction.missing).toBe(undefined);
    expect(found.is === 'differs' && found.correction.rows).toEqual(known([...some, ...rest]));
  });

  it('has a smaller missing part once some of it appears', () => {
    expect(compared(short, part('0.1', '6000', 't-3'), true)).toMatchObject({
      correction: { quantity: '0.4', missing: { quantity: '0.1', amount: '6000', notional_usd: '6000' } },
    });
  });

  it('counts as executed twice if a row appears beyond its missing part', () => {
    expect(compared(free({ rows: known(some) }), part('0.5', '30000', 't-9'), true)).toMatchObject({
      is: 'differs',
      isMore: true,
      correction: { quantity: '1', amount: '60000', was_quantity: '0.5' },
    });
  });

  it('is corrected, and does not count as executed twice, if the size of its order is unknown', () => {
    expect(compared(free({ rows: known(some), adopted: true }), rest, true)).toMatchObject({ is: 'differs', isMore: false }); // prettier-ignore
  });
}); // prettier-ignore
