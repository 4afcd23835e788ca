import { describe, expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { spreadOf } from '../../src/report/figures/quoting.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { MINUTE, NINE, aFill, aLife, aQuote, aSlice, aStart, aWake, anEnd, anIntent, idOf, minutes, records, wanted } from './records.ts'; // prettier-ignore
import { bps, meanText, times, units, wide } from './plain.ts';

const CLOSES = [100, 101, 102, 104, 103, 105, 106];

/** Two fills after attempts without a trade, and one order whose outcome is unknown. */
const STORY = records(
  [0, aStart()],
  [0, aLife('twap', { total_quantity: { amount: '3', currency: 'btc' } })],
  [0, aWake({ intents: [wanted()] })],
  [0, anIntent()],
  [5, anEnd(idOf('p', 0), 'discarded', 'quotes_unavailable')],
  [10, anIntent({ attempt: 1 })],
  [15, anEnd(idOf('p', 0, 1), 'discarded', 'quote_too_short')],
  [20, anIntent({ attempt: 2, reference_price: '100.5' })],
  [25, aQuote(idOf('p', 0, 2), 5, 8_000)],
  [30, aFill(30, { attempt: 2, quantity: '1', price: '100.7', amount: '100.7' })],
  [30, anEnd(idOf('p', 0, 2), 'filled')],
  [30, aSlice()],
  [MINUTE, aWake({ intents: [wanted({ slice: 1, decision_price: '101' })] })],
  [MINUTE, anIntent({ slice: 1, reference_price: '101' })],
  [MINUTE + 5, aQuote(idOf('p', 1), 9)],
  [MINUTE + 10, anEnd(idOf('p', 1), 'rejected', 'order_canceled')],
  [MINUTE + 20, anIntent({ slice: 1, attempt: 1, reference_price: '101' })],
  [MINUTE + 25, aQuote(idOf('p', 1, 1), 40)],
  [MINUTE + 26, anEnd(idOf('p', 1, 1), 'doubt', 'outcome_unknown')],
  [2 * MINUTE, aFill(MINUTE + 30, { slice: 1, attempt: 1, quantity: '0.5', price: '101.4', amount: '50.7', source: 'transactions' })], // prettier-ignore
  [2 * MINUTE, anEnd(idOf('p', 1, 1), 'filled')],
  [2 * MINUTE, aSlice({ slice: 1, filled: '0.5', filled_amount: '50.7', reason: 'no_funds' })],
  [3 * MINUTE, aWake({ intents: [wanted({ slice: 2, decision_price: '104' })] })],
  [3 * MINUTE, anIntent({ slice: 2, reference_price: '104' })],
  [3 * MINUTE + 5, aQuote(idOf('p', 2), 7)],
  [3 * MINUTE + 10, anEnd(idOf('p', 2), 'doubt', 'outcome_unknown')],
);
const report = (closes?: readonly number[]): Report =>
  reportOf(
    figuresOf(STORY, {
      version: 't',
      ...(closes === undefined ? {} : { prices: [minutes('btcusd', closes)] }),
    }),
  );

describe('the quotes of a report', () => {
  it('are counted from request to fill, and each ratio has its own base', () => {
    const { quoting } = report();
    expect(quoting).toMatchObject({
      requests: 6,
      quotes: 5, // all but the one that the venue did not give
      orders: 4,
      fills: 2,
      rejected: 1,
      doubts: 2,
      open: 1,
      expired: 1,
      response_ratio: 0.833333,
      hit_ratio: 0.4,
      accept_ratio: 0.8,
      fill_ratio: 0.666667, // two of three: what became of the fourth is not known
      expiry_miss_ratio: 0.2,
      attempts_per_fill: 3,
      quote_age_ms: { count: 4, mean: 15.25, median: 7, p95: 40, max: 40 },
    });
    expect(quoting.refusals).toEqual([
      { reason: 'order_canceled', attempts: 1 },
      { reason: 'outcome_unknown', attempts: 1 },
      { reason: 'quote_too_short', attempts: 1 },
      { reason: 'quotes_unavailable', attempts: 1 },
    ]);
  });

  it('lead to warnings about unknown outcomes and fills that were proven late', () => {
    const warnings = report().warnings.join('\n');
    expect(warnings).toContain('1 order has an unknown outcome');
    expect(warnings).toMatch(/Only \d fills: with so few fills, spread, mark-outs and ages/u);
    expect(warnings).toContain('1 fill was proven by the account');
  });

  it('do not include quotes that differ from the request', () => {
    const { quoting } = reportOf(
      figuresOf(
        records(
          [0, aWake({ intents: [wanted()] })],
          [0, anIntent()],
          [5, anEnd(idOf('p', 0), 'discarded', 'quote_invalid')],
          [10, anIntent({ attempt: 1 })],
          [15, anEnd(idOf('p', 0, 1), 'discarded', 'collar')],
        ),
        { version: 't' },
      ),
    );
    expect(quoting).toMatchObject({
      requests: 2,
      quotes: 1,
      orders: 0,
      hit_ratio: 0,
      accept_ratio: 0,
      response_ratio: 0.5,
    });
    expect(quoting.fill_ratio).toBeUndefined();
  });

  it('have percentiles by the nearest rank', () => {
    expect(spreadOf([])).toBeUndefined();
    expect(spreadOf([3])).toEqual({ count: 1, mean: 3, median: 3, p95: 3, max: 3 });
    const many = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(spreadOf(many)).toEqual({ count: 100, mean: 50.5, median: 50, p95: 95, max: 100 });
  });
});

describe('the fills of a report', () => {
  it('have a spread against the reference price of their attempt, weighted by notional', () => {
    const [group] = report().groups;
    const over = wide(units('100.7') + units('50.7')) - times(units('1'), units('100.5')) - times(units('0.5'), units('101')); // prettier-ignore
    const at = times(units('1'), units('100.5')) + times(units('0.5'), units('101'));
    expect(group?.fills.spread_bps).toBe(bps(over, at));
    expect(group?.fills.spread_bps_of_fills).toMatchObject({ count: 2, median: 19.9005, max: 39.604 });
  });

  it('are marked to the last price known 1, 5 and 30 minutes later, and omitted if there is none', () => {
    const [group] = report(CLOSES).groups;
    // A minute after 09:00:00.030 the close of 09:01 is known, and after 09:01:30 that of 09:02.
    const one = times(units('1'), units('101')) - wide(units('100.7')) + times(units('0.5'), units('102')) - wide(units('50.7')); // prettier-ignore
    const five = times(units('1'), units('105')) - wide(units('100.7')) + times(units('0.5'), units('106')) - wide(units('50.7')); // prettier-ignore
    const paid = wide(units('151.4'));
    expect(group?.fills.mark_outs).toEqual([
      { minutes: 1, fills: 2, bps: bps(one, paid) },
      { minutes: 5, fills: 2, bps: bps(five, paid) },
      { minutes: 30, fills: 0 },
      { minutes: 60, fills: 0 },
      { minutes: 1_440, fills: 0 },
    ]);
    expect(report().groups[0]?.fills.mark_outs).toEqual(
      [1, 5, 30, 60, 1_440].map((m) => ({ minutes: m, fills: 0 })),
    );
  });
});

describe('a mark-out', () => {
  const fillsWith = (tape: ReturnType<typeof minutes>): readonly (readonly [number, number])[] =>
    reportOf(figuresOf(STORY, { version: 't', prices: [tape] })).groups[0]?.fills.mark_outs.map(
      ({ minutes: after1, fills }) => [after1, fills] as const,
    ) ?? [];

  it('is omitted if no price is newer than the fill', () => {
    // Nothing is known after 09:01 until 09:10: five minutes after either fill the price is from before the second.
    const tape = minutes('btcusd', [100, 101, 102]);
    const shifted = Float64Array.from([NINE - MINUTE, NINE, NINE + 9 * MINUTE]);
    expect(fillsWith({ ...tape, times: shifted })).toEqual([[1, 1], [5, 1], [30, 0], [60, 0], [1_440, 0]]); // prettier-ignore
  });

  it('is omitted if the bars are longer than its time', () => {
    const tape = minutes('btcusd', [100, 101, 102, 103]);
    const shifted = Float64Array.from([0, 1, 2, 3], (i) => NINE + (i * 5 - 9.5) * MINUTE);
    // A bar ends half a minute after the first fill, which is not the price one minute after it.
    expect(fillsWith({ ...tape, barMs: 5 * MINUTE, times: shifted })).toEqual([[1, 0], [5, 2], [30, 0], [60, 0], [1_440, 0]]); // prettier-ignore
  });
});

describe('the benchmarks of a report', () => {
  it('are the mean over time and the mean over volume in the interval', () => {
    const [parent] = report(CLOSES).parents;
    // From nine until the last record, three minutes and ten milliseconds later.
    const length = 3 * MINUTE + 10;
    const twap = meanText(100 * MINUTE + 101 * MINUTE + 102 * MINUTE + 104 * 10, length);
    // The bars that ended in it, each at the mean of high (close + 3), low and close.
    const vwap = meanText(101 + 1 + (102 + 1) + (104 + 1), 3);
    expect(parent?.twap?.price).toBe(twap);
    expect(parent?.vwap?.price).toBe(vwap);
    const paid = wide(units('151.4'));
    expect(parent?.twap?.slippage_bps).toBe(
      bps(paid - times(units('1.5'), units(twap)), times(units('1.5'), units(twap))),
    );
    expect(report(CLOSES).groups[0]?.twap_slippage_bps).toBe(parent?.twap?.slippage_bps);
  });

  it('are omitted without prices, and if the prices do not cover the interval', () => {
    expect(report().parents[0]?.twap).toBeUndefined();
    expect(report().warnings.join('\n')).toContain('No market history of btcusd');
    const late = minutes('btcusd', CLOSES);
    const shifted = { ...late, times: late.times.map((at) => at + 60 * MINUTE) };
    const made = reportOf(figuresOf(STORY, { version: 't', prices: [shifted] }));
    expect(made.parents[0]?.twap).toBeUndefined();
    expect(made.warnings.join('\n')).toContain('does not cover 1 of its 1 parents');
  });
});

describe('the reasons why nothing was traded', () => {
  it('are counted by strategy and reason, with the note of the latest occurrence', () => {
    const looked = (ms: number, note: string): readonly [number, RecordBody] => [
      ms,
      aWake({ reason: 'inside_band', note }),
    ];
    const made = reportOf(
      figuresOf(
        records(looked(0, 'btc 0.1 %'), looked(5, 'btc 0.2 %'), [
          9,
          aWake({ reason: 'missed_slot', missed: [{ leg: 'all', slice: 0 }, { leg: 'all', slice: 1 }] }), // prettier-ignore
        ]),
        { version: 't' },
      ),
    );
    expect(made.untraded).toMatchObject([
      { reason: 'missed_slot', slices: 2, looks: 0 },
      { reason: 'inside_band', slices: 0, looks: 2, detail: 'btc 0.2 %', first: '2026-12-01T09:00:00.000Z' },
    ]);
    expect(made.warnings).toEqual(['No parent started in this period: there is nothing to report.']);
  });
});
