import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusal, worstPrice } from '../../src/core/risk/controls.ts';
import type { Limits, Proposal, RiskContext } from '../../src/core/risk/limits.ts';
import { money, price, quantity, ratio, text } from '../../src/core/money.ts';
import type { Side } from '../../src/core/venue.ts';
import { aProposal, aRiskContext, theLimits } from './builders.ts';

const reason = (
  proposal: Partial<Proposal>,
  limits: Partial<Limits> = {},
  world: Partial<RiskContext> = {},
) => refusal(aProposal(proposal), aRiskContext(world), theLimits(limits))?.reason;

describe('limits', () => {
  it('do not refuse an order if they are not set', () => {
    expect(reason({ notional: money('1e30'), quantity: quantity('1e30') })).toBeUndefined();
  });

  it.each<readonly [string, Partial<Limits>, Partial<RiskContext>, Partial<Proposal>, Partial<Proposal>]>([
    [
      'order_size',
      { orderNotionalMax: money('60000') },
      {},
      { notional: money('60000') },
      { notional: money('60000.00000001') },
    ],
    [
      'day_limit',
      { dayNotionalMax: money('100000') },
      { dayNotional: money('40000') },
      { notional: money('60000') },
      { notional: money('60000.01') },
    ],
    [
      'order_size',
      { orderQuantityMax: new Map([['btcusd', quantity('1')]]) },
      {},
      { quantity: quantity('1') },
      { quantity: quantity('1.00000001') },
    ],
    // 50 bps of 60000 are 300.
    ['collar', {}, {}, { price: price('60300') }, { price: price('60300.01') }],
    ['collar', {}, {}, { price: price('59700') }, { price: price('59699.99') }],
    ['collar', {}, {}, { side: 'sell', price: price('59700') }, { side: 'sell', price: price('59699.99') }],
    ['collar', {}, {}, { side: 'sell', price: price('60300') }, { side: 'sell', price: price('60300.01') }],
    [
      'price_drift',
      { driftBpsMax: ratio('10') },
      {},
      { decisionPrice: price('60000'), price: price('60060') },
      { decisionPrice: price('60000'), price: price('60060.01') },
    ],
    [
      'price_drift',
      { driftBpsMax: ratio('10') },
      {},
      { side: 'sell', decisionPrice: price('60000'), price: price('59940') },
      { side: 'sell', decisionPrice: price('60000'), price: price('59939.99') },
    ],
    ['limit_price', {}, {}, { limit: price('60000') }, { limit: price('59999.99') }],
    [
      'limit_price',
      {},
      {},
      { side: 'sell', limit: price('60000') },
      { side: 'sell', limit: price('60000.01') },
    ],
  ])('allow a value equal to %s and refuse a value beyond it', (code, limits, world, equal, beyond) => {
    expect(reason(equal, limits, world)).toBeUndefined();
    expect(reason(beyond, limits, world)).toBe(code);
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
    const refused = refusal(aProposal(), aRiskContext(), theLimits({ orderNotionalMax: money('50000') }));
    expect(refused?.detail).toBe('limit=max_order_notional 50000 value=60000.00');
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

  it('refuses every order that breaks a limit, in any combination', () => {
    const units = fc.integer({ min: 0, max: 200 });
    fc.assert(
      fc.property(units, units, units, units, units, (asked, most, day, dayMost, doubts) => {
        const verdict = reason(
          { notional: money(String(asked)), quantity: quantity(String(asked)) },
          {
            orderNotionalMax: money(String(most)),
            dayNotionalMax: money(String(dayMost)),
            orderQuantityMax: new Map([['btcusd', quantity(String(most))]]),
          },
          { dayNotional: money(String(day)), openDoubts: doubts % 6 },
        );
        const isFine = asked <= most && asked + day <= dayMost && doubts % 6 < 3;
        expect(verdict === undefined).toBe(isFine);
      }),
      { numRuns: 1000 },
    );
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
