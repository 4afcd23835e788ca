import { describe, expect, it } from 'vitest';
import type { Limits } from '../../src/core/risk/limits.ts';
import { money, quantity, ratio } from '../../src/core/money.ts';
import { overridable } from '../../src/core/risk/limits.ts';
import { concerns, loosened } from '../../src/core/risk/override.ts';
import type { OverrideRecord } from '../../src/core/record.ts';
import { instant } from '../../src/core/time.ts';

const limits: Limits = {
  currency: 'usd',
  orderNotionalMax: money('100'),
  dayNotionalMax: money('100'),
  pairDayNotionalMax: new Map([['btcusd', money('100')]]),
  orderQuantityMax: new Map([['btcusd', quantity('100')]]),
  collarBps: ratio('50'),
  driftBpsMax: ratio('100'),
  openDoubtsMax: 2,
  pairs: new Set(['btcusd']),
  sides: new Set(['buy']),
  positionMin: new Map([['usd', quantity('100')]]),
  positionMax: new Map([['btc', quantity('100')]]),
  closedHours: [],
};
const order = { parent: 'p', slice: 3, pair: 'btcusd', base: 'btc', quote: 'usd', side: 'buy' } as const;
const override = (over: Partial<OverrideRecord>): OverrideRecord => ({
  kind: 'override',
  override: 'ov-1',
  step: 'approved',
  limit: '',
  expires_at: instant(0),
  by: 'ann',
  why: 'w',
  ...over,
});
const changed = (to: Limits): readonly string[] =>
  Object.keys(limits).filter((key) => String(shown(to, key)) !== String(shown(limits, key)));
const shown = (of: Limits, key: string): unknown => {
  const value: unknown = of[key as keyof Limits];
  return value instanceof Map ? [...value].join(';') : Array.isArray(value) ? 'list' : value;
};

describe('an override', () => {
  it.each(overridable)('of %s changes only this limit', (limit) => {
    const value = limit === 'restricted_hours' ? undefined : limit === 'min_position' ? '50' : '200';
    expect(changed(loosened(limits, override({ limit, value }), order))).toHaveLength(1);
  });

  it.each(overridable.filter((limit) => limit !== 'restricted_hours'))(
    'of %s never tightens the limit',
    (limit) => {
      const value = limit === 'min_position' ? '200' : '50';
      expect(changed(loosened(limits, override({ limit, value }), order))).toEqual([]);
    },
  );

  it('of an unset limit, or of a limit that may not be overridden, changes nothing', () => {
    for (const limit of ['collar_bps', 'pairs', 'max_open_doubts', 'parent_cap', ''])
      expect(loosened(limits, override({ limit, value: '1000' }), order)).toEqual(limits);
    const none: Limits = { ...limits, positionMax: undefined, orderNotionalMax: undefined };
    expect(
      loosened(none, override({ limit: 'max_order_notional', value: '1' }), order).orderNotionalMax,
    ).toBe(undefined);
    expect(loosened(none, override({ limit: 'max_position', value: '1' }), order).positionMax?.size).toBe(0);
  });

  it('applies only to the order that it names', () => {
    expect(concerns(override({ parent: 'p' }), order)).toBe(true);
    expect(concerns(override({ parent: 'p', slice: 3 }), order)).toBe(true);
    expect(concerns(override({ parent: 'p', slice: 4 }), order)).toBe(false);
    expect(concerns(override({ parent: 'q' }), order)).toBe(false);
    expect(concerns(override({ pair: 'btcusd', side: 'buy' }), order)).toBe(true);
    expect(concerns(override({ pair: 'btcusd', side: 'sell' }), order)).toBe(false);
    expect(concerns(override({}), order)).toBe(false);
  });
});
