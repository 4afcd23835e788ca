import { describe, expect, it } from 'vitest';
import { price, quantity, text } from '../../src/core/money.ts';
import { HOUR_MS, instant, MINUTE_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import type { VenueInput } from '../../src/simulator/options/options.ts';
import { execute, anExchange, DESK, later, quantityOf, said, START, trade, valueOf } from './world.ts';

/** At 8.76 % a year, a debt of 50 000 usd costs exactly half a dollar an hour. */
const rates = { usd: { annualRate: '0.0876', graceMinutes: 60, frequencyMinutes: 60 } };
const credit = (input: VenueInput = {}): Exchange =>
  anExchange({
    accounts: [{ balances: { usd: '10000' } }],
    pts: { modes: { btcusd: 'Enabled' }, rates },
    ...input,
  });
const hours = (count: number): Instant => later(count * HOUR_MS);
const usd = (exchange: Exchange): string => text(exchange.ledger.balance(DESK, 'usd'));
const charges = (exchange: Exchange, at: Instant): readonly string[] =>
  valueOf(
    exchange.transactions(DESK, { from: START, to: at, limit: 1_000, types: new Set(['charge']) }, at),
  ).map((row) => `${new Date(row.at).toISOString().slice(11, 16)} ${text(row.amount)} ${text(row.balance)}`);

const attempt = (exchange: Exchange, side: 'buy' | 'sell', size: string, at: Instant): string =>
  said(execute(exchange, { side, size: quantityOf(size) }, at));

describe('post-trade settlement', () => {
  it('opens a long on credit, charges exact interest after the grace period, and enforces Reduce-Only', () => {
    const exchange = credit();
    trade(exchange, 'buy', quantityOf('1'));
    expect(usd(exchange)).toBe('-50000');
    const [position] = valueOf(exchange.ptsPositions(DESK, START));
    expect(position).toMatchObject({
      status: 'ACTIVE',
      marginType: 'PTS_LONG',
      loanCurrency: 'usd',
      pair: 'btcusd',
    });

    exchange.advance(instant(hours(2) - 1));
    expect(usd(exchange)).toBe('-50000');
    exchange.advance(hours(2));
    expect(usd(exchange)).toBe('-50000.5');
    exchange.advance(hours(5));
    expect(charges(exchange, hours(5))).toEqual([
      '15:00 -0.5 -50002',
      '14:00 -0.5 -50001.5',
      '13:00 -0.5 -50001',
      '12:00 -0.5 -50000.5',
    ]);
    expect(valueOf(exchange.interest(DESK, hours(5)))).toHaveLength(4);

    exchange.setRiskMode('btcusd', 'Reduce-Only');
    expect(attempt(exchange, 'buy', '0.001', hours(5))).toBe('422 insufficient usd balance');
    expect(attempt(exchange, 'sell', '1.5', hours(5))).toBe('422 insufficient btc balance');
    expect(attempt(exchange, 'sell', '0.5', hours(5))).toBe('ok');
    expect(usd(exchange)).toBe('-20002');
    expect(valueOf(exchange.ptsPositions(DESK, hours(5))).map(({ loan }) => text(loan))).toEqual(['20002']);

    exchange.advance(hours(6));
    expect(charges(exchange, hours(6))[0]).toBe('16:00 -0.2 -20002.2');
    expect(attempt(exchange, 'sell', '0.5', hours(6))).toBe('ok');
    expect(usd(exchange)).toBe('9997.8');
    const [closed] = valueOf(exchange.ptsPositions(DESK, hours(6)));
    expect(closed?.status).toBe('CLOSED');
    expect(text(closed?.interest ?? quantity('0'))).toBe('2.2');
    exchange.advance(hours(48));
    expect(usd(exchange)).toBe('9997.8');
  });

  it('carries fractions of a cent over many accruals and never rounds up', () => {
    const exchange = credit({
      pts: {
        modes: { btcusd: 'Enabled' },
        rates: { usd: { annualRate: '0.08', graceMinutes: 0, frequencyMinutes: 60 } },
      },
    });
    trade(exchange, 'buy', quantityOf('1'));
    exchange.advance(hours(3));
    // 50 000 x 0.08 / 8760 = 0.456621… an hour.
    expect(charges(exchange, hours(3)).map((row) => row.split(' ')[1])).toEqual(['-0.45', '-0.46', '-0.45']);
    exchange.advance(hours(876));
    expect(usd(exchange)).toBe('-50400');
  });

  it('charges interest in market time: after a sixtieth of the real time at speed 60', () => {
    const exchange = credit({ speed: 60 });
    trade(exchange, 'buy', quantityOf('1'));
    exchange.advance(later(2 * MINUTE_MS - 1));
    expect(usd(exchange)).toBe('-50000');
    exchange.advance(later(2 * MINUTE_MS));
    expect(usd(exchange)).toBe('-50000.5');
  });

  it('has the same rows and valuation whether the exchange advances often or once', () => {
    const often = credit();
    const once = credit();
    for (const exchange of [often, once]) trade(exchange, 'buy', quantityOf('1'));
    for (let minute = 1; minute <= 600; minute++) often.advance(later(minute * MINUTE_MS));
    once.advance(later(600 * MINUTE_MS));
    expect(often.ledger.rows(DESK)).toEqual(once.ledger.rows(DESK));
    expect(valueOf(often.valuation(DESK, { from: START, interval: 'hour' }, hours(10)))).toEqual(
      valueOf(once.valuation(DESK, { from: START, interval: 'hour' }, hours(10))),
    );
  });

  it('keeps a short as a loan of the base currency and closes it when it is bought back', () => {
    const exchange = credit();
    trade(exchange, 'sell', quantityOf('0.5'));
    const [short] = valueOf(exchange.ptsPositions(DESK, START));
    expect(short).toMatchObject({ marginType: 'PTS_SHORT', loanCurrency: 'btc', collateralCurrency: 'usd' });
    exchange.setRiskMode('btcusd', 'Reduce-Only');
    expect(attempt(exchange, 'buy', '0.5', START)).toBe('ok');
    expect(valueOf(exchange.ptsPositions(DESK, START))[0]?.status).toBe('CLOSED');
  });

  it('repays a loan with an incoming deposit', () => {
    const exchange = credit();
    trade(exchange, 'buy', quantityOf('1'));
    exchange.deposit(DESK, 'usd', quantity('60000'), later(5));
    expect(valueOf(exchange.ptsPositions(DESK, later(5)))[0]?.status).toBe('CLOSED');
  });

  it('reports exposure, limit and equity, and refuses the withdrawal of equity that secures a loan', () => {
    const exchange = credit();
    trade(exchange, 'buy', quantityOf('1'));
    const metrics = valueOf(exchange.metrics(DESK, START));
    expect(Object.values(metrics).map(text)).toEqual(['50000', '200000', '250000', '10000', '0', '0.1']);
    const asked = { currency: 'btc', amount: quantity('0.5'), address: 'a', isWire: false, memo: '' };
    expect(said(exchange.withdrawals.withdraw(DESK, asked, START))).toBe(
      '422 amount exceeds the equity available for withdrawals',
    );
    exchange.pin('btcusd', price('150000'), START);
    expect(text(valueOf(exchange.metrics(DESK, START)).equityForWithdrawals)).toBe('50000');
    expect(said(exchange.withdrawals.withdraw(DESK, { ...asked, amount: quantity('0.3') }, START))).toBe(
      'ok',
    );
  });
});

describe('the liquidation level', () => {
  /** 1 btc, 50 000 of its 60 000 usd borrowed. */
  function long(liquidationLevel?: string): Exchange {
    const exchange = credit({ pts: { modes: { btcusd: 'Enabled' }, ...(liquidationLevel === undefined ? {} : { liquidationLevel }) } }); // prettier-ignore
    trade(exchange, 'buy', quantityOf('1'));
    return exchange;
  }
  const at = (minutes: number): Instant => later(minutes * MINUTE_MS);
  const settled = (exchange: Exchange): readonly (readonly string[])[] =>
    exchange.ledger
      .rows(DESK)
      .filter(({ description = '' }) => description.startsWith('settlement'))
      .map(({ action, currency, amount, orderId, tradeId }) => [action, currency, text(amount), String(orderId), String(tradeId)]); // prettier-ignore

  it('settles positions in part, within a minute, by a transfer without an order', () => {
    const exchange = long();
    // An equity of 5 100 usd is above a tenth of 50 000; one of 4 000 is below it.
    exchange.pin('btcusd', price('55100'), at(1));
    exchange.advance(at(3));
    expect(settled(exchange)).toEqual([]);
    exchange.pin('btcusd', price('54000'), at(3));
    exchange.advance(at(4));
    // Down to twice the level: 4 000 usd of equity allow a debt of 20 000.
    expect(settled(exchange)).toEqual([
      ['sell', 'btc', '-0.55555556', 'undefined', 'undefined'],
      ['sell', 'usd', '30000', 'undefined', 'undefined'],
    ]);
    expect(text(exchange.ledger.balance(DESK, 'usd'))).toBe('-20000');
    expect(valueOf(exchange.ptsPositions(DESK, at(4)))).toMatchObject([
      { status: 'ACTIVE', closingOrderId: undefined },
    ]);
    exchange.advance(at(60));
    expect(settled(exchange)).toHaveLength(2);

    expect(exchange.ledger.inflow().get('usd')?.toFixed()).toBe('10000');
  });

  it('closes the oldest position first, without a closing order', () => {
    const exchange = credit({ pts: { modes: { btcusd: 'Enabled', ethusd: 'Enabled' } } });
    for (const [pair, size] of [
      ['ethusd', '10'],
      ['btcusd', '1'],
    ] as const)
      // prettier-ignore
      expect(said(execute(exchange, { pair, size: quantityOf(size) }, START))).toBe('ok');
    expect(usd(exchange)).toBe('-80000');
    // An equity of 5 500 usd allows a debt of 27 500.
    exchange.pin('btcusd', price('55500'), at(1));
    exchange.advance(at(2));
    expect(usd(exchange)).toBe('-27500');
    const [closed, open] = valueOf(exchange.ptsPositions(DESK, at(2)));
    expect(closed).toMatchObject({ status: 'CLOSED', pair: 'ethusd', closingOrderId: undefined });
    expect(closed?.openingOrderId).toBeDefined();
    expect(open).toMatchObject({ status: 'ACTIVE', pair: 'btcusd' });
  });

  it('settles a short by buying, and never with a level of 0', () => {
    const exchange = credit({ accounts: [{ balances: { usd: '10000' } }] });
    trade(exchange, 'sell', quantityOf('1'));
    exchange.pin('btcusd', price('64000'), at(1));
    exchange.advance(at(2));
    expect(Number(exchange.ledger.balance(DESK, 'btc'))).toBeCloseTo(-30_000 / 64_000, 6);
    const never = long('0');
    never.pin('btcusd', price('1000'), at(1));
    never.advance(at(60));
    expect(settled(never)).toEqual([]);
  });
});
