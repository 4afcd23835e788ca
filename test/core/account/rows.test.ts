import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attribute,
  changeText,
  currentRows,
  figuresOf,
  hasBothLegs,
  rowText,
  tradeOf,
} from '../../../src/core/account/rows.ts';
import { compareRowIds } from '../../../src/core/ids.ts';
import type { Attributed, Trade } from '../../../src/core/account/rows.ts';
import { clientId, deskMark } from '../../../src/core/ids.ts';
import { add, money, quantity, text } from '../../../src/core/money.ts';
import type { RowText } from '../../../src/core/record.ts';
import { instant } from '../../../src/core/time.ts';
import type { Side, Transaction } from '../../../src/core/venue.ts';
import { aKnown, aRow as anyRow, aTrade as anyTrade } from '../builders.ts';

const idOf = (slice: number, desk = 'treasury'): string =>
  clientId({ desk, parent: 'abcdefgh', slice, attempt: 0 });
const MINE = idOf(0);
const OPEN = idOf(1);
const MARK = deskMark('treasury');
const ORDER = { client_order_id: MINE, base: 'btc', quote: 'usd' };

/** Rows of a trade of ours. */
const aRow = (over: Partial<Transaction> = {}): Transaction => anyRow({ clientId: MINE, ...over });
const aTrade = (side: Side, base: string, quote: string, over: Partial<Transaction> = {}): Transaction[] =>
  anyTrade(side, base, quote, { clientId: MINE, ...over });
const attributed = (rows: readonly Transaction[], known: Parameters<typeof aKnown>[0] = {}): Attributed =>
  attribute(rows, { mark: MARK, known: aKnown(known), open: [OPEN] });
const figures = (trade: Pick<Trade, 'quantity' | 'amount' | 'fees'>): readonly unknown[] => [
  text(trade.quantity),
  text(trade.amount),
  text(trade.fees),
  hasBothLegs(trade),
];
const tradeIn = (rows: readonly Transaction[]): Trade => tradeOf(ORDER, rows);

/** Whose a row is: a client id, `nobody`, or `others`. */
function ownerOf(row: Transaction, { ours, unattributed, others }: Attributed): string {
  const owner = [...ours].find(([, rows]) => rows.some(({ id }) => id === row.id))?.[0];
  if (owner !== undefined) return owner;
  return unattributed.includes(row) ? 'nobody' : others.includes(row) ? 'others' : 'no trade';
}

describe('a trade in the account', () => {
  it.each<Side>(['buy', 'sell'])('with side %s is the sum of its legs, without their signs', (side) => {
    const trade = tradeIn(aTrade(side, '0.5', '30000'));
    expect(figures(trade)).toEqual(['0.5', '30000', '1.5', true]);
    expect(trade).toMatchObject({ clientId: MINE, orderId: '77', at: 1_000, parts: 1 });
  });

  it('is incomplete while one leg is missing: it traded, but its figures are not final', () => {
    const [base, quote] = aTrade('buy', '0.5', '30000');
    if (base === undefined || quote === undefined) throw new Error('two legs');
    expect(figures(tradeIn([base]))).toEqual(['0.5', '0', '0', false]);
    expect(figures(tradeIn([quote]))).toEqual(['0', '30000', '1.5', false]);
  });

  it.each(['t-1', undefined])('in parts is the sum of the parts, with trade id %s', (tradeId) => {
    const rows = [
      ...aTrade('buy', '0.3', '18000', { tradeId }),
      ...aTrade('buy', '0.2', '12000.5', { tradeId }),
    ];
    expect(figures(tradeIn(rows))).toEqual(['0.5', '30000.5', '3', true]);
    expect(tradeIn(rows).parts).toBe(2);
  });

  it('is what remains if a part is reversed', () => {
    const rows = [...aTrade('buy', '0.5', '30000'), ...aTrade('sell', '0.2', '12000')];
    expect(figures(tradeIn(rows))).toEqual(['0.3', '18000', '3', true]);
  });

  it('does not depend on the order of the rows', () => {
    const rows = [...aTrade('sell', '0.3', '18000'), ...aTrade('sell', '0.2', '12000', { tradeId: 't-2' })];
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: rows.length }), (shuffled) => {
        expect(figures(tradeIn(shuffled))).toEqual(['0.5', '30000', '3', true]);
      }),
    );
  });

  it('has a price of amount divided by quantity, to 18 decimals', () => {
    expect(text(tradeIn(aTrade('buy', '3', '1')).price)).toBe('0.333333333333333333');
  });
});

describe('the fees of a trade', () => {
  const [base, quote] = aTrade('buy', '0.5', '30000').map((row) => ({ ...row, fees: quantity('0') }));
  if (base === undefined || quote === undefined) throw new Error('two legs');
  const fee = (over: Partial<Transaction>): Transaction => aRow({ currency: 'usd', ...over });

  it.each<readonly [string, readonly Transaction[], string, object]>([
    ['on the quote leg', [base, { ...quote, fees: quantity('2.4') }], '2.4', {}],
    ['on the base leg', [{ ...base, fees: quantity('0.0001') }, quote], '0', { btc: '0.0001' }],
    ['in a charge below zero', [base, quote, fee({ action: 'charge', amount: quantity('-2.4') })], '2.4', {}],
    ['in a charge above zero', [base, quote, fee({ action: 'charge', amount: quantity('2.4') })], '2.4', {}],
    ['in the fees of a charge', [base, quote, fee({ action: 'charge', amount: quantity('0'), fees: quantity('2.4') })], '2.4', {}],
    ['in a charge of base', [base, quote, fee({ action: 'charge', currency: 'btc', amount: quantity('-0.0001') })], '0', { btc: '0.0001' }],
    ['in a third currency', [base, quote, fee({ action: 'charge', currency: 'eth', amount: quantity('-0.01') })], '0', { eth: '0.01' }],
    ['as a leg in a third currency', [base, quote, fee({ currency: 'eth', amount: quantity('-0.01') })], '0', { eth: '0.01' }],
    ['as a rebate', [base, quote, fee({ action: 'credit', amount: quantity('1.2') })], '-1.2', {}],
    ['as a fee and its refund', [base, { ...quote, fees: quantity('2.4') }, fee({ action: 'credit', amount: quantity('2.4') })], '0', {}],
  ])('count where they are booked: %s', (_, rows, fees, others) => {
    const trade = tradeIn(rows);
    expect(figures(trade)).toEqual(['0.5', '30000', fees, true]);
    expect(Object.fromEntries([...trade.otherFees].map(([name, each]) => [name, text(each)]))).toEqual(others);
  }); // prettier-ignore

  it.each(['77', undefined])('belong to it as a charge with both ids, also without client id, order id %s', (orderId) => {
    const charge = aRow({ action: 'charge', clientId: orderId === undefined ? MINE : undefined, orderId, tradeId: undefined });
    expect(ownerOf(charge, attributed([base, quote, charge]))).toBe(MINE);
  }); // prettier-ignore
});

describe('a row of the account', () => {
  it.each<readonly [string, Partial<Transaction>, string]>([
    ['with our client id', {}, MINE],
    ['with our client id and another direction, stamp and size', { action: 'sell', at: instant(0), amount: quantity('9') }, MINE],
    ['of another desk', { clientId: idOf(0, 'payroll') }, 'nobody'],
    ['without a client id', { clientId: undefined }, 'nobody'],
    ['with the client id of another party', { clientId: 'my-order-1' }, 'nobody'],
    ['with a wrong checksum', { clientId: `${MINE.slice(0, -1)}${MINE.endsWith('a') ? 'b' : 'a'}` }, 'nobody'],
    ['of an unknown action', { clientId: undefined, action: 'other' }, 'nobody'],
    ['with our client id and a field that cannot be read', { spoiled: ['amount'] }, 'nobody'],
    ['that is a deposit', { action: 'deposit' }, 'no trade'],
    ['that is a withdrawal', { action: 'withdraw' }, 'no trade'],
    ['that is a charge of nobody', { action: 'charge', clientId: undefined }, 'no trade'],
  ])('is attributed by exact ids only: one %s', (_, over, owner) => {
    const row = aRow({ orderId: undefined, tradeId: undefined, ...over });
    expect(ownerOf(row, attributed([row]))).toBe(owner);
  }); // prettier-ignore

  it.each<readonly [string, Parameters<typeof aKnown>[0], string]>([
    ['by its order id, if a response or an earlier row tied it to us', { orders: { '900': OPEN } }, OPEN],
    ['by its own id, if it is a row of our fill', { fills: { r1: MINE }, orders: { '900': MINE } }, MINE],
    ['to nobody, if it has the id of a row of our fill and the order id of another', { fills: { r1: MINE } }, 'nobody'],
    ['by the word of a person', { words: { r1: OPEN } }, OPEN],
    ['to others by the word of a person, whatever its ids say', { words: { r1: undefined }, orders: { '900': OPEN } }, 'others'],
    ['to nobody, if nothing ties it', {}, 'nobody'],
  ])('belongs to an order %s', (_, known, owner) => {
    const row = aRow({ id: 'r1', clientId: undefined, orderId: '900', tradeId: undefined });
    expect(ownerOf(row, attributed([row], known))).toBe(owner);
  }); // prettier-ignore

  it('belongs to the order of another row with its order id or trade id', () => {
    const named = aRow({ id: 'a', orderId: '77', tradeId: undefined });
    const sameOrder = aRow({ id: 'b', clientId: undefined, orderId: '77', tradeId: 't-9' });
    const sameTrade = aRow({ id: 'c', clientId: undefined, orderId: undefined, tradeId: 't-9' });
    // The third is found by an id that only the second has.
    for (const rows of [[named, sameOrder, sameTrade], [sameTrade, sameOrder, named]])
      expect(rows.map((row) => ownerOf(row, attributed(rows)))).toEqual([MINE, MINE, MINE]);
  }); // prettier-ignore

  it('does not belong to an order whose trade id it shares under another order id', () => {
    const row = aRow({ clientId: undefined, orderId: '78' });
    expect(ownerOf(row, attributed([...aTrade('buy', '0.5', '30000'), row]))).toBe('nobody');
  });

  it('belongs to nobody if rows of two orders have its order id', () => {
    const row = aRow({ clientId: undefined, tradeId: undefined });
    const theirs = aTrade('buy', '1', '60000', { clientId: idOf(2), tradeId: 't-2' });
    expect(ownerOf(row, attributed([...aTrade('buy', '0.5', '30000'), ...theirs, row]))).toBe('nobody');
  });

  it.each(['', '-', '--', '0', '000', 'null', 'None', 'n/a', 'undefined'])(
    'is not tied by the id %j',
    (none) => {
      const rows = aTrade('buy', '0.5', '30000', { orderId: none, tradeId: none });
      const row = aRow({ clientId: undefined, orderId: none, tradeId: none });
      expect(ownerOf(row, attributed([...rows, row], { orders: { [none]: MINE } }))).toBe('nobody');
    },
  );

  it('counts once if pages overlap', () => {
    const rows = aTrade('buy', '0.5', '30000');
    const all = attributed([...rows, ...rows, ...rows.toReversed()]).ours.get(MINE) ?? [];
    expect(figures(tradeIn(all))).toEqual(['0.5', '30000', '1.5', true]);
  });
});

describe('a client id that is not exactly ours', () => {
  const mangled = [
    OPEN.toUpperCase(),
    OPEN.slice(0, -3),
    OPEN.slice(4),
    `x-${OPEN}`,
    `${OPEN}/1`,
    OPEN.replaceAll('-', ''),
    OPEN.replaceAll('-', '_'),
    idOf(0, 'treasury').toUpperCase(),
    '-',
    '0',
    'none',
    'x1',
    undefined,
  ];
  const uuid = '3f2c9a1e-0b77-4c55-9d11-7e2f6a8b9c0d';
  const owner = (id: string | undefined, echoesIds: boolean): string => {
    const row = aRow({ clientId: id, orderId: '900', tradeId: undefined });
    return ownerOf(row, attributed([row], { echoesIds }));
  };

  it.each([...mangled, uuid, 'my-order-1'])('names nobody on an account that never showed ours exactly: %s', (id) => {
    expect(owner(id, false)).toBe('nobody');
  });

  it.each(mangled)('names nobody although the account shows our ids exactly: %s', (id) => {
    expect(owner(id, true)).toBe('nobody');
  });

  it.each([uuid, 'my-order-1', idOf(0, 'payroll')])('names another on an account that shows our ids exactly: %s', (id) => {
    expect(owner(id, true)).toBe('others');
  });
}); // prettier-ignore

describe('rows of several orders', () => {
  it('yield trades whose quantities and amounts sum to those of the legs', () => {
    const leg = fc.record({
      slice: fc.nat({ max: 3 }),
      part: fc.nat({ max: 3 }),
      units: fc.integer({ min: 1, max: 1e9 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(leg, { maxLength: 12, selector: (one) => `${one.slice}/${one.part}` }), (legs) => {
        const rows = legs.flatMap(({ slice, part, units }) =>
          aTrade('buy', `${units}e-8`, `${units}e-2`, {
            clientId: idOf(slice),
            orderId: `o-${slice}`,
            tradeId: `${slice}/${part}`,
          }),
        );
        const trades = [...attributed(rows).ours].map(([id, own]) => tradeOf({ ...ORDER, client_order_id: id }, own));
        const sum = legs.reduce((total, one) => total + one.units, 0);
        const traded = trades.reduce((total, trade) => add(total, trade.quantity), quantity('0'));
        const paid = trades.reduce((total, trade) => add(total, trade.amount), money('0'));
        expect(traded.eq(quantity(`${sum}e-8`)) && paid.eq(money(`${sum}e-2`))).toBe(true);
        expect(trades.every(hasBothLegs)).toBe(true);
      }),
    );
  });
}); // prettier-ignore

describe('the rows of a fill as of a read', () => {
  const kept = (over: Partial<RowText> = {}): RowText => ({
    id: '1',
    currency: 'btc',
    amount: '0.5',
    order_id: '77',
    trade_id: 't-1',
    ...over,
  });
  const always = (): boolean => true;
  const never = (): boolean => false;
  const sum = (rows: readonly RowText[]): string => text(figuresOf(ORDER, rows).quantity);

  it('are those of the journal and the new ones', () => {
    const now = currentRows([kept()], [kept(), kept({ id: '2', trade_id: 't-2' })], always);
    expect([now.rows.map(({ id }) => id), now.replaced, now.isUnclear]).toEqual([['1', '2'], [], false]);
  });

  it('stay if a read lags', () => {
    expect(currentRows([kept()], [], always)).toMatchObject({
      rows: [kept()],
      replaced: [],
      isUnclear: false,
    });
  });

  it.each([{ amount: '0.6' }, { fees: '0.1' }])('show the figures of an amended row: %j', (over) => {
    const now = currentRows([kept()], [kept(over)], always);
    expect(now.rows).toEqual([kept(over)]);
    expect(now.replaced).toEqual([{ was: kept(), now: kept(over) }]);
  });

  it('count a row under a new id once', () => {
    const now = currentRows([kept()], [kept({ id: '9' })], always);
    expect(now.rows).toEqual([kept({ id: '9' })]);
    expect(now.replaced.map(changeText)).toEqual([expect.stringMatching(/^row 1 of .* is now row 9 of /u)]);
  });

  it('count a row that was renumbered and amended once', () => {
    const now = currentRows([kept()], [kept({ id: '9', amount: '0.6' })], always);
    expect(sum(now.rows)).toBe('0.6');
    expect(now.replaced).toHaveLength(1);
  });

  it('match parts with one trade id by their amounts', () => {
    const before = [kept({ amount: '0.3' }), kept({ id: '2', amount: '0.2' })];
    const shown = [kept({ id: '11', amount: '0.2' }), kept({ id: '12', amount: '0.3' })];
    expect(currentRows(before, shown, always).rows.map(({ id }) => id)).toEqual(['12', '11']);
    expect(sum(currentRows(before, shown, always).rows)).toBe('0.5');
  });

  it('match an amended part by the nearest amount, as where a lagging read shows its former id', () => {
    const [first, second] = [kept({ id: '2', amount: '750' }), kept({ id: '7', amount: '1500' })];
    const { rows } = currentRows([first, second], [kept({ id: '4', amount: '1499.99' })], always);
    expect(rows).toEqual([first, kept({ id: '4', amount: '1499.99' })]);
  });

  it('do not take a row of another trade for an old one', () => {
    expect(sum(currentRows([kept()], [kept({ id: '9', trade_id: 't-2' })], always).rows)).toBe('1');
  });

  it('are unclear if a read does not reach back to the old rows', () => {
    expect(currentRows([kept()], [kept({ id: '9' })], never).isUnclear).toBe(true);
    expect(currentRows([kept()], [], never).isUnclear).toBe(false);
  });

  it('keep every figure of a row, and whether it shows our client id', () => {
    const [base, quote] = aTrade('buy', '0.5', '30000', { id: '5' });
    if (base === undefined || quote === undefined) throw new Error('two legs');
    expect(rowText(base, ORDER)).toEqual(kept({ id: '5', is_named: true }));
    expect(rowText({ ...quote, clientId: MINE.toUpperCase() }, ORDER)).toEqual(
      kept({ id: '5', currency: 'usd', amount: '-30000', fees: '1.5' }),
    );
  });
});

describe('ids of rows', () => {
  it('are ordered by number, also beyond 2^53, and texts come after all numbers', () => {
    const sorted = ['', '9', '10', '9007199254740993', '9007199254740994', 'a', 'b'];
    expect(sorted.toReversed().toSorted(compareRowIds)).toEqual(sorted);
  });
});
