import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money, price, quantity } from '../../src/core/money.ts';
import { after, DAY_MS, MINUTE_MS } from '../../src/core/time.ts';
import { Changes } from '../../src/simulator/exchange/exchange-changes.ts';
import { Fills } from '../../src/simulator/exchange/fills.ts';
import { isFinished, OrderRegistry } from '../../src/simulator/exchange/orders.ts';
import { QuoteBook } from '../../src/simulator/exchange/quotes.ts';
import type { QuoteEntry } from '../../src/simulator/exchange/quotes.ts';
import type { OrderDetail } from '../../src/wire/order-body.ts';
import { aRequest, later, START } from './world.ts';

const LIFE_MS = 10_000;
const accounts = fc.constantFrom('a', 'b');
const clientIds = fc.constantFrom('one', 'two', 'three', undefined);

const entryOf = (
  account: string,
  quoteId: string,
  clientId: string | undefined,
  atMs: number,
): QuoteEntry => ({
  account,
  quote: {
    quoteId,
    pair: 'btcusd',
    side: 'buy',
    quantity: quantity('1'),
    amount: money('100'),
    price: price('100'),
    quotedAt: later(atMs),
    expiresAt: later(atMs + LIFE_MS),
    lifeMs: LIFE_MS,
  },
  request: { ...aRequest(), clientId },
  mid: price('100'),
  used: false,
});

describe('the quote book', () => {
  it('finds the same quotes as a plain list, and drops each five minutes after its expiry', () => {
    const gap = fc.constantFrom(0, 1_000, 60_000, 5 * MINUTE_MS, 5 * MINUTE_MS + LIFE_MS);
    const asked = fc.array(fc.tuple(gap, accounts, clientIds), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(asked, (all) => {
        const book = new QuoteBook();
        let plain: QuoteEntry[] = [];
        let atMs = 0;
        for (const [number, [gapMs, account, clientId]] of all.entries()) {
          atMs += gapMs;
          const entry = entryOf(account, `q${number}`, clientId, atMs);
          book.add(entry);
          plain = plain.filter(({ quote }) => quote.expiresAt + 5 * MINUTE_MS > later(atMs));
          plain.push(entry);
          for (const each of ['a', 'b']) {
            for (let id = 0; id <= number; id++)
              expect(book.find(each, `q${id}`)).toBe(
                plain.find(({ account: of, quote }) => of === each && quote.quoteId === `q${id}`),
              );
            for (const id of ['one', 'two', 'three'])
              expect(book.findByClientId(each, id)).toBe(
                plain.findLast(({ account: of, request }) => of === each && request.clientId === id),
              );
          }
        }
      }),
    );
  });
});

const orderOf = (orderId: string, clientId: string, status: string): OrderDetail => ({
  orderId,
  clientId,
  quoteId: '',
  pair: 'btcusd',
  side: 'buy',
  status,
  quantity: quantity('1'),
  price: price('100'),
  filled: quantity('0'),
  filledAmount: money('0'),
  vwap: price('0'),
  fees: money('0'),
  updatedAt: START,
});

describe('the order registry', () => {
  it('finds the same orders as a plain list, and accepts a client id again after a day', () => {
    const step = fc.record({
      account: accounts,
      clientId: fc.constantFrom('one', 'two', ''),
      status: fc.constantFrom('Started', 'Done', 'Canceled'),
      gapMs: fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS),
      skipped: fc.nat({ max: 3 }),
      ends: fc.option(fc.nat({ max: 40 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const registry = new OrderRegistry(new Changes(), START, new Fills());
        const plain: { account: string; order: OrderDetail; cameAt: number }[] = [];
        let now = START;
        for (const { account, clientId, status, gapMs, skipped, ends } of steps) {
          now = after(now, gapMs);
          for (let n = 0; n < skipped; n++) registry.nextNumber();
          const order = orderOf(registry.nextNumber(), clientId, status);
          registry.add(account, order, now);
          plain.push({ account, order, cameAt: now });
          const ended = ends === undefined ? undefined : plain[ends];
          if (ended !== undefined && !isFinished(ended.order)) {
            ended.order = { ...ended.order, status: 'Canceled' };
            registry.update(ended.account, ended.order);
          }
        }
        for (const account of ['a', 'b']) {
          const own = plain.filter((each) => each.account === account);
          for (const { order } of plain)
            expect(registry.byId(account, order.orderId)).toBe(
              own.find((each) => each.order.orderId === order.orderId)?.order,
            );
          for (const id of ['one', 'two']) {
            const newest = own.findLast(({ order }) => order.clientId === id);
            expect(registry.find(account, id)).toBe(newest?.order);
            expect(registry.isTaken(account, id, now)).toBe(
              newest !== undefined && newest.cameAt + DAY_MS > now,
            );
          }
          for (const odd of ['', 'three', '-1', '1e3', `0${START + 1}`, `${START + 1}.0`])
            expect(registry.find(account, odd)).toBeUndefined();
          const newestFirst = own.map(({ order }) => order).toReversed();
          expect(registry.openOf(account)).toEqual(newestFirst.filter((order) => !isFinished(order)));
        }
      }),
    );
  });
});
