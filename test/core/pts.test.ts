import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, money, quantity, ratio, subtract, text } from '../../src/core/money.ts';
import type { Quantity } from '../../src/core/money.ts';
import { borrowed, expectedCarryBps, sizeForPts } from '../../src/core/risk/pts.ts';
import type { PtsQuestion } from '../../src/core/risk/pts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import type { FundingRate, RiskMode, Side } from '../../src/core/venue.ts';
import { riskModesSchema } from '../../src/wire/account.ts';

/** An order of 100 that the account can pay 40 of, with credit switched on and no caps. */
const aQuestion = (over: Partial<PtsQuestion> = {}): PtsQuestion => ({
  side: 'buy',
  pays: 'usd',
  outgoing: quantity('100'),
  available: quantity('40'),
  reducing: quantity('0'),
  mode: 'Enabled',
  use: 'when_enabled',
  creditLeft: undefined,
  carryBps: ratio('0'),
  carryBpsMax: undefined,
  ...over,
});
const answerText = (over: Partial<PtsQuestion>): readonly [string, string, ...string[]] => {
  const { allowed, credit, cuts } = sizeForPts(aQuestion(over));
  return [text(allowed), text(credit), ...cuts.map(({ reason }) => reason)];
};

/** The mode in the first row of the venue's list, read as the client reads it. */
const modeOnWire = (spelling: unknown): RiskMode | undefined =>
  riskModesSchema.parse({ data: [{ currency_pair: 'btcusd', risk_mode: spelling }] }).data[0]?.risk_mode;

interface Case {
  readonly mode: unknown;
  readonly side: Side;
  /** Whether credit may be used. */
  readonly credit: boolean;
  readonly why: 'pts_terms' | 'pts_unknown';
}

describe('risk modes', () => {
  // Spelling on the wire; whether credit may open or grow a long (buy) or a short (sell); the reason if not.
  const rows: readonly (readonly [unknown, boolean, boolean, 'pts_terms' | 'pts_unknown'])[] = [
    ['Enabled', true, true, 'pts_terms'],
    ['Long-Only', true, false, 'pts_terms'],
    ['Short-Only', false, true, 'pts_terms'],
    ['Reduce-Only', false, false, 'pts_terms'],
    ['Reduce_Only', false, false, 'pts_terms'],
    ['Paused', false, false, 'pts_unknown'],
    ['', false, false, 'pts_unknown'],
    [7, false, false, 'pts_unknown'],
    [undefined, false, false, 'pts_unknown'],
  ];
  const cases = rows.flatMap(([mode, long, short, why]): readonly Case[] => [
    { mode, side: 'buy', credit: long, why },
    { mode, side: 'sell', credit: short, why },
  ]);

  it.each(cases)('allow a $side from own funds under $mode', ({ mode, side }) => {
    expect(answerText({ mode: modeOnWire(mode), side, available: quantity('100') })).toEqual(['100', '0']);
  });

  it.each(cases)('allow credit for a $side under $mode: $credit', ({ mode, side, credit, why }) => {
    const expected = credit ? ['100', '60'] : ['40', '0', 'no_funds', why];
    expect(answerText({ mode: modeOnWire(mode), side })).toEqual(expected);
  });

  it.each(cases)('allow a $side that reduces a position under $mode', ({ mode, side }) => {
    const reducing = { available: quantity('0'), reducing: quantity('100') };
    expect(answerText({ mode: modeOnWire(mode), side, ...reducing })).toEqual(['100', '100']);
  });

  it.each(cases)(
    'allow credit for a $side beyond the position under $mode: $credit',
    ({ mode, side, credit, why }) => {
      const beyond = { available: quantity('30'), reducing: quantity('50') };
      const expected = credit ? ['100', '70'] : ['50', '20', 'no_funds', why];
      expect(answerText({ mode: modeOnWire(mode), side, ...beyond })).toEqual(expected);
    },
  );

  it('are unknown for a pair whose row cannot be read, and are read for the other pairs', () => {
    const { data } = riskModesSchema.parse({
      data: [
        { currency_pair: 'btcusd', risk_mode: 'Sideways' },
        { currency_pair: 'ethusd', risk_mode: 'reduce_only' },
      ],
    });
    expect(data.map((row) => row.risk_mode)).toEqual([undefined, 'Reduce-Only']);
  });
});

describe('credit', () => {
  it('is never used if pts.use is never, not even to reduce a position', () => {
    expect(answerText({ use: 'never' })).toEqual(['40', '0', 'no_funds', 'pts_credit']);
    expect(answerText({ use: 'never', reducing: quantity('90') })).toEqual([
      '40',
      '0',
      'no_funds',
      'pts_credit',
    ]);
  });

  it.each([
    ['60', ['100', '60']],
    ['59.99', ['99.99', '59.99', 'no_funds', 'pts_credit']],
    ['0', ['40', '0', 'no_funds', 'pts_credit']],
    ['-5', ['40', '0', 'no_funds', 'pts_credit']],
  ])('is cut to the %s that may still be borrowed', (creditLeft, expected) => {
    expect(answerText({ creditLeft: quantity(creditLeft) })).toEqual(expected);
  });

  it.each([
    ['20', '20', ['100', '60']],
    ['20.01', '20', ['40', '0', 'no_funds', 'pts_terms']],
    [undefined, '20', ['40', '0', 'no_funds', 'pts_unknown']],
    [undefined, undefined, ['100', '60']],
  ])('with an expected carry of %s bps and a limit of %s returns %j', (carry, bound, expected) => {
    const carryBps = carry === undefined ? undefined : ratio(carry);
    const carryBpsMax = bound === undefined ? undefined : ratio(bound);
    expect(answerText({ carryBps, carryBpsMax })).toEqual(expected);
  });

  it('for reducing a position counts against the cap and the carry limit', () => {
    const short = { mode: 'Reduce-Only', available: quantity('-500'), reducing: quantity('100') } as const;
    expect(answerText(short)).toEqual(['100', '100']);
    const capped = { ...short, creditLeft: quantity('30') };
    expect(answerText(capped)).toEqual(['30', '30', 'no_funds', 'pts_credit']);
    const dear = { ...short, carryBps: ratio('21'), carryBpsMax: ratio('20') };
    expect(answerText(dear)).toEqual(['0', '0', 'no_funds', 'pts_terms']);
  });

  it('covers the whole order if the balance is already negative', () => {
    expect(answerText({ available: quantity('-10') })).toEqual(['100', '100']);
    expect(answerText({ available: quantity('-10'), use: 'never' })).toEqual([
      '0',
      '0',
      'no_funds',
      'pts_credit',
    ]);
  });
});

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
    creditLeft: fc.option(funds, { nil: undefined }),
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

  it('includes credit that grows a position only if mode, use, cap and carry allow it', () => {
    fc.assert(
      fc.property(question, (asked) => {
        const { allowed, credit } = sizeForPts(asked);
        const { side, mode, use, reducing, creditLeft, carryBps, carryBpsMax } = asked;
        const modes: readonly unknown[] =
          side === 'buy' ? ['Enabled', 'Long-Only'] : ['Enabled', 'Short-Only'];
        const free = ownOf(asked).gt(reducing) ? ownOf(asked) : reducing;
        const mayGrow =
          modes.includes(mode) &&
          (creditLeft === undefined || subtract(allowed, free).lte(creditLeft)) &&
          (carryBpsMax === undefined || carryBps?.lte(carryBpsMax) === true);
        const hasGrown = credit.gt(0) && allowed.gt(free);
        expect(use === 'never' ? credit.isZero() : mayGrow || !hasGrown).toBe(true);
        const isWithin =
          (creditLeft === undefined || credit.lte(creditLeft)) &&
          (carryBpsMax === undefined || carryBps?.lte(carryBpsMax) === true);
        expect(credit.isZero() || isWithin).toBe(true);
      }),
      { numRuns: 1000 },
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

  it('is allowed if it equals the limit', () => {
    const carryBps = expectedCarryBps(rate('0.365', 0, 1440), DAY_MS);
    expect(answerText({ carryBps, carryBpsMax: ratio('10') })).toEqual(['100', '60']);
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
