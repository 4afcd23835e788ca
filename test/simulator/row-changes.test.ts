import { describe, expect, it } from 'vitest';
import { add, NO_QUANTITY, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import type { Side } from '../../src/core/venue.ts';
import { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { DrillOverrides } from '../../src/simulator/faults/drill-overrides.ts';
import type { LedgerRow } from '../../src/simulator/ledger/leg.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import type { OrderDetail } from '../../src/wire/order-body.ts';
import { execute, anExchange, DESK, later, quantityOf, START, still, trade, valueOf } from './world.ts';

type Booking = NonNullable<VenueInput['booking']>;

/** An order of one bitcoin at 60,000 usd, and what its account then holds and shows. */
class Ordered {
  readonly exchange: Exchange;
  readonly order: OrderDetail;

  constructor(booking: Booking, side: Side = 'buy') {
    this.exchange = anExchange({ booking });
    this.order = this.again('c-1', side);
  }

  again(clientId: string, side: Side = 'buy', ms = 0): OrderDetail {
    return valueOf(execute(this.exchange, { side, clientId }, later(ms)));
  }

  /** Rows of orders, oldest first, as the ledger has them. */
  truth(ms: number): readonly LedgerRow[] {
    this.exchange.advance(later(ms));
    return this.exchange.ledger.rows(DESK).filter(({ orderId }) => orderId !== undefined);
  }

  /** `BTC, USD` that the account holds. */
  holds(ms: number): string {
    this.exchange.advance(later(ms));
    const { ledger } = this.exchange;
    expectConserved(this.exchange);
    return `${text(ledger.balance(DESK, 'btc'))}, ${text(ledger.balance(DESK, 'usd'))}`;
  }

  /** Listed rows of orders, newest first. */
  listed(ms: number): readonly Readonly<Record<string, unknown>>[] {
    const rows = valueOf(this.exchange.listed(DESK, {}, later(ms))) as readonly Readonly<Record<string, unknown>>[];
    return (JSON.parse(JSON.stringify(rows)) as typeof rows).filter((row) => row['order_id'] !== null);
  } // prettier-ignore
}

/** Every balance is the sum of the changes before it, and no money appears or disappears. */
function expectConserved({ ledger }: Exchange): void {
  const held = new Map<string, Quantity>();
  for (const { currency, amount, fees, balance } of ledger.rows(DESK)) {
    const before = held.get(currency) ?? NO_QUANTITY;
    held.set(currency, add(before, subtract(amount, fees)));
    expect(text(balance ?? NO_QUANTITY)).toBe(text(held.get(currency) ?? NO_QUANTITY));
  }
  const sum = new Map<string, Quantity>();
  for (const part of [ledger.balances(DESK), ledger.dealer(), ledger.fees(), ledger.interest()])
    for (const [currency, amount] of part) sum.set(currency, add(sum.get(currency) ?? NO_QUANTITY, amount));
  const words = (amounts: ReadonlyMap<string, Quantity>): readonly string[] =>
    [...amounts].map(([currency, amount]) => `${currency} ${text(amount)}`).toSorted();
  expect(words(sum)).toEqual(words(ledger.inflow()));
}

/** `ACTION CURRENCY AMOUNT fee FEE` */
const line = ({ action, currency, amount, fees }: LedgerRow): string =>
  `${action} ${currency} ${text(amount)} fee ${text(fees)}`;

describe('a booked row that changes', () => {
  const amended = { after_ms: 5_000, leg: 'quote', amount: '1.00', fee: '2.50' } as const;

  it('has another amount and a fee from then on, and all balances follow', () => {
    const desk = new Ordered({ amended });
    expect(desk.holds(4_999)).toBe('26, 940000');
    desk.again('c-2', 'buy', 4_999);
    expect(desk.truth(4_999).map(line).slice(0, 2)).toEqual(['buy btc 1 fee 0', 'buy usd -60000 fee 0']);
    expect(desk.holds(5_000)).toBe('27, 879996.5');
    expect(desk.truth(5_000).map(line)).toEqual([
      'buy btc 1 fee 0',
      'buy usd -60001 fee 2.5',
      'buy btc 1 fee 0',
      'buy usd -60000 fee 0',
    ]);
    expect(desk.listed(5_000).map((row) => row['account_balance'])).toEqual([879_996.5, 27, 939_996.5, 26]);
    expect(desk.holds(10_000)).toBe('27, 879993');
  });

  it('can be the base leg of a sell, and the first of several trades', () => {
    const desk = new Ordered({ tradesPerOrder: 2, shares: ['0.5'], amended: { ...amended, leg: 'base', amount: '-0.25', fee: '0' } }, 'sell'); // prettier-ignore
    expect(desk.holds(5_000)).toBe('24.25, 1060000');
    expect(desk.truth(5_000).map(line)).toEqual([
      'sell btc -0.25 fee 0',
      'sell usd 30000 fee 0',
      'sell btc -0.5 fee 0',
      'sell usd 30000 fee 0',
    ]);
  });

  it('shifts the balances of later rows that are stored in columns', () => {
    const { options, drilling } = new DrillOverrides(venueOptions(still));
    const exchange = new Exchange({ options, startedAt: START });
    const booking = venueOptions({ booking: { amended } }).booking;
    drilling({ booking }, () => trade(exchange, 'buy', quantityOf('1')));
    trade(exchange, 'buy', quantityOf('1'));
    exchange.advance(later(5_000));
    expectConserved(exchange);
    expect(text(exchange.ledger.balance(DESK, 'usd'))).toBe('879996.5');
    trade(exchange, 'sell', quantityOf('1'), later(5_000));
    expectConserved(exchange);
  });
});

describe('rows that come under new ids', () => {
  it('are listed as newer rows, once, and keep their ids in the ledger', () => {
    const desk = new Ordered({ renumberedAfterMs: 3_000 });
    const before = desk.truth(2_999);
    desk.again('c-2', 'buy', 2_000);
    const ids = (ms: number): readonly unknown[] => desk.listed(ms).map((row) => row['id']);
    const [old, fresh] = [ids(2_999), ids(3_000)];
    expect(old).toHaveLength(4);
    expect(fresh).toHaveLength(4);
    // The rows of the first order have moved above those of the second.
    expect(fresh.slice(2)).toEqual(old.slice(0, 2));
    for (const id of fresh.slice(0, 2)) expect(Number(id)).toBeGreaterThan(Number(old[0]));
    expect(desk.truth(3_000).slice(0, 2)).toEqual(before);
    const newest = valueOf(desk.exchange.listed(DESK, { after: Number(old[0]) }, later(3_000)));
    expect(newest).toHaveLength(2);
    expect(new Set(desk.listed(3_000).map((row) => row['client_order_id']))).toEqual(new Set(['c-1', 'c-2']));
  });
});

describe('a fee', () => {
  it('is charged in base currency on the base leg', () => {
    const desk = new Ordered({ feeAs: 'base', feeBps: 10 });
    expect(desk.order).toMatchObject({ status: 'Done' });
    expect([text(desk.order.filled), text(desk.order.fees)]).toEqual(['1', '0']);
    expect(desk.truth(0).map(line)).toEqual(['buy btc 1 fee 0.001', 'buy usd -60000 fee 0']);
    expect(desk.holds(0)).toBe('25.999, 940000');
    expect(new Ordered({ feeAs: 'base', feeBps: 10 }, 'sell').holds(0)).toBe('23.999, 1060000');
  });

  it('is booked as a row of its own with both ids, with the trade or later', () => {
    const desk = new Ordered({ feeAs: 'charge', feeBps: 10, feeRowMs: 4_000, tradesPerOrder: 2 });
    expect(text(desk.order.fees)).toBe('60');
    expect(desk.holds(3_999)).toBe('26, 940000');
    expect(desk.holds(4_000)).toBe('26, 939940');
    expect(desk.truth(4_000).map(line).at(-1)).toBe('charge usd -60 fee 0');
    expect(desk.listed(4_000)[0]).toMatchObject({
      action: 'Charge',
      currency: 'usd',
      amount: -60,
      order_id: Number(desk.order.orderId),
      client_order_id: 'c-1',
      trade_id: null,
      symbol: null,
      account_balance: 939_940,
    });
    expect(new Ordered({ feeAs: 'charge', feeBps: 10 }).truth(0)).toHaveLength(3);
  });

  it('comes back in part as a rebate', () => {
    const desk = new Ordered({ feeBps: 10, rebateBps: 2, rebateMs: 6_000 });
    expect(desk.holds(5_999)).toBe('26, 939940');
    expect(desk.holds(6_000)).toBe('26, 939952');
    expect(desk.listed(6_000)[0]).toMatchObject({ action: 'Credit', amount: 12, client_order_id: 'c-1' });
  });
});

describe('an order that an intermediary delivers twice', () => {
  it('is executed although the response is Canceled, and its rows appear late', () => {
    const desk = new Ordered({ canceledCopy: 1, delaysMs: [15_000] });
    expect(desk.order).toMatchObject({ status: 'Canceled', clientId: 'c-1' });
    expect([text(desk.order.filled), text(desk.order.fees)]).toEqual(['0', '0']);
    expect(desk.holds(0)).toBe('26, 940000');
    expect([desk.listed(14_999).length, desk.listed(15_000).length]).toEqual([0, 2]);
    const [row] = desk.truth(0);
    expect(row?.orderId).not.toBe(desk.order.orderId);
    const executed = valueOf(desk.exchange.lookup(DESK, row?.orderId ?? ''));
    expect(executed).toMatchObject({ status: 'Done', clientId: 'c-1' });
    expect(valueOf(desk.exchange.lookup(DESK, 'c-1'))).toEqual(desk.order);
  });
});

describe('legs of several trades', () => {
  it('each appear in their own time, and the last one last', () => {
    const desk = new Ordered({ tradesPerOrder: 3, legSpreadMs: 9_000, lastLegMs: 15_000 });
    const counts = Array.from({ length: 25 }, (_, second) => desk.listed(second * 1_000).length);
    expect(new Set(counts).size).toBeGreaterThan(4);
    expect(desk.listed(14_999)).toHaveLength(5);
    expect(desk.listed(24_000)).toHaveLength(6);
    expect(desk.truth(0)).toHaveLength(6);
  });
});
