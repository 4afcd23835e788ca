import { describe, expect, it } from 'vitest';
import { compareFill } from '../../../src/core/account/booked-fill.ts';
import type { Comparison } from '../../../src/core/account/booked-fill.ts';
import { rowText, tradeOf } from '../../../src/core/account/rows.ts';
import { corrected } from '../../../src/core/cycle/corrected-fill.ts';
import { compareRowIds } from '../../../src/core/ids.ts';
import { quantity } from '../../../src/core/money.ts';
import type { FillRecord, RowText } from '../../../src/core/record.ts';
import { instant } from '../../../src/core/time.ts';
import type { Transaction } from '../../../src/core/venue.ts';
import { aRow, aTrade } from '../builders.ts';

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

/** Without fees. */
const part = (base: string, quote: string, tradeId: string): readonly Transaction[] =>
  aTrade('buy', base, quote, { tradeId }).map((row) => ({ ...row, fees: quantity('0') }));

const ORDER = { client_order_id: 'c-1', base: 'btc', quote: 'usd' };
const kept = (rows: readonly Transaction[]): readonly RowText[] => rows.map((row) => rowText(row, ORDER));

/** `from`: the read shows only rows from this id on. */
function compared(fill: FillRecord, rows: readonly Transaction[], isDue: boolean, from = '0'): Comparison {
  return compareFill({
    fill,
    trade: rows.length === 0 ? undefined : tradeOf(ORDER, rows),
    covers: ({ id }) => compareRowIds(id, from) >= 0,
    isDue,
    precisions: { basePrecision: 8, quotePrecision: 2 },
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
    ['one leg', whole.slice(0, 1), true, { is: 'unbooked' }],
    ['one leg, within the margin', whole.slice(0, 1), false, { is: 'booking', isMore: false }],
    ['twice as much', [...whole, ...part('0.5', '30000', 't-2')], false, { is: 'differs', isMore: true }],
    ['one leg of a second execution', [...whole, ...part('0.5', '30000', 't-2').slice(0, 1)], false, { is: 'booking', isMore: true }],
    ['twice as much, with two legs in one currency', [...part('0.2', '30000', 't-1'), ...part('0.3', '30000', 't-2'), ...part('0.5', '1', 't-3').slice(0, 1)], false, { is: 'differs', isMore: true, correction: { quantity: '1', amount: '60000' } }],
    ['a cent more', part('0.5', '30000.01', 't-1'), false, { is: 'differs', by: 'rounding', isMore: false }],
  ])('classifies a fill of which the account shows %s', (_, rows, isDue, expected) => {
    expect(compared(free(), rows, isDue)).toMatchObject(expected);
  }); // prettier-ignore
});

describe('an order of the smallest unit that the venue executes twice', () => {
  const tiny = free({ quantity: '0.00000001', amount: '0.01' });
  const [one, again] = [part('0.00000001', '0.01', 't-1'), part('0.00000001', '0.01', 't-2')];

  it.each<readonly [string, FillRecord, readonly Transaction[], object]>([
    ['both at once', tiny, [...one, ...again], { is: 'differs', isMore: true, correction: { quantity: '0.00000002' } }],
    ['the second later', free({ ...tiny, rows: kept(one) }), [...one, ...again], { is: 'differs', isMore: true }],
    ['one leg of the second', tiny, [...one, ...again.slice(0, 1)], { is: 'booking', isMore: true }],
    ['the other leg of the second', free({ ...tiny, amount: '0.02', rows: kept([...one, ...again.slice(1)]) }), [...one, ...again], { is: 'differs', isMore: true }],
  ])('is more than the order if the account shows %s', (_, fill, rows, expected) => {
    expect(compared(fill, rows, true)).toMatchObject(expected);
  });
}); // prettier-ignore

describe('a fill with a missing part whose quote is not in the journal', () => {
  const [some, rest] = [part('0.3', '18000', 't-1'), part('0.2', '11000', 't-2')];
  const short = free({ quote_id: '', quantity: '0.3', amount: '18000', rows: kept(some), missing: SHORT });

  it('is completed at once by the rest, at whichever price', () => {
    expect(compared(short, [...some, ...rest], false)).toMatchObject({
      is: 'differs',
      isMore: false,
      correction: { quantity: '0.5', amount: '29000' },
    });
  });

  it('waits for the other leg of the rest', () => {
    expect(compared(short, [...some, ...rest.slice(0, 1)], false)).toMatchObject({ is: 'booking', isMore: false });
  });
}); // prettier-ignore

describe('a fill whose rows are known', () => {
  const [some, rest] = [part('0.3', '18000', 't-1'), part('0.2', '12000', 't-2')];
  const all = [...some, ...rest];
  const whole = free({ rows: kept(all) });
  const short = free({ quantity: '0.3', amount: '18000', notional_usd: '18000', rows: kept(some), missing: SHORT });

  it('is unchanged while the account shows the same rows, or only some of them', () => {
    expect(compared(whole, all, true)).toEqual({ is: 'agreed' });
    expect(compared(whole, some, true)).toEqual({ is: 'agreed' });
  });

  it('is completed by its missing part', () => {
    const found = compared(short, [...some, ...rest], true);
    expect(found).toMatchObject({ is: 'differs', isMore: false, correction: { quantity: '0.5', amount: '30000' } });
    expect(found.is === 'differs' && [found.correction.missing, found.correction.rows]).toEqual([undefined, kept(all)]);
  });

  it('is completed by a read that shows only its missing part', () => {
    const from = rest[0]?.id;
    expect(compared(short, rest, true, from)).toEqual({ is: 'unclear' });
    expect(compared(short, rest, true)).toMatchObject({ correction: { quantity: '0.5', rows: kept(all) } });
  });

  it('has a smaller missing part once some of it appears', () => {
    expect(compared(short, part('0.1', '6000', 't-3'), true)).toMatchObject({
      correction: { quantity: '0.4', missing: { quantity: '0.1', amount: '6000', notional_usd: '6000' } },
    });
  });

  it('counts as executed twice if a row appears beyond its missing part', () => {
    expect(compared(free({ rows: kept(some) }), part('0.5', '30000', 't-9'), true)).toMatchObject({
      is: 'differs',
      isMore: true,
      correction: { quantity: '0.8', amount: '48000', was_quantity: '0.5' },
    });
  });

  it('does not count as executed twice if its rounded parts become exact again', () => {
    const parts = [part('0.2', '11999.99', 't-1'), part('0.3', '17999.99', 't-2')].flat();
    const rounded = free({ by: 'amount', amount: '29999.98', rows: kept(parts) });
    const exact = parts.map((row) => (row.currency === 'usd' ? { ...row, amount: row.amount.minus('0.01') } : row));
    expect(compared(rounded, exact as readonly Transaction[], true)).toMatchObject({
      is: 'differs',
      isMore: false,
      correction: { amount: '30000' },
    });
  });

  it('is corrected, and does not count as executed twice, if the size of its order is unknown', () => {
    const adopted = free({ quantity: '0.3', amount: '18000', rows: kept(some), adopted: true });
    expect(compared(adopted, all, true)).toMatchObject({ is: 'differs', isMore: false });
  });

  it('is corrected if a leg is amended, with what changed', () => {
    const amended = all.map((row, n) => (n === 1 ? { ...row, amount: quantity('-18001'), fees: quantity('2.5') } : row));
    expect(compared(whole, amended, true)).toMatchObject({
      is: 'differs',
      by: 'units',
      correction: {
        quantity: '0.5',
        amount: '30001',
        fees: '2.5',
        was_amount: '30000',
        changes: [expect.stringMatching(/of -18000 with fees of 0 usd is now row .* of -18001 with fees of 2\.5 usd/u)],
      },
    });
  });

  it('stays as it is if its rows come under new ids, which are kept and reported', () => {
    const moved = all.map((row) => ({ ...row, id: `${row.id}00` }));
    const found = compared(whole, moved, true);
    expect(found).toMatchObject({ is: 'shown', rows: kept(moved) });
    expect(found.is === 'shown' && found.replaced).toHaveLength(4);
    expect(compared({ ...whole, rows: kept(moved) }, moved, true)).toEqual({ is: 'agreed' });
  });

  it('is not booked twice while the read does not reach back to rows that may have new ids', () => {
    const moved = all.map((row) => ({ ...row, id: `${row.id}00` }));
    expect(compared(whole, moved, true, moved[0]?.id)).toEqual({ is: 'unclear' });
  });

  it('keeps its correction for the next comparison', () => {
    const found = compared(short, all, true);
    if (found.is !== 'differs') throw new Error('nothing differs');
    const now = corrected(short, found.correction);
    expect([now.quantity, now.amount, now.notional_usd, now.missing]).toEqual(['0.5', '30000', '30000', undefined]);
    expect(compared(now, all, true)).toEqual({ is: 'agreed' });
  });
}); // prettier-ignore

describe('fees of a fill that are booked elsewhere', () => {
  const whole = part('0.5', '30000', 't-1');
  const booked = free({ rows: kept(whole) });
  const charge = (over: Partial<Transaction>): Transaction => aRow({ action: 'charge', clientId: undefined, ...over });

  it.each<readonly [string, readonly Transaction[], object]>([
    ['as a later row of its order', [...whole, charge({ currency: 'usd', amount: quantity('-2.4') })], { fees: '2.4' }],
    ['as a later row in base', [...whole, charge({ amount: quantity('-0.0001') })], { fees: '0', other_fees: { btc: '0.0001' } }],
    ['in the base leg', whole.map((row, n) => (n === 0 ? { ...row, fees: quantity('0.0001') } : row)), { other_fees: { btc: '0.0001' } }],
    ['as a rebate', [...whole, charge({ action: 'credit', currency: 'usd', amount: quantity('1.2') })], { fees: '-1.2' }],
  ])('are corrected, and change neither quantity nor amount: %s', (_, rows, correction) => {
    const found = compared(booked, rows, true);
    expect(found).toMatchObject({ is: 'differs', by: 'units', isMore: false, correction: { quantity: '0.5', amount: '30000', ...correction } });
    expect(found.is === 'differs' && compared(corrected(booked, found.correction), rows, true)).toEqual({ is: 'agreed' });
  });

  it('are no difference if the fill has them already', () => {
    const rows = [...whole, charge({ amount: quantity('-0.0001') })];
    expect(compared(free({ other_fees: { btc: '0.0001' } }), rows, true).is).toBe('shown');
  });
}); // prettier-ignore
