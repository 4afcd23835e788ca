import { describe, expect, it } from 'vitest';
import { NO_MONEY, add, approximate, text } from '../../../src/core/money.ts';
import { compareCandidate } from '../../../src/research/twin/candidate.ts';
import type { CandidateComparison } from '../../../src/research/twin/candidate.ts';
import type { StrategySource } from '../../../src/engine/state/strategy-source.ts';
import { aDayOfSlices, live, setupOf } from './live-day.ts';
import type { LiveDay } from './live-day.ts';

const candidate = (source: StrategySource, day: LiveDay = {}): CandidateComparison =>
  compareCandidate({ ...setupOf(live(day)), candidate: source });

const sumOf = ({ shares }: CandidateComparison): string =>
  text(Object.values(shares).reduce((a, b) => add(a, b), NO_MONEY));

describe('a candidate', () => {
  it('costs the same as live if its text is the same', () => {
    const found = candidate(aDayOfSlices());
    expect(text(found.total)).toBe('0');
    expect(found.modelled).toBe(0);
    expect(found.candidate).toEqual(found.live);
  });

  it('is quoted like live, relative to the price, with the same slots and half the quantity', () => {
    const found = candidate(aDayOfSlices({ total_quantity: { amount: '6', currency: 'btc' } }), {
      venue: { halfSpreadBps: 6 },
    });
    expect([found.candidate.filled, found.modelled]).toEqual([120, 0]);
    // The venue of live is more expensive than the model, for both texts.
    expect(found.live.meanBps).toBeCloseTo(6.2, 0);
    expect(found.candidate.meanBps).toBeCloseTo(found.live.meanBps ?? 0, 1);
    expect(sumOf(found)).toBe(text(found.total));
    // Half the quantity pays half of the additional spread of live.
    expect(approximate(found.shares.quote)).toBeGreaterThan(0);
  });

  it('reports slices that the model had to answer because live did not request them', () => {
    const larger = candidate(aDayOfSlices({ total_quantity: { amount: '24', currency: 'btc' } }));
    expect(larger.modelled).toBe(120);
    expect(larger.unasked).toMatchObject({ pair_and_side: 0, time: 0 });
    expect(larger.unasked.size).toBeGreaterThanOrEqual(120);
    const selling = candidate(
      aDayOfSlices({ side: 'sell', total_quantity: { amount: '6', currency: 'btc' } }),
    );
    expect(selling.unasked.pair_and_side).toBeGreaterThanOrEqual(120);
    const later = candidate(
      aDayOfSlices({ total_quantity: { amount: '6', currency: 'btc' }, duration: 'PT20H30M', slices: 123 }),
    );
    expect(later.unasked.time).toBeGreaterThan(0);
    expect(sumOf(later)).toBe(text(later.total));
  });
});
