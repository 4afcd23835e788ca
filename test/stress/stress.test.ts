import { describe, expect, it } from 'vitest';
import { stress } from './stress.ts';

describe('a desk at twice its peak', () => {
  it('trades every slice on time if the venue allows all requests', () => {
    const outcome = stress({ second: 20, minute: 120 }, 3);
    expect(outcome).toMatchObject({ leftOut: {}, tooMany: 0, control: 'active', faults: [] });
    expect(outcome.filled).toBe(240 * 3);
  });

  it('skips slices beyond the limits of the venue with a reason, never exceeds these limits, and loses no fill', () => {
    const outcome = stress({ second: 10, minute: 600 }, 2);
    expect(outcome).toMatchObject({ tooMany: 0, control: 'active', faults: [] });
    expect(outcome.quotesInSecond).toBe(10);
    // Ten quotes a second; some of them only probe prices.
    expect(outcome.filled).toBeGreaterThan(2 * 60 * 8);
    expect(Object.keys(outcome.leftOut)).toEqual(['deadline']);
    expect(outcome.filled + (outcome.leftOut['deadline'] ?? 0)).toBe(2 * 1_200);
  });
});
