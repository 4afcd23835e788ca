import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateOf } from '../../src/accounting/events.ts';
import type { AccountingEvent } from '../../src/accounting/events.ts';
import { gainOf } from '../../src/accounting/subledger.ts';
import type { Entry, Subledger } from '../../src/accounting/subledger.ts';
import { ZonedDays, dateText } from '../../src/accounting/zoned-days.ts';
import { NO_MONEY, add, money, text } from '../../src/core/money.ts';
import type { Money } from '../../src/core/money.ts';
import { after, instant } from '../../src/core/time.ts';
import {
  aSubledger,
  buy,
  correction,
  day,
  gained,
  held,
  imbalance,
  lotsOf,
  movement,
  sell,
} from './events.ts';
import { plainPool } from './plain-pool.ts';

/** The dates of British law. */
const LONDON = new ZonedDays('Europe/London');
const HOUR = 3_600_000;
/** The event at another hour of its day. */
const at = <E extends AccountingEvent>(hour: number, event: E): E => ({
  ...event,
  at: after(event.at, hour * HOUR),
});

/** Books the events by share pooling and ends all days. */
function pooled(events: readonly AccountingEvent[], books: Subledger = poolBooks()): readonly Entry[] {
  const entries: Entry[] = [];
  for (const event of events) entries.push(...books.endDays(dateOf(event)), ...books.book(event));
  entries.push(...books.endDays(day(2_000)));
  return entries;
}

const poolBooks = (): Subledger => aSubledger({ method: 'pool', timeZone: 'Europe/London' });

/** The gains of the disposals of each day. */
function gainsByDay(entries: readonly Entry[]): Readonly<Record<string, string>> {
  const sums = new Map<string, Money>();
  for (const gain of entries.flatMap(({ gains }) => gains)) {
    const date = dateText(LONDON.dayOf(gain.disposedAt));
    sums.set(date, add(sums.get(date) ?? NO_MONEY, gainOf(gain)));
  }
  return Object.fromEntries([...sums].map(([date, sum]) => [date, text(sum)]));
}

const identifications = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ what }) => what === 'identification');

// Figures of our own in the cases of HMRC's Cryptoassets Manual, CRYPTO22251 to CRYPTO22257, worked out by hand.
describe('share pooling', () => {
  it('takes a part disposal out of the pool at its average cost (CRYPTO22251)', () => {
    const books = poolBooks();
    const entries = pooled(
      [
        buy({ on: 0, id: 'a', quantity: '10', amount: '1000' }),
        buy({ on: 1, id: 'b', quantity: '5', amount: '2000' }),
        sell({ on: 100, id: 'c', quantity: '5', amount: '4000' }),
      ],
      books,
    );
    // 4000 − 3000 × 5/15
    expect(gainsByDay(entries)).toEqual({ '2026-04-11': '3000' });
    expect(lotsOf(books)).toEqual(['10 btc for 2000']);
    expect(identifications(entries)).toEqual([]);
  });

  it('identifies a disposal first with acquisitions of the same day, even later ones (CRYPTO22252, CRYPTO22254)', () => {
    const books = poolBooks();
    const entries = pooled(
      [
        buy({ on: 0, id: 'a', quantity: '100', amount: '1000' }),
        at(10, sell({ on: 60, id: 'b', quantity: '40', amount: '800' })),
        at(15, buy({ on: 60, id: 'c', quantity: '50', amount: '600' })),
      ],
      books,
    );
    // 40 of the 50 that were bought for 600: 800 − 480. The other ten join the pool at 120.
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': '320' });
    expect(lotsOf(books)).toEqual(['110 btc for 1120']);
    const [identified] = identifications(entries);
    expect(identified?.at).toBe(Date.UTC(2026, 2, 3) - 1);
    expect(
      identified?.gains.map((gain) => [gain.lot, text(gain.quantity), text(gain.proceeds), text(gain.cost)]),
    ).toEqual([
      ['section 104', '-40', '-800', '-400'],
      ['same day', '40', '800', '480'],
    ]);
  });

  it('combines the acquisitions of a day, and its disposals', () => {
    const entries = pooled([
      at(9, buy({ on: 0, id: 'a', quantity: '10', amount: '100' })),
      at(10, sell({ on: 0, id: 'b', quantity: '5', amount: '90' })),
      at(11, buy({ on: 0, id: 'c', quantity: '10', amount: '200' })),
      at(12, sell({ on: 0, id: 'd', quantity: '5', amount: '80' })),
    ]);
    // 10 of 20 that cost 300.
    expect(gainsByDay(entries)).toEqual({ '2026-01-01': '20' });
  });

  it('identifies a disposal next with acquisitions of the following 30 days (CRYPTO22253, CRYPTO22255)', () => {
    const books = poolBooks();
    const before = [
      buy({ on: 0, id: 'a', quantity: '1000', amount: '5000' }),
      sell({ on: 60, id: 'b', quantity: '400', amount: '4000' }),
    ];
    // At first all of it comes out of the pool: 4000 − 2000.
    expect(gainsByDay(pooled(before))).toEqual({ '2026-03-02': '2000' });
    const entries = pooled([...before, buy({ on: 70, id: 'c', quantity: '100', amount: '700' })], books);
    // 100 cost 700, and 300 of the pool 1500.
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': '1800' });
    expect(lotsOf(books)).toEqual(['700 btc for 3500']);
    // The entry is dated when the units were bought, and says what it changes.
    const [identified, ...others] = identifications(entries);
    expect(others).toEqual([]);
    expect([identified?.id, identified?.description]).toEqual([
      'identification 2026-03-12 btc',
      'btc disposed of on 2026-03-02: same day, next 30 days, section 104',
    ]);
    expect(
      identified?.gains.map((gain) => [gain.lot, text(gain.quantity), text(gain.proceeds), text(gain.cost)]),
    ).toEqual([
      ['section 104', '-100', '-1000', '-500'],
      ['within 30 days, on 2026-03-12', '100', '1000', '700'],
    ]);
  });

  it.each([
    [90, '1800'],
    [91, '2000'],
  ])('includes day 30 after the disposal, and no later day: day %d', (on, gain) => {
    const entries = pooled([
      buy({ on: 0, id: 'a', quantity: '1000', amount: '5000' }),
      sell({ on: 60, id: 'b', quantity: '400', amount: '4000' }),
      at(20, buy({ on, id: 'c', quantity: '100', amount: '700' })),
    ]);
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': gain });
  });

  it('matches acquisitions to the same day before earlier disposals, and to those in order (CRYPTO22256)', () => {
    const books = poolBooks();
    const entries = pooled(
      [
        buy({ on: 0, id: 'a', quantity: '100', amount: '100' }),
        sell({ on: 50, id: 'b', quantity: '10', amount: '50' }),
        sell({ on: 51, id: 'c', quantity: '10', amount: '50' }),
        at(9, buy({ on: 60, id: 'd', quantity: '20', amount: '60' })),
        at(10, sell({ on: 60, id: 'e', quantity: '6', amount: '30' })),
      ],
      books,
    );
    // Of 20 at 3 each, 6 go to day 60, 10 to day 50, and 4 to day 51, whose other 6 cost 1 each.
    expect(gainsByDay(entries)).toEqual({ '2026-02-20': '20', '2026-02-21': '32', '2026-03-02': '12' });
    expect(lotsOf(books)).toEqual(['94 btc for 94']);
  });

  it('updates both pools for a trade of one cryptoasset for another (CRYPTO22257)', () => {
    const books = poolBooks();
    const pair = ['btc', 'eth'] as const;
    const entries = pooled(
      [
        buy({ on: 0, id: 'a', pair: ['eth', 'usd'], quantity: '100', amount: '100000' }),
        buy({ on: 60, id: 'b', pair, quantity: '1', amount: '20' }), // 20 eth at 3000
        sell({ on: 65, id: 'c', pair, quantity: '0.5', amount: '8' }), // 8 eth at 3000
      ],
      books,
    );
    // The 8 eth came within 30 days of the 20 that went: 8 cost 24000, and 12 of the pool 12000.
    // Of the btc half the pool, 30000, went for 24000.
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': '24000', '2026-03-07': '-6000' });
    expect(lotsOf(books).toSorted()).toEqual(['0.5 btc for 30000', '88 eth for 88000']);
  });

  it('does not treat units that the same owner deposits as an acquisition', () => {
    const books = poolBooks();
    const entries = pooled(
      [
        buy({ on: 0, id: 'a', quantity: '10', amount: '100' }),
        sell({ on: 60, id: 'b', quantity: '5', amount: '100' }),
        movement('deposit', { on: 61, id: 'd', currency: 'btc', units: '5' }), // at 50000
        movement('withdrawal', { on: 62, id: 'w', currency: 'btc', units: '1' }),
      ],
      books,
    );
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': '50' });
    expect(identifications(entries)).toEqual([]);
  });

  it('also corrects later disposals from the pool, whose average cost has changed', () => {
    const books = poolBooks();
    const entries = pooled(
      [
        buy({ on: 0, id: 'a', quantity: '10', amount: '100' }),
        sell({ on: 60, id: 'b', quantity: '5', amount: '100' }),
        movement('deposit', { on: 61, id: 'd', currency: 'btc', units: '5' }), // 250000
        sell({ on: 62, id: 'c', quantity: '5', amount: '100' }),
        buy({ on: 63, id: 'e', quantity: '5', amount: '60' }),
      ],
      books,
    );
    // The five of day 60 cost 60, so that the pool of day 62 had 15 units for 250100, of which 5 went.
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': '40', '2026-03-04': '-83266.666666666667' });
  });

  it('counts days in London time', () => {
    const summer = instant(Date.UTC(2026, 6, 1, 23, 30));
    const entries = pooled([
      buy({ on: 0, id: 'a', quantity: '10', amount: '100' }),
      { ...sell({ on: 0, id: 'b', quantity: '5', amount: '100' }), at: summer },
      // 23 hours later, and on the same day there.
      { ...buy({ on: 0, id: 'c', quantity: '5', amount: '80' }), at: after(summer, 23 * HOUR) },
    ]);
    expect(gainsByDay(entries)).toEqual({ '2026-07-02': '20' });
    expect(identifications(entries)[0]?.at).toBe(Date.UTC(2026, 6, 2, 23) - 1);
  });

  it('uses the final figures of a trade corrected on its day, and books a later correction as a difference', () => {
    const split = [
      buy({ on: 0, id: 'a', quantity: '10', amount: '100' }),
      at(9, sell({ on: 60, id: 'b', quantity: '1', amount: '20' })),
      at(10, correction({ on: 60, id: 'b', quantity: '4', amount: '80' })),
      at(11, buy({ on: 60, id: 'c', quantity: '1', amount: '12' })),
      at(12, correction({ on: 60, id: 'c', quantity: '2', amount: '26' })),
    ];
    const books = poolBooks();
    // 2 of the same day at 13, and 2 of the pool at 10.
    expect(gainsByDay(pooled(split, books))).toEqual({ '2026-03-02': '34' });
    expect(lotsOf(books)).toEqual(['8 btc for 80']);
    const late = poolBooks();
    const entries = pooled([...split, correction({ on: 61, id: 'b', quantity: '3', amount: '60' })], late);
    // A unit of the pool comes back.
    expect(gainsByDay(entries)).toEqual({ '2026-03-02': '34', '2026-03-03': '-10' });
    expect(lotsOf(late)).toEqual(['9 btc for 90']);
  });

  it('refuses a short position at the end of a day, but not within it', () => {
    const short = at(9, sell({ on: 0, id: 'a', quantity: '1', amount: '20' }));
    expect(() => pooled([short])).toThrow('btc: the disposals on 2026-01-01 exceed the holding');
    const entries = pooled([short, at(10, buy({ on: 0, id: 'b', quantity: '1', amount: '15' }))]);
    expect(gainsByDay(entries)).toEqual({ '2026-01-01': '5' });
  });

  it('states until when a gain is provisional', () => {
    const [, sold] = pooled([
      buy({ on: 0, id: 'a', quantity: '10', amount: '100' }),
      sell({ on: 70, id: 'b', quantity: '5', amount: '100' }),
    ]);
    // To the end of 11 April in London, which has summer time then.
    expect(sold?.provisionalUntil).toBe(Date.UTC(2026, 3, 11, 23));
  });
});

const someTrades = fc.array(
  fc.record({
    what: fc.constantFrom('buy', 'buy', 'sell', 'deposit', 'correction'),
    pair: fc.constantFrom(['btc', 'usd'] as const, ['eth', 'usd'] as const),
    gap: fc.constantFrom(0, 0, 1, 3, 10, 29, 30, 31),
    units: fc.integer({ min: 1, max: 9_999 }),
    amount: fc.integer({ min: 1, max: 99_999 }),
  }),
  { maxLength: 40 },
);

describe('share pooling of random trades', () => {
  it('has the daily gains and the pools of a plain calculation that looks ahead', () => {
    fc.assert(
      fc.property(someTrades, (rows) => {
        const stock = [buy({ on: 0, id: 'x', quantity: '500', amount: '1' }), buy({ on: 0, id: 'y', pair: ['eth', 'usd'], quantity: '500', amount: '1' })]; // prettier-ignore
        const events: AccountingEvent[] = [...stock];
        let on = 40;
        for (const [n, { what, pair, gap, units, amount }] of rows.entries()) {
          on += gap;
          const figures = { on, quantity: String(units / 1_000), amount: String(amount / 1_000) };
          const last = events.at(-1);
          if (what === 'deposit')
            events.push(movement('deposit', { on, id: `d${n}`, currency: pair[0], units: figures.quantity })); // prettier-ignore
          // Of the trade just before it, on the same day.
          else if (what === 'correction') {
            if (last?.type === 'trade' && last.at === day(on)) events.push(correction({ ...figures, id: last.id })); // prettier-ignore
          } else events.push((what === 'buy' ? buy : sell)({ ...figures, id: `t${n}`, pair }));
        }
        const books = poolBooks();
        const entries = pooled(events, books);
        expect(entries.map(imbalance).filter((left) => left !== '0')).toEqual([]);
        const plain = plainPool(events, { dayOf: (time) => LONDON.dayOf(time), priceOf: (currency) => ({ btc: '50000', eth: '3000' })[currency] ?? '1' }); // prettier-ignore
        expect(gainsByDay(entries)).toEqual(plain.gains);
        expect(lotsOf(books).toSorted()).toEqual(plain.pools);
        const total = Object.values(plain.gains).reduce((sum, gain) => add(sum, money(gain)), NO_MONEY);
        expect(gained(entries)).toBe(text(total));
        const { usd: _, ...units } = held(entries);
        expect(Object.entries(units).map(([currency, sum]) => `${sum} ${currency}`).toSorted()).toEqual(
          plain.pools.map((pool) => pool.replace(/ for .*/u, '')),
        ); // prettier-ignore
      }),
      {
        numRuns: 300,
        examples: [
          // A share of a cost that ends exactly between two figures of 12 decimals.
          [
            [
              { what: 'deposit', pair: ['btc', 'usd'], gap: 0, units: 3_567, amount: 1 },
              { what: 'buy', pair: ['btc', 'usd'], gap: 0, units: 6_587, amount: 17_869 },
              { what: 'deposit', pair: ['btc', 'usd'], gap: 10, units: 9_014, amount: 1 },
              { what: 'sell', pair: ['btc', 'usd'], gap: 0, units: 1, amount: 1 },
            ],
          ],
        ],
      },
    );
  });
});
