import { describe, expect, it } from 'vitest';
import { parentId } from '../../src/core/ids.ts';
import type { RecordBody, StoredRecord, WakeRecord } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { bps, boughtFor, times, units, wideText } from './plain.ts';
import { MINUTE, NINE, aFill, aLife, aSlice, aStart, aWake, anEnd, anIntent, idOf, minutes, records, wanted } from './records.ts'; // prettier-ignore

/** Closes that are known from nine on, one minute apart. */
const CLOSES = [100, 102, 103.4, 105.1, 106, 107, 107];
const closeAt = (minute: number): bigint => units(String(CLOSES[minute]));

function made(from: readonly StoredRecord[], prices = [minutes('btcusd', CLOSES)]): Report {
  const currencies = (pair: string) => ({ base: pair.slice(0, 3), quote: pair.slice(3) });
  const report = reportOf(figuresOf(from, { version: 't', prices, currencies }));
  expect(reportSchema.parse(report)).toEqual(report);
  return report;
}

const slot = (slice: number, minute: number, size: string, leg = 'all') =>
  ({ leg, slice, due: after(NINE, minute * MINUTE), size }) as const;
/** The desk was down from nine on; the missed slots are recorded in the fourth minute. */
const passed = (
  missed: WakeRecord['missed'],
  over: Partial<WakeRecord> = {},
): readonly [number, RecordBody] => [
  4 * MINUTE,
  aWake({ detail: { due: NINE }, missed, reason: 'missed_slot', ...over }),
];
const pair = { pair: 'btcusd', side: 'buy' } as const;
const btc = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'btc' });

/** Expects all parts except opportunity to be zero, and opportunity to be the total. */
function expectOpportunity(parent: Report['parents'][number] | undefined, cost: bigint, paper: bigint): void {
  expect(parent).toMatchObject({ never_began: true, traded: '0', amount: '0', fees: '0', slices: [] });
  expect(parent?.costs).toMatchObject({ delay: '0', trading: '0', timing: '0', execution: '0', fees: '0' });
  expect(parent?.costs).toMatchObject({ opportunity: wideText(cost), total: wideText(cost), paper: wideText(paper) }); // prettier-ignore
  expect(parent?.costs?.bps?.total).toBe(bps(cost, paper));
}

describe('a parent without any attempt', () => {
  it.each(['buy', 'sell'] as const)(
    'costs the price move from its due time until its life ended: a %s',
    (side) => {
      const report = made(records(
      [0, aStart()],
      [0, aLife('twap', { ...pair, side, total_quantity: btc('3') })],
      passed([slot(0, 0, '1.25'), slot(1, 1, '1.75')], { finished: 'window_over' }),
    )); // prettier-ignore
      const sign = side === 'buy' ? 1n : -1n;
      const [parent] = report.parents;
      expect(parent).toMatchObject({
        planned: '3',
        open: false,
        due_at: '2026-12-01T09:00:00.000Z',
        missed: 2,
      });
      expectOpportunity(
        parent,
        sign * times(units('3'), closeAt(4) - closeAt(0)),
        times(units('3'), closeAt(0)),
      );
      // The cost of the passed slots explains a part of it, each from its own price.
      const slots =
        times(units('1.25'), closeAt(4) - closeAt(0)) + times(units('1.75'), closeAt(4) - closeAt(1));
      expect(parent?.passed_cost).toBe(wideText(sign * slots));
      expect(report.totals).toMatchObject([{ quote: 'usd', amount: '0', costs: { parents: 1, without_price: 0, total: parent?.costs?.total } }]); // prettier-ignore
      expect(report.warnings.join('\n')).toContain('1 of 1 parents never started');
      expect(report.warnings.join('\n')).not.toContain('found in the account');
    },
  );

  it('has the id that it would have had with an attempt', () => {
    const report = made(
      records(
        [0, aStart()],
        [0, aLife('twap', { ...pair, total_quantity: btc('3') })],
        passed([slot(0, 0, '3')]),
      ),
    );
    expect(report.parents.map(({ parent }) => parent)).toEqual([
      parentId('main', 'buyer', 'h', String(NINE), 'all'),
    ]);
  });

  it('has no cost while its window lasts, and starts as usual once a slice is decided', () => {
    const story = [
      [0, aStart()],
      [0, aLife('twap', { ...pair, total_quantity: btc('2') })],
      passed([slot(0, 0, '1')]),
    ] as const;
    const [open] = made(records(...story)).parents;
    expect(open?.open).toBe(true);
    expect(open?.costs).toMatchObject({ opportunity: '0', total: '0', paper: '0' });

    const begun = made(records(
      ...story,
      [5 * MINUTE, aWake({ intents: [wanted({ slice: 1, decision_price: '107' })] })],
      [5 * MINUTE, anIntent({ slice: 1, reference_price: '107' })],
      [5 * MINUTE + 20, aFill(5 * MINUTE + 20, { slice: 1, quantity: '1', price: '107', amount: '107' })],
      [5 * MINUTE + 20, anEnd(idOf('p', 1), 'filled')],
      [5 * MINUTE + 20, aSlice({ slice: 1 })],
    )); // prettier-ignore
    expect(begun.parents).toHaveLength(1);
    expect(begun.parents[0]).toMatchObject({ parent: 'p', missed: 1 });
    expect(begun.parents[0]?.never_began).toBeUndefined();
  });

  it('exists for each missed calendar time until the miss is recorded, and values an amount at the due price', () => {
    const legs = ['2026-12-01T09:00:00.000Z', '2026-12-01T09:01:00.000Z'];
    const report = made(records(
      [0, aStart()],
      [0, aLife('recurring', { ...pair, each_notional: { amount: '1000', currency: 'usd' } })],
      passed(legs.map((leg, i) => slot(0, i, '1000', leg)), { reason: 'missed_slot' }),
      [6 * MINUTE, aWake({ finished: 'window_over' })],
    )); // prettier-ignore
    expect(report.parents.map(({ leg, open }) => [leg, open])).toEqual(legs.map((leg) => [leg, false]));
    for (const [i, parent] of report.parents.entries()) {
      const bought = boughtFor(units('1000'), closeAt(i));
      expectOpportunity(parent, times(bought, closeAt(4) - closeAt(i)), times(bought, closeAt(i)));
    }
  });

  it('exists for each missed calendar time from that time on, even if the journal contains only the time', () => {
    const legs = ['2026-12-01T09:00:00.000Z', '2026-12-01T09:01:00.000Z'];
    const missed = legs.map((leg) => ({ leg, slice: 0 }));
    // A desk that returns while the calendar is closed records all missed times with the reason of the last one.
    for (const reason of ['missed_slot', 'blackout'] as const) {
      const report = made(records(
        [0, aStart()],
        [0, aLife('recurring', { ...pair, each_quantity: btc('2') })],
        passed(missed, { reason }),
        [6 * MINUTE, aWake({ finished: 'window_over' })],
      )); // prettier-ignore
      expect(report.parents.map(({ due_at: due }) => due)).toEqual(legs);
      for (const [i, parent] of report.parents.entries())
        expectOpportunity(parent, times(units('2'), closeAt(4) - closeAt(i)), times(units('2'), closeAt(i)));
    }
  });

  it('does not exist for a calendar time that is made up for, which is late from its own time on', () => {
    const [passedBy, leg] = ['2026-12-01T09:00:00.000Z', '2026-12-01T09:02:00.000Z'];
    const report = made(records(
      [0, aStart()],
      [0, aLife('recurring', { ...pair, each_quantity: btc('1') })],
      passed([{ leg: passedBy, slice: 0 }], { reason: 'missed_slot', intents: [wanted({ leg, decision_price: '106' })] }),
      [4 * MINUTE, anIntent({ reference_price: '106' })],
      [4 * MINUTE + 20, aFill(4 * MINUTE + 20, { quantity: '1', price: '106', amount: '106' })],
      [4 * MINUTE + 20, anEnd(idOf('p', 0), 'filled')],
      [4 * MINUTE + 20, aSlice({ leg })],
    )); // prettier-ignore
    const [missed, late] = report.parents.toSorted((a, b) => a.due_at.localeCompare(b.due_at));
    expect([missed?.due_at, late?.due_at]).toEqual([passedBy, leg]);
    expect(late?.costs?.delay).toBe(wideText(times(units('1'), closeAt(4) - closeAt(2))));
    expectOpportunity(missed, times(units('1'), closeAt(4) - closeAt(0)), times(units('1'), closeAt(0)));
  });

  it('does not exist for a time at which the calendar was closed', () => {
    const leg = '2026-12-01T09:00:00.000Z';
    const report = made(records(
      [0, aStart()],
      [0, aLife('recurring', { ...pair, each_quantity: btc('1') })],
      passed([slot(0, 0, '1', leg)], { reason: 'blackout' }),
    )); // prettier-ignore
    expect(report.parents).toEqual([]);
  });

  it('exists for a rebalancing trade that never started, from its decision until it was dropped', () => {
    const decided = (leg: string, side: string) => ({
      leg,
      pair: 'btcusd',
      side,
      quantity: '0.5',
      ended: false,
    });
    const legs = [decided('1.btcusd.buy', 'buy')];
    const report = made(records(
      [0, aStart()],
      [0, aLife('rebalance', {})],
      [MINUTE, aWake({ on: 'drift', state: { decisions: 1, legs } })],
      [2 * MINUTE, aWake({ on: 'outcome', state: { decisions: 1, legs } })],
      [3 * MINUTE, aWake({ on: 'outcome', state: { decisions: 1, legs: [] } })],
      [5 * MINUTE, aWake({ on: 'drift', state: { decisions: 1, legs: [] } })],
    )); // prettier-ignore
    expect(report.parents).toHaveLength(1);
    expectOpportunity(
      report.parents[0],
      times(units('0.5'), closeAt(3) - closeAt(1)),
      times(units('0.5'), closeAt(1)),
    );
  });

  it('counts without a cost if its price is unknown, and not at all if its size is unknown', () => {
    const story = (document: object): readonly StoredRecord[] =>
      records(
        [0, aStart()],
        [0, aLife('twap', { ...pair, ...document })],
        passed([{ leg: 'all', slice: 0 }]),
      );
    const blind = made(story({ total_quantity: btc('3') }), []);
    expect(blind.parents[0]?.costs).toBeUndefined();
    expect(blind.totals[0]?.costs).toMatchObject({ parents: 1, without_price: 1, total: '0' });
    expect(made(story({})).parents).toEqual([]);
  });
});
