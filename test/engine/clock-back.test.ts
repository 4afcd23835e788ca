import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { clockBackWords } from '../../src/engine/time/clock-back.ts';
import { aTwap, nextProcess, started } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf } from './oracle.ts';

const options: BenchOptions = { strategies: [aTwap('btc-twap')] };
/** A desk with a plan of ten slices a minute apart, three and a half minutes after its start. */
const under = (): Bench => started(options, 3.5 * MINUTE_MS);
/** What its alerts about a clock that was set back said. */
const alertsOf = (bench: Bench) =>
  bench.raised.flatMap(({ id, facts }) =>
    id === 'discontinuity' && facts?.['waiting'] !== undefined ? [facts] : [],
  );

const NEXT_SLOT = 'btc-twap waits until 2026-01-05T00:04:00.000Z';

describe('a wall clock that is set back', () => {
  it('raises one alert, and lists the delayed waits and their remaining time until it has caught up', () => {
    const bench = under();
    expect(clockBackWords(bench.desk)).toEqual([]);
    bench.clock.stepWall(-2 * HOUR_MS);
    bench.run(2 * SECOND_MS);
    expect(bench.desk.control).toBe('active');
    expect(alertsOf(bench)).toEqual([
      {
        back: '2 h 0 min',
        until: expect.stringContaining('2026-01-05T00:03:3') as string,
        waiting: `${NEXT_SLOT} (2 h 0 min left)`,
      },
    ]);
    const [head, ...waits] = clockBackWords(bench.desk);
    expect(head).toMatch(
      /^the clock was set back by 2 h 0 min, to 2026-01-04T22:03:3\d\.\d+Z: times until 2026-01-05T00:03:3/u,
    );
    expect(waits).toEqual([`${NEXT_SLOT} (2 h 0 min left)`]);
    bench.run(32 * MINUTE_MS);
    expect(clockBackWords(bench.desk)[1]).toBe(`${NEXT_SLOT} (1 h 28 min left)`);
    bench.run(88 * MINUTE_MS);
    expect(clockBackWords(bench.desk)).toEqual([]);
    bench.run(10 * MINUTE_MS);
    expect(executedTotal(bench.exchange).toFixed()).toBe('1');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('is no longer reported once it is corrected, and the desk continues to trade', () => {
    const bench = under();
    bench.clock.stepWall(-2 * HOUR_MS);
    bench.run(5 * SECOND_MS);
    expect(clockBackWords(bench.desk)).not.toEqual([]);
    bench.clock.stepWall(2 * HOUR_MS);
    bench.run(2 * SECOND_MS);
    expect(clockBackWords(bench.desk)).toEqual([]);
    bench.run(10 * MINUTE_MS);
    expect(executedTotal(bench.exchange).toFixed()).toBe('1');
  });

  it('is reported, after a second step, with the distance from the latest time that it had shown', () => {
    const bench = under();
    bench.clock.stepWall(-HOUR_MS);
    bench.run(2 * SECOND_MS);
    bench.clock.stepWall(-HOUR_MS);
    bench.run(2 * SECOND_MS);
    expect(alertsOf(bench).map(({ back }) => back)).toEqual(['1 h 0 min', '2 h 0 min']);
  });

  it('is reported at each start against the same latest time, even if records were written since', () => {
    const bench = under();
    bench.clock.stepWall(-2 * HOUR_MS);
    bench.run(2 * SECOND_MS);
    let third = bench;
    for (const _ of [1, 2]) {
      third.kill();
      third.run(MINUTE_MS);
      third = nextProcess(third, 0, options);
      third.run(2 * SECOND_MS);
    }
    expect(alertsOf(third)).toMatchObject([{ waiting: `${NEXT_SLOT} (1 h 58 min left)` }]);
    expect(clockBackWords(third.desk).at(-1)).toBe(`${NEXT_SLOT} (1 h 58 min left)`);
  });

  it('is reported at the next start if it was set back by days while no process ran', () => {
    const bench = under();
    bench.kill();
    bench.clock.stepWall(-2 * DAY_MS);
    const next = nextProcess(bench, SECOND_MS, options);
    next.run(2 * SECOND_MS);
    expect(alertsOf(next)).toEqual([
      expect.objectContaining({ back: '2 d 0 h', waiting: `${NEXT_SLOT} (2 d 0 h left)` }),
    ]);
    expect(clockBackWords(next.desk)).toHaveLength(2);
  });
});
