import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBody, StoredRecord, WakeRecord } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import type { ReportInput } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { MINUTE, NINE, aFill, aLife, aSlice, aStart, aWake, anEnd, anIntent, idOf, minutes, records, wanted } from './records.ts'; // prettier-ignore
import { boughtFor, bps, times, units, wide, wideText } from './plain.ts';

function made(from: readonly StoredRecord[], input: Partial<ReportInput> = {}): Report {
  const report = reportOf(figuresOf(from, { version: 't', ...input }));
  expect(reportSchema.parse(report)).toEqual(report);
  return report;
}
const parentIn = (report: Report, at = 0): Report['parents'][number] => {
  const parent = report.parents[at];
  if (parent === undefined) throw new Error('no such parent');
  return parent;
};

const traded = (
  ms: number,
  slice: number,
  over: Parameters<typeof aFill>[1] & { reference?: string } = {},
): readonly (readonly [number, RecordBody])[] => {
  const { reference = '100', ...fill } = over;
  return [
    [ms, anIntent({ slice, reference_price: reference, side: fill.side ?? 'buy' })],
    [ms + 20, aFill(ms + 20, { slice, ...fill })],
    [ms + 20, anEnd(idOf('p', slice), 'filled')],
  ];
};

/** Buys 3 in three slices, begun two minutes late, gets 1 and 0.5, and ends with 1.5 untraded. */
const LATE = records(
  [0, aStart()],
  [0, aLife('twap', { total_quantity: { amount: '3', currency: 'btc' } })],
  [
    2 * MINUTE,
    aWake({
      detail: { due: NINE },
      intents: [wanted({ slice: 1, decision_price: '103.5' })],
      missed: [{ leg: 'all', slice: 0 }],
      reason: 'missed_slot',
    }),
  ],
  ...traded(2 * MINUTE, 1, { quantity: '1', price: '104.01', amount: '104.01', fees: '0.21' }),
  [2 * MINUTE + 20, aSlice({ slice: 1 })],
  [3 * MINUTE, aWake({ intents: [wanted({ slice: 2, size: '2', decision_price: '105' })] })],
  ...traded(3 * MINUTE, 2, { quantity: '0.5', price: '105.2', amount: '52.6', fees: '0.11' }),
  [4 * MINUTE, aSlice({ slice: 2, reason: 'collar', detail: 'x', filled: '0.5', filled_amount: '52.6' })],
  [5 * MINUTE, aWake({ on: 'outcome', finished: 'window_over', reason: 'window_over' })],
);
/** Closes known from nine on: 100 at nine, 103.4 two minutes later, 107 at the end. */
const CLOSES = [100, 102, 103.4, 105.1, 106, 107, 107];

describe('the shortfall of a parent', () => {
  it('is delay, trading, opportunity and fees, to the last digit, with the slot price as decision price', () => {
    const {
      costs,
      planned,
      decision,
      arrival_price: arrival,
      end,
    } = parentIn(made(LATE, { prices: [minutes('btcusd', CLOSES)] }));
    const [q, f, pd, pa, pe] = [units('3'), units('1.5'), units('100'), units('103.5'), units('107')];
    const paid = units('104.01') + units('52.6');
    expect({ planned, decision, arrival, end }).toEqual({
      planned: '3',
      decision: { price: '100', at: '2026-12-01T09:00:00.000Z', from: 'prices' },
      arrival: '103.5',
      end: { price: '107', at: '2026-12-01T09:05:00.000Z', from: 'prices' },
    });
    const delay = times(q, pa - pd);
    const trading = wide(paid) - times(f, pa);
    const opportunity = times(q - f, pe - pa);
    const fees = wide(units('0.32'));
    const total = wide(paid) - times(f, pd) + times(q - f, pe - pd) + fees;
    expect(delay + trading + opportunity + fees).toBe(total);
    expect(costs).toMatchObject({
      paper: '300',
      delay: wideText(delay),
      trading: wideText(trading),
      opportunity: wideText(opportunity),
      fees: '0.32',
      total: wideText(total),
      bps: { total: bps(total, times(q, pd)), delay: bps(delay, times(q, pd)) },
      arrival_slippage_bps: bps(trading, times(f, pa)),
      all_in_bps: bps(trading + fees, times(f, pa)),
    });
    expect(wideText(total)).toBe('17.43');
  });

  it('splits trading into the price move up to each slice and the cost of the slices beyond it', () => {
    const { costs, slices } = parentIn(made(LATE));
    const timing = times(units('0.5'), units('1.5'));
    expect(costs?.timing).toBe(wideText(timing));
    expect(costs?.execution).toBe(wideText(wide(units('0.51') + units('0.1'))));
    expect(slices.map(({ slice, cost, timing: own, execution }) => [slice, cost, own, execution])).toEqual([
      [1, '0.51', '0', '0.51'],
      [2, '0.85', '0.75', '0.1'],
    ]);
  });

  it('ends when its strategy finished, whatever the journal contains after that', () => {
    const later = records([0, aStart()]).map((record) => ({ ...record, at: after(NINE, 60 * MINUTE) }));
    const parent = parentIn(made([...LATE, ...later], { prices: [minutes('btcusd', CLOSES)] }));
    expect(parent).toMatchObject({
      open: false,
      ended_at: '2026-12-01T09:05:00.000Z',
      end: { price: '107' },
    });
  });

  it('values the untraded part at the end of the window of the document, however it was sliced', () => {
    const parentOf = (slices: number, end?: number): Report['parents'][number] => {
      const gap = 6 / slices;
      const story = records(
        [0, aLife('twap', { total_quantity: { amount: '3', currency: 'btc' }, duration: 'PT6M', slices })],
        ...Array.from({ length: slices }, (_, slice): readonly (readonly [number, RecordBody])[] => [
          [slice * gap * MINUTE, aWake({ intents: [wanted({ slice, decision_price: '100' })] })],
          [slice * gap * MINUTE + 20, aSlice({ slice, result: 'expired', reason: 'limit_price' })],
        ]).flat(),
        [(slices - 1) * gap * MINUTE + 20, aWake({ on: 'outcome', finished: 'window_over' })],
      );
      const until = end === undefined ? {} : { end: after(NINE, end * MINUTE) };
      return parentIn(made(story, { prices: [minutes('btcusd', CLOSES)], ...until }));
    };
    const found = [1, 2, 3, 6].map((slices) => parentOf(slices, 6));
    for (const { costs, end, window } of found) {
      expect(window).toEqual({ from: '2026-12-01T09:00:00.000Z', until: '2026-12-01T09:06:00.000Z' });
      expect(end).toMatchObject({ price: '107', at: '2026-12-01T09:06:00.000Z' });
      expect(costs).toMatchObject({ opportunity: '21', total: '21' });
    }
    // The window ends with the records or the stated end, if that is earlier.
    expect(parentOf(3, 5).window.until).toBe('2026-12-01T09:05:00.000Z');
    expect(parentOf(3).window.until).toBe('2026-12-01T09:04:00.020Z');
  });

  it('compares a parent that traded early with the prices of its whole window', () => {
    const story = records(
      [0, aLife('twap', { total_quantity: { amount: '1', currency: 'btc' }, duration: 'PT4M', slices: 1 })],
      [0, aWake({ intents: [wanted()] })],
      ...traded(0, 0),
      [20, aSlice()],
      [20, aWake({ on: 'outcome', finished: 'finished' })],
    );
    const report = made(story, { prices: [minutes('btcusd', CLOSES)], end: after(NINE, 6 * MINUTE) });
    const { twap, vwap, costs } = parentIn(report);
    expect(report.assumptions.join('\n')).toContain('Benchmarks are means over the window of a parent');
    expect(twap?.price).toBe(String((100 + 102 + 103.4 + 105.1) / 4));
    expect(Number(vwap?.price)).toBeGreaterThan(102);
    expect(costs?.opportunity).toBe('0');
  });

  it('counts a fill once if it was recorded twice', () => {
    const fill = LATE.find(({ body }) => body.kind === 'fill');
    expect(fill).toBeDefined();
    const twice = LATE.flatMap((record) => (record === fill ? [record, record] : [record]));
    expect(made(twice).totals).toEqual(made(LATE).totals);
  });

  it('has no delay if the slot price is unknown, and uses the last known price as its end', () => {
    const { costs, decision, end } = parentIn(made(LATE));
    expect(decision).toMatchObject({ price: '103.5', from: 'journal' });
    expect(end).toMatchObject({ price: '100', from: 'journal' }); // the reference price of the last attempt
    expect(costs).toMatchObject({ delay: '0', opportunity: wideText(times(units('1.5'), units('-3.5'))) });
  });

  it('counts a lower price as a cost for a sale', () => {
    const sold = records(
      [0, aLife('twap', { total_quantity: { amount: '1', currency: 'btc' } })],
      [0, aWake({ intents: [wanted({ side: 'sell' })] })],
      ...traded(0, 0, { side: 'sell', price: '99', amount: '99', fees: '0.5' }),
      [20, aSlice()],
    );
    expect(parentIn(made(sold)).costs).toMatchObject({
      trading: '1',
      opportunity: '0',
      total: '1.5',
      bps: { trading: '100.0000', total: '150.0000' },
    });
  });

  it('converts an unspent amount into the quantity that it would have bought at the decision', () => {
    const spent = records(
      [0, aLife('recurring', { each_notional: { amount: '1000', currency: 'usd' } })],
      [0, aWake({ intents: [wanted({ leg: '2026-12-01T09:00:00.000Z', by: 'amount', size: '1000', decision_price: '7' })] })], // prettier-ignore
      ...traded(0, 0, { quantity: '50', price: '7.1', amount: '355', reference: '7' }),
      [MINUTE, aSlice({ leg: '2026-12-01T09:00:00.000Z', filled: '50', filled_amount: '355' })],
    );
    const { planned, costs, open } = parentIn(made(spent));
    const left = boughtFor(units('645'), units('7'));
    expect(open).toBe(false);
    expect(planned).toBe(wideText(wide(units('50') + left)));
    expect(costs).toMatchObject({ trading: '5', opportunity: '0', total: '5' });
  });

  it('measures the buys of a rebalancing from the decision that they share with its sells', () => {
    const legs = [
      { leg: '1.ethusd.sell', quantity: '2' },
      { leg: '1.btcusd.buy', quantity: '1' },
    ];
    const report = made(
      records(
        [0, aLife('rebalance', {})],
        [0, aWake({ on: 'drift', state: { decisions: 1, legs } })],
        [2 * MINUTE, aWake({ on: 'outcome', state: { decisions: 1, legs }, intents: [wanted({ leg: '1.btcusd.buy', size: '0.9', decision_price: '103' })] })], // prettier-ignore
        ...traded(2 * MINUTE, 0, { quantity: '0.9', amount: '93.6', price: '104' }),
        [2 * MINUTE + 30, aSlice({ leg: '1.btcusd.buy' })],
      ),
      { prices: [minutes('btcusd', CLOSES)] },
    );
    // Decided at 100 and started at 103: a delay of 3 for the whole size. The part that was cut is untraded.
    expect(parentIn(report)).toMatchObject({ planned: '1', due_at: '2026-12-01T09:00:00.000Z', open: false });
    expect(parentIn(report).costs).toMatchObject({ delay: '3', trading: '0.9', opportunity: '0.04' });
  });

  it('uses only the slots and sizes of its own life if the earlier life of a restored text had open legs', () => {
    const life = (at: number, hash: string, parent: string, size: string): ReturnType<typeof traded> => {
      const [leg, later] = ['1.btcusd.buy', at + MINUTE];
      const state = { decisions: 1, legs: [{ leg, quantity: size }] };
      const missed = [{ leg, slice: 0 }];
      return [
        [at, { ...aLife('rebalance', {}), hash, begun_at: after(NINE, at) } as RecordBody],
        [at, aWake({ hash, state, missed, reason: 'missed_slot' })],
        [later, aWake({ hash, state, intents: [wanted({ parent, leg, size, slice: 1 })] })],
        [later, anIntent({ parent, size, slice: 1 })],
        [later + 20, aFill(later + 20, { parent, slice: 1, quantity: size })],
        [later + 20, anEnd(idOf(parent, 1), 'filled')],
        [later + 20, aSlice({ parent, leg, slice: 1 })],
      ];
    };
    const all = [
      ...life(0, 'A', 'p', '1'),
      ...life(2 * MINUTE, 'B', 'q', '2'),
      ...life(4 * MINUTE, 'A', 'r', '5'),
    ];
    const { parents } = made(records(...all));
    expect(parents.map((one) => [one.planned, one.due_at, one.missed])).toEqual([
      ['1', '2026-12-01T09:00:00.000Z', 1],
      ['2', '2026-12-01T09:02:00.000Z', 1],
      ['5', '2026-12-01T09:04:00.000Z', 1],
    ]);
  });

  it('is omitted without an arrival price, with a warning', () => {
    const blind = records([0, aWake({ intents: [wanted({ decision_price: undefined })] })], ...traded(0, 0), [
      20,
      aSlice(),
    ]);
    const report = made(blind);
    expect(parentIn(report).costs).toBeUndefined();
    expect(report.totals[0]?.costs).toMatchObject({ parents: 1, without_price: 1, total: '0' });
    expect(report.warnings.join('\n')).toContain('1 of 1 parents have no arrival price');
    // A tape supplies the price that the desk did not have.
    const told = made(blind, { prices: [minutes('btcusd', CLOSES)] });
    expect(parentIn(told)).toMatchObject({ arrival_price: '100', decision: { from: 'prices' } });
    // Missed slices and passed slots are omitted as well, even if prices are known later.
    const missed = [{ leg: 'all', slice: 1, due: after(NINE, MINUTE), size: '1' }];
    const later = records(
      [0, aWake({ intents: [wanted({ decision_price: undefined })] })],
      [20, aSlice({ result: 'expired', reason: 'no_reference' })],
      [2 * MINUTE, aWake({ missed, reason: 'missed_slot', intents: [wanted({ slice: 2, decision_price: '100' })] })],
      [3 * MINUTE, aSlice({ slice: 2, result: 'expired', reason: 'limit_price' })],
      [3 * MINUTE, aWake({ intents: [wanted({ slice: 3, decision_price: '103' })] })],
      ...traded(3 * MINUTE, 3, { price: '104', amount: '104' }),
      [3 * MINUTE + 20, aSlice({ slice: 3 })],
    ); // prettier-ignore
    const unpriced = made(later, { prices: [minutes('btcusd', CLOSES)].map((tape) => ({ ...tape, times: tape.times.map((at) => at + MINUTE) })) }); // prettier-ignore
    expect(unpriced.totals[0]?.costs).toMatchObject({ without_price: 1, missed_slices: 0, missed_cost: '0', passed_slots: 1, passed_without_price: 1, passed_cost: '0' }); // prettier-ignore
  });

  it('has no opportunity cost of what an open parent has not traded yet, with a warning', () => {
    const open = records(
      [0, aLife('twap', { total_quantity: { amount: '2', currency: 'btc' } })],
      [0, aWake({ intents: [wanted()] })],
      ...traded(0, 0),
      [20, aSlice()],
      [MINUTE, aWake({ intents: [wanted({ slice: 1, decision_price: '110' })] })],
    );
    const report = made(open);
    expect(parentIn(report)).toMatchObject({
      open: true,
      planned: '2',
      costs: { paper: '100', opportunity: '0' },
    });
    expect(parentIn(report).end).toBeUndefined();
    expect(report.warnings.join('\n')).toContain('1 of 1 parents are still running');
    const over = made([...open, ...records([MINUTE, aWake({ finished: 'finished' })])]);
    expect(parentIn(over)).toMatchObject({ open: false, costs: { paper: '200', opportunity: '10' } });
  });

  it('uses the figures of the account if they differ from the booked ones', () => {
    const report = made([
      ...records(
        [0, aLife('twap', { total_quantity: { amount: '1', currency: 'btc' } })],
        [0, aWake({ intents: [wanted()] })],
        ...traded(0, 0),
        [20, aSlice()],
        [
          MINUTE,
          { kind: 'correction', client_order_id: idOf('p', 0), order_id: '1', quantity: '1', price: '101.5', amount: '101.5', fees: '0.25', was_quantity: '1', was_amount: '101', was_fees: '0', rows: [] }, // prettier-ignore
        ],
      ),
    ]);
    expect(report.totals).toMatchObject([{ quote: 'usd', amount: '101.5', fees: '0.25' }]);
    expect(parentIn(report).costs?.total).toBe('1.75');
    expect(report.made_from.corrections).toBe(1);
  });

  it('counts the later cost of slots that passed without an attempt, at the next fill or at the end', () => {
    const story = (side: 'buy' | 'sell', missed: readonly object[], by: 'quantity' | 'amount' = 'quantity'): readonly StoredRecord[] => [...records( // prettier-ignore
      [0, aStart()],
      [0, aLife('twap', by === 'quantity' ? { total_quantity: { amount: '3', currency: 'btc' } } : { total_notional: { amount: '300', currency: 'usd' } })],
      [
        2 * MINUTE,
        aWake({ detail: { due: NINE }, intents: [wanted({ slice: 1, decision_price: '103.5', side, by })], missed: missed as WakeRecord['missed'], reason: 'missed_slot' }),
      ],
      ...traded(2 * MINUTE, 1, { quantity: '1', price: '104.01', amount: '104.01', side }),
      [2 * MINUTE + 20, aSlice({ slice: 1 })],
      [4 * MINUTE, aWake({ missed: [{ leg: 'all', slice: 2, due: after(NINE, 3 * MINUTE), size: '1.5' }], reason: 'missed_slot', finished: 'window_over' })],
    )]; // prettier-ignore
    const prices = [minutes('btcusd', CLOSES)];
    const first = [{ leg: 'all', slice: 0, due: NINE, size: '1.25' }];
    // 1.25 due at 100, traded next at 104.01; 1.5 due at 105.1, and at the end, four minutes past, it is 106.
    const cost = times(units('1.25'), units('4.01')) + times(units('1.5'), units('0.9'));
    for (const [side, sign] of [
      ['buy', 1n],
      ['sell', -1n],
    ] as const) {
      // prettier-ignore
      const report = made(story(side, first), { prices });
      expect(parentIn(report)).toMatchObject({ missed: 2, passed_cost: wideText(sign * cost) });
      expect(report.totals[0]?.costs).toMatchObject({ passed_slots: 2, passed_without_price: 0, passed_cost: wideText(sign * cost) }); // prettier-ignore
    }
    // 125 usd would have bought 1.25 at 100; 1.5 usd would have bought almost nothing.
    const spent = made(story('buy', [{ leg: 'all', slice: 0, due: NINE, size: '125' }], 'amount'), {
      prices,
    });
    const little = boughtFor(units('1.5'), units('105.1'));
    expect(parentIn(spent).passed_cost).toBe(wideText(times(units('1.25'), units('4.01')) + times(little, units('0.9')))); // prettier-ignore
    // An older journal lacks the figures: the slot is counted and reported, but not in a sum.
    const old = made(story('buy', [{ leg: 'all', slice: 0 }]), { prices });
    expect(parentIn(old).passed_cost).toBeUndefined();
    expect(old.totals[0]?.costs).toMatchObject({
      passed_slots: 2,
      passed_without_price: 1,
      passed_cost: '1.35',
    });
    expect(old.warnings.join('\n')).toContain(
      '1 slots passed without an attempt and have no known time, size or price',
    );
  });

  it('counts the later cost of untraded slices, at the next fill or at the end', () => {
    const report = made(
      records(
        [0, aWake({ intents: [wanted({ size: '0.5' })] })],
        [10, aSlice({ result: 'skipped', reason: 'no_funds', filled: '0', filled_amount: '0' })],
        [MINUTE, aWake({ intents: [wanted({ slice: 1, decision_price: '102', size: '1' })] })],
        ...traded(MINUTE, 1, { price: '103', amount: '103' }),
        [MINUTE + 20, aSlice({ slice: 1 })],
      ),
    );
    expect(parentIn(report).slices[0]).toMatchObject({ untraded: '0.5', missed_cost: '1.5' });
    expect(report.totals[0]?.costs).toMatchObject({ missed_slices: 1, missed_cost: '1.5' });
    expect(report.untraded).toMatchObject([{ reason: 'no_funds', slices: 1, looks: 0 }]);
  });

  it('uses the earliest trade as the next fill, even if it was booked last', () => {
    const missed = [{ leg: 'all', slice: 3, due: after(NINE, 10), size: '1' }];
    const report = made(
      records(
        [0, aWake({ intents: [wanted({ size: '0.5' })] })],
        [10, aSlice({ result: 'skipped', reason: 'no_funds', filled: '0', filled_amount: '0' })],
        [20, aWake({ missed, reason: 'missed_slot' })],
        [MINUTE, aWake({ intents: [wanted({ slice: 1, decision_price: '102' })] })],
        [2 * MINUTE, aWake({ intents: [wanted({ slice: 2, decision_price: '104' })] })],
        ...traded(2 * MINUTE, 2, { price: '105', amount: '105' }),
        [2 * MINUTE + 20, aSlice({ slice: 2 })],
        [3 * MINUTE, aFill(MINUTE, { slice: 1, price: '103', amount: '103' })],
        [3 * MINUTE, aSlice({ slice: 1 })],
      ),
      { prices: [minutes('btcusd', CLOSES)] },
    ); // prettier-ignore
    expect(parentIn(report).slices[0]).toMatchObject({ untraded: '0.5', missed_cost: '1.5' });
    expect(parentIn(report).passed_cost).toBe('3');
  });

  it('covers the parents that started in the period, each completely', () => {
    const two = records(
      [0, aWake({ intents: [wanted()] })],
      ...traded(0, 0),
      [2 * MINUTE, aWake({ intents: [wanted({ parent: 'later' })] })],
      [3 * MINUTE, aFill(3 * MINUTE, { slice: 0, client_order_id: 'second' })],
    );
    const early = made(two, { until: after(NINE, MINUTE) });
    expect(early.parents.map(({ parent }) => parent)).toEqual(['p']);
    expect(early.fills).toBe(2);
    expect(made(two, { since: after(NINE, MINUTE) }).parents.map(({ parent }) => parent)).toEqual(['later']);
    expect(made(two, { strategy: 'nobody' }).parents).toEqual([]);
  });

  it('sums exactly for any trades, prices and sides', () => {
    const price = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => `${Math.floor(n / 100)}.${String(n % 100).padStart(2, '0')}1`); // prettier-ignore
    const quantity = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => `0.${String(n).padStart(10, '0')}7`);
    const fill = fc.record({ price, quantity, decision: price, fees: quantity });
    const parents = fc.record({
      fills: fc.array(fill, { maxLength: 6 }),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      by: fc.constantFrom('quantity' as const, 'amount' as const),
      total: fc.option(price, { nil: undefined }),
      lateMs: fc.constantFrom(0, MINUTE, 4 * MINUTE),
      isOver: fc.boolean(),
    });
    fc.assert(
      fc.property(parents, ({ fills, side, by, total, lateMs, isOver }) => {
        const size = total === undefined ? {} : { [by === 'quantity' ? 'total_quantity' : 'total_notional']: { amount: total, currency: 'x' } }; // prettier-ignore
        const wake = (slice: number, decision: string): RecordBody =>
          aWake({ detail: { due: NINE }, intents: [wanted({ slice, side, by, size: '1', decision_price: decision })] }); // prettier-ignore
        const story = fills.flatMap(({ price: each, quantity: q, decision, fees }, slice) => {
          const at = lateMs + slice * 1_000;
          const amount = wideText(times(units(each), units(q)));
          return [
            [at, wake(slice, decision)] as const,
            ...traded(at, slice, { side, price: each, quantity: q, amount, fees, reference: decision }),
            [at + 30, aSlice({ slice })] as const,
          ];
        });
        const end = isOver ? [[MINUTE * 6, aWake({ finished: 'window_over' })] as const] : [];
        const report = made(records([0, aLife('twap', size)], [lateMs, wake(99, '50')], ...story, ...end), {
          prices: [minutes('btcusd', [90.5, 100.25, 80.125, 111, 95, 77, 88])],
        });
        const { costs } = parentIn(report);
        const exact = (text = ''): bigint => {
          const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(?:\.(\d+))?$/u.exec(text) ?? [];
          return BigInt(`${sign}${whole}${rest.padEnd(60, '0')}`);
        };
        const { delay, trading, opportunity, fees, total: sum, timing, execution } = costs ?? {};
        expect(exact(delay) + exact(trading) + exact(opportunity) + exact(fees)).toBe(exact(sum));
        expect(exact(timing) + exact(execution)).toBe(exact(trading));
        expect(report.totals[0]?.costs.total).toBe(sum);
      }),
      { numRuns: 300 },
    );
  });
});
