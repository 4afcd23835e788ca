import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, approximate, price, quantity, ratio, ratioOf, subtract, text } from '../../src/core/money.ts';
import type { Price, Quantity, Ratio } from '../../src/core/money.ts';
import {
  driftOf,
  drifts,
  hasDrifted,
  isOutside,
  largestDrift,
  value,
  worstDrift,
} from '../../src/core/risk/portfolio.ts';
import type { Targets } from '../../src/core/risk/portfolio.ts';
import { instant } from '../../src/core/time.ts';

const targetsOf = (weights: Readonly<Record<string, string>>): Targets =>
  new Map(Object.entries(weights).map(([currency, weight]) => [currency, ratio(weight)]));
const holdingsOf = (held: Readonly<Record<string, string>>): ReadonlyMap<string, Quantity> =>
  new Map(Object.entries(held).map(([currency, amount]) => [currency, quantity(amount)]));
const midsOf =
  (mids: Readonly<Record<string, string>>) =>
  (currency: string): Price | undefined =>
    mids[currency] === undefined ? undefined : price(mids[currency]);

const TARGETS = targetsOf({ btc: '0.5', eth: '0.3', usd: '0.2' });
const MIDS = midsOf({ btc: '60000', eth: '3000' });

describe('the value of a portfolio', () => {
  it('depends only on the current holdings and prices, not on earlier computations', () => {
    const some = holdingsOf({ btc: '1', eth: '10', usd: '10000' });
    const more = holdingsOf({ btc: '1', eth: '10', usd: '10001' });
    const worth = (held: ReadonlyMap<string, Quantity>, btc: string): string | undefined =>
      value(TARGETS, 'usd', held, midsOf({ btc, eth: '3000' }))?.value.toFixed();
    expect([worth(some, '60000'), worth(some, '60000'), worth(more, '60000')]).toEqual([
      '100000',
      '100000',
      '100001',
    ]);
    expect([worth(more, '60001'), worth(some, '60000')]).toEqual(['100002', '100000']);
    const others = targetsOf({ btc: '0.5', usd: '0.5' });
    expect(value(others, 'usd', some, MIDS)?.value.toFixed()).toBe('70000');
  });

  it('counts only cash and currencies with a target', () => {
    const held = holdingsOf({ btc: '1', usd: '1', xrp: '1000000' });
    expect(value(targetsOf({ btc: '1' }), 'usd', held, MIDS)?.value.toFixed()).toBe('60001');
  });

  it('counts a missing holding as zero and a debt as negative', () => {
    const owed = value(TARGETS, 'usd', holdingsOf({ btc: '1', usd: '-20000' }), MIDS);
    expect(owed?.value.toFixed()).toBe('40000');
    expect(owed?.weights.get('btc')?.toFixed()).toBe('1.5');
    expect(owed?.weights.get('usd')?.toFixed()).toBe('-0.5');
  });

  it.each<readonly [string, Readonly<Record<string, string>>, (currency: string) => Price | undefined]>([
    ['a price is missing', { btc: '1', eth: '1' }, midsOf({ btc: '60000' })],
    ['nothing is held', {}, MIDS],
    ['as much is owed as is held', { btc: '1', usd: '-60000' }, MIDS],
    ['more is owed than is held', { btc: '1', usd: '-60001' }, MIDS],
  ])('is unknown if %s', (_, held, mids) => {
    expect(value(TARGETS, 'usd', holdingsOf(held), mids)).toBeUndefined();
  });

  it('has weights that match plain arithmetic and sum to one', () => {
    const amount = fc.integer({ min: 0, max: 1_000_000 });
    const mid = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(amount, amount, amount, mid, mid, (btc, eth, usd, btcMid, ethMid) => {
        fc.pre(btc + eth + usd > 0);
        const held = holdingsOf({ btc: String(btc), eth: String(eth), usd: String(usd) });
        const valued = value(TARGETS, 'usd', held, midsOf({ btc: String(btcMid), eth: String(ethMid) }));
        const worth = btc * btcMid + eth * ethMid + usd;
        const weights = [...(valued?.weights.values() ?? [])].map((weight) => approximate(weight));
        expect(valued?.value.toNumber()).toBe(worth);
        expect(weights[0]).toBeCloseTo((btc * btcMid) / worth, 12);
        expect(weights[1]).toBeCloseTo((eth * ethMid) / worth, 12);
        expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
      }),
    );
  });
});

describe('drift', () => {
  const weights = targetsOf({ btc: '0.6', eth: '0.27', usd: '0.13', xrp: '0' });
  const drift = (type: 'absolute' | 'relative', targets = TARGETS): readonly (readonly [string, string])[] =>
    [...drifts(weights, targets, type)].map(([currency, away]) => [currency, text(away)]);

  it('is weight minus target', () => {
    expect(drift('absolute')).toEqual([
      ['btc', '0.1'],
      ['eth', '-0.03'],
      ['usd', '-0.07'],
      ['xrp', '0'],
    ]);
  });

  it('is divided by the target if it is relative', () => {
    expect(drift('relative')).toEqual([
      ['btc', '0.2'],
      ['eth', '-0.1'],
      ['usd', '-0.35'],
      ['xrp', '0'],
    ]);
  });

  it('is always absolute for a currency without a target', () => {
    const targets = targetsOf({ btc: '1', eth: '0' });
    expect(drift('relative', targets).slice(1, 3)).toEqual([
      ['eth', '0.27'],
      ['usd', '0.13'],
    ]);
  });

  it('is computed again for other weights, other targets and another drift type', () => {
    const told = (of: ReadonlyMap<string, Ratio>, targets: Targets, type: 'absolute' | 'relative') =>
      text(drifts(of, targets, type).get('btc') ?? ratio('9'));
    const others = new Map([...weights, ['btc', ratio('0.7')] as const]);
    const first = told(weights, TARGETS, 'absolute');
    expect(told(others, TARGETS, 'absolute')).not.toBe(first);
    expect(told(others, TARGETS, 'relative')).toBe('0.4');
    expect(told(others, targetsOf({ btc: '0.35' }), 'relative')).toBe('1');
    expect(told(weights, TARGETS, 'absolute')).toBe(first);
  });

  it('has its largest value at the currency furthest from its target in either direction', () => {
    expect(text(largestDrift(drifts(weights, TARGETS, 'absolute')))).toBe('0.1');
    expect(text(largestDrift(drifts(weights, TARGETS, 'relative')))).toBe('0.35');
    expect(text(largestDrift(new Map()))).toBe('0');
  });
});

describe('the largest drift of a valued portfolio', () => {
  const types = fc.constantFrom<'absolute' | 'relative'>('absolute', 'relative');
  const amount = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 1_000_000_000 }));
  /** Small distances on either side of a drift: from the last digit that is kept up to distances that a double resolves. */
  const hairs = ['0', '1e-80', '1e-78', '1e-40', '1e-17', '1e-13', '1e-11', '0.001'].flatMap((hair) => [
    ratioOf(Number(hair)),
    ratioOf(-Number(hair)),
  ]);

  it('equals that of the divided weights to the last digit, and leaves a band exactly if that one does', () => {
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        fc.integer({ min: 0, max: 70 }),
        types,
        (btc, eth, usd, of, type) => {
          fc.pre(btc + eth + usd > 0);
          const targets = targetsOf({ btc: String(of / 100), eth: '0.3', usd: String((70 - of) / 100) });
          const held = holdingsOf({ btc: String(btc), eth: String(eth), usd: String(usd) });
          const valued = value(targets, 'usd', held, midsOf({ btc: '1', eth: '0.3' }));
          if (valued === undefined) throw new Error('worth something');
          const divided = largestDrift(drifts(valued.weights, targets, type));
          expect(worstDrift(valued, targets, type).valueOf()).toBe(divided.valueOf());
          for (const hair of hairs) {
            const threshold = add(divided, hair);
            const band = { driftType: type, threshold };
            expect(isOutside(valued, targets, band)).toBe(divided.gt(threshold));
          }
        },
      ),
    );
  });

  it('ends a wait exactly if it exceeds the threshold, also with debts and cash set aside', () => {
    const share = fc.integer({ min: 0, max: 100 });
    const held = fc.integer({ min: -20, max: 1_000 });
    fc.assert(
      fc.property(held, held, held, share, types, fc.boolean(), (btc, eth, usd, of, type, isAside) => {
        const wait = {
          on: 'drift' as const,
          targets: { btc: String(of / 100), eth: '0', ...(of < 50 ? { usd: String((100 - of) / 100) } : {}) },
          cash: 'usd',
          driftType: type,
          ...(isAside ? { aside: '7' } : {}),
          threshold: '0',
          notBefore: instant(0),
        };
        const known = {
          holdings: holdingsOf({ btc: String(btc), eth: String(eth), usd: String(usd) }),
          midOf: midsOf({ btcusd: '1.1', ethusd: '0.3' }),
        };
        const drift = driftOf(wait, known);
        for (const threshold of ['0', '0.01', '0.2', '0.5', '1', drift?.toFixed(18) ?? '0'])
          expect(hasDrifted({ ...wait, threshold }, known)).toBe(drift?.gt(threshold) ?? false);
      }),
    );
  });

  it('is not outside a band if it equals the threshold, despite truncated digits', () => {
    const valued = value(
      targetsOf({ btc: '1' }),
      'usd',
      holdingsOf({ btc: '1', usd: '2' }),
      midsOf({ btc: '1' }),
    );
    if (valued === undefined) throw new Error('worth something');
    const targets = targetsOf({ btc: '0.3', usd: '0.7' });
    const third = valued.weights.get('btc') ?? ratio('0');
    const drift = subtract(third, ratio('0.3'));
    expect(third.valueOf()).toBe(`0.${'3'.repeat(80)}`);
    const isFurther = (threshold: Ratio): boolean =>
      isOutside(valued, targets, { driftType: 'absolute', threshold });
    // Of cash two thirds are cut the other way: that drift is the larger one by the last digit.
    expect(worstDrift(valued, targets, 'absolute').minus(drift).eq('1e-80')).toBe(true);
    expect(isFurther(drift)).toBe(true);
    expect(isFurther(add(drift, ratioOf(1e-80)))).toBe(false);
  });
});
