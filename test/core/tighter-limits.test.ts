import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { weekdays } from '../../src/core/hours.ts';
import { money, quantity, ratio } from '../../src/core/money.ts';
import type { AnyAmount } from '../../src/core/money.ts';
import { limitDifference, loosenedLimits } from '../../src/core/risk/limit-changes.ts';
import type { Limits } from '../../src/core/risk/limits.ts';
import { limitTexts, tighterLimits } from '../../src/core/risk/limit-table.ts';

const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
const figure = fc.integer({ min: 1, max: 5 });
const amounts = <A extends AnyAmount>(read: (text: string) => A): fc.Arbitrary<A> =>
  figure.map((each) => read(String(each)));
const byName = <A extends AnyAmount>(
  read: (text: string) => A,
  names: readonly string[],
): fc.Arbitrary<ReadonlyMap<string, A>> =>
  fc.array(fc.tuple(fc.constantFrom(...names), amounts(read)), { maxLength: 3 }).map((all) => new Map(all));
const PAIRS = ['btcusd', 'ethusd'] as const;
const CURRENCIES = ['btc', 'usd'] as const;
const hours = fc.record({
  from: fc.constantFrom('22:00', '23:00'),
  to: fc.constantFrom('01:00', '02:00'),
  timeZone: fc.constant('UTC'),
  days: fc.subarray([...weekdays], { minLength: 1, maxLength: 2 }).map((days) => new Set(days)),
});

const someLimits: fc.Arbitrary<Limits> = fc.record({
  currency: fc.constant('usd'),
  orderNotionalMax: maybe(amounts(money)),
  dayNotionalMax: maybe(amounts(money)),
  pairDayNotionalMax: maybe(byName(money, PAIRS)),
  orderQuantityMax: byName(quantity, PAIRS),
  collarBps: amounts(ratio),
  driftBpsMax: maybe(amounts(ratio)),
  openDoubtsMax: figure,
  pairs: maybe(fc.subarray([...PAIRS]).map((all) => new Set<string>(all))),
  sides: fc.subarray(['buy', 'sell'] as const).map((all) => new Set(all)),
  minuteExecutionsMax: maybe(figure),
  parentExecutionsMax: maybe(figure),
  duplicateMs: maybe(figure),
  positionMin: maybe(byName(quantity, CURRENCIES)),
  positionMax: maybe(byName(quantity, CURRENCIES)),
  shortfallBpsMax: maybe(amounts(ratio)),
  dayCostMax: maybe(amounts(money)),
  closedHours: maybe(fc.array(hours, { maxLength: 2 })),
});

describe('the tighter limits of two', () => {
  it('allow only what both allow', () => {
    fc.assert(
      fc.property(someLimits, someLimits, (a, b) => {
        const both = limitTexts(tighterLimits(a, b));
        for (const one of [limitTexts(a), limitTexts(b)]) {
          // Restricted hours are compared as a whole, so additional hours count as a change.
          const loosened = loosenedLimits(one, both).filter((words) => !words.startsWith('restricted_hours'));
          expect(loosened).toEqual([]);
        }
      }),
    );
  });

  it('close every hour that either of them closes', () => {
    fc.assert(
      fc.property(someLimits, someLimits, (a, b) => {
        const closed = tighterLimits(a, b).closedHours ?? [];
        expect(closed).toEqual(expect.arrayContaining([...(a.closedHours ?? []), ...(b.closedHours ?? [])]));
      }),
    );
  });

  it('take each value from one of the two, so that equal limits stay unchanged', () => {
    fc.assert(
      fc.property(someLimits, (a) => {
        const { restricted_hours: _, ...before } = limitTexts(a);
        const { restricted_hours: __, ...after } = limitTexts(tighterLimits(a, a));
        expect(after).toEqual(before);
      }),
    );
  });
});

describe('the difference of limits', () => {
  it('names exactly the limits that changed, are new or were removed', () => {
    const before = { collar_bps: '50', 'max_position.btc': '1', sides: 'buy' };
    const now = { collar_bps: '40', sides: 'buy', max_day_cost: '9' };
    expect(limitDifference(before, now)).toEqual([
      { limit: 'collar_bps', before: '50', after: '40' },
      { limit: 'max_day_cost', after: '9' },
      { limit: 'max_position.btc', before: '1' },
    ]);
    expect(limitDifference(now, now)).toEqual([]);
  });
});
