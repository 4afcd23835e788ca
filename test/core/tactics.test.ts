import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { price } from '../../src/core/money.ts';
import { requoteMs, tacticalLimit, tacticRefusal } from '../../src/core/risk/tactics.ts';
import type { KnownPrices, Tactics } from '../../src/core/risk/tactics.ts';
import type { Side } from '../../src/core/venue.ts';

const known: KnownPrices = { mid: price('100'), arrival: price('102') };
const reasonOf = (tactics: Tactics, side: Side, each: string, prices = known): string | undefined =>
  tacticRefusal(tactics, { side, price: price(each) }, prices)?.reason;

describe('the slippage of a quote', () => {
  // Ten basis points, by side: the last accepted price and the first refused one.
  it.each([
    ['buy', '102.102', '102.1021'],
    ['sell', '101.898', '101.8979'],
  ] as const)(
    'against the arrival price is allowed for a %s up to %s, and refused at %s',
    (side, good, bad) => {
      expect(reasonOf({ slippage_bps: '10' }, side, good)).toBeUndefined();
      expect(reasonOf({ slippage_bps: '10' }, side, bad)).toBe('tactics_refused');
    },
  );

  it('is reported with its figures if it is refused', () => {
    expect(tacticRefusal({ slippage_bps: '10' }, { side: 'buy', price: price('103') }, known)).toEqual({
      reason: 'tactics_refused',
      detail: 'limit=10 bps from arrival value=98.03 bps from 102',
    });
  });

  it('is refused while the arrival price is unknown', () => {
    expect(reasonOf({ slippage_bps: '10000' }, 'buy', '1', { ...known, arrival: undefined })).toBe(
      'no_reference',
    );
  });

  it('is zero if the quote is better than the reference', () => {
    expect(reasonOf({ slippage_bps: '0' }, 'buy', '50')).toBeUndefined();
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
      expect(reasonOf({ spread_bps: '20' }, side, bad)).toBe('tactics_refused');
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
      spread_bps: bps,
    },
    { requiredKeys: [] },
  );

  it('is exactly the boundary between accepted and refused prices, for any tactics', () => {
    fc.assert(
      fc.property(side, tactics, fc.record({ mid: each, arrival: each }), each, (on, all, now, quoted) => {
        const worst = tacticalLimit(on, undefined, { tactics: all, known: now });
        const isBeyond = worst !== undefined && (on === 'buy' ? quoted.gt(worst) : quoted.lt(worst));
        expect(tacticRefusal(all, { side: on, price: quoted }, now) !== undefined).toBe(isBeyond);
      }),
    );
  });

  it('is the limit price if that is tighter', () => {
    const all = { tactics: { slippage_bps: '10' }, known };
    expect(tacticalLimit('buy', price('99'), all)?.toFixed()).toBe('99');
    expect(tacticalLimit('buy', price('110'), all)?.toFixed()).toBe('102.102');
    expect(tacticalLimit('sell', price('103'), all)?.toFixed()).toBe('103');
    expect(tacticalLimit('sell', undefined, { tactics: undefined, known })).toBeUndefined();
  });
});

describe('the wait for the next quote', () => {
  it('is at least the minimum, longer by at most the jitter, and the same for the same seed', () => {
    fc.assert(
      fc.property(fc.nat(60_000), fc.nat(95), fc.nat(), fc.nat(1_000_000), (leastMs, pct, seed, turn) => {
        const all = { jitter: { pct, seed } };
        const waited = requoteMs(all, leastMs, turn);
        expect(waited).toBeGreaterThanOrEqual(leastMs);
        expect(waited).toBeLessThanOrEqual(leastMs * (1 + pct / 100));
        expect(requoteMs(all, leastMs, turn)).toBe(waited);
        expect(requoteMs({}, leastMs, turn)).toBe(leastMs);
      }),
    );
  });
});
