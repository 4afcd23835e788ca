import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counted, price, quantity, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { after, DAY_MS } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { Changes } from '../../src/simulator/exchange/exchange-changes.ts';
import { tradeOf } from '../../src/simulator/exchange/fills.ts';
import type { Filled } from '../../src/simulator/exchange/fills.ts';
import { Ledger } from '../../src/simulator/ledger/ledger.ts';
import { OrderRegistry } from '../../src/simulator/exchange/orders.ts';
import type { OrderDetail } from '../../src/wire/order-body.ts';
import { anExchange, DESK, later, quantityOf, START, trade } from './world.ts';

const listing = [...anExchange().market.listings.values()].find(({ pair }) => pair === 'btcusd');

/** Amounts that fit into columns, and some that have too many digits. */
const amounts = fc.oneof(
  fc.nat({ max: 10_000 }).map((cents) => quantity((cents / 100).toFixed(2))),
  fc.constantFrom('0.00000001', '123456789012345.6', '12345678901234567890.123456789').map(quantity),
);
const step = fc.record({
  side: fc.constantFrom('buy', 'sell'),
  quantity: amounts,
  amount: amounts,
  fees: amounts,
  deposit: fc.option(amounts, { nil: undefined }),
});

/** The value with its amounts as text. */
const words = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const balanceWords = (held: ReadonlyMap<string, Quantity>): string =>
  [...held]
    .map(([currency, amount]) => `${currency} ${text(amount)}`)
    .toSorted()
    .join(', ');

const dealt = (ledger: Ledger): string => balanceWords(ledger.dealer());

describe('the column store of fills', () => {
  it('returns the same orders, transactions and balances as a ledger with plain rows', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 150 }), (steps) => {
        if (listing === undefined) throw new Error('the venue has the pair');
        const [ledger, plain] = [new Ledger(1), new Ledger(1)];
        const registry = new OrderRegistry(new Changes(), START, ledger.fills);
        const [orders, trades]: [OrderDetail[], Filled[]] = [[], []];
        const seen: { newest: number; held: ReadonlyMap<string, Quantity> }[] = [];
        const dealer: [columns: string, rows: string][] = [];
        ledger.open('a');
        plain.open('a');
        for (const [i, { side, deposit, ...asked }] of steps.entries()) {
          const at = after(START, i);
          if (deposit !== undefined)
            for (const each of [ledger, plain]) each.move('a', { currency: 'eth', amount: deposit }, at);
          const fill = {
            quantity: asked.quantity,
            amount: counted(asked.amount),
            fees: counted(asked.fees),
            price: price('31.25'),
          };
          const wholeOrder = registry.nextCount();
          const order = {
            orderId: String(wholeOrder),
            clientId: i % 3 === 0 ? '' : `client ${i}`,
            quoteId: `quote ${i}`,
            pair: listing.pair,
            side,
            status: 'Done',
            quantity: fill.quantity,
            price: fill.price,
            filled: fill.quantity,
            filledAmount: fill.amount,
            vwap: fill.price,
            fees: fill.fees,
            updatedAt: at,
          } as const;
          const filled = { order, listing, fill, wholeOrder, number: registry.nextCount() };
          const place = ledger.bookFill('a', filled);
          plain.book('a', tradeOf(filled));
          registry.addTrade('a', place ?? tradeOf(filled));
          if (place === undefined) registry.add('a', order, at);
          else registry.addFilled('a', order, place, at);
          orders.push(order);
          trades.push(filled);
          if (i % 7 === 0) dealer.push([dealt(ledger), dealt(plain)]);
          seen.push({ newest: ledger.newestId('a'), held: new Map(ledger.balances('a')) });
        }

        expect(words(ledger.rows('a'))).toEqual(words(plain.rows('a')));
        expect(words([...ledger.balances('a')])).toEqual(words([...plain.balances('a')]));
        dealer.push([dealt(ledger), dealt(plain)]);
        for (const [columns, rows] of dealer) expect(columns).toBe(rows);
        for (const order of orders)
          for (const id of [order.orderId, order.clientId].filter((each) => each !== ''))
            expect(words(registry.find('a', id))).toEqual(words(order));
        expect(registry.tradesOf('a').map(({ tradeId }) => tradeId)).toEqual(
          trades.map(({ number }) => String(number)).toReversed(),
        );
        const asked = seen.filter((_, i) => i % 4 !== 1);
        const told: string[] = [];
        ledger.recall(
          'a',
          asked.map(({ newest }) => newest),
          (_, held) => told.push(balanceWords(held)),
        );
        expect(told).toEqual(asked.map(({ held }) => balanceWords(held)));
      }),
      { numRuns: 60 },
    );
  });

  it('counts each fill in the daily volume of its pair, at every read of the ticker', () => {
    const exchange = anExchange({ accounts: [{ name: DESK, balances: { usd: '1000000' } }] });
    const day = (pair: string, at: Instant): readonly string[] => {
      const ticker = exchange.ticker(pair, at);
      return ticker === undefined ? [] : [text(ticker.volume), text(ticker.vwap)];
    };
    trade(exchange, 'buy', quantityOf('1'));
    trade(exchange, 'sell', quantityOf('0.5'));
    expect([day('btcusd', START), day('ethusd', START)]).toEqual([
      ['1.5', '60000'],
      ['0', '3000'],
    ]);
    trade(exchange, 'sell', quantityOf('0.25'));
    expect(day('btcusd', START)).toEqual(['1.75', '60000']);
    trade(exchange, 'sell', quantityOf('0.125'));
    trade(exchange, 'buy', quantityOf('2'), later(DAY_MS));
    expect(day('btcusd', later(DAY_MS))).toEqual(['2', '60000']);
    expect(day('btcusd', later(2 * DAY_MS))).toEqual(['0', '60000']);
  });
});
