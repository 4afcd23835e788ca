import { describe, expect, it } from 'vitest';
import { checkLevel, rankOf, summaryOf } from '../../src/research/resample/bootstrap.ts';
import {
  Resampler,
  blockFor,
  checkBlock,
  gridOf,
  piecesOf,
  startsOf,
} from '../../src/research/resample/resample.ts';
import type { Resampling } from '../../src/research/resample/resample.ts';
import { faultIn, knownAt, lastKnownRow, tapeOf } from '../../src/research/tape/tape.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { normalAt, seededRandom } from '../../src/simulator/market/random.ts';
import { START } from '../engine/harness.ts';
import { closesTape, walkTape } from './bench.ts';

const spanOf = (tapes: readonly Tape[]): { readonly from: Instant; readonly until: Instant } => ({
  from: instant(Math.max(...tapes.map((tape) => knownAt(tape, 0)))),
  until: instant(Math.min(...tapes.map((tape) => knownAt(tape, tape.rows - 1)))),
});
const drawing = (over: Partial<Resampling> = {}): Resampling => ({ seed: 's', blockMs: HOUR_MS, trend: 'kept', ...over }); // prettier-ignore
const drawn = (tapes: readonly Tape[], index: number, over: Partial<Resampling> = {}): readonly Tape[] =>
  new Resampler(tapes, spanOf(tapes), drawing(over)).tapes(index);

/** Minutes with gaps, whose opens, highs and lows differ from closes. */
function market(seed: string, pair = 'btcusd', rows = 3_000): Tape {
  const random = seededRandom(seed);
  const holes = new Set(Array.from({ length: 300 }, () => 1 + Math.floor(random.next() * rows)));
  const tape = walkTape({ pair, rows, seed, startPrice: 100 + 1_000 * random.next(), isMissing: (row) => holes.has(row) }); // prettier-ignore
  const { times, close } = tape;
  const open = close.map((price) => price * (1 + 0.001 * (random.next() - 0.5)));
  const high = close.map((price, i) => Math.max(price, open[i] ?? 0) * (1 + 0.001 * random.next()));
  const low = close.map((price, i) => Math.min(price, open[i] ?? 0) * (1 - 0.001 * random.next()));
  const volume = close.map(() => 10 * random.next());
  return tapeOf({ pair, barMs: tape.barMs, columns: { times, open, high, low, close, volume } });
}

const returnsOf = ({ close }: Tape): readonly number[] =>
  Array.from(close.subarray(1), (price, i) => Math.log(price / (close[i] ?? 1)));
const meanOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one / values.length, 0); // prettier-ignore

describe('resampled history', () => {
  it.each(['a', 'b', 'c', 'd'])('is a tape with the times of the original history (%s)', (seed) => {
    const tapes = [market(seed), market(seed, 'ethusd', 2_950)];
    const { from, until } = spanOf(tapes);
    for (const index of [1, 2, 3])
      for (const [i, tape] of drawn(tapes, index).entries()) {
        const history = tapes[i] ?? tape;
        const [first, last] = [lastKnownRow(history, from), lastKnownRow(history, until)];
        expect(faultIn(tape, tape.barMs)).toBeUndefined();
        expect(tape.times).toEqual(history.times.slice(first, last + 1));
        expect(tape.close[0]).toBe(history.close[first]);
      }
  });

  it('is the same for the same seed and number, and different for others', () => {
    const tapes = [market('a')];
    const hashOf = (index: number, over: Partial<Resampling> = {}): string => drawn(tapes, index, over)[0]?.hash ?? ''; // prettier-ignore
    expect(hashOf(7)).toBe(hashOf(7));
    expect(new Set([hashOf(1), hashOf(2), hashOf(1, { seed: 't' }), hashOf(1, { blockMs: 2 * HOUR_MS }), tapes[0]?.hash]).size).toBe(5); // prettier-ignore
    const resampler = new Resampler(tapes, spanOf(tapes), drawing());
    resampler.tapes(9);
    expect(resampler.tapes(7)[0]?.hash).toBe(hashOf(7));
  });

  it('has the prices, bar shapes and volumes of its pieces, as a plain computation gives them', () => {
    const history = market('plain');
    const { from, until } = spanOf([history]);
    const lengthMs = until - from;
    const last = (at: number): number => history.close[lastKnownRow(history, instant(at))] ?? Number.NaN;
    for (const index of [1, 2, 3, 4]) {
      const [tape] = drawn([history], index);
      const pieces = piecesOf(index, { lengthMs, grid: MINUTE_MS, resampling: drawing() });
      for (let row = 1; row < (tape?.rows ?? 0); row++) {
        const at = knownAt(history, row) - from;
        let price = last(from);
        for (const { target, source, lengthMs: length } of pieces) {
          if (target >= at) break;
          price *= last(from + source + Math.min(length, at - target)) / last(from + source);
        }
        expect(Math.abs((tape?.close[row] ?? 0) / price - 1)).toBeLessThan(1e-8);
        const piece = pieces.findLast(({ target }) => target < at);
        const there = instant(from + (piece?.source ?? 0) + at - (piece?.target ?? 0));
        const seen = lastKnownRow(history, there);
        const isBar = knownAt(history, seen) === there;
        const isWhole = knownAt(history, row - 1) - from > (piece?.target ?? 0) && knownAt(history, row - 1) === knownAt(history, row) - MINUTE_MS; // prettier-ignore
        if (!isWhole) continue;
        expect(tape?.volume[row]).toBe(isBar ? history.volume[seen] : 0);
        const shape = isBar ? (history.high[seen] ?? 0) / (history.close[seen] ?? 1) : 1;
        expect((tape?.high[row] ?? 0) / (tape?.close[row] ?? 1)).toBeCloseTo(shape, 7);
      }
    }
  });

  it('uses the same pieces for all pairs, so that their relation is kept', () => {
    const one = market('pair');
    const double = tapeOf({ pair: 'ethusd', barMs: one.barMs, columns: { times: one.times, open: one.open.map((p) => 2 * p), high: one.high.map((p) => 2 * p), low: one.low.map((p) => 2 * p), close: one.close.map((p) => 2 * p), volume: one.volume } }); // prettier-ignore
    const [a, b] = drawn([one, double], 3);
    for (let row = 0; row < one.rows; row++)
      expect(Math.abs((b?.close[row] ?? 0) / (a?.close[row] ?? 1) / 2 - 1)).toBeLessThan(1e-8);
  });

  it('starts blocks of days at any time of day if it is unanchored, and counts the possible starts', () => {
    const lengthMs = 10 * DAY_MS;
    const anchored = drawing({ blockMs: DAY_MS });
    const free = drawing({ blockMs: DAY_MS, isUnanchored: true });
    const hoursOf = (resampling: Resampling): ReadonlySet<number> =>
      new Set(Array.from({ length: 60 }, (_, index) => piecesOf(index, { lengthMs, grid: HOUR_MS, resampling })).flatMap((pieces) => pieces.map(({ target, source }) => (source - target + lengthMs) % DAY_MS))); // prettier-ignore
    expect([hoursOf(anchored).size, hoursOf(free).size]).toEqual([1, 24]);
    const tapes = [walkTape({ pair: 'btcusd', rows: 10 * 24 + 1, barMs: HOUR_MS })];
    const span = { from: START, until: instant(START + lengthMs) };
    expect(startsOf(tapes, span, anchored)).toEqual({ count: 10, unanchored: 240 });
    expect(startsOf(tapes, span, free)).toEqual({ count: 240, unanchored: 240 });
  });

  it('uses every instant of history equally often, and blocks of days at their time of day', () => {
    const lengthMs = 10 * DAY_MS;
    const hits = Array.from({ length: 240 }, () => 0);
    for (let index = 1; index <= 3_000; index++)
      for (const { source, lengthMs: length } of piecesOf(index, { lengthMs, grid: HOUR_MS, resampling: drawing({ blockMs: 7 * HOUR_MS }) })) // prettier-ignore
        for (let at = source; at < source + length; at += HOUR_MS) hits[at / HOUR_MS] = (hits[at / HOUR_MS] ?? 0) + 1; // prettier-ignore
    for (const count of hits) expect(Math.abs(count / 3_000 - 1)).toBeLessThan(0.15);
    for (let index = 1; index <= 50; index++) {
      const pieces = piecesOf(index, { lengthMs, grid: HOUR_MS, resampling: drawing({ blockMs: 2 * DAY_MS }) }); // prettier-ignore
      expect(pieces.reduce((sum, piece) => sum + piece.lengthMs, 0)).toBe(lengthMs);
      expect(pieces.filter(({ target, source }) => target % DAY_MS !== source % DAY_MS)).toEqual([]);
    }
  });

  it('uses every hour of a window that is not whole days, and can remove the mean return', () => {
    const hours = 4 * 24 + 23;
    const lengthMs = hours * HOUR_MS;
    const hits = Array.from({ length: hours }, () => 0);
    const resampling = drawing({ blockMs: DAY_MS });
    for (let index = 1; index <= 1_000; index++) {
      const pieces = piecesOf(index, { lengthMs, grid: HOUR_MS, resampling });
      expect(pieces.filter(({ target, source }) => target % DAY_MS !== source % DAY_MS)).toEqual([]);
      for (const { source, lengthMs: length } of pieces)
        for (let at = source; at < source + length; at += HOUR_MS) hits[at / HOUR_MS] = (hits[at / HOUR_MS] ?? 0) + 1; // prettier-ignore
    }
    // The first and the last hours are in the ring of every other resample, the others in that of each.
    for (const count of hits) expect(count).toBeGreaterThan(400);
    const closes = Array.from({ length: hours + 1 }, (_, n) =>
      n <= 96 ? 60_000 : 60_000 * 1.005 ** (n - 96),
    );
    const times = closes.map((_, n) => START + n * HOUR_MS);
    const tapes = [closesTape('btcusd', { barMs: HOUR_MS, times, closes })];
    const rises = (trend: Resampling['trend']): readonly number[] => {
      const resampler = new Resampler(tapes, spanOf(tapes), { ...resampling, trend });
      return Array.from({ length: 400 }, (_, i) => Math.log((resampler.tapes(i + 1)[0]?.close.at(-1) ?? 0) / 60_000)); // prettier-ignore
    };
    expect(new Set(rises('kept').map((rise) => rise.toFixed(6))).size).toBeGreaterThan(50);
    expect(Math.abs(meanOf(rises('removed')))).toBeLessThan(0.02);
  });

  it('keeps the mean and the covariance of returns within the length of the blocks', () => {
    const [rows, block] = [2_000, 20];
    let state = 0;
    const steps = Array.from({ length: rows }, (_, i) => (state = 0.6 * state + 0.001 * normalAt(5, 1, i)));
    let price = 100;
    const closes = [price, ...steps.map((step) => (price *= Math.exp(step)))];
    const times = closes.map((_, n) => START + n * MINUTE_MS);
    const tapes = [closesTape('btcusd', { barMs: MINUTE_MS, times, closes })];
    const resampler = new Resampler(tapes, spanOf(tapes), drawing({ blockMs: block * MINUTE_MS }));
    const all = Array.from({ length: 300 }, (_, i) => returnsOf(resampler.tapes(i + 1)[0] ?? market('none')));
    const mean = meanOf(steps);
    const covariance = (values: readonly number[], lag: number, isRing: boolean): number =>
      meanOf(values.slice(0, isRing ? undefined : values.length - lag).map((one, i) => (one - mean) * ((values[(i + lag) % values.length] ?? 0) - mean))); // prettier-ignore
    const variance = covariance(steps, 0, true);
    // The mean of 300 means: a hundredth of a standard deviation of a return is three of its own.
    expect(Math.abs(meanOf(all.map(meanOf)) - mean)).toBeLessThan(0.01 * Math.sqrt(variance));
    for (const lag of [0, 1, 2, 5, 10]) {
      // Of neighbours `lag` apart a share of lag / block is cut apart by a join.
      const expected = (1 - lag / block) * covariance(steps, lag, true);
      const found = meanOf(all.map((values) => covariance(values, lag, false)));
      expect(Math.abs(found - expected)).toBeLessThan(0.02 * variance);
    }
  });
});

/** The cost of buying in equal parts over a path, relative to its first price. */
const averageCost = (close: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < close.length; i++) sum += close[i] ?? 0;
  return sum / close.length / (close[0] ?? 1) - 1;
};

function pathOf(seed: number, rows: number, phi: number): Tape {
  let [state, price] = [0, 100];
  const closes = Array.from({ length: rows }, (_, i) => {
    state = phi * state + 0.001 * normalAt(seed, 2, i);
    return (price *= Math.exp(state));
  });
  return closesTape('btcusd', { barMs: MINUTE_MS, times: closes.map((_, n) => START + n * MINUTE_MS), closes }); // prettier-ignore
}

describe('a 90 % interval of costs', () => {
  it.each([
    ['a random walk', 0, 10, 'removed', [0.85, 0.95]],
    ['autocorrelated returns', 0.5, 25, 'removed', [0.83, 0.95]],
    // The mean of one window is mostly chance: the cost of another one lies outside more often. Of normal walks, 79 %.
    ['a random walk with its trend kept', 0, 10, 'kept', [0.72, 0.85]],
  ] as const)('contains the cost of another period of %s as often as docs/backtest.md states', { timeout: 300_000 }, (_, phi, block, trend, [least, most]) => {
    const trials = 200;
    let held = 0;
    for (let trial = 1; trial <= trials; trial++) {
      const tapes = [pathOf(trial, 400, phi)];
      const resampler = new Resampler(tapes, spanOf(tapes), drawing({ seed: `c ${trial}`, blockMs: block * MINUTE_MS, trend }));
      const costs = Array.from({ length: 60 }, (__, i) => averageCost(resampler.tapes(i + 1)[0]?.close ?? []));
      const { p5 = 0, p95 = 0 } = summaryOf(costs, 0.9) ?? {};
      const truth = averageCost(pathOf(trial + 10_000, 400, phi).close);
      if (truth >= p5 && truth <= p95) held++;
    }
    expect(held / trials).toBeGreaterThan(least);
    expect(held / trials).toBeLessThan(most);
  }); // prettier-ignore
});

describe('the summary of resamples', () => {
  it('matches figures counted by hand', () => {
    const values = Array.from({ length: 200 }, (_, i) => (i * 37) % 200);
    expect(summaryOf(values, 0.95)).toMatchObject({ count: 200, mean: expect.closeTo(99.5, 9) as number, median: 99.5, p5: 9, p95: 190, p25: 49, p75: 150, low: 4, high: 195 }); // prettier-ignore
    expect(summaryOf(values, 0.95)?.standardError).toBeCloseTo(Math.sqrt((200 * 201) / 12), 9);
    expect(summaryOf([1], 0.9)).toBeUndefined();
    expect(summaryOf([5, 5, 5], 0.9)).toMatchObject({ mean: 5, standardError: 0, p5: 5, p95: 5, low: 5, high: 5 }); // prettier-ignore
    expect(rankOf([1, 2, 2, 3], 2)).toBe(0.5);
    expect(() => {
      checkLevel(0.99, 100);
    }).toThrow('at least 200 resamples');
  });

  it('uses blocks of a suitable length: a day, ten bars, or a quarter of the window', () => {
    const minutes = [market('a')];
    expect(gridOf([...minutes, walkTape({ pair: 'ethusd', rows: 9, barMs: 90_000 })])).toBe(180_000);
    expect(blockFor(minutes, { from: START, until: instant(START + 30 * DAY_MS) })).toBe(DAY_MS);
    expect(blockFor(minutes, { from: START, until: instant(START + DAY_MS) })).toBe(6 * HOUR_MS);
    const days = [walkTape({ pair: 'btcusd', rows: 900, barMs: DAY_MS })];
    expect(blockFor(days, { from: START, until: instant(START + 900 * DAY_MS) })).toBe(10 * DAY_MS);
    const window = { from: START, until: instant(START + DAY_MS) };
    expect(() => { checkBlock(90_000, minutes, window); }).toThrow('a multiple of 60 s'); // prettier-ignore
    expect(() => { checkBlock(2 * DAY_MS, minutes, window); }).toThrow('longer than the window'); // prettier-ignore
  });
});
