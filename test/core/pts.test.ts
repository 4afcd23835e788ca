import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, quantity, ratio, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { borrowed, expectedCarryBps, sizeForPts } from '../../src/core/risk/pts.ts';
import type { PtsQuestion } from '../../src/core/risk/pts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import type { FundingRate } from '../../src/core/venue.ts';

describe('the size allowed by funds and credit', () => {
  const amount = fc.integer({ min: 0, max: 1_000_000 }).map((n) => quantity(`${n}e-3`));
  const funds = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => quantity(`${n}e-3`));
  const question = fc.record<PtsQuestion>({
    side: fc.constantFrom('buy', 'sell'),
    pays: fc.constant('usd'),
    outgoing: amount,
    available: funds,
    reducing: amount,
    mode: fc.constantFrom('Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', undefined),
    use: fc.constantFrom('never', 'when_enabled'),
    creditLeft: fc.oneof(funds, fc.constantFrom('unknown', undefined)),
    carryBps: fc.option(
      fc.nat({ max: 100 }).map((n) => ratio(String(n))),
      { nil: undefined },
    ),
    carryBpsMax: fc.option(
      fc.nat({ max: 100 }).map((n) => ratio(String(n))),
      { nil: undefined },
    ),
  });
  const ownOf = ({ available, outgoing }: PtsQuestion): Quantity => {
    if (available.lt(0)) return quantity('0');
    return available.gt(outgoing) ? outgoing : available;
  };

  it('is at most the requested size, and is split exactly into own funds and credit', () => {
    fc.assert(
      fc.property(question, (asked) => {
        const { allowed, credit, cuts } = sizeForPts(asked);
        expect(allowed.gte(0) && allowed.lte(asked.outgoing) && credit.gte(0)).toBe(true);
        expect(allowed.eq(add(ownOf(asked), credit))).toBe(true);
        expect(cuts.length > 0).toBe(allowed.lt(asked.outgoing));
      }),
    );
  });

  it('never decreases when the funds increase', () => {
    fc.assert(
      fc.property(question, amount, (asked, more) => {
        const richer = { ...asked, available: add(asked.available, more) };
        expect(sizeForPts(richer).allowed.gte(sizeForPts(asked).allowed)).toBe(true);
      }),
    );
  });
});

describe('expected carry', () => {
  const rate = (annual: string, graceMinutes: number, frequencyMinutes: number): FundingRate => ({
    currency: 'usd',
    annualRate: ratio(annual),
    graceMinutes,
    frequencyMinutes,
  });

  // 365 days of 1440 minutes a year; figures by hand: rate x steps x frequency / 525600, in basis points.
  it.each([
    ['zero within the grace period', rate('0.365', 1440, 60), DAY_MS, '0'],
    [
      'zero before the first charging interval is complete',
      rate('0.365', 1440, 60),
      DAY_MS + HOUR_MS - 1,
      '0',
    ],
    ['one charge at the end of the first interval', rate('0.876', 1440, 60), DAY_MS + HOUR_MS, '1'],
    ['charged for whole intervals only', rate('0.876', 0, 60), 3 * HOUR_MS + 59 * MINUTE_MS, '3'],
    ['10 bps for one day at 36.5 % a year', rate('0.365', 0, 1440), DAY_MS, '10'],
    ['80 bps for ten days with two days of grace', rate('0.365', 2880, 1440), 10 * DAY_MS, '80'],
    ['the whole rate over a year', rate('0.02', 0, 525_600), 365 * DAY_MS, '200'],
    ['zero without interest', rate('0', 0, 1), DAY_MS, '0'],
    ['negative if the desk receives the interest', rate('-0.365', 0, 1440), DAY_MS, '-10'],
  ])('is %s', (_, funding, holdingMs, bps) => {
    expect(text(expectedCarryBps(funding, holdingMs))).toBe(bps);
  });

  it('grows in steps with the time held, and never exceeds the rate', () => {
    const minutes = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(minutes, minutes, minutes, minutes, (grace, every, held, longer) => {
        const funding = rate('0.1', grace, every);
        const [less, more] = [held, held + longer].map((n) => expectedCarryBps(funding, n * MINUTE_MS));
        expect(less === undefined || more?.gte(less)).toBe(true);
        // Never more than the rate charges for all of the time.
        expect(less?.lte(ratio('1000').times(held).div(525_600))).toBe(true);
      }),
    );
  });
});

describe('the borrowed amount', () => {
  const usd = (currency: string, amount: Quantity) =>
    currency === 'xyz' ? undefined : money(amount.times(currency === 'btc' ? 60_000 : 1).toFixed());

  it('is the sum of the negative balances only', () => {
    const balances = new Map([
      ['btc', quantity('-0.5')],
      ['usd', quantity('-100')],
      ['eth', quantity('7')],
    ]);
    expect(text(borrowed(balances, usd) ?? money('-1'))).toBe('30100');
  });

  it('is unknown if a borrowed currency has no price, but not if a held one has none', () => {
    expect(borrowed(new Map([['xyz', quantity('-1')]]), usd)).toBeUndefined();
    expect(borrowed(new Map([['xyz', quantity('1')]]), usd)?.isZero()).toBe(true);
  });
});
