import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balancesOf, tradePrice, tradesOf } from '../../src/core/cycle/evidence.ts';
import type { TradeEvidence } from '../../src/core/cycle/evidence.ts';
import { clientId, deskMark } from '../../src/core/ids.ts';
import { add, money, quantity, text } from '../../src/core/money.ts';
import type { Pair } from '../../src/core/pairs.ts';
import { instant } from '../../src/core/time.ts';
import type { Side, Transaction } from '../../src/core/venue.ts';
import { aRow as anyRow, aTrade as anyTrade } from './builders.ts';

const idOf = (slice: number, desk = 'treasury'): string =>
  clientId({ desk, parent: 'abcdefgh', slice, attempt: 0 });
const MINE = idOf(0);
const MARK = deskMark('treasury');

const pairOf = (pair: string): Pair | undefined =>
  pair === 'btcusd' ? { pair, base: 'btc', quote: 'usd' } : undefined;

/** Rows of a trade of ours. */
const aRow = (over: Partial<Transaction> = {}): Transaction => anyRow({ clientId: MINE, ...over });
const aTrade = (side: Side, base: string, quote: string, over: Partial<Transaction> = {}): Transaction[] =>
  anyTrade(side, base, quote, { clientId: MINE, ...over });
const only = (rows: readonly Transaction[]): TradeEvidence => {
  const [one, ...more] = tradesOf(rows, { mark: MARK, pairOf }).values();
  if (one === undefined || more.length > 0) throw new Error('expected one trade');
  return one;
};
const figures = (trade: TradeEvidence): readonly unknown[] => [
  trade.side,
  text(trade.quantity),
  text(trade.amount),
  text(trade.fees),
  trade.isWhole,
];

describe('a trade in the account', () => {
  it.each<Side>(['buy', 'sell'])('with side %s is read from its two legs, without their signs', (side) => {
    const rows = aTrade(side, '0.5', '30000');
    expect(figures(only(rows))).toEqual([side, '0.5', '30000', '1.5', true]);
    expect(only(rows)).toMatchObject({ clientId: MINE, orderId: '77', pair: 'btcusd', at: 1_000 });
  });

  it('is incomplete while one leg is missing: it traded, but its figures are not final', () => {
    const [base, quote] = aTrade('buy', '0.5', '30000');
    expect(figures(only(base === undefined ? [] : [base]))).toEqual(['buy', '0.5', '0', '0', false]);
    expect(figures(only(quote === undefined ? [] : [quote]))).toEqual(['buy', '0', '30000', '1.5', false]);
  });

  it('in several parts is the sum of the parts', () => {
    const rows = [
      ...aTrade('buy', '0.3', '18000', { tradeId: 't-1' }),
      ...aTrade('buy', '0.2', '12000.5', { tradeId: 't-2' }),
    ];
    expect(figures(only(rows))).toEqual(['buy', '0.5', '30000.5', '3', true]);
  });

  it.each([0, 1, 2, 3])('in several parts is incomplete without leg %i', (missing) => {
    const rows = [
      ...aTrade('buy', '0.3', '18000', { tradeId: 't-1' }),
      ...aTrade('buy', '0.2', '12000', { tradeId: 't-2' }),
    ];
    expect(only(rows.toSpliced(missing, 1)).isWhole).toBe(false);
  });

  it('is incomplete if its legs belong to different parts', () => {
    const [base] = aTrade('buy', '0.3', '18000', { tradeId: 't-1' });
    const [, quote] = aTrade('buy', '0.2', '12000', { tradeId: 't-2' });
    expect(only([base, quote].filter((row) => row !== undefined)).isWhole).toBe(false);
  });

  it('is complete even without a trade id', () => {
    expect(only(aTrade('sell', '0.5', '30000', { tradeId: undefined })).isWhole).toBe(true);
  });

  it('counts once if pages overlap', () => {
    const rows = aTrade('buy', '0.5', '30000');
    expect(figures(only([...rows, ...rows, ...rows.toReversed()]))).toEqual([
      'buy',
      '0.5',
      '30000',
      '1.5',
      true,
    ]);
  });

  it('in a pair that cannot be split is reported without figures', () => {
    const trade = only(aTrade('buy', '0.5', '30000', { pair: 'xyzabc' }));
    expect([trade.pair, ...figures(trade)]).toEqual(['xyzabc', 'buy', '0', '0', '0', false]);
    expect(only(aTrade('buy', '0.5', '30000', { pair: undefined })).isWhole).toBe(false);
  });

  it('takes its pair from any of its rows that names one', () => {
    const [base, quote] = aTrade('buy', '0.5', '30000');
    const rows = [base, quote].filter((row) => row !== undefined);
    const bare = rows.map((row, n) => Object.assign(row, n === 0 ? { pair: undefined } : {}));
    expect(only(bare)).toMatchObject({ pair: 'btcusd', isWhole: true });
  });

  it('does not depend on the order of the rows', () => {
    const rows = [
      ...aTrade('sell', '0.3', '18000', { tradeId: 't-1' }),
      ...aTrade('sell', '0.2', '12000', { tradeId: 't-2' }),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: rows.length }), (shuffled) => {
        expect(figures(only(shuffled))).toEqual(['sell', '0.5', '30000', '3', true]);
      }),
    );
  });

  it('has a price of amount divided by quantity, to 18 decimals', () => {
    expect(text(tradePrice(only(aTrade('buy', '3', '1'))))).toBe('0.333333333333333333');
  });
});

describe('rows of the account', () => {
  it.each<readonly [string, Partial<Transaction>]>([
    ['of another desk', { clientId: idOf(0, 'payroll') }],
    ['without a client id', { clientId: undefined }],
    ['with the client id of another party', { clientId: 'my-order-1' }],
    [
      'with a client id with a wrong checksum',
      { clientId: `${MINE.slice(0, -1)}${MINE.endsWith('a') ? 'b' : 'a'}` },
    ],
    ['that are a deposit', { action: 'deposit' }],
    ['that are a withdrawal', { action: 'withdraw' }],
    ['that are a credit', { action: 'credit' }],
    ['that are a charge', { action: 'charge' }],
  ])('%s are not trades of the desk', (_, over) => {
    expect([...tradesOf([aRow(over), aRow(over)], { mark: MARK, pairOf }).keys()]).toEqual([]);
  });

  it('are told apart by client id, even if everything else is equal', () => {
    const rows = [0, 1, 2].flatMap((slice) =>
      aTrade('buy', `0.${slice + 1}`, '100', { clientId: idOf(slice) }),
    );
    const trades = tradesOf(
      rows.toSorted((a, b) => a.currency.localeCompare(b.currency)),
      { mark: MARK, pairOf },
    );
    expect([...trades].map(([key, trade]) => [key, text(trade.quantity), trade.isWhole])).toEqual([
      [idOf(0), '0.1', true],
      [idOf(1), '0.2', true],
      [idOf(2), '0.3', true],
    ]);
  });

  it('yield trades whose quantities and amounts sum to those of the legs', () => {
    const leg = fc.record({
      slice: fc.nat({ max: 3 }),
      part: fc.nat({ max: 3 }),
      units: fc.integer({ min: 1, max: 1e9 }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(leg, { maxLength: 12, selector: (one) => `${one.slice}/${one.part}` }),
        (legs) => {
          const rows = legs.flatMap(({ slice, part, units }) =>
            aTrade('buy', `${units}e-8`, `${units}e-2`, {
              clientId: idOf(slice),
              tradeId: `${slice}/${part}`,
            }),
          );
          const trades = [...tradesOf(rows, { mark: MARK, pairOf }).values()];
          const sum = legs.reduce((total, one) => total + one.units, 0);
          const traded = trades.reduce((total, trade) => add(total, trade.quantity), quantity('0'));
          const paid = trades.reduce((total, trade) => add(total, trade.amount), money('0'));
          expect(traded.eq(quantity(`${sum}e-8`)) && paid.eq(money(`${sum}e-2`))).toBe(true);
          expect(trades.every((trade) => trade.isWhole)).toBe(true);
        },
      ),
    );
  });
});

describe('balances', () => {
  it('come from the newest row of each currency, regardless of row order and timestamps', () => {
    const rows = [
      aRow({ id: 9, currency: 'btc', balance: quantity('9'), at: instant(1) }),
      aRow({ id: 10, currency: 'btc', balance: quantity('10'), at: instant(0) }),
      aRow({ id: 2, currency: 'usd', balance: quantity('-2.5') }),
      aRow({ id: 1, currency: 'usd', balance: quantity('1'), at: instant(99) }),
    ];
    for (const order of [rows, rows.toReversed()]) {
      const { balances, newestId } = balancesOf(order);
      expect([balances.get('btc')?.toFixed(), balances.get('usd')?.toFixed(), newestId]).toEqual([
        '10',
        '-2.5',
        10,
      ]);
    }
  });

  it('come from rows of any kind and owner, and are empty without rows', () => {
    const rows = [
      aRow({ id: 5, action: 'deposit', clientId: undefined, currency: 'eth', balance: quantity('3') }),
    ];
    expect(balancesOf(rows).balances.get('eth')?.toFixed()).toBe('3');
    expect(balancesOf([])).toEqual({ balances: new Map(), newestId: 0 });
  });
});

describe('a row without its client id', () => {
  const [base, quote] = aTrade('buy', '0.5', '30000');
  const unnamed = (over: Partial<Transaction> = {}): Transaction[] =>
    aTrade('buy', '0.2', '12000', { clientId: undefined, tradeId: 't-2', ...over });
  const whole = (rows: readonly Transaction[]): readonly string[] =>
    [...tradesOf(rows, { mark: MARK, pairOf }).values()].map((trade) => text(trade.quantity));

  it('belongs to the order whose id it carries', () => {
    if (base === undefined || quote === undefined) throw new Error('no trade');
    expect(whole([base, quote, ...unnamed()])).toEqual(['0.7']);
  });

  it.each<readonly [string, Partial<Transaction>]>([
    ['of another order', { orderId: '78' }],
    ['of no order', { orderId: undefined }],
    ['of another side', { action: 'sell' }],
    ['of another pair', { pair: 'ethusd' }],
  ])('is not attributed to the order if it is %s', (_, over) => {
    if (base === undefined || quote === undefined) throw new Error('no trade');
    expect(whole([base, quote, ...unnamed(over)])).toEqual(['0.5']);
  });

  it('is not attributed if two client ids share its order id', () => {
    if (base === undefined || quote === undefined) throw new Error('no trade');
    const theirs = aTrade('buy', '1', '60000', { clientId: 'theirs' });
    expect(whole([base, quote, ...theirs, ...unnamed()])).toEqual(['0.5']);
  });

  it('belongs to the fill in the journal with the same order id', () => {
    const orderOf = (orderId: string) =>
      orderId === '77' ? ({ clientId: MINE, pair: 'btcusd', side: 'buy' } as const) : undefined;
    const trades = tradesOf(unnamed(), { mark: MARK, pairOf, orderOf });
    expect([...trades].map(([id, trade]) => [id, text(trade.quantity)])).toEqual([[MINE, '0.2']]);
  });
});
