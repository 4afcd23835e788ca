import { describe, expect, it } from 'vitest';
import { add, NO_QUANTITY, quantity, size, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { Side } from '../../src/core/venue.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { LedgerRow } from '../../src/simulator/ledger/leg.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import type { OrderDetail } from '../../src/wire/order-body.ts';
import { execute, amountOf, anExchange, DESK, later, quantityOf, trade, valueOf } from './world.ts'; // prettier-ignore

type Booking = VenueInput['booking'];

/** An order of a desk with these settings: the response, and the rows that the account shows after `ms`. */
class Booked {
  readonly exchange: Exchange;
  readonly order: OrderDetail;

  constructor(
    booking: Booking,
    {
      side = 'buy',
      of = quantityOf('1.23456789'),
      seed = '1',
    }: { side?: Side; of?: ReturnType<typeof quantityOf>; seed?: string } = {},
  ) {
    this.exchange = anExchange({ booking, feeBps: 7, seed });
    this.order = valueOf(execute(this.exchange, { side, size: of, clientId: 'c-1' }));
  }

  rows(ms: number): readonly LedgerRow[] {
    return valueOf(this.exchange.transactions(DESK, {}, later(ms))).filter(
      ({ tradeId }) => tradeId !== undefined,
    );
  }
}

const sum = (
  rows: readonly LedgerRow[],
  currency: string,
  of: (row: LedgerRow) => Quantity = ({ amount }) => size(amount),
): string =>
  text(rows.filter((row) => row.currency === currency).reduce((all, row) => add(all, of(row)), NO_QUANTITY));
const trades = (rows: readonly LedgerRow[]): number => new Set(rows.map(({ tradeId }) => tradeId)).size;

describe('an order booked in several trades', () => {
  it.each<[string, Booking]>([
    ['at the quoted price', { tradesPerOrder: 4 }],
    ['at a different price for each trade', { tradesPerOrder: 4, prices: 'uneven' }],
    ['with the whole fee on the first trade', { tradesPerOrder: 4, fees: 'first' }],
  ])('has legs and fees that sum exactly to the order: %s', (_, booking) => {
    for (const seed of ['1', '2', '3', '4', '5', '6'])
      for (const side of ['buy', 'sell'] as const)
        for (const of of [quantityOf('1.23456789'), amountOf('4321.09')]) {
          const booked = new Booked(booking, { side, of, seed });
          const rows = booked.rows(0);
          expect(trades(rows)).toBe(4);
          expect(rows).toHaveLength(8);
          expect(sum(rows, 'btc')).toBe(text(booked.order.filled));
          expect(sum(rows, 'usd')).toBe(text(booked.order.filledAmount));
          expect(sum(rows, 'usd', ({ fees }) => fees)).toBe(text(booked.order.fees));
          expect(new Set(rows.map(({ orderId }) => orderId))).toEqual(new Set([booked.order.orderId]));
          expect(new Set(rows.map(({ clientId }) => clientId))).toEqual(new Set(['c-1']));
          expect(new Set(rows.map(({ id }) => id)).size).toBe(8);
          expect(rows.every(({ amount }) => !amount.isZero())).toBe(true);
        }
  });

  it('is split by the configured shares, with the remainder in the last trade', () => {
    const rows = new Booked({ tradesPerOrder: 2, shares: ['0.9995'] }, { of: quantityOf('0.25') }).rows(0);
    expect(rows.filter(({ currency }) => currency === 'btc').map(({ amount }) => text(amount))).toEqual([
      '0.000125',
      '0.249875',
    ]);
  });

  it('has a varying number of trades within the configured range', () => {
    const counts = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].map((seed) =>
      trades(new Booked({ tradesPerOrder: { least: 1, most: 3 } }, { seed }).rows(0)),
    );
    expect(new Set(counts)).toEqual(new Set([1, 2, 3]));
  });

  it('is booked as one trade if it has too few units for two', () => {
    expect(trades(new Booked({ tradesPerOrder: 3 }, { of: quantityOf('0.00000001') }).rows(0))).toBe(1);
  });

  it('sometimes has a trade of the smallest unit', () => {
    const least = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'].flatMap((seed) =>
      new Booked({ tradesPerOrder: 4 }, { seed }).rows(0).map(({ amount }) => text(size(amount))),
    );
    expect(least).toContain('0.00000001');
  });

  it('changes the balance at execution and shows each trade once it is booked', () => {
    const booked = new Booked({ tradesPerOrder: 3, delaysMs: [0, 4_000, 12_000] });
    const balance = booked.exchange.ledger.balance(DESK, 'btc');
    expect(text(balance)).toBe('26.23456789');
    expect([0, 3_999, 4_000, 11_999, 12_000].map((ms) => trades(booked.rows(ms)))).toEqual([1, 1, 2, 2, 3]);
    expect(sum(booked.rows(12_000), 'btc')).toBe('1.23456789');
  });

  it('shows the two legs of a trade at different times, in either order', () => {
    const currencies = (legGapMs: number, ms: number): readonly string[] =>
      new Booked({ legGapMs, delaysMs: [1_000] }).rows(ms).map(({ currency }) => currency);
    expect([currencies(2_000, 999), currencies(2_000, 1_000), currencies(2_000, 3_000)]).toEqual([
      [],
      ['btc'],
      ['usd', 'btc'],
    ]);
    expect(currencies(-2_000, 1_000)).toEqual(['usd']);
  });

  it('lists a late row by its older id, below newer rows and with its booking time', () => {
    const exchange = anExchange({ booking: { tradesPerOrder: 2, delaysMs: [9_000, 0], stamps: 'booked' } });
    trade(exchange, 'buy', quantityOf('1'), later(0));
    trade(exchange, 'buy', quantityOf('1'), later(2_000));
    const rows = valueOf(exchange.transactions(DESK, { types: new Set(['buy']) }, later(9_500)));
    expect(rows.map(({ at }) => at - later(0))).toEqual([2_000, 2_000, 0, 0, 9_000, 9_000]);
  });

  it('is one order in the response and in the lookup', () => {
    const { exchange, order } = new Booked({ tradesPerOrder: 3, prices: 'uneven' });
    expect(order).toMatchObject({ status: 'Done', filled: quantity('1.23456789') });
    expect(valueOf(exchange.lookup(DESK, 'c-1'))).toEqual(order);
  });
});

describe('a quote that the venue executes twice', () => {
  const twice = { secondExecution: 1, secondExecutionMs: 20_000 };

  it('moves the balance twice, as two orders with the same client id', () => {
    const booked = new Booked(twice);
    expect([0, 19_999, 20_000].map((ms) => sum(booked.rows(ms), 'btc'))).toEqual([
      '1.23456789',
      '1.23456789',
      '2.46913578',
    ]);
    expect(text(booked.exchange.ledger.balance(DESK, 'btc'))).toBe('27.46913578');
    const rows = booked.rows(20_000);
    expect(new Set(rows.map(({ orderId }) => orderId)).size).toBe(2);
    expect(new Set(rows.map(({ clientId }) => clientId))).toEqual(new Set(['c-1']));
  });

  it('occurs for the configured share of orders', () => {
    const doubled = Array.from({ length: 200 }, (_, seed) =>
      trades(new Booked({ secondExecution: 0.25 }, { seed: String(seed) }).rows(0)),
    ).filter((count) => count === 2);
    expect(doubled.length).toBeGreaterThan(30);
    expect(doubled.length).toBeLessThan(70);
  });
});
