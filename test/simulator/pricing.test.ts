import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cost, decimalsOf, money, price, quantity, text } from '../../src/core/money.ts';
import type { Side } from '../../src/core/venue.ts';
import type { Exchange } from '../../src/simulator/exchange/exchange.ts';
import { priceDecimals } from '../../src/simulator/exchange/listing.ts';
import type { Listing } from '../../src/simulator/exchange/listing.ts';
import { dealerPrice, priced } from '../../src/simulator/exchange/pricing.ts';
import { anExchange, amountOf, DESK, quantityOf, START, aRequest, valueOf } from './world.ts';

const exchangeOf = (options = {}): Exchange =>
  anExchange({ pairs: { btcusd: { startPrice: '60000', ...options }, ethusd: { startPrice: '3000' } } });

const listing = (options = {}): Listing => {
  const found = exchangeOf(options).market.listings.get('btcusd');
  if (found === undefined) throw new Error('btcusd is listed');
  return found;
};

describe('the dealer', () => {
  it('adds half the spread and an impact that grows with the square root of the size', () => {
    const btc = listing({ halfSpreadBps: 5, impactBps: 10 });
    const at = (side: Side, usd: string) => text(dealerPrice(btc, side, price('60000'), money(usd)));
    expect(at('buy', '0')).toBe('60030');
    expect(at('sell', '0')).toBe('59970');
    expect(at('buy', '1000000')).toBe('60090');
    expect(at('buy', '250000')).toBe('60060');
    expect(at('sell', '250000')).toBe('59940');
  });

  it('never rounds in favour of the client', () => {
    const btc = listing();
    const side = fc.constantFrom<Side>('buy', 'sell');
    const mid = fc
      .tuple(fc.integer({ min: 1, max: 200_000 }), fc.nat(999_999))
      .map(([whole, part]) => price(`${whole}.${part}`));
    const size = fc.oneof(
      fc.integer({ min: 1, max: 10 ** 9 }).map((units) => quantityOf(quantity(`${units}e-8`).toFixed())),
      fc.integer({ min: 1, max: 10 ** 8 }).map((cents) => amountOf(money(`${cents}e-2`).toFixed())),
    );
    fc.assert(
      fc.property(side, mid, size, (of, middle, asked) => {
        const each = dealerPrice(btc, of, middle, money('1000'));
        expect(of === 'buy' ? each.gt(middle) : each.lt(middle)).toBe(true);
        const { quantity: base, amount } = priced(btc, of, asked, each);
        const exactCost = cost(each, base);
        expect(of === 'buy' ? amount.gte(exactCost) : amount.lte(exactCost)).toBe(true);
        expect(decimalsOf(base)).toBeLessThanOrEqual(8);
        expect(decimalsOf(amount)).toBeLessThanOrEqual(2);
        const unit = asked.by === 'quantity' ? money('0.01') : cost(each, quantity('1e-8'));
        expect(amount.minus(exactCost).abs().lt(unit)).toBe(true);
      }),
      { seed: 21 },
    );
  });

  it('keeps a requested amount exactly as it is', () => {
    const exchange = anExchange();
    const byAmount = valueOf(exchange.quote(DESK, aRequest({ size: amountOf('100000.01') }), START));
    expect([text(byAmount.amount), text(byAmount.quantity)]).toEqual(['100000.01', '1.66666683']);
    const sold = valueOf(exchange.quote(DESK, aRequest({ side: 'sell', size: amountOf('100000') }), START));
    expect([text(sold.amount), text(sold.quantity)]).toEqual(['100000', '1.66666667']);
  });

  it.each([
    ['60000', 2, '60030'],
    ['500.5', 3, '500.751'],
    ['80', 4, '80.04'],
    ['0.35', 6, '0.350175'],
    ['0.0000123456', 10, '0.0000123518'],
  ])('quotes a price near %s with at most %d decimals, whatever the start price', (mid, decimals, quoted) => {
    for (const startPrice of ['60000', '0.02']) {
      const exchange = exchangeOf({ startPrice, impactBps: 0 });
      exchange.pin('btcusd', price(mid), START);
      const quote = valueOf(exchange.quote(DESK, aRequest({ size: amountOf('1000') }), START));
      expect(text(quote.price)).toBe(quoted);
      expect(decimalsOf(quote.price)).toBeLessThanOrEqual(decimals);
      expect(
        decimalsOf(exchange.ticker('btcusd', START)?.trade.price ?? price('0.12345678901')),
      ).toBeLessThanOrEqual(decimals);
    }
  });

  it('quotes with the configured price precision at any price', () => {
    const exchange = exchangeOf({ impactBps: 0, pricePrecision: 3 });
    exchange.pin('btcusd', price('0.3512345'), START);
    const quote = valueOf(exchange.quote(DESK, aRequest({ size: amountOf('1000') }), START));
    expect(text(quote.price)).toBe('0.352');
  });

  it('uses fewer decimals for a larger price, and at most 18', () => {
    const of = (each: string): number => priceDecimals(listing({ startPrice: '1' }), price(each));
    expect(['999.9', '1000', '9999.999', '10000'].map(of)).toEqual([3, 2, 2, 2]);
    expect(of(`0.${'0'.repeat(30)}1`)).toBe(18);
  });
});
