import { describe, expect, it } from 'vitest';
import { refusal } from '../../src/core/risk/controls.ts';
import type { Limits, Proposal, RiskContext } from '../../src/core/risk/limits.ts';
import { isClosedAt, weekdays } from '../../src/core/hours.ts';
import { money, price, quantity, ratio } from '../../src/core/money.ts';
import { reasons } from '../../src/core/reasons.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { after, instant } from '../../src/core/time.ts';
import { aProposal, aRiskContext, theLimits } from './builders.ts';

/** Monday noon, UTC. */
const NOON = instant(Date.UTC(2026, 0, 5, 12));
const aWorld = aRiskContext({ at: NOON, referenceGapBpsMax: ratio('1') });
const { repeats, caps } = aWorld;
const refused = (
  world: Partial<RiskContext>,
  limits: Partial<Limits> = {},
  proposal: Partial<Proposal> = {},
) => refusal(aProposal(proposal), { ...aWorld, ...world }, theLimits(limits));

type Case = readonly [Reason, Partial<Limits>, Partial<RiskContext>, Partial<RiskContext>];
const at = (over: Partial<RiskContext['repeats']>): Partial<RiskContext> => ({
  repeats: { ...repeats, ...over },
});
const capped = (over: Partial<RiskContext['caps']>): Partial<RiskContext> => ({ caps: { ...caps, ...over } });
const gives = (amount: string): Partial<RiskContext> => ({
  gives: { currency: 'usd', after: quantity(amount) },
});
const gets = (amount: string): Partial<RiskContext> => ({
  gets: { currency: 'btc', after: quantity(amount) },
});

const cases: readonly Case[] = [
  [
    'day_limit',
    { pairDayNotionalMax: new Map([['btcusd', money('100000')]]) },
    { pairDayNotional: money('40000') },
    { pairDayNotional: money('40000.01') },
  ],
  [
    'open_doubts',
    { orderNotionalMax: money('60000') },
    { openDoubts: 1, doubtNotional: money('60000') },
    { openDoubts: 1, doubtNotional: money('60000.01') },
  ],
  ['position_limit', { positionMin: new Map([['usd', quantity('100')]]) }, gives('100'), gives('99.99')],
  ['position_limit', { positionMin: new Map([['usd', quantity('0')]]) }, gives('0'), gives('-0.01')],
  ['position_limit', { positionMax: new Map([['btc', quantity('10')]]) }, gets('10'), gets('10.00000001')],
  [
    'control_failed',
    {},
    { referenceGapBps: ratio('30'), referenceGapBpsMax: ratio('30') },
    { referenceGapBps: ratio('30.01'), referenceGapBpsMax: ratio('30') },
  ],
  ['repeated_execution', { minuteExecutionsMax: 5 }, at({ inMinute: 4 }), at({ inMinute: 5 })],
  ['repeated_execution', {}, at({ ofParent: 49 }), at({ ofParent: 50 })],
  ['repeated_execution', {}, at({ ofParent: 99, planned: 100 }), at({ ofParent: 100, planned: 100 })],
  [
    'repeated_execution',
    { parentExecutionsMax: 20 },
    at({ ofParent: 19, planned: 100 }),
    at({ ofParent: 20, planned: 100 }),
  ],
  ['slice_gap', {}, at({ gapUntil: NOON }), at({ gapUntil: after(NOON, 1) })],
  ['duplicate_order', {}, at({}), at({ duplicate: 'another' })],
  ['duplicate_order', {}, at({}), at({ isReused: true })],
  [
    'parent_cap',
    {},
    capped({ parentDone: quantity('9'), parentMax: quantity('10') }),
    capped({ parentDone: quantity('9.00000001'), parentMax: quantity('10') }),
  ],
  [
    'parent_cap',
    {},
    capped({ slice: quantity('1.5'), slicePlanned: quantity('1') }),
    capped({ slice: quantity('1.50000001'), slicePlanned: quantity('1') }),
  ],
  ['parent_cap', {}, capped({}), capped({ asked: quantity('1.00000001') })],
  ['paused', {}, {}, { pausedWhy: 'collar' }],
  ['no_balances', {}, {}, { blind: { limit: '180 s', value: '181 s' } }],
  ['reducing', {}, { control: 'reducing', isReducing: true }, { control: 'reducing' }],
  [
    'restricted_hours',
    { closedHours: [{ from: '12:00', to: '13:00', timeZone: 'UTC', days: new Set(['mon']) }] },
    { at: after(NOON, -1) },
    { at: NOON },
  ],
];

describe('controls', () => {
  it.each(cases)(
    '%s allows a value equal to its limit and refuses one unit more',
    (code, limits, equal, beyond) => {
      expect(refused(equal, limits)).toBeUndefined();
      const answer = refused(beyond, limits);
      expect(answer?.reason).toBe(code);
      expect(answer?.detail).toMatch(/^limit=.+ value=.+$/u);
      expect(Object.keys(reasons)).toContain(answer?.reason);
    },
  );

  it.each([
    ['an unknown balance and a floor', { positionMin: new Map([['usd', quantity('0')]]) }, 'position_limit'],
    [
      'an unknown balance and a ceiling',
      { positionMax: new Map([['btc', quantity('1')]]) },
      'position_limit',
    ],
  ])('refuse an order with %s', (_, limits, code) => {
    const world = {
      gives: { currency: 'usd', after: undefined },
      gets: { currency: 'btc', after: undefined },
    };
    expect(refused(world, limits)?.reason).toBe(code);
  });

  it('refuse a quote outside the collar with the distance in its figures', () => {
    expect(refused({}, {}, { price: price('60900.01') })).toMatchObject({
      reason: 'collar',
      detail: expect.stringContaining('150.00 bps from 60000') as string,
    });
  });

  it('refuse the order if any of them throws', () => {
    const broken = (name: keyof RiskContext): RiskContext =>
      Object.defineProperty({ ...aWorld, control: 'reducing', isReducing: true }, name, {
        get() {
          throw new Error(`no ${name}`);
        },
      });
    const limits: Limits = {
      ...theLimits(),
      orderNotionalMax: money('1000000'),
      dayNotionalMax: money('1000000'),
      pairDayNotionalMax: new Map([['btcusd', money('1000000')]]),
      positionMin: new Map([['usd', quantity('0')]]),
      positionMax: new Map([['btc', quantity('1000000')]]),
      closedHours: [{ from: '01:00', to: '02:00', timeZone: 'UTC', days: new Set(weekdays) }],
    };
    for (const name of Object.keys(aWorld).filter((each) => each !== 'doubtNotional')) {
      const answer = refusal(aProposal(), broken(name as keyof RiskContext), limits);
      expect([name, answer?.reason]).toEqual([name, 'control_failed']);
      expect(answer?.detail).toContain(`no ${name}`);
    }
  });
});

describe('restricted hours', () => {
  const night = { from: '22:00', to: '06:00', timeZone: 'Europe/London', days: new Set(['fri'] as const) };
  it.each([
    ['2026-07-03T20:59:00Z', false],
    // Summer time: 22:00 in London.
    ['2026-07-03T21:00:00Z', true],
    ['2026-07-04T04:59:00Z', true],
    ['2026-07-04T05:00:00Z', false],
    ['2026-07-04T22:00:00Z', false],
    ['2026-01-02T21:59:00Z', false],
    ['2026-01-02T22:00:00Z', true],
  ])('continue past midnight in their own time zone: %s is closed: %s', (time, isClosed) => {
    expect(isClosedAt(night, instant(Date.parse(time)))).toBe(isClosed);
  });
});
