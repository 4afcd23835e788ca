import { describe, expect, it } from 'vitest';
import type { RecordBody, StoredRecord } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { MINUTE, NINE, aFill, aLife, aSlice, aWake, anEnd, anIntent, idOf, minutes, records, wanted } from './records.ts'; // prettier-ignore

type Timed = readonly [number, RecordBody];

/** Closes that are known from nine on, one minute apart. */
const CLOSES = [100, 102, 103, 105, 106, 107, 109, 111, 112, 114, 115];
const made = (from: readonly StoredRecord[]): Report =>
  reportOf(figuresOf(from, { version: 't', prices: [minutes('btcusd', CLOSES)] }));
const nine = (minute: number): string => new Date(NINE + minute * MINUTE).toISOString();
const btc = (amount: string) => ({ amount, currency: 'btc' });

const begins = (at: number, type: string, hash: string, document: Record<string, unknown>): Timed => {
  const body: RecordBody = aLife(type, document);
  if (body.kind !== 'strategy') throw new Error('no life');
  return [at, { ...body, hash, begun_at: after(NINE, at) }];
};

/** Buys 1 of a slice of 2 at once; the rest is abandoned half a minute later. */
const half = (at: number, hash: string, over: { parent: string; leg?: string; slice?: number }): readonly Timed[] => {
  const { parent, leg = 'all', slice = 0 } = over;
  const price = String(CLOSES[Math.floor(at / MINUTE)]);
  return [
    [at, aWake({ hash, detail: { due: after(NINE, at) }, intents: [wanted({ parent, leg, slice, size: '2', decision_price: price })] })],
    [at, anIntent({ parent, slice, reference_price: price })],
    [at + 20, aFill(at + 20, { parent, slice, price, amount: price })],
    [at + 20, anEnd(idOf(parent, slice), 'filled')],
    [at + MINUTE / 2, aSlice({ parent, leg, slice, reason: 'collar', filled_amount: price })],
  ];
}; // prettier-ignore

describe('a strategy text that is restored', () => {
  const twap = (at: number, hash: string, parent: string): readonly Timed[] => [
    begins(at, 'twap', hash, { total_quantity: btc('2') }),
    ...half(at, hash, { parent }),
    [at + MINUTE, aWake({ hash, on: 'outcome', finished: 'window_over' })],
  ];

  it('has an end in each of its lives, with the price of that time', () => {
    const story = records(...twap(0, 'A', 'p'), ...twap(3 * MINUTE, 'B', 'q'), ...twap(6 * MINUTE, 'A', 'r'));
    const { parents, strategies } = made(story);
    expect(parents.map(({ ended_at: end, costs }) => [end, costs?.opportunity])).toEqual([
      [nine(1), '2'],
      [nine(4), '1'],
      [nine(7), '2'],
    ]);
    expect(strategies.map(({ hash, begun_at: from, finished_at: until }) => [hash, from, until])).toEqual([
      ['A', nine(0), nine(1)],
      ['B', nine(3), nine(4)],
      ['A', nine(6), nine(7)],
    ]);
  });

  it('does not reopen the parents of its earlier life while its later life is running', () => {
    const again = twap(6 * MINUTE, 'A', 'r').slice(0, -1);
    const { parents } = made(records(...twap(0, 'A', 'p'), ...twap(3 * MINUTE, 'B', 'q'), ...again));
    expect(parents.map(({ open }) => open)).toEqual([false, false, true]);
  });
});

describe('a strategy text that another text replaces', () => {
  const weights = (btcWeight: string, usdWeight: string): Record<string, unknown> => ({
    target_weights: { btc: btcWeight, usd: usdWeight },
    drift_threshold: '0.1',
  });
  const reads: Timed = [0, { kind: 'balances', balances: { btc: '1', usd: '100' }, newest_id: '0', read_at: NINE }]; // prettier-ignore
  const leg = { leg: '1.btcusd.buy', pair: 'btcusd', side: 'buy', quantity: '1', ended: false };

  it('has a portfolio until it is replaced, in each of its lives', () => {
    const { portfolios } = made(
      records(
        reads,
        begins(0, 'rebalance', 'A', weights('0.5', '0.5')),
        begins(2 * MINUTE, 'rebalance', 'B', weights('0.4', '0.6')),
        begins(5 * MINUTE, 'rebalance', 'A', weights('0.5', '0.5')),
        [9 * MINUTE, aWake({ hash: 'A', on: 'drift', reason: 'inside_band' })],
      ),
    );
    expect(portfolios.map(({ targets, start, end }) => [targets['btc'], start?.at, end?.at])).toEqual([
      ['0.5', nine(0), nine(2)],
      ['0.4', nine(2), nine(5)],
      ['0.5', nine(5), nine(9)],
    ]);
  });

  it('leaves no trade open that was decided but not started', () => {
    const { parents } = made(
      records(
        begins(0, 'rebalance', 'A', weights('0.5', '0.5')),
        [MINUTE, aWake({ hash: 'A', on: 'drift', state: { decisions: 1, legs: [leg] } })],
        begins(3 * MINUTE, 'rebalance', 'B', weights('0.4', '0.6')),
        [9 * MINUTE, aWake({ hash: 'B', on: 'drift', reason: 'inside_band' })],
      ),
    );
    expect(parents.map(({ open, ended_at: end, costs }) => [open, end, costs?.opportunity])).toEqual([
      [false, nine(3), '3'],
    ]);
  });
});

describe('an occurrence of a recurring strategy', () => {
  const [leg, next] = [nine(0), nine(6)];
  const life = begins(0, 'recurring', 'A', { each_quantity: btc('4') });
  const under = { after: NINE, begun: 1, now: { due: NINE, start: NINE, length: 4 * MINUTE, slice: 1, left: '3' } }; // prettier-ignore
  const waits = (at: number, state: object): Timed => [at, aWake({ hash: 'A', on: 'outcome', state })];

  it('ends with its last slice, whenever its strategy ends', () => {
    const [first, last] = [half(0, 'A', { parent: 'p', leg }), half(6 * MINUTE, 'A', { parent: 'q', leg: next })]; // prettier-ignore
    const finish: Timed = [9 * MINUTE, aWake({ hash: 'A', on: 'outcome', finished: 'finished' })];
    const { parents } = made(records(life, ...first, ...last, finish));
    expect(parents.map(({ ended_at: end }) => end)).toEqual([nine(0.5), nine(6.5)]);
  });

  it('ends when its missed slots are recorded, if that is later', () => {
    const missed = [{ leg, slice: 1, due: after(NINE, 2 * MINUTE), size: '2' }];
    const { parents } = made(
      records(life, ...half(0, 'A', { parent: 'p', leg }), waits(MINUTE, under), [
        5 * MINUTE,
        aWake({ hash: 'A', state: { after: NINE, begun: 1 }, missed, reason: 'missed_slot' }),
      ]),
    );
    expect(parents[0]).toMatchObject({ open: false, ended_at: nine(5), passed_cost: '8' });
    expect(parents[0]?.costs?.opportunity).toBe('21');
  });

  it('is open between its slices', () => {
    const story = [life, ...half(0, 'A', { parent: 'p', leg }), waits(MINUTE, under)];
    const { parents, warnings } = made(records(...story, [2 * MINUTE, aWake({ strategy: 'other' })]));
    expect(parents[0]).toMatchObject({ open: true, ended_at: nine(2) });
    expect(warnings.join('\n')).toContain('1 of 1 parents are still running');
    const over = made(records(...story, waits(3 * MINUTE, { after: NINE, begun: 1 })));
    expect(over.parents[0]).toMatchObject({ open: false, ended_at: nine(0.5) });
  });
});
