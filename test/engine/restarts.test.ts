import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { faultAt } from './faulty-venue.ts';
import { aBench, aTwap, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { faultsOf } from './oracle.ts';

/** From the intent of the first attempt to the proof that it did not trade, milliseconds; `undefined`: still in doubt. */
function proofMs(bench: Bench): number | undefined {
  const [asked] = bench.timed('intent');
  const absent = bench.timed('attempt').find(({ result }) => result === 'absent');
  return asked && absent && absent.at - asked.at;
}

describe('the proof of a doubt', () => {
  it('takes at most twice as long when the process is killed every fifteen seconds', () => {
    const options = (): BenchOptions => ({
      strategies: [aTwap('twap', { slices: 1, duration: 'PT10M' })],
      bootId: 'one',
      wrap: faultAt('request lost'),
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
