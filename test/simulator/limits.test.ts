import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Limits, SlidingWindow } from '../../src/simulator/exchange/venue-limits.ts';
import { venueOptions } from '../../src/simulator/options/options.ts';
import { later } from './world.ts';

describe('a sliding window', () => {
  it('admits at most its count in any window, and never refuses a request that fits', () => {
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 }), fc.constant(1_000)), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 12 }), (steps, count) => {
        const window = new SlidingWindow(count, 1_000);
        const admitted: number[] = [];
        let at = 0;
        for (const gap of steps) {
          at += gap;
          const wait = window.admit(later(at));
          const inWindow = admitted.filter((earlier) => earlier > at - 1_000);
          const oldest = inWindow.at(-count);
          expect(wait).toBe(oldest === undefined ? undefined : oldest + 1_000 - at);
          if (wait === undefined) admitted.push(at);
        }
      }),
      { seed: 3 },
    );
  });
});

describe('the rate limiter of the venue', () => {
  const limits = (input = {}) => new Limits(venueOptions({ limits: { cooldowns: false, ...input } }).limits);

  it('allows each address 250 requests in ten seconds', () => {
    const all = limits();
    for (let index = 0; index < 250; index++) expect(all.address('127.0.0.1', later(index))).toBeUndefined();
    expect(all.address('127.0.0.1', later(9_999))).toBe(1);
    expect(all.address('127.0.0.2', later(9_999))).toBeUndefined();
  });

  it('blocks a route for ten seconds after one request too many, and no other route or account', () => {
    const all = limits({ cooldowns: true });
    for (let index = 0; index < 10; index++) all.route('quote', 'a', later(0));
    expect(all.route('quote', 'a', later(500))).toBe(10_000);
    expect(all.route('quote', 'a', later(10_499))).toBe(1);
    expect(all.route('order', 'a', later(600))).toBeUndefined();
    expect(all.route('quote', 'b', later(600))).toBeUndefined();
    expect(all.route('quote', 'a', later(10_500))).toBeUndefined();
  });

  it('blocks an address for a minute after one request too many', () => {
    const all = limits({ cooldowns: true });
    for (let index = 0; index < 250; index++) all.address('127.0.0.1', later(0));
    expect(all.address('127.0.0.1', later(9_000))).toBe(60_000);
    expect(all.address('127.0.0.1', later(68_999))).toBe(1);
    expect(all.address('127.0.0.1', later(69_000))).toBeUndefined();
  });
});
