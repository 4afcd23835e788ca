import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { money, price, quantity, ratio } from '../../src/core/money.ts';
import type { Price } from '../../src/core/money.ts';
import { expectedCarryBps } from '../../src/core/risk/pts.ts';
import { duesOf, earliest, settleAt } from '../../src/core/risk/settling.ts';
import type { SettleRule } from '../../src/core/risk/settling.ts';
import { HOUR_MS, instant, MINUTE_MS } from '../../src/core/time.ts';
import type { FundingRate } from '../../src/core/venue.ts';

const OPENED = instant(Date.UTC(2026, 11, 1, 9));
/** 8.76 % a year cost 0.1 bps an hour, exactly; the first hour is free. */
const rate: FundingRate = {
  currency: 'usd',
  annualRate: ratio('0.0876'),
  graceMinutes: 60,
  frequencyMinutes: 60,
};
const rule = (over: Partial<SettleRule> = {}): SettleRule => ({ leadMs: 0, modes: [], ...over });
const hours = (count: number) => instant(OPENED + count * HOUR_MS);

describe('the time to close a position', () => {
  it.each<readonly [string, Partial<SettleRule>, number | undefined]>([
    ['before the end of the grace period', { beforeGraceMs: 10 * MINUTE_MS }, 50 / 60],
    [
      'before the charge that exceeds the limit: two are allowed, the third is not',
      { carryBpsMax: ratio('0.2') },
      4,
    ],
    ['at the first charge if none is allowed', { carryBpsMax: ratio('0') }, 2],
    ['earlier by the lead time', { carryBpsMax: ratio('0.2'), leadMs: 15 * MINUTE_MS }, 3.75],
    ['before the next charge if the limit lies between two charges', { carryBpsMax: ratio('0.29') }, 4],
    [
      'the earlier time if both rules are set',
      { beforeGraceMs: 10 * MINUTE_MS, carryBpsMax: ratio('0.2') },
      50 / 60,
    ],
    ['before the opening if the rule reaches back that far', { beforeGraceMs: 2 * HOUR_MS }, -1],
    ['never without a rule', {}, undefined],
  ])('is %s', (_, over, at) => {
    expect(settleAt(OPENED, rate, rule(over))).toBe(at === undefined ? undefined : hours(at));
  });

  it('is never set by carry if borrowing costs nothing', () => {
    expect(
      settleAt(OPENED, { ...rate, annualRate: ratio('0') }, rule({ carryBpsMax: ratio('1') })),
    ).toBeUndefined();
    expect(
      settleAt(OPENED, { ...rate, annualRate: ratio('-0.01') }, rule({ carryBpsMax: ratio('1') })),
    ).toBeUndefined();
  });

  it('is the last moment at which the carry is within its limit, for any terms', () => {
    const terms = fc.record({
      bpsAYear: fc.integer({ min: 1, max: 5_000 }),
      graceMinutes: fc.integer({ min: 0, max: 3_000 }),
      frequencyMinutes: fc.integer({ min: 1, max: 1_440 }),
      hundredths: fc.integer({ min: 0, max: 300 }),
    });
    fc.assert(
      fc.property(terms, ({ bpsAYear, graceMinutes, frequencyMinutes, hundredths }) => {
        const annualRate = ratio((bpsAYear / 10_000).toFixed(4));
        const some: FundingRate = { currency: 'usd', annualRate, graceMinutes, frequencyMinutes };
        const bound = ratio((hundredths / 100).toFixed(2));
        const at = settleAt(OPENED, some, rule({ carryBpsMax: bound })) ?? OPENED;
        expect(expectedCarryBps(some, at - OPENED - 1).lte(bound)).toBe(true);
        expect(expectedCarryBps(some, at - OPENED).gt(bound)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the debts of an account', () => {
  const pairs = [
    { pair: 'btcusd', base: 'btc', quote: 'usd' },
    { pair: 'etheur', base: 'eth', quote: 'eur' },
  ];
  const debt = (currency: string) => [currency, { amount: quantity('1'), since: OPENED }] as const;
  const terms = (debts: readonly string[], mode?: 'Reduce-Only' | 'Enabled') => ({
    debts: new Map(debts.map(debt)),
    rateOf: (currency: string) => (currency === 'eth' ? undefined : rate),
    modeOf: (pair: string) => (pair === 'btcusd' ? mode : 'Enabled'),
  });
  const before = rule({ beforeGraceMs: 10 * MINUTE_MS, modes: ['Reduce-Only'] });

  it('count if one of the pairs can close them, on either side', () => {
    expect(duesOf(pairs, before, terms(['usd', 'btc', 'xrp']))).toEqual([
      { currency: 'usd', at: hours(50 / 60) },
      { currency: 'btc', at: hours(50 / 60) },
    ]);
  });

  it('are due at once in a risk mode that the rule names, and in no other', () => {
    expect(duesOf(pairs, before, terms(['usd'], 'Reduce-Only'))).toEqual([{ currency: 'usd', at: OPENED }]);
    expect(duesOf(pairs, before, terms(['usd'], 'Enabled'))).toEqual([
      { currency: 'usd', at: hours(50 / 60) },
    ]);
  });

  it('are due earlier by the time that their pieces take', () => {
    const most = (largest: string) => ({
      ...before,
      pieces: { largest: money(largest), intervalMs: MINUTE_MS },
    });
    const at = (largest: string, midOf?: () => Price) =>
      duesOf(pairs, most(largest), { ...terms(['usd', 'btc']), ...(midOf && { midOf }) }).map(
        (due) => due.at,
      );
    const early = (minutes: number) => hours((50 - minutes) / 60);
    // One usd and one btc are owed.
    expect(at('1')).toEqual([early(0), early(0)]);
    expect(at('0.3')).toEqual([early(4), early(0)]);
    expect(at('10', () => price('100'))).toEqual([early(0), early(10)]);
  });

  it('are checked at once if their cost is unknown, otherwise at the earliest due time', () => {
    expect(earliest(duesOf(pairs, before, terms(['usd', 'eth'])))).toBe(0);
    expect(earliest(duesOf(pairs, before, terms(['usd', 'btc'])))).toBe(hours(50 / 60));
    expect(earliest(duesOf(pairs, rule(), terms(['usd'])))).toBeUndefined();
    expect(earliest([])).toBeUndefined();
  });
});
