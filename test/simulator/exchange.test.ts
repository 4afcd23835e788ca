import { describe, expect, it } from 'vitest';
import { price, quantity, text } from '../../src/core/money.ts';
import { DAY_MS } from '../../src/core/time.ts';
import {
  execute,
  aRequest,
  amountOf,
  anExchange,
  DESK,
  later,
  orderFor,
  quantityOf,
  said,
  START,
  still,
  trade,
  valueOf,
} from './world.ts';

describe('a quote', () => {
  it('is valid from its creation for exactly the configured life', () => {
    const exchange = anExchange({ quoteLifeMs: 5_000 });
    const request = aRequest();
    const quote = valueOf(exchange.quote(DESK, request, START));
    expect(quote).toMatchObject({ quotedAt: START, expiresAt: later(5_000), lifeMs: 5_000 });
    expect(said(exchange.order(DESK, orderFor(quote, request), later(5_000)))).toBe('422 quote expired');
    expect(said(exchange.order(DESK, orderFor(quote, request), later(4_999)))).toBe('ok');
  });

  it('is unavailable at the configured rate, with both error texts', () => {
    const exchange = anExchange({ unavailableProbability: 0.3 });
    const answers = Array.from({ length: 2_000 }, (_, index) =>
      said(exchange.quote(DESK, aRequest(), later(index))),
    );
    const refused = answers.filter((answer) => answer.startsWith('503'));
    expect(refused.length).toBeGreaterThan(500);
    expect(refused.length).toBeLessThan(700);
    expect(new Set(refused).size).toBe(2);
  });

  it.each([
    ['too many decimals of the base currency', { size: quantityOf('0.000000001') }, 'decimals of btc'],
    ['too many decimals of the quote currency', { size: amountOf('10.001') }, 'decimals of usd'],
    ['no value in the quote currency', { side: 'sell', size: quantityOf('0.00000001') }, 'too small'],
  ] as const)('is refused if its size has %s', (_, request, why) => {
    expect(said(anExchange().quote(DESK, aRequest(request), START))).toContain(why);
  });

  it('is repeated for the same client id and request, and refused for the same client id and another request', () => {
    const exchange = anExchange();
    const request = aRequest({ clientId: 'a-1' });
    const first = valueOf(exchange.quote(DESK, request, START));
    expect(valueOf(exchange.quote(DESK, request, later(100)))).toEqual(first);
    expect(said(exchange.quote(DESK, { ...request, size: quantityOf('2') }, later(100)))).toContain(
      'client_quote_id',
    );
    expect(valueOf(exchange.quote(DESK, request, later(10_000))).quoteId).not.toBe(first.quoteId);
  });
});

describe('an order', () => {
  const quoted = (input = {}, asked = {}) => {
    const exchange = anExchange(input);
    const request = aRequest({ clientId: 'tr-1', ...asked });
    return { exchange, request, quote: valueOf(exchange.quote(DESK, request, START)) };
  };

  it('may not carry a client id that was used in the last 24 hours', () => {
    const { exchange, request, quote } = quoted();
    valueOf(exchange.order(DESK, orderFor(quote, request), START));
    const again = (at: number) => said(execute(exchange, request, later(at)));
    expect(again(DAY_MS - 1)).toBe('422 client_order_id was already used');
    expect(again(DAY_MS)).toBe('ok');
  });

  it('is refused without funds, and the quote can still be used', () => {
    const { exchange, request, quote } = quoted({ accounts: [{ balances: { usd: '59999.99' } }] });
    expect(said(exchange.order(DESK, orderFor(quote, request), START))).toBe('422 insufficient usd balance');
    exchange.deposit(DESK, 'usd', quantity('0.01'), START);
    expect(said(exchange.order(DESK, orderFor(quote, request), START))).toBe('ok');
    expect(text(exchange.ledger.balance(DESK, 'usd'))).toBe('0');
  });

  it('is canceled by last look only when the price moved too far against the dealer', () => {
    const run = (side: 'buy' | 'sell', mid: string) => {
      const { exchange, request, quote } = quoted({ lastLookBps: 10 }, { side });
      exchange.market.pin('btcusd', price(mid));
      const order = valueOf(exchange.order(DESK, orderFor(quote, request), later(1)));
      return `${order.status} ${text(order.filled)} ${valueOf(exchange.transactions(DESK, {}, later(1))).length}`;
    };
    expect(run('buy', '60060')).toBe('Done 1 5');
    expect(run('buy', '60061')).toBe('Canceled 0 3');
    expect(run('buy', '50000')).toBe('Done 1 5');
    expect(run('sell', '59939')).toBe('Canceled 0 3');
    expect(run('sell', '70000')).toBe('Done 1 5');
  });

  it.each([
    [1, 1_000, 0.1747],
    [0.5, 1_000, 0.3199],
    [1, 2_000, 0.254],
  ])('is canceled by a last look of %d bps after %d ms with the probability 1 − Φ(θ/σ√h) of a random walk', (bps, waitMs, expected) => {
    const pairs = { btcusd: { startPrice: '60000', volatilityPctYear: 60, halfSpreadBps: 0, impactBps: 0 } };
    const exchange = anExchange({ lastLookBps: bps, pairs, accounts: [{ balances: { usd: '1000000', btc: '10' } }] });
    const count = 4_000;
    let canceled = 0;
    for (let i = 0; i < count; i++) {
      const [request, at] = [aRequest({ side: i % 2 === 0 ? 'buy' : 'sell', size: quantityOf('0.001') }), later(10_000 * i)];
      const quote = valueOf(exchange.quote(DESK, request, at));
      if (valueOf(exchange.order(DESK, orderFor(quote, request), later(10_000 * i + waitMs))).status === 'Canceled') canceled++;
    }
    expect(Math.abs(canceled / count - expected)).toBeLessThan(3 * Math.sqrt((expected * (1 - expected)) / count));
  }); // prettier-ignore

  it('uses up its quote when it is canceled, and is found by client id and by order id', () => {
    const { exchange, request, quote } = quoted({ cancelProbability: 1 });
    const order = valueOf(exchange.order(DESK, orderFor(quote, request), START));
    expect(order.status).toBe('Canceled');
    expect(said(exchange.order(DESK, orderFor(quote, request), START))).toBe('422 quote was already used');
    expect(valueOf(exchange.lookup(DESK, 'tr-1'))).toEqual(order);
    expect(valueOf(exchange.lookup(DESK, order.orderId))).toEqual(order);
    expect(said(exchange.lookup(DESK, 'tr-2'))).toBe('404 order not found');
  });
});

describe('credit', () => {
  const poor = { accounts: [{ balances: { usd: '10', btc: '0.1' } }] };

  it('is limited over all currencies, and its risk mode can be changed at run time', () => {
    const exchange = anExchange({ ...poor, pts: { defaultMode: 'Enabled', creditLimitUsd: '100000' } });
    expect(trade(exchange, 'buy', quantityOf('1')).status).toBe('Done');
    expect(text(exchange.ledger.balance(DESK, 'usd'))).toBe('-59990');
    const request = aRequest({ pair: 'ethusd', side: 'sell', size: quantityOf('14') });
    const quote = valueOf(exchange.quote(DESK, request, START));
    expect(said(exchange.order(DESK, orderFor(quote, request), START))).toBe('422 insufficient eth balance');
    expect(said(exchange.order(DESK, orderFor(quote, request, { size: quantityOf('13') }), START))).toBe(
      'ok',
    );
    exchange.setRiskMode('btcusd', 'Reduce_Only');
    expect(valueOf(exchange.riskModes())).toContainEqual({ pair: 'btcusd', mode: 'Reduce_Only' });
  });

  it('is available to the last cent of its limit, and existing debt counts once', () => {
    const exchange = anExchange({ ...poor, pts: { defaultMode: 'Enabled', creditLimitUsd: '100000' } });
    trade(exchange, 'buy', quantityOf('1'));
    const owe = (amount: string) => said(execute(exchange, { size: amountOf(amount) }));
    expect(owe('40010.01')).toBe('422 insufficient usd balance');
    expect(owe('40010')).toBe('ok');
    expect(text(exchange.ledger.balance(DESK, 'usd'))).toBe('-100000');
  });
});

describe('the value history', () => {
  it('has a point at the start and at each full hour of market time, with the holdings at that time', () => {
    const exchange = anExchange({ speed: 60 });
    exchange.deposit(DESK, 'usd', quantity('100'), later(90_000)); // half past eleven in market time
    const points = valueOf(exchange.valuation(DESK, { from: START, interval: 'hour' }, later(120_000)));
    expect(points.map(({ at, usd }) => [at - START, text(usd)])).toEqual([
      [0, '3700000'],
      [60_000, '3700000'],
      [120_000, '3700100'],
    ]);
  });
});

describe('an exchange', () => {
  it('rejects inconsistent settings', () => {
    expect(() => anExchange({ accounts: [{ balances: { doge: '1' } }] })).toThrow(
      'currencies.doge: no pair leads to its value in USD',
    );
    expect(() => anExchange({ pairs: { ...still.pairs, ltcusd: {} } })).toThrow(
      'pairs.ltcusd needs start_price',
    );
    expect(() => anExchange({ pairs: { ...still.pairs, foobar: { startPrice: '1' } } })).toThrow(
      'set its base and quote',
    );
  });

  it('values currencies through other pairs, in either direction', () => {
    const exchange = anExchange({
      pairs: {
        ...still.pairs,
        solbtc: { startPrice: '0.002', volatilityPctYear: 0 },
        usdeur: { startPrice: '0.8', volatilityPctYear: 0 },
      },
      accounts: [{ balances: { sol: '10', eur: '100' } }],
    });
    expect(text(exchange.valueOf(DESK, START))).toBe('1325');
  });
});

describe('a user token', () => {
  it('is issued only to the partner, acts for its user, and expires after 24 hours', () => {
    const exchange = anExchange();
    const { partner } = exchange.access;
    expect(said(exchange.access.issue(DESK, DESK, START))).toBe(
      '403 an enterprise partner token is required',
    );
    expect(said(exchange.access.issue(partner.name, 'nobody', START))).toBe('404 user not found: nobody');
    const issued = valueOf(exchange.access.issue(partner.name, DESK, START));
    expect(issued.token).toMatch(/^[0-9a-f]{64}$/u);
    expect(valueOf(exchange.authenticate(issued.token, START))).toBe(DESK);
    expect(said(exchange.authenticate(issued.token, issued.expiresAt))).toContain('401');
    expect(issued.expiresAt - START).toBe(86_400_000);
    expect(valueOf(exchange.authenticate(partner.token))).toBe('partner');
  });
});
