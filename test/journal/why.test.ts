import { describe, expect, it } from 'vitest';
import type { RecordBody, SliceRecord, StoredRecord, WakeRecord } from '../../src/core/record.ts';
import type { Reason } from '../../src/core/reasons.ts';
import { untradedBy } from '../../src/core/cycle/untraded.ts';
import { after } from '../../src/core/time.ts';
import { whyOf } from '../../src/journal/why.ts';
import type { WhyEntry } from '../../src/journal/why.ts';
import { NINE, aFill, everyKind, someRows } from './records.ts';

const aWake = (given: Partial<WakeRecord>): WakeRecord => ({
  kind: 'wake',
  strategy: 'a',
  hash: 'h',
  on: 'at',
  detail: {},
  state: {},
  waits: [],
  intents: [],
  missed: [],
  ...given,
});
const aSlice = (given: Partial<SliceRecord>): SliceRecord => ({
  kind: 'slice',
  strategy: 'a',
  parent: 'p',
  leg: 'all',
  slice: 0,
  result: 'skipped',
  filled: '0',
  filled_amount: '0',
  ...given,
});
const wanting = (over: Partial<WakeRecord['intents'][number]> = {}): WakeRecord =>
  aWake({
    intents: [
      {
        leg: 'all',
        parent: 'p',
        slice: 0,
        pair: 'btcusd',
        side: 'buy',
        by: 'quantity',
        size: '0.5',
        deadline: after(NINE, 60_000),
        ...over,
      },
    ],
  });

const entriesOf = (...bodies: readonly RecordBody[]): readonly WhyEntry[] => {
  const records = bodies.map((body, i): StoredRecord => ({ seq: i + 1, at: after(NINE, i), body, hash: '' }));
  return [...whyOf(records, { currencies: () => ({ base: 'btc', quote: 'usd' }) })];
};
const said = (...bodies: readonly RecordBody[]): readonly string[] =>
  entriesOf(...bodies).map(({ event, says }) => `${event}: ${says}`);

describe('whyOf', () => {
  const missed = (...slices: readonly number[]) => slices.map((slice) => ({ leg: 'all', slice }));
  const three = aWake({ reason: 'missed_slot', note: '3 slots passed', missed: missed(3, 4, 5) });
  const legs = aWake({ reason: 'missed_slot', missed: ['x', 'y'].map((leg) => ({ leg, slice: 0 })) });
  const filled = (given: Partial<SliceRecord> = {}): SliceRecord =>
    aSlice({ result: 'filled', filled: '0.2', filled_amount: '12000', ...given });
  const desk = { mode: 'live', desk: 'main', config_hash: '', account: '' };
  const started = { kind: 'started', version: '1', ...desk } as const;
  const halted = { kind: 'control', state: 'halted', by: 'ann', why: 'odd prices' } as const;
  const stopped = { kind: 'stopped', why: 'SIGTERM', open_doubts: 0 } as const;
  const paused = aSlice({ result: 'expired', reason: 'paused' });
  const tooLarge = aSlice({ reason: 'order_size', detail: 'limit=50000 value=60000.12' });
  const invalid = aWake({ on: 'start', finished: 'invalid_plan', reason: 'invalid_plan' });
  const over = aWake({ on: 'outcome', finished: 'window_over', reason: 'window_over', note: '0.2 of 1' });
  const quote = wanting({ by: 'amount', size: '250' });
  const found = aFill({ strategy: 'a', quantity: '0.1', amount: '6000' });

  it.each<readonly [string, readonly RecordBody[], readonly string[]]>([
    ['a trade, with its currencies', [wanting(), filled()], ['traded: bought 0.2 btc for 12000 usd']],
    [
      'the reason of a smaller one',
      [wanting(), filled({ reason: 'no_funds' })],
      [' of 0.5 btc: the funds of'],
    ],
    ['a skipped slice', [wanting({ side: 'sell' }), tooLarge], ['(limit 50000, here 60000.12)']],
    [
      'a size in quote currency',
      [quote, paused],
      ['not_traded: did not buy 250 usd of btc: expired: the desk'],
    ],
    ['a wake', [aWake({ reason: 'inside_band', note: 'btc 0.1 %' })], ['inside its drift band (btc 0.1 %)']],
    [
      'missed slices',
      [three],
      ['not_traded: slices 3 to 5 did not trade: a scheduled time or a slot passed'],
    ],
    ['missed slices of several parents', [legs], ['not_traded: 2 slices did not trade']],
    [
      'a cut wish',
      [{ ...wanting(), reason: 'turnover_capped' }, filled()],
      ['noted: the trade was', 'traded: '],
    ],
    ['an end, once', [over, invalid], ['ended: ends: the parent', 'not_traded: woke', 'ended: ends']],
    ['no wake that only recorded an outcome', [aWake({ on: 'outcome', reason: 'waiting' })], []],
    ['a trade without a decision', [found], ['traded: bought 0.1 btc for 6000 usd, a trade found in the']],
    [
      'the desk',
      [started, halted, stopped],
      ['desk: tranche 1', 'desk: the desk halted by ann', 'desk: stopped'],
    ],
  ])('explains %s', (_what, bodies, expected) => {
    expect(said(...bodies)).toEqual(expected.map((words) => expect.stringContaining(words) as string));
  });

  it('lists a slice in progress last, with its latest attempt', () => {
    const intent = everyKind().find((body) => body.kind === 'intent');
    const ids = { client_order_id: 'c1', parent: 'p', slice: 0 };
    const rows = entriesOf(wanting(), ...(intent === undefined ? [] : [{ ...intent, ...ids }]), {
      kind: 'attempt',
      client_order_id: 'c1',
      result: 'doubt',
      reason: 'outcome_unknown',
      detail: 'timeout',
    });
    expect(rows).toMatchObject([
      {
        event: 'open',
        attempts: 1,
        reason: 'outcome_unknown',
        says: 'buy 0.5 btc is under way; its last attempt: doubt: the order may have traded; waiting for proof (timeout)',
      },
    ]);
  });

  it('reports a fill that is still being booked and the missing part of an order', () => {
    const shown: RecordBody = { kind: 'shown', fills: { other: someRows } };
    const id = aFill().client_order_id;
    const still = `noted: 0.03125 btc of ${id} is still being booked: the account has not shown all of it`;
    expect(said(aFill(), shown)).toContain(still);
    expect(said(aFill(), { kind: 'shown', fills: { [id]: someRows } })).not.toContain(still);
    // Without a comparison with an account, as in a backtest, no fill is still being booked.
    expect(said(aFill())).not.toContain(still);
    const missing = { quantity: '0.01', amount: '600', notional_usd: '600' };
    const correction: RecordBody = { kind: 'correction', client_order_id: id, order_id: '71', quantity: '0.02125', price: '60000', amount: '1275', fees: '0', was_quantity: '0.03125', was_amount: '1875', was_fees: '0', rows: someRows, missing }; // prettier-ignore
    expect(said(aFill(), correction).at(-1)).toMatch(
      /^noted: the account shows 0\.02125 btc of .*; 0\.01 btc of the order is missing and counts as filled/u,
    );
  });

  it('counts the attempts of a slice', () => {
    const intent = everyKind().find((body) => body.kind === 'intent');
    const tries = ['c1', 'c2'].flatMap((id): RecordBody[] => [
      ...(intent === undefined ? [] : [{ ...intent, client_order_id: id, parent: 'p', slice: 0 }]),
      { kind: 'attempt', client_order_id: id, result: 'discarded', reason: 'collar' },
    ]);
    expect(said(wanting(), ...tries, aSlice({ result: 'expired', reason: 'collar' }))).toEqual([
      'not_traded: did not buy 0.5 btc: expired after 2 tries: the quoted price is outside controls.collar_bps around the reference price',
    ]);
  });

  it('accepts records of every kind', () => {
    const events = entriesOf(...everyKind()).map(({ event }) => event);
    expect(new Set(events)).toEqual(new Set(['desk', 'begun', 'not_traded', 'ended', 'traded']));
  });
});

describe('untradedBy', () => {
  const missed = aWake({ missed: [0, 1].map((slice) => ({ leg: 'all', slice })) });
  const small = aWake({ on: 'drift', reason: 'below_min_trade' });
  type Count = readonly [Reason, slices: number];
  it.each<readonly [string, RecordBody] | readonly [string, RecordBody, Count]>([
    ['ignores a filled slice', aSlice({ result: 'filled' })],
    ['counts a skipped slice', aSlice({ reason: 'collar' }), ['collar', 1]],
    ['counts a slice without a reason as past its deadline', aSlice({}), ['deadline', 1]],
    ['counts each missed slice', missed, ['missed_slot', 2]],
    ['reports a wake without intents with zero slices', small, ['below_min_trade', 0]],
    ['ignores a wake that trades', wanting()],
    ['ignores a wake that trades less than wanted', { ...wanting(), reason: 'turnover_capped' }],
    ['ignores a wake at an outcome', aWake({ on: 'outcome', reason: 'window_over' })],
    ['ignores a wake without a reason', aWake({})],
    ['ignores a fill', aFill()],
  ])('%s', (_what, body, expected?: Count) => {
    expect(untradedBy(body)).toEqual(expected && { strategy: 'a', reason: expected[0], slices: expected[1] });
  });
});
