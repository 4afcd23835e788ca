import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { Continuity } from '../../src/engine/time/continuity.ts';
import type { Break } from '../../src/engine/time/continuity.ts';
import { clockBackWords } from '../../src/engine/time/clock-back.ts';
import { faultyVenue } from './faulty-venue.ts';
import { aTwap, START, started, nextProcess } from './harness.ts';
import type { Bench, BenchOptions } from './harness.ts';
import { executedTotal, faultsOf, ledgerTrades } from './oracle.ts';

const OPTIONS = { everyMs: 1_000, divergenceMs: 2_000, lateMs: 4_000 };

interface Watched {
  readonly clock: VirtualClock;
  readonly continuity: Continuity;
  readonly breaks: Break[];
}

function watched(): Watched {
  const clock = new VirtualClock(START);
  const breaks: Break[] = [];
  const continuity = new Continuity(clock, OPTIONS, (what) => breaks.push(what));
  return { clock, continuity, breaks };
}

describe('clock continuity', () => {
  it('holds while both clocks run, drift slightly and are checked in time', () => {
    const { clock, continuity, breaks } = watched();
    for (let i = 0; i < 3_600; i++) {
      clock.stall(1_000);
      clock.stepWall(0.5); // half a thousandth: more than clocks are corrected by
      continuity.look();
    }
    expect(continuity.count).toBe(0);
    expect(breaks).toEqual([]);
  });

  it.each([
    ['a sleep in which the monotonic clock stands still', 3 * DAY_MS],
    ['a clock that is set forward', 2_001],
    ['a clock that is set back', -2_001],
  ])('breaks once at %s, and reports the size of the jump', (_, ms) => {
    const { clock, continuity, breaks } = watched();
    continuity.look();
    clock.stepWall(ms);
    expect([continuity.count, continuity.count, continuity.look()]).toEqual([1, 1, 1]);
    expect(breaks).toEqual([{ wallMs: ms, lateMs: 0 }]);
  });

  it('breaks if the clocks are not checked for too long, because the process stood still', () => {
    const { clock, continuity, breaks } = watched();
    continuity.look();
    clock.stall(5_000);
    expect(continuity.count).toBe(0);
    clock.stall(1);
    expect([continuity.count, continuity.look()]).toEqual([1, 1]);
    expect(breaks).toEqual([{ wallMs: 0, lateMs: 4_001 }]);
  });
});

const plan = [aTwap('twap', { slices: 10, duration: 'PT10M' })];

/** A desk with a plan of ten slices, a minute apart, whose quotes take a second to come. */
const begun = (options: Partial<BenchOptions> = {}): Bench =>
  started({ strategies: plan, quoteLatencyMs: 1_000, ...options });
const missedOf = (bench: Bench): number => bench.bodies('wake').flatMap((body) => body.missed).length;

describe('a desk after a clock discontinuity', () => {
  it.each([
    ['that was just requested', 1],
    ['that is about to arrive', 999],
  ])('sends no order for a quote %s, and requests another', (_, ms) => {
    const bench = begun();
    bench.run(61 * SECOND_MS + ms); // the second slot is at one minute, and a price comes first
    expect(bench.sent.orders).toHaveLength(1);
    bench.clock.stepWall(3 * SECOND_MS);
    bench.run(1_001);
    expect(bench.sent.orders).toHaveLength(1);
    expect(bench.alerts()).toContain('discontinuity');
    bench.run(10 * SECOND_MS);
    expect(bench.sent.orders).toHaveLength(2);
    const ends = bench
      .bodies('attempt')
      .flatMap((body) => (body.result === 'discarded' ? [body.reason] : []));
    expect(ends).toEqual(['discontinuity']);
  });

  it('reads the account within seconds instead of at the next regular read', () => {
    const bench = begun();
    bench.run(75 * SECOND_MS);
    const before = bench.sent.reads.length;
    bench.clock.stepWall(HOUR_MS / 20);
    bench.run(12 * SECOND_MS);
    expect(bench.sent.reads.length).toBeGreaterThan(before);
  });

  it.each([1_000, 2_500, 30_000, 150_000, 5 * MINUTE_MS, HOUR_MS, 3 * DAY_MS])(
    'catches up as its plan states after a sleep of %i ms, whether or not the monotonic clock counted it',
    (ms) => {
      for (const sleep of ['stepWall', 'stall'] as const) {
        const bench = begun();
        bench.run(190 * SECOND_MS);
        expect(bench.sent.orders).toHaveLength(4);
        bench.clock[sleep](ms);
        const burst = bench.sent.orders.length;
        bench.run(5 * SECOND_MS);
        expect(bench.sent.orders.length - burst).toBeLessThanOrEqual(1);
        bench.run(15 * MINUTE_MS);
        expect(faultsOf(bench)).toEqual([]);
        const sizes = ledgerTrades(bench.exchange).map((trade) => Number(trade.quantity));
        expect(Math.max(...sizes)).toBeLessThanOrEqual(0.15);
        expect(missedOf(bench) > 0).toBe(ms >= 150_000);
        expect(executedTotal(bench.exchange).gte(ms <= 150_000 ? '1' : '0.4')).toBe(true);
        // Late slices must not be caught up after the window: the strategy ends within the hour.
        expect(bench.desk.state.lives.get('twap')?.finished).toBeDefined();
      }
    },
  );

  it('neither loses an open doubt nor proves its order absent too early after a sleep', () => {
    for (const fault of ['answer lost', 'request lost', 'late'] as const) {
      const bench = begun({ quoteLatencyMs: 20, wrap: faultyVenue({ order: () => fault }) });
      bench.run(5 * SECOND_MS);
      bench.clock.stepWall(HOUR_MS);
      bench.run(20 * MINUTE_MS);
      expect(faultsOf(bench)).toEqual([]);
      expect(ledgerTrades(bench.exchange)).toHaveLength(fault === 'request lost' ? 0 : 1);
    }
  });
});

const tenMinutes: BenchOptions = { strategies: [aTwap('btc-twap')] };
/** A desk with a plan of ten slices a minute apart, three and a half minutes after its start. */
const under = (): Bench => started(tenMinutes, 3.5 * MINUTE_MS);
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
      third = nextProcess(third, 0, tenMinutes);
      third.run(2 * SECOND_MS);
    }
    expect(alertsOf(third)).toMatchObject([{ waiting: `${NEXT_SLOT} (1 h 58 min left)` }]);
    expect(clockBackWords(third.desk).at(-1)).toBe(`${NEXT_SLOT} (1 h 58 min left)`);
  });

  it('is reported at the next start if it was set back by days while no process ran', () => {
    const bench = under();
    bench.kill();
    bench.clock.stepWall(-2 * DAY_MS);
    const next = nextProcess(bench, SECOND_MS, tenMinutes);
    next.run(2 * SECOND_MS);
    expect(alertsOf(next)).toEqual([
      expect.objectContaining({ back: '2 d 0 h', waiting: `${NEXT_SLOT} (2 d 0 h left)` }),
    ]);
    expect(clockBackWords(next.desk)).toHaveLength(2);
  });
});

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

  it.each([
    [2_001, 1],
    [-29_999, 1],
    [undefined, 0],
    [2_000, 0],
    [-2_000, 0],
  ])('starts with a difference of %s ms, and raises %i alerts', (skewMs, alerts) => {
    const bench = ran(saying(() => skewMs));
    expect(faultsOf(bench)).toEqual([]);
    expect(bench.alerts().filter((id) => id === 'clock_skew')).toHaveLength(alerts);
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
