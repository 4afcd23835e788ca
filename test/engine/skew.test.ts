import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { aTwap, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultyVenue } from './faulty-venue.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

const strategies = [aTwap('twap', { slices: 4, duration: 'PT4M' })];

const ran = (options: Partial<BenchOptions>): Bench => started({ strategies, ...options }, 20 * MINUTE_MS);

const saying = (skewMs: () => number | undefined): Partial<BenchOptions> => ({
  wrap: (venue) => ({ ...venue, skewMs }),
});

describe('a desk whose clock differs from the clock of the venue', () => {
  it.each([30_001, -30_001, DAY_MS])(
    'does not start with a difference of %i ms, and does not trade',
    (skewMs) => {
      const bench = ran(saying(() => skewMs));
      expect(bench.seen.error).toMatchObject({ name: 'OperatorError', exit: 'again' });
      expect(String(bench.seen.error)).toContain(
        `${Math.abs(skewMs) === DAY_MS ? '1 d 0 h' : '30 s'} ${skewMs > 0 ? 'behind' : 'ahead of'} the venue's`,
      );
      expect(ledgerTrades(bench.exchange)).toEqual([]);
    },
  );

  it.each([2_001, -29_999])('starts with a difference of %i ms, and raises one alert', (skewMs) => {
    const bench = ran(saying(() => skewMs));
    expect(faultsOf(bench)).toEqual([]);
    expect(bench.alerts().filter((id) => id === 'clock_skew')).toHaveLength(1);
  });

  it.each([undefined, 0, 2_000, -2_000])('raises no alert for a difference of %s ms', (skewMs) => {
    const bench = ran(saying(() => skewMs));
    expect(faultsOf(bench)).toEqual([]);
    expect(bench.alerts()).not.toContain('clock_skew');
  });

  it('raises the alert again when the difference returns', () => {
    let asked = 0;
    const bench = ran(saying(() => (Math.floor(asked++ / 100) % 2 === 0 ? 3_000 : 0)));
    expect(bench.alerts().filter((id) => id === 'clock_skew').length).toBeGreaterThan(2);
  });

  it('makes the same decisions for any difference, through doubts and cancels', () => {
    const told = [0, 1, -1, 2_500, -2_500, HOUR_MS, -HOUR_MS, DAY_MS, -DAY_MS].map((skewMs) => {
      let orders = 0;
      const bench = ran({
        skewMs,
        venue: { cancelProbability: 0.2 },
        wrap: faultyVenue({
          order: () => (++orders === 2 ? 'answer lost' : orders === 3 ? 'late' : undefined),
        }),
      });
      expect(faultsOf(bench)).toEqual([]);
      return {
        total: executedTotal(bench.exchange).toFixed(),
        trades: ledgerTrades(bench.exchange).map(({ pair, side, quantity, amount }) => [
          pair,
          side,
          quantity.toFixed(),
          amount.toFixed(),
        ]),
        ends: bench.bodies('attempt').map((body) => [body.result, body.reason]),
      };
    });
    for (const one of told) expect(one).toEqual(told[0]);
    expect(told[0]?.trades.length).toBeGreaterThan(3);
  });
});
