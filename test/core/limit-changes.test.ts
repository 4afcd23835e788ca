import { describe, expect, it } from 'vitest';
import { money, quantity, ratio } from '../../src/core/money.ts';
import { loosenedLimits } from '../../src/core/risk/limit-changes.ts';
import { limitTexts, limitsFrom } from '../../src/core/risk/limit-table.ts';
import type { Limits } from '../../src/core/risk/limits.ts';

const limits: Limits = {
  currency: 'usd',
  orderNotionalMax: money('50000'),
  dayNotionalMax: money('500000'),
  pairDayNotionalMax: new Map([['btcusd', money('400000')]]),
  orderQuantityMax: new Map([['btcusd', quantity('1')]]),
  collarBps: ratio('50'),
  driftBpsMax: ratio('150'),
  openDoubtsMax: 2,
  pairs: new Set(['ethusd', 'btcusd']),
  sides: new Set(['buy']),
  minuteExecutionsMax: 5,
  parentExecutionsMax: 100,
  duplicateMs: 2_000,
  positionMin: new Map([['btc', quantity('0.5')]]),
  positionMax: new Map([['btc', quantity('100')]]),
  shortfallBpsMax: ratio('100'),
  dayCostMax: money('5000'),
  closedHours: [{ from: '22:00', to: '23:00', timeZone: 'UTC', days: new Set(['mon']) }],
};
const changes = (now: Partial<Limits>, before: Partial<Limits> = {}): readonly string[] =>
  loosenedLimits(limitTexts({ ...limits, ...before }), limitTexts({ ...limits, ...now }));

describe('limits as text', () => {
  it('are read back unchanged', () => {
    expect(limitsFrom(limitTexts(limits))).toEqual(limits);
    const least: Limits = { currency: 'usd', orderNotionalMax: undefined, dayNotionalMax: undefined, orderQuantityMax: new Map(), collarBps: ratio('50'), driftBpsMax: undefined, openDoubtsMax: 2, pairs: undefined, sides: new Set(['sell']) }; // prettier-ignore
    expect(limitTexts(limitsFrom(limitTexts(least)))).toEqual(limitTexts(least));
  });

  it('have the names of the config, and a line for each pair and currency', () => {
    expect(limitTexts(limits)).toMatchObject({
      max_order_notional: '50000',
      'max_pair_day_notional.btcusd': '400000',
      pairs: 'btcusd, ethusd',
      duplicate_window: '2000',
      'min_position.btc': '0.5',
      restricted_hours: '[{"from":"22:00","to":"23:00","timeZone":"UTC","days":["mon"]}]',
    });
    expect(limitTexts({ ...limits, dayCostMax: undefined })).not.toHaveProperty('max_day_cost');
  });

  it('report no loosening if nothing changed', () => {
    expect(changes({})).toEqual([]);
  });

  it.each([
    [{ orderNotionalMax: money('50000.01') }, 'max_order_notional 50000 -> 50000.01'],
    [{ dayCostMax: undefined }, 'max_day_cost 5000 -> none'],
    [{ pairDayNotionalMax: undefined }, 'max_pair_day_notional.btcusd 400000 -> none'],
    [{ positionMin: new Map([['btc', quantity('-1')]]) }, 'min_position.btc 0.5 -> -1'],
    [{ positionMax: new Map([['btc', quantity('101')]]) }, 'max_position.btc 100 -> 101'],
    [{ duplicateMs: 1_999 }, 'duplicate_window 2000 -> 1999'],
    [{ sides: new Set(['buy', 'sell'] as const) }, 'sides buy -> buy, sell'],
    [{ pairs: undefined }, 'pairs btcusd, ethusd -> none'],
    [{ openDoubtsMax: 10 }, 'max_open_doubts 2 -> 10'],
    [{ currency: 'eur' }, 'currency usd -> eur'],
    [{ closedHours: [] }, `restricted_hours ${limitTexts(limits)['restricted_hours'] ?? ''} -> none`],
  ] satisfies readonly (readonly [Partial<Limits>, string])[])(
    'report a value that allows more than before: %j',
    (now, said) => {
      expect(changes(now)).toEqual([said]);
    },
  );

  it.each([
    { orderNotionalMax: money('9000') }, // as text it is larger
    { positionMin: new Map([['btc', quantity('10')]]) },
    { duplicateMs: 10_000 },
    { pairs: new Set(['btcusd']) },
    { sides: new Set([]) },
  ] satisfies readonly Partial<Limits>[])('do not report a value that allows less: %j', (now) => {
    expect(changes(now)).toEqual([]);
  });

  it('do not report the limits of a pair that may no longer be traded', () => {
    const without = { orderQuantityMax: new Map(), pairDayNotionalMax: undefined };
    expect(changes({ pairs: new Set(['ethusd']), ...without })).toEqual([]);
    expect(changes(without)).toHaveLength(2);
  });

  it('do not report a new limit', () => {
    expect(changes({}, { dayCostMax: undefined, pairs: undefined, positionMax: undefined })).toEqual([]);
  });

  it('report a changed limit that this version does not know', () => {
    expect(loosenedLimits({ max_moon: '1' }, { max_moon: '0' })).toEqual(['max_moon 1 -> 0']);
  });
});
