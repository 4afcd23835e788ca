import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { faultyVenue } from './faulty-venue.ts';
import type { OrderFault } from './faulty-venue.ts';
import { aBench, aTwap, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf } from './oracle.ts';

/** The first order never reaches the venue and is never answered. */
function firstOrderLost(): BenchOptions['wrap'] {
  let orders = 0;
  const order = (): OrderFault | undefined => (++orders === 1 ? 'request lost' : undefined);
  return (venue, clock) => faultyVenue({ order })(venue, clock);
}

/** From the intent of the first attempt to the proof that it did not trade, milliseconds; `undefined`: still in doubt. */
function proofMs(bench: Bench): number | undefined {
  const asked = bench.records().find(({ body }) => body.kind === 'intent');
  const absent = bench.records().find(({ body }) => body.kind === 'attempt' && body.result === 'absent');
  return asked && absent && absent.at - asked.at;
}

describe('the proof of a doubt', () => {
  it('takes at most twice as long when the process is killed every fifteen seconds', () => {
    const options = (): BenchOptions => ({
      strategies: [aTwap('twap', { slices: 1, duration: 'PT10M' })],
      bootId: 'one',
      wrap: firstOrderLost(),
    });
    const quiet = started(options(), 3 * MINUTE_MS);
    const withoutKills = proofMs(quiet) ?? 0;
    expect(withoutKills).toBeGreaterThan(20 * SECOND_MS);

    const shared = options();
    let bench = aBench(shared);
    bench.start();
    bench.until(12 * SECOND_MS);
    for (let kills = 0; kills < 8 && proofMs(bench) === undefined; kills++) {
      bench = nextProcess(bench, SECOND_MS, shared);
      bench.run(14 * SECOND_MS);
    }
    expect(proofMs(bench) ?? Infinity).toBeLessThanOrEqual(2 * withoutKills);
    expect(faultsOf(bench)).toEqual([]);
  });
});
