import { describe, expect, it } from 'vitest';
import { price, quantity, text } from '../../src/core/money.ts';
import { orderBody } from '../../src/wire/order-body.ts';
import type { LimitOrder } from '../../src/wire/orders.ts';
import type { Change } from '../../src/simulator/exchange/exchange-changes.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { anExchange, DESK, later, said, START, trade, quantityOf, valueOf } from './world.ts';

const world = (input: VenueInput = {}): Exchange =>
  anExchange({ accounts: [{ balances: { usd: '100000', btc: '2' } }], ...input });
const limit = (order: Partial<LimitOrder> = {}): LimitOrder => ({
  pair: 'btcusd',
  side: 'buy',
  algorithm: 201,
  quantity: quantity('1'),
  price: price('59000'),
  ...order,
});
const statusOf = (exchange: Exchange, id: string): string => {
  const order = valueOf(exchange.lookup(DESK, id));
  return `${order.status} ${text(order.filled)} ${text(order.filledAmount)} ${text(order.fees)}`;
};
const canceled = (exchange: Exchange, orderId: string, ms: number): string =>
  valueOf(exchange.resting.cancelOne(DESK, orderId, later(ms)));
const available = (exchange: Exchange, currency: string): string =>
  text(exchange.ledger.available(DESK, currency));

describe('a limit order', () => {
  it('holds its funds until it is canceled, and never fills', () => {
    const exchange = world({ feeBps: 10 });
    const placed = valueOf(exchange.place(DESK, limit(), START));
    expect(placed.status).toBe('Started');
    expect([available(exchange, 'usd'), text(exchange.ledger.balance(DESK, 'usd'))]).toEqual([
      '40941',
      '100000',
    ]);
    exchange.pin('btcusd', price('50000'), later(500));
    exchange.advance(later(600_000));
    expect(statusOf(exchange, placed.orderId)).toBe('Started 0 0 0');
    expect(canceled(exchange, placed.orderId, 600_001)).toBe('canceled');
    expect(statusOf(exchange, placed.orderId)).toBe('Canceled 0 0 0');
    expect(available(exchange, 'usd')).toBe('100000');
    expect(JSON.stringify(orderBody(valueOf(exchange.lookup(DESK, placed.orderId))))).toContain(
      '"status":"Canceled","status_code":10',
    );
  });

  it.each<[string, Partial<LimitOrder>, string]>([
    ['without funds', { quantity: quantity('2') }, '422 insufficient usd balance'],
    [
      'on credit',
      { side: 'sell', price: price('70000'), quantity: quantity('2.5') },
      '422 insufficient btc balance',
    ],
    ['with size zero', { quantity: quantity('0') }, '422 invalid size: quantity must be above zero'],
    [
      'below 5 usd',
      { quantity: quantity('0.00008') },
      '422 invalid size: price times quantity must be at least 5 usd',
    ],
    [
      'with too many decimals in its price',
      { price: price('59000.001') },
      '422 invalid size: price has more than 2 decimals',
    ],
    ['of an unknown pair', { pair: 'xyzusd' }, '422 invalid currency_pair: xyzusd'],
  ])('is refused and changes nothing: %s', (_, order, error) => {
    const exchange = world({ pts: { modes: { btcusd: 'Enabled' } } });
    expect(said(exchange.place(DESK, limit(order), START))).toBe(error);
    expect(exchange.registry.openOf(DESK)).toEqual([]);
    expect(available(exchange, 'usd')).toBe('100000');
  });

  it('is refused if its client id was already used', () => {
    const exchange = world();
    const order = limit({ quantity: quantity('0.1'), clientId: 'c' });
    expect(said(exchange.place(DESK, order, START))).toBe('ok');
    expect(said(exchange.place(DESK, order, START))).toBe('422 client_order_id was already used');
  });
});

describe('the orders of an account', () => {
  it('report each change of an order to a listener', () => {
    const exchange = world();
    const heard: string[] = [];
    const stop = exchange.listen((change: Change) =>
      heard.push(change.kind === 'order' ? `order ${change.order.status}` : change.kind),
    );
    const { orderId } = valueOf(exchange.place(DESK, limit({ quantity: quantity('0.1') }), START));
    valueOf(exchange.resting.cancelOne(DESK, orderId, START));
    stop();
    trade(exchange, 'buy', quantityOf('0.1'));
    expect(heard).toEqual(['balances', 'order Started', 'balances', 'order Canceled']);
  });
});
