import { describe, expect, it } from 'vitest';
import { rollForward } from '../../src/accounting/roll-forward.ts';
import type { RollForwardOptions } from '../../src/accounting/roll-forward.ts';
import { NO_MONEY, price, text } from '../../src/core/money.ts';
import { aSubledger, buy, day, movement, sell } from './events.ts';

/** A bitcoin is worth 100 on the first day, and 1 more on each later day. */
const options: RollForwardOptions = {
  from: day(10),
  until: day(20),
  currency: 'usd',
  valueAt: (currency, at) =>
    currency === 'btc'
      ? { price: price(String(100 + (at - day(0)) / 86_400_000)), at, source: 'a test' }
      : undefined,
};

describe('the roll-forward of fair values', () => {
  it('leads from the opening to the closing value through additions, dispositions and gains', () => {
    const books = aSubledger();
    const entries = [
      buy({ on: 0, id: 'a', quantity: '10', amount: '1000' }),
      buy({ on: 12, id: 'b', quantity: '2', amount: '226', fees: '1' }),
      sell({ on: 14, id: 'c', quantity: '4', amount: '460' }),
      movement('withdrawal', { on: 15, id: 'w', currency: 'btc', units: '1' }),
      sell({ on: 25, id: 'after', quantity: '1', amount: '1' }),
    ].flatMap((each) => books.book(each));
    const [roll, ...others] = rollForward(entries, options);
    expect(others).toEqual([]);
    const texts = Object.fromEntries(
      Object.entries(roll ?? {}).flatMap(([name, value]) =>
        typeof value === 'object' && 'times' in value ? [[name, text(value as never)]] : [],
      ),
    );
    expect(texts).toEqual({
      openingUnits: '10',
      opening: '1100', // 10 at 110
      additions: '226',
      dispositions: '575', // 460, and 1 at 115
      gain: '89', // 840 − 1100 − 226 + 575
      closingUnits: '7',
      closing: '840', // 7 at 120
      closingCost: '726', // 5 of 10 at 100 are left, and 2 at 113
      realisedGains: '60',
      realisedLosses: '0',
    });
    expect(roll?.closingPrice).toMatchObject({ at: day(20), source: 'a test' });
  });

  it('counts a later change of a gain by share pooling as a realised loss', () => {
    const books = aSubledger({ method: 'pool', timeZone: 'Europe/London' });
    const entries = [
      ...books.book(buy({ on: 0, id: 'a', quantity: '10', amount: '1000' })),
      ...books.endDays(day(12)),
      ...books.book(sell({ on: 12, id: 'b', quantity: '4', amount: '448' })),
      ...books.endDays(day(15)),
      ...books.book(buy({ on: 15, id: 'c', quantity: '1', amount: '115' })),
      ...books.endDays(day(16)),
    ];
    const [roll] = rollForward(entries, options);
    // 48 at first; one of the four cost 115 and not 100.
    expect([text(roll?.realisedGains ?? NO_MONEY), text(roll?.realisedLosses ?? NO_MONEY)]).toEqual([
      '48',
      '15',
    ]);
    // The pool: 7 of 1000 + 115 − 300 − 115. It went from 10 at 110 to 7 at 120.
    expect([roll?.opening, roll?.additions, roll?.dispositions, roll?.gain, roll?.closing, roll?.closingCost].map((each) => text(each ?? NO_MONEY))).toEqual(
      ['1100', '115', '448', '73', '840', '700'],
    ); // prettier-ignore
  });

  it('needs a price for every holding', () => {
    const books = aSubledger();
    const entries = [
      ...books.book(buy({ on: 0, id: 'a', pair: ['sol', 'usd'], quantity: '1', amount: '1' })),
    ];
    expect(() => rollForward(entries, options)).toThrow('no price for sol at 2026-01-11T00:00:00.000Z');
  });
});
