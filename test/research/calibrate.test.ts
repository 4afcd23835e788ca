import { describe, expect, it } from 'vitest';
import { askedOf } from '../../src/research/calibrate/asks.ts';
import { isFitted } from '../../src/research/calibrate/fitted-setting.ts';
import type { FittedSetting, SettingName, Learnt } from '../../src/research/calibrate/fitted-setting.ts';
import { caveatsOf, learn } from '../../src/research/calibrate/learn.ts';
import {
  lineThrough,
  median,
  quantile,
  shareOf,
  weightedMedian,
} from '../../src/research/calibrate/robust.ts';
import { presetModel } from '../../src/research/run/model.ts';
import type { ExecutionModel } from '../../src/research/run/model.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import type { StoredRecord } from '../../src/core/record.ts';
import { normalAt, seededRandom } from '../../src/simulator/market/random.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { closesTape, stillTape } from './bench.ts';
import { journalUnder, randomModel, secondsOf } from './calibrate.ts';

const base = presetModel('normal');
const learnFrom = (records: readonly StoredRecord[], tapes: readonly Tape[] = []): readonly Learnt[] =>
  learn(askedOf(records), { base, tapes });
function fitted(learnt: readonly Learnt[], name: SettingName): FittedSetting {
  const found = learnt.filter(isFitted).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name}: ${JSON.stringify(learnt.find((one) => one.name === name))}`); // prettier-ignore
  return found;
}
const truthOf = (model: ExecutionModel): Readonly<Partial<Record<SettingName, number>>> => ({
  half_spread_bps: model.halfSpreadBps,
  impact_bps: model.impactBps,
  quote_life_ms: model.quoteLifeMs,
  quote_latency_ms: model.quoteLatencyMs,
  order_latency_ms: model.orderLatencyMs,
  fee_bps: model.feeBps,
  rejected_share: model.rejectedShare,
  unavailable_share: model.unavailableShare,
  unavailable_ms: model.unavailableMs,
});

describe('the robust estimators', () => {
  it('return the quantiles of examples counted by hand', () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([1, 2, 3, 4], 0.25)).toBe(1.75);
    expect(median([5]).value).toBe(5);
    // Ranks 41 and 60 of 100: 50 minus and plus 9.8, rounded up, by the normal approximation of the sign test.
    expect(median(Array.from({ length: 100 }, (_, i) => i + 1))).toEqual({ value: 50.5, low: 41, high: 60 });
    expect(weightedMedian([{ value: 1, weight: 1 }, { value: 9, weight: 1 }, { value: 5, weight: 3 }])).toBe(5); // prettier-ignore
  });

  it('return the Wilson interval of a share', () => {
    // 10 of 100, a published value: 0.0552 to 0.1744.
    const { low, high } = shareOf(10, 100);
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.0552', '0.1744']);
    expect(shareOf(0, 100)).toMatchObject({ value: 0, low: 0 });
    expect(shareOf(10, 100, 20).high).toBeGreaterThan(high);
  });

  it('fit the line through exact points although a third of the points are outliers', () => {
    const random = seededRandom('line');
    const points = Array.from({ length: 60 }, (_, i): [number, number] => [i, i % 3 === 0 ? 1e6 * (random.next() - 0.5) : 2 + 3 * i]); // prettier-ignore
    expect(lineThrough(points)).toMatchObject({ slope: { value: 3 } });
    expect(lineThrough([[1, 5], [1, 7]])).toBeUndefined(); // prettier-ignore
  });

  it('have intervals that contain the true value about as often as stated', () => {
    let [medians, slopes] = [0, 0];
    for (let trial = 0; trial < 300; trial++) {
      const noise = (i: number): number => normalAt(trial + 1, 3, i);
      const one = median(Array.from({ length: 60 }, (_, i) => 7 + noise(i)));
      if (one.low <= 7 && one.high >= 7) medians++;
      const line = lineThrough(Array.from({ length: 60 }, (_, i) => [(i % 12) + 1, 4 - 2 * ((i % 12) + 1) + noise(i)])); // prettier-ignore
      if (line !== undefined && line.slope.low <= -2 && line.slope.high >= -2) slopes++;
    }
    // 95 %: of 300 that is 285, with a standard deviation below 4.
    for (const held of [medians, slopes]) expect(held).toBeGreaterThan(272);
    for (const held of [medians, slopes]) expect(held).toBeLessThan(300);
  });
});

describe('calibration from a journal', () => {
  it.each(['a', 'b', 'c'])(
    'recovers the model under which the journal was written (%s)',
    { timeout: 300_000 },
    (seed) => {
      const model = randomModel(seed);
      const learnt = learnFrom(journalUnder(model, { seed, slices: 480 }));
      const truth = truthOf(model);
      const away = (name: SettingName): number =>
        Math.abs(fitted(learnt, name).value - (truth[name] ?? Number.NaN));
      for (const name of ['half_spread_bps', 'impact_bps', 'fee_bps'] as const)
        expect(away(name)).toBeLessThan(0.005);
      for (const name of ['quote_life_ms', 'quote_latency_ms', 'order_latency_ms'] as const)
      expect(fitted(learnt, name)).toMatchObject({ name, value: truth[name], low: truth[name], high: truth[name] }); // prettier-ignore
      for (const name of ['rejected_share', 'unavailable_share'] as const) {
        const { value, low, high, count } = fitted(learnt, name);
        // Five standard deviations of a share, for any seed; the bound shrinks with more observations.
        const of = truth[name] ?? 0;
        expect(away(name)).toBeLessThan(5 * Math.sqrt((of * (1 - of)) / (count / 4)) + 1e-9);
        expect([low, value, high].toSorted((x, y) => x - y)).toEqual([low, value, high]);
      }
      const maxima = learnt.filter(isFitted).filter(({ name }) => name === 'max_usd');
      for (const { pair, value } of maxima) expect([pair, value]).toEqual(['btcusd', Number(model.maxUsd)]);
    },
  );

  it('does not count price moves between the reference and the quote as spread', () => {
    const model = {
      halfSpreadBps: 6,
      impactBps: 20,
      quoteLatencyMs: 2_000,
      quoteLifeMs: 30_000,
      maxUsd: '10000000',
    };
    const tapes = secondsOf('m', 40_000, 0.0003);
    const learnt = learnFrom(journalUnder(model, { seed: 'm', slices: 90, tapes }));
    const [half, impact] = [fitted(learnt, 'half_spread_bps'), fitted(learnt, 'impact_bps')];
    expect(half.spread?.p75).toBeGreaterThan((half.spread?.p25 ?? 0) + 2);
    expect(half.low).toBeLessThanOrEqual(6);
    expect(half.high).toBeGreaterThanOrEqual(6);
    expect(impact.low).toBeLessThanOrEqual(20);
    expect(impact.high).toBeGreaterThanOrEqual(20);
  });

  it('distinguishes last look from rejections without a reason if prices are known', () => {
    const model = { halfSpreadBps: 1, lastLookBps: 6, rejectedShare: 0.1, quoteLifeMs: 30_000, quoteLatencyMs: 2_000, orderLatencyMs: 6_000, maxUsd: '10000000' }; // prettier-ignore
    const tapes = secondsOf('l', 60_000, 0.0004);
    const records = journalUnder(model, { seed: 'l3', slices: 230, everyMinutes: 4, tapes });
    const learnt = learnFrom(records, tapes);
    const threshold = fitted(learnt, 'last_look_bps');
    expect(threshold.low).toBeLessThanOrEqual(6);
    expect(threshold.high).toBeGreaterThanOrEqual(6);
    const share = fitted(learnt, 'rejected_share');
    expect(share.low).toBeLessThan(0.1);
    expect(share.high).toBeGreaterThan(0.1);

    const blind = learnFrom(records);
    expect(fitted(blind, 'last_look_bps').note).toContain('--data PAIR=FILE');
    expect(fitted(blind, 'rejected_share').value).toBeGreaterThan(share.value);

    // Refusals of orders without prices would count both as last look and as without a reason.
    const part = (first: number, last: number): readonly Tape[] =>
      tapes.map(({ times, close }) => closesTape('btcusd', { barMs: 1_000, times: [...times.subarray(first, last)], closes: [...close.subarray(first, last)] })); // prettier-ignore
    const halves = [part(0, 30_000), part(30_000, 60_000)].map((half) => fitted(learnFrom(records, half), 'rejected_share')); // prettier-ignore
    for (const { note } of halves) expect(note).toContain('orders are excluded');
    const refusals = halves.reduce((sum, { value, count }) => sum + Math.round(value * count), 0);
    expect(Math.abs(refusals - Math.round(share.value * share.count))).toBeLessThan(4);
    expect(Math.abs(halves.reduce((sum, { count }) => sum + count, 0) - share.count)).toBeLessThan(4);
    const few = learnFrom(records, part(40_000, 50_000));
    expect(few.find(({ name }) => name === 'rejected_share')).toMatchObject({ why: expect.stringContaining('at least 50') as string }); // prettier-ignore
    const before = secondsOf('l', 1_000, 0.0004).map(({ times, close }) =>
      closesTape('btcusd', { barMs: 1_000, times: [...times].map((at) => at - DAY_MS), closes: [...close] }),
    );
    expect(fitted(learnFrom(records, before), 'last_look_bps').note).toContain('--data PAIR=FILE');
  });

  it('estimates no setting from too few quotes, and no impact from similar sizes', () => {
    const few = learnFrom(journalUnder({}, { seed: 'few', slices: 8, tapes: [stillTape(70, 60_000)] }));
    expect(few.filter(isFitted).map(({ name }) => name)).toEqual(['quote_life_ms', 'fee_bps']);
    expect(few).toContainEqual({ name: 'half_spread_bps', why: '8 quotes: at least 20 are needed' });
    const records = journalUnder({ halfSpreadBps: 4, impactBps: 10 }, { seed: 'one', slices: 480 });
    const alike = records.filter(
      ({ body }) => !('client_order_id' in body) || body.client_order_id.length > 0,
    );
    const sizes = askedOf(alike).asks.filter(({ quote }) => quote !== undefined);
    const middle = Number(sizes[0]?.quote?.body.amount);
    const same = { ...askedOf(alike), asks: sizes.filter(({ quote }) => Math.abs(Number(quote?.body.amount) / middle - 1) < 0.4) }; // prettier-ignore
    const found = learn(same, { base });
    expect(JSON.stringify(found.find(({ name }) => name === 'impact_bps'))).toContain('too similar');
    expect(fitted(found, 'half_spread_bps').value).toBeCloseTo(4, 1);
  });

  it('does not use a dry run to estimate the results of orders', () => {
    const records = journalUnder({ feeBps: 0 }, { seed: 'dry', slices: 60, tapes: [stillTape(430, 60_000)] });
    const dry = records.map((record) => record.body.kind === 'started' ? { ...record, body: { ...record.body, mode: 'dry_run' } } : record); // prettier-ignore
    const learnt = learnFrom(dry);
    for (const name of ['order_latency_ms', 'fee_bps', 'rejected_share', 'last_look_bps'] as const)
      expect(learnt.find((one) => one.name === name && isFitted(one))).toBeUndefined();
    expect(isFitted(learnt.find(({ name }) => name === 'quote_latency_ms') ?? { name: 'fee_bps', why: '' })).toBe(true); // prettier-ignore
  });

  it('reads only the given window', () => {
    const records = journalUnder({}, { seed: 'w', slices: 40, tapes: [stillTape(300, 60_000)] });
    const all = askedOf(records);
    const cut = all.asks[20]?.at;
    const [before, after] = [askedOf(records, { until: cut }), askedOf(records, { since: cut })];
    expect(before.asks.length + after.asks.length).toBe(all.asks.length);
    expect(before.asks.length).toBe(20);
    expect(caveatsOf(all, learn(all, { base })).join(' ')).toContain('simulated venue');
  });
});
