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
  timeInForce: 'GTC',
  ...order,
});
const statusOf = (exchange: Exchange, id: string): string => {
  const order = valueOf(exchange.lookup(DESK, id));
  return `${order.status} ${text(order.filled)} ${text(order.filledAmount)} ${text(order.fees)}`;
};
const available = (exchange: Exchange, currency: string): string =>
  text(exchange.ledger.available(DESK, currency));
const pin = (exchange: Exchange, mid: string, ms: number): void => {
  exchange.pin('btcusd', price(mid), later(ms));
};

describe('a limit order', () => {
  it('holds its funds while it waits, and fills at its limit when the market reaches the limit', () => {
    const exchange = world();
    const placed = valueOf(exchange.place(DESK, limit(), START));
    expect(placed.status).toBe('Started');
    expect([available(exchange, 'usd'), text(exchange.ledger.balance(DESK, 'usd'))]).toEqual([
      '41000',
      '100000',
    ]);
    pin(exchange, '59000.01', 500);
    exchange.advance(later(5_000));
    expect(statusOf(exchange, placed.orderId)).toBe('Started 0 0 0');
    pin(exchange, '58000', 5_100);
    exchange.advance(later(5_999));
    expect(statusOf(exchange, placed.orderId)).toBe('Started 0 0 0');
    exchange.advance(later(6_000));
    expect(statusOf(exchange, placed.orderId)).toBe('Done 1 59000 0');
    expect([available(exchange, 'usd'), available(exchange, 'btc')]).toEqual(['41000', '3']);
    expect(
      exchange.ledger
        .rows(DESK)
        .slice(-2)
        .map(({ algorithm, algorithmId }) => [algorithm, algorithmId]),
    ).toEqual([
      ['Limit', '201'],
      ['Limit', '201'],
    ]);
  });

  it('fills at once at the market price if that is better than its limit', () => {
    const exchange = world();
    const placed = valueOf(exchange.place(DESK, limit({ price: price('61000') }), START));
    expect(statusOf(exchange, placed.orderId)).toBe('Done 1 60000 0');
    expect(available(exchange, 'usd')).toBe('40000');
  });

  it('fills in parts whose sums are exact, and keeps its fills when it is canceled', () => {
    const exchange = world({ feeBps: 10, orders: { fillUsdMax: '10000' } });
    const { orderId } = valueOf(
      exchange.place(DESK, limit({ price: price('60000'), quantity: quantity('0.5') }), START),
    );
    expect(statusOf(exchange, orderId)).toBe('Started 0.16666666 10000 10');
    exchange.advance(later(1_000));
    expect(statusOf(exchange, orderId)).toBe('Started 0.33333332 20000 20');
    expect(valueOf(exchange.resting.cancelOne(DESK, orderId, later(1_500)))).toBe('canceled');
    expect(statusOf(exchange, orderId)).toBe('Canceled 0.33333332 20000 20');
    expect(available(exchange, 'usd')).toBe('79980');
    expect(exchange.registry.tradesOf(DESK, {}).map((each) => text(each.netAmount))).toEqual([
      '10010',
      '10010',
    ]);
    const body = JSON.stringify(orderBody(valueOf(exchange.lookup(DESK, orderId))));
    expect(body).toContain('"status":"Canceled","status_code":10');
    expect(body).toContain('"net_proceeds":-20020');
    expect(body).not.toMatch(/\de[+-]?\d/u);
  });

  it.each([
    ['IOC', 'Canceled 0.16666666', { timeInForce: 'IOC', price: price('60000') }],
    ['FOK', 'Canceled 0 ', { timeInForce: 'FOK', price: price('60000') }],
    ['IOC away from the market', 'Canceled 0 ', { timeInForce: 'IOC' }],
  ] as const)('ends at once with time in force %s: %s', (_, status, order) => {
    const exchange = world({ orders: { fillUsdMax: '10000' } });
    const { orderId } = valueOf(exchange.place(DESK, limit(order), START));
    expect(statusOf(exchange, orderId)).toContain(status);
    expect(text(exchange.ledger.held(DESK, 'usd'))).toBe('0');
  });

  it('ends at its expiry with time in force GTD', () => {
    const exchange = world();
    const { orderId } = valueOf(
      exchange.place(DESK, limit({ timeInForce: 'GTD', expiresAt: later(3_000) }), START),
    );
    exchange.advance(later(2_999));
    expect(statusOf(exchange, orderId)).toContain('Started');
    exchange.advance(later(3_000));
    expect(statusOf(exchange, orderId)).toContain('Canceled');
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
    [
      'FOK with algorithm 200',
      { algorithm: 200, timeInForce: 'FOK' },
      '422 invalid order: time_in_force FOK needs algorithm_id 201',
    ],
    [
      'GTD without an expiry',
      { timeInForce: 'GTD' },
      '422 invalid order: time_in_force GTD needs expires in the future',
    ],
  ])('is refused and changes nothing: %s', (_, order, error) => {
    const exchange = world({ pts: { modes: { btcusd: 'Enabled' } } });
    expect(said(exchange.place(DESK, limit(order), START))).toBe(error);
    expect(exchange.registry.openOf(DESK)).toEqual([]);
    expect(available(exchange, 'usd')).toBe('100000');
  });

  it('is refused if its client id was already used', () => {
    const exchange = world();
    valueOf(exchange.place(DESK, limit({ quantity: quantity('0.1'), clientId: 'c' }), START));
    const again = limit({ quantity: quantity('0.1'), clientId: 'c' });
    expect(said(exchange.place(DESK, again, START))).toBe('422 client_order_id was already used');
    expect(valueOf(exchange.lookup(DESK, 'c')).status).toBe('Started');
  });

  it('has the same fills whether the exchange advances often or once', () => {
    const moving: VenueInput = {
      pairs: { btcusd: { startPrice: '60000' } },
      speed: 600,
      orders: { fillUsdMax: '700' },
    };
    const [often, once] = [world(moving), world(moving)];
    for (const exchange of [often, once])
      for (const side of ['buy', 'sell'] as const)
        valueOf(
          exchange.place(DESK, limit({ side, price: price(side === 'buy' ? '59900' : '60100') }), START),
        );
    for (let ms = 0; ms <= 600_000; ms += 130) often.advance(later(ms));
    for (const exchange of [often, once]) exchange.advance(later(600_000));
    expect(often.ledger.rows(DESK)).toEqual(once.ledger.rows(DESK));
    expect(often.ledger.rows(DESK).length).toBeGreaterThan(10);
  });
});

describe('a cancellation', () => {
  it('is pending for its delay, and has no effect on an order that is finished or unknown', () => {
    const exchange = world({ orders: { cancelDelayMs: 2_000 } });
    const { orderId } = valueOf(exchange.place(DESK, limit(), START));
    const cancel = (ms: number): string => canceled(exchange, orderId, ms);
    expect(cancel(0)).toBe('cancel pending');
    expect(statusOf(exchange, orderId)).toContain('Cancel Pending');
    expect(cancel(500)).toBe('cancel pending');
    exchange.advance(later(2_000));
    expect(statusOf(exchange, orderId)).toContain('Canceled');
    expect(cancel(2_100)).toBe('order already finished');
    expect(cancel(2_200)).toBe('order already finished');
    expect(said(exchange.resting.cancelOne(DESK, '77', START))).toBe('400 internal error');
    const done = trade(exchange, 'buy', quantityOf('0.1'), later(3_000));
    expect(valueOf(exchange.resting.cancelOne(DESK, done.orderId, later(3_000)))).toBe(
      'order already finished',
    );
  });

  it('has no effect if the order fills within its delay', () => {
    const exchange = world({ orders: { cancelDelayMs: 2_000 } });
    const { orderId } = valueOf(exchange.place(DESK, limit(), START));
    expect(canceled(exchange, orderId, 0)).toBe('cancel pending');
    pin(exchange, '58000', 100);
    exchange.advance(later(1_000));
    expect(statusOf(exchange, orderId)).toContain('Done 1');
    expect(canceled(exchange, orderId, 1_100)).toBe('order already finished');
  });

  it('returns the canceled orders of a list, and an error if none of them can be canceled', () => {
    const exchange = world();
    const ids = ['0.1', '0.2'].map(
      (size) => valueOf(exchange.place(DESK, limit({ quantity: quantity(size) }), START)).orderId,
    );
    const several = [...ids, '5', ids[0] ?? ''];
    expect(valueOf(exchange.resting.cancelMany(DESK, several, START))).toEqual(
      ids.map((orderId) => ({ orderId, status: 'Canceled' })),
    );
    expect(said(exchange.resting.cancelMany(DESK, several, START))).toBe(
      '400 the order ids provided were invalid or the orders were already done/canceled',
    );
    expect(available(exchange, 'usd')).toBe('100000');
  });

  it('does not affect an order of another account', () => {
    const exchange = anExchange({
      accounts: [
        { name: DESK, balances: { usd: '100000' } },
        { name: 'other', balances: {} },
      ],
    });
    const { orderId } = valueOf(exchange.place(DESK, limit(), START));
    expect(said(exchange.resting.cancelOne('other', orderId, START))).toBe('400 internal error');
    expect(said(exchange.resting.cancelMany('other', [orderId], START))).toContain('400 the order ids');
    expect(valueOf(exchange.resting.cancelAll('other', START))).toEqual([]);
    expect(said(exchange.lookup('other', orderId))).toBe('404 order not found');
    expect(statusOf(exchange, orderId)).toContain('Started');
  });

  it('ends every open order if it is for all orders', () => {
    const exchange = world();
    for (const size of ['0.1', '0.2'])
      valueOf(exchange.place(DESK, limit({ quantity: quantity(size) }), START));
    expect(valueOf(exchange.resting.cancelAll(DESK, START))).toHaveLength(2);
    expect(exchange.registry.openOf(DESK)).toEqual([]);
  });
});

const canceled = (exchange: Exchange, orderId: string, ms: number): string =>
  valueOf(exchange.resting.cancelOne(DESK, orderId, later(ms)));

describe('the order lists', () => {
  it('contain open and finished orders separately, newest first, at most 50, with filters', () => {
    const exchange = world();
    const open = Array.from({ length: 60 }, (_, index) =>
      valueOf(
        exchange.place(
          DESK,
          limit({
            quantity: quantity('0.001'),
            price: price('59000'),
            algorithm: index % 2 === 0 ? 200 : 201,
          }),
          START,
        ),
      ),
    );
    trade(exchange, 'buy', quantityOf('0.1'));
    trade(exchange, 'sell', quantityOf('0.1'));
    const newest = open.at(-1)?.orderId ?? '';
    const list = exchange.registry.openOf(DESK);
    expect(list).toHaveLength(50);
    expect(list[0]?.orderId).toBe(newest);
    expect(exchange.registry.openOf(DESK, { before: Number(list.at(-1)?.orderId) })).toHaveLength(10);
    expect(exchange.registry.openOf(DESK, { after: Number(open.at(-3)?.orderId) })).toHaveLength(2);
    expect(exchange.registry.openOf(DESK, { algorithmId: 200, limit: 1_000 })).toHaveLength(30);
    expect(exchange.registry.doneOf(DESK).map(({ side }) => side)).toEqual(['sell', 'buy']);
    expect(exchange.registry.doneOf(DESK, { side: 'buy' })).toHaveLength(1);
    expect(exchange.registry.doneOf(DESK, { status: 'done' })).toEqual([]);
    expect(exchange.registry.doneOf(DESK, { pair: 'ethusd' })).toEqual([]);
  });

  it('page through the trades of the account by the last seen id', () => {
    const exchange = world();
    for (let index = 0; index < 5; index++) trade(exchange, 'buy', quantityOf('0.1'), later(index));
    const [first, second] = exchange.registry.tradesOf(DESK, { limit: 2 });
    expect(Number(first?.tradeId)).toBeGreaterThan(Number(second?.tradeId));
    expect(exchange.registry.tradesOf(DESK, { limit: 2, lastSeenId: second?.tradeId })).toHaveLength(2);
    expect(exchange.registry.tradesOf(DESK, { lastSeenId: second?.tradeId })).toHaveLength(3);
  });

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
