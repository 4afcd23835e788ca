import { describe, expect, it } from 'vitest';
import { refusal, worstPrice } from '../../src/core/risk/controls.ts';
import type { Limits, Proposal, RiskContext } from '../../src/core/risk/limits.ts';
import { isClosedAt, weekdays } from '../../src/core/hours.ts';
import { money, price, quantity, ratio, text } from '../../src/core/money.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { after, instant } from '../../src/core/time.ts';
import type { Side } from '../../src/core/venue.ts';
import { aProposal, aRiskContext, theLimits } from './builders.ts';

/** Monday noon, UTC. */
const NOON = instant(Date.UTC(2026, 0, 5, 12));
const aWorld = aRiskContext({ at: NOON, referenceGapBpsMax: ratio('1') });
const { repeats, caps } = aWorld;

/** What the controls know of the desk, and the order. */
type Given = Partial<RiskContext> & { readonly proposal?: Partial<Proposal> };
const refused = ({ proposal, ...world }: Given, limits: Partial<Limits> = {}) =>
  refusal(aProposal(proposal), { ...aWorld, ...world }, theLimits(limits));
const reason = (
  proposal: Partial<Proposal>,
  limits: Partial<Limits> = {},
  world: Partial<RiskContext> = {},
) => refused({ ...world, proposal }, limits)?.reason;

const asks = (proposal: Partial<Proposal>, world: Given = {}): Given => ({ ...world, proposal });
const worth = (usd: string, world?: Given): Given => asks({ notional: money(usd) }, world);
const sized = (btc: string): Given => asks({ quantity: quantity(btc) });
const buys = (each: string, over: Partial<Proposal> = {}): Given => asks({ ...over, price: price(each) });
const sells = (each: string, over: Partial<Proposal> = {}): Given => buys(each, { ...over, side: 'sell' });
const at = (over: Partial<RiskContext['repeats']>): Given => ({ repeats: { ...repeats, ...over } });
const capped = (over: Partial<RiskContext['caps']>): Given => ({ caps: { ...caps, ...over } });
const done = (btc: string): Given => capped({ parentDone: quantity(btc), parentMax: quantity('10') });
const slice = (btc: string): Given => capped({ slice: quantity(btc), slicePlanned: quantity('1') });
const gives = (amount: string): Given => ({ gives: { currency: 'usd', after: quantity(amount) } });
const gets = (amount: string): Given => ({ gets: { currency: 'btc', after: quantity(amount) } });
const gap = (bps: string): Given => ({ referenceGapBps: ratio(bps), referenceGapBpsMax: ratio('30') });
const doubt = (notional: string): Given => ({ openDoubts: 1, doubtNotional: money(notional) });
const pairDay = (notional: string): Given => ({ pairDayNotional: money(notional) });
const pairMax = (usd: string): Partial<Limits> => ({ pairDayNotionalMax: new Map([['btcusd', money(usd)]]) });
const day = { dayNotional: money('40000') };
const limited = { limit: price('60000') };
const decided = { decisionPrice: price('60000') };
const drift = { driftBpsMax: ratio('10') };
const noon = { from: '12:00', to: '13:00', timeZone: 'UTC', days: new Set(['mon'] as const) };
const many = { ofParent: 99, planned: 100 };

const cases: readonly (readonly [Reason, Partial<Limits>, equal: Given, beyond: Given])[] = [
  ['order_size', { orderNotionalMax: money('60000') }, worth('60000'), worth('60000.00000001')],
  ['order_size', { orderQuantityMax: new Map([['btcusd', quantity('1')]]) }, sized('1'), sized('1.00000001')],
  ['day_limit', { dayNotionalMax: money('100000') }, worth('60000', day), worth('60000.01', day)],
  ['day_limit', pairMax('100000'), pairDay('40000'), pairDay('40000.01')],
  // 50 bps of 60000 are 300.
  ['collar', {}, buys('60300'), buys('60300.01')],
  ['collar', {}, buys('59700'), buys('59699.99')],
  ['collar', {}, sells('59700'), sells('59699.99')],
  ['collar', {}, sells('60300'), sells('60300.01')],
  ['price_drift', drift, buys('60060', decided), buys('60060.01', decided)],
  ['price_drift', drift, sells('59940', decided), sells('59939.99', decided)],
  ['limit_price', {}, buys('60000', limited), buys('60000.01', limited)],
  ['limit_price', {}, sells('60000', limited), sells('59999.99', limited)],
  ['open_doubts', { orderNotionalMax: money('60000') }, doubt('60000'), doubt('60000.01')],
  ['position_limit', { positionMin: new Map([['usd', quantity('100')]]) }, gives('100'), gives('99.99')],
  ['position_limit', { positionMin: new Map([['usd', quantity('0')]]) }, gives('0'), gives('-0.01')],
  ['position_limit', { positionMax: new Map([['btc', quantity('10')]]) }, gets('10'), gets('10.00000001')],
  ['control_failed', {}, gap('30'), gap('30.01')],
  ['repeated_execution', { minuteExecutionsMax: 5 }, at({ inMinute: 4 }), at({ inMinute: 5 })],
  ['repeated_execution', {}, at({ ofParent: 49 }), at({ ofParent: 50 })],
  ['repeated_execution', {}, at(many), at({ ...many, ofParent: 100 })],
  [
    'repeated_execution',
    { parentExecutionsMax: 20 },
    at({ ...many, ofParent: 19 }),
    at({ ...many, ofParent: 20 }),
  ],
  ['slice_gap', {}, at({ gapUntil: NOON }), at({ gapUntil: after(NOON, 1) })],
  ['duplicate_order', {}, at({}), at({ duplicate: 'another' })],
  ['duplicate_order', {}, at({}), at({ isReused: true })],
  ['parent_cap', {}, done('9'), done('9.00000001')],
  ['parent_cap', {}, slice('1.5'), slice('1.50000001')],
  ['parent_cap', {}, capped({}), capped({ asked: quantity('1.00000001') })],
  ['paused', {}, {}, { pausedWhy: 'collar' }],
  ['no_balances', {}, {}, { blind: { limit: '180 s', value: '181 s' } }],
  ['reducing', {}, { control: 'reducing', isReducing: true }, { control: 'reducing' }],
  ['restricted_hours', { closedHours: [noon] }, { at: after(NOON, -1) }, { at: NOON }],
];

describe('limits', () => {
  it('do not refuse an order if they are not set', () => {
    expect(reason({ notional: money('1e30'), quantity: quantity('1e30') })).toBeUndefined();
  });

  it.each(cases)('allow a value equal to %s and refuse a value beyond it', (code, limits, equal, beyond) => {
    expect(refused(equal, limits)).toBeUndefined();
    expect(refused(beyond, limits)).toMatchObject({
      reason: code,
      detail: expect.stringMatching(/^limit=.+ value=.+$/u) as string,
    });
  });

  it('refuse an order with an unknown balance if it has a floor or a ceiling', () => {
    const unknown = {
      gives: { currency: 'usd', after: undefined },
      gets: { currency: 'btc', after: undefined },
    };
    expect(refused(unknown, { positionMin: new Map([['usd', quantity('0')]]) })?.reason).toBe(
      'position_limit',
    );
    expect(refused(unknown, { positionMax: new Map([['btc', quantity('1')]]) })?.reason).toBe(
      'position_limit',
    );
  });

  it('on price drift never refuse a price that moved in favour of the desk', () => {
    const limits = { driftBpsMax: ratio('10'), collarBps: ratio('10000') };
    expect(reason({ decisionPrice: price('70000') }, limits)).toBeUndefined();
    expect(reason({ side: 'sell', decisionPrice: price('50000') }, limits)).toBeUndefined();
  });

  it('on the order quantity apply to their own pair only', () => {
    const limits = { orderQuantityMax: new Map([['ethusd', quantity('0.1')]]) };
    expect(reason({}, limits)).toBeUndefined();
  });

  it('on pairs and sides allow only the listed values', () => {
    expect(reason({}, { pairs: new Set(['btcusd']) })).toBeUndefined();
    expect(reason({}, { pairs: new Set(['ethusd']) })).toBe('not_allowed');
    expect(reason({}, { pairs: new Set() })).toBe('not_allowed');
    expect(reason({ side: 'sell' }, { sides: new Set(['buy']) })).toBe('not_allowed');
  });

  it('on open doubts refuse an attempt at the limit, and a second attempt in a pair with a doubt', () => {
    expect(reason({}, {}, { openDoubts: 2 })).toBeUndefined();
    expect(reason({}, {}, { openDoubts: 3 })).toBe('open_doubts');
    expect(reason({}, {}, { openDoubts: 1, pairDoubts: 1 })).toBe('open_doubts');
  });

  it('report their figure and the value of the order', () => {
    expect(refused({}, { orderNotionalMax: money('50000') })?.detail).toBe(
      'limit=max_order_notional 50000 value=60000.00',
    );
    expect(refused(buys('60900.01'))?.detail).toContain('150.00 bps from 60000');
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

describe('the gate', () => {
  it.each<readonly [string, Partial<Limits>]>([
    ['the order notional', { orderNotionalMax: money('1e30') }],
    ['the day notional', { dayNotionalMax: money('1e30') }],
  ])('refuses an order that cannot be valued if %s is limited', (_, limits) => {
    expect(reason({ notional: undefined }, limits)).toBe('no_usd_rate');
  });

  it.each([
    ['a reference of zero', { reference: price('0'), price: price('1') }],
    ['a price of zero and a reference of zero', { reference: price('0'), price: price('0') }],
    ['a reference below zero', { reference: price('-60000') }],
  ])('refuses an order with %s', (_, over) => {
    expect(reason(over)).toMatch(/^collar/u);
  });

  it.each<readonly [RiskContext['control'], string | undefined]>([
    ['active', undefined],
    ['paused', 'paused'],
    ['halted', 'halted'],
    ['reducing', 'reducing'],
  ])('of a desk in state %s returns the reason %s', (control, code) => {
    expect(reason({}, {}, { control })).toBe(code);
  });

  it('refuses new orders while the desk stops, and reports halted before any other reason', () => {
    expect(reason({}, {}, { isStopping: true })).toBe('shutdown');
    const world = { control: 'halted', isStopping: true, openDoubts: 9 } as const;
    expect(reason({ side: 'sell' }, { sides: new Set() }, world)).toBe('halted');
  });
});

describe('the worst price', () => {
  it.each<readonly [Side, string, string | undefined, string]>([
    ['buy', '60300', undefined, '60300'],
    ['buy', '60300', '60100', '60100'],
    ['buy', '60300', '61000', '60300'],
    ['sell', '59700', undefined, '59700'],
    ['sell', '59700', '59900', '59900'],
    ['sell', '59700', '59000', '59700'],
  ])('for a %s with a collar of %s and a limit price of %s is %s', (side, collar, limit, worst) => {
    expect(text(worstPrice(side, price(collar), limit === undefined ? limit : price(limit)))).toBe(worst);
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
