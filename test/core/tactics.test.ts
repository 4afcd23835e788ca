import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { price } from '../../src/core/money.ts';
import { isBudgetSpent, requoteMs, tacticalLimit, tacticRefusal } from '../../src/core/risk/tactics.ts';
import type { KnownPrices, Tactics } from '../../src/core/risk/tactics.ts';
import type { Side } from '../../src/core/venue.ts';

const known: KnownPrices = { mid: price('100'), decision: price('101'), arrival: price('102') };
const reasonOf = (tactics: Tactics, side: Side, each: string, prices = known): string | undefined =>
  tacticRefusal(tactics, { side, price: price(each) }, prices)?.reason;

describe('the slippage of a quote', () => {
  // Ten basis points, by reference and side: the last accepted price and the first refused one.
  it.each([
    ['mid', 'buy', '100.1', '100.1001'],
    ['mid', 'sell', '99.9', '99.8999'],
    ['decision', 'buy', '101.101', '101.1011'],
    ['decision', 'sell', '100.899', '100.8989'],
    ['arrival', 'buy', '102.102', '102.1021'],
    ['arrival', 'sell', '101.898', '101.8979'],
  ] as const)(
    'against %s is allowed for a %s up to %s, and refused at %s',
    (slippage_reference, side, good, bad) => {
      const tactics = { slippage_bps: '10', slippage_reference };
      expect(reasonOf(tactics, side, good)).toBeUndefined();
      expect(reasonOf(tactics, side, bad)).toBe('max_slippage');
    },
  );

  it('is reported with its figures if it is refused', () => {
    const tactics = { slippage_bps: '10', slippage_reference: 'arrival' } as const;
    expect(tacticRefusal(tactics, { side: 'buy', price: price('103') }, known)).toEqual({
      reason: 'max_slippage',
      detail: 'limit=10 bps from arrival value=98.03 bps from 102',
    });
  });

  it.each(['decision', 'arrival'] as const)('is refused while the %s price is unknown', (name) => {
    const missing = { ...known, [name]: undefined };
    const tactics = { slippage_bps: '10000', slippage_reference: name };
    expect(reasonOf(tactics, 'buy', '1', missing)).toBe('no_reference');
  });

  it('is zero if the quote is better than the reference', () => {
    expect(reasonOf({ slippage_bps: '0', slippage_reference: 'arrival' }, 'buy', '50')).toBeUndefined();
  });
});

describe('the spread of a quote', () => {
  it.each([
    ['buy', '100.1', '100.1001'],
    ['sell', '99.9', '99.8999'],
  ] as const)(
    'for a %s is twice its distance from the mid price: %s is accepted, %s is refused',
    (side, good, bad) => {
      expect(reasonOf({ spread_bps: '20' }, side, good)).toBeUndefined();
      expect(reasonOf({ spread_bps: '20' }, side, bad)).toBe('max_spread');
    },
  );
});

describe('the worst price that tactics allow', () => {
  const side = fc.constantFrom<Side>('buy', 'sell');
  const each = fc.integer({ min: 9_000, max: 11_000 }).map((n) => price(`${n}e-2`));
  const bps = fc.integer({ min: 0, max: 500 }).map(String);
  const tactics = fc.record<Tactics>(
    {
      slippage_bps: bps,
      slippage_reference: fc.constantFrom('mid', 'decision', 'arrival'),
      spread_bps: bps,
    },
    { requiredKeys: [] },
  );

  it('is exactly the boundary between accepted and refused prices, for any tactics', () => {
    fc.assert(
      fc.property(
        side,
        tactics,
        fc.record({ mid: each, decision: each, arrival: each }),
        each,
        (on, all, now, quoted) => {
          const worst = tacticalLimit(on, undefined, { tactics: all, known: now });
          const isBeyond = worst !== undefined && (on === 'buy' ? quoted.gt(worst) : quoted.lt(worst));
          expect(tacticRefusal(all, { side: on, price: quoted }, now) !== undefined).toBe(isBeyond);
        },
      ),
    );
  });

  it('is the limit price if that is tighter', () => {
    const all = { tactics: { slippage_bps: '10' }, known };
    expect(tacticalLimit('buy', price('99'), all)?.toFixed()).toBe('99');
    expect(tacticalLimit('buy', price('110'), all)?.toFixed()).toBe('100.1');
    expect(tacticalLimit('sell', price('101'), all)?.toFixed()).toBe('101');
    expect(tacticalLimit('sell', undefined, { tactics: undefined, known })).toBeUndefined();
  });
});

describe('the wait for the next quote', () => {
  it('is at least the minimum, longer by at most the jitter, and the same for the same seed', () => {
    fc.assert(
      fc.property(fc.nat(60_000), fc.nat(95), fc.nat(), fc.nat(1_000_000), (requote_ms, pct, seed, turn) => {
        const plainMs = Math.max(1_000, requote_ms);
        const all = { requote_ms, jitter: { pct, seed } };
        const waited = requoteMs(all, 1_000, turn);
        expect(waited).toBeGreaterThanOrEqual(plainMs);
        expect(waited).toBeLessThanOrEqual(plainMs * (1 + pct / 100));
        expect(requoteMs(all, 1_000, turn)).toBe(waited);
        expect(requoteMs({ requote_ms }, 1_000, turn)).toBe(plainMs);
      }),
    );
  });
});

describe('the quote budget', () => {
  it.each([
    [undefined, 1_000, false],
    [{ quotes_max: 3 }, 2, false],
    [{ quotes_max: 3 }, 3, true],
  ])('%j after %i quotes is spent: %s', (tactics, quotes, spent) => {
    expect(isBudgetSpent(tactics, quotes)).toBe(spent);
  });
});
