import { describe, expect, it } from 'vitest';
import type { FillRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { HOUR_MS, after, instant } from '../../src/core/time.ts';
import type { Instant } from '../../src/core/time.ts';
import { dayOf } from '../../src/report/day/day.ts';
import type { Day } from '../../src/report/day/day.ts';
import { dayWords } from '../../src/report/day/day-words.ts';

const NINE = instant(Date.UTC(2026, 11, 1, 9));
const until = after(NINE, 24 * HOUR_MS);

const aFill = (n: number, differs: Partial<FillRecord> = {}): FillRecord => ({
  kind: 'fill', client_order_id: `c${n}`, order_id: 'o', quote_id: 'q', pair: 'btcusd', base: 'btc', quote: 'usd', side: 'buy',
  quantity: '0.5', price: '60060', amount: '30030', fees: '3', executed_at: NINE, strategy: 'twap', parent: 'p', slice: 0,
  attempt: 0, notional_usd: '30030', decision_price: '60000', source: 'order', ...differs,
}); // prettier-ignore

const aSlice = (reason: 'limit_price' | 'no_funds'): RecordBody => ({
  kind: 'slice', strategy: 'twap', parent: 'p', leg: 'buy', slice: 1, result: 'expired', reason, filled: '0', filled_amount: '0',
}); // prettier-ignore

function aDay(bodies: readonly (RecordBody | readonly [Instant, RecordBody])[]): Day {
  const records = bodies.map((each, i): StoredRecord => {
    const [at, body] = 'kind' in each ? [NINE, each] : each;
    return { seq: i + 1, at, body, hash: '' };
  });
  return dayOf(records, { from: NINE, until });
}

describe('the summary of a day', () => {
  it('sums the trades of each strategy, and their cost against the price at the decision', () => {
    const day = aDay([
      aFill(1),
      aFill(2),
      aFill(3, { strategy: 'reb', side: 'sell', amount: '29985', fees: '0' }),
    ]);
    expect(day.traded).toEqual([
      { strategy: 'twap', pair: 'btcusd', base: 'btc', quote: 'usd', side: 'buy', fills: 2, quantity: '1', amount: '60060', fees: '6', averagePrice: '60060', cost: { amount: '60', bps: '10' }, records: [1, 2] },
      { strategy: 'reb', pair: 'btcusd', base: 'btc', quote: 'usd', side: 'sell', fills: 1, quantity: '0.5', amount: '29985', fees: '0', averagePrice: '59970', cost: { amount: '15', bps: '5' }, records: [3] },
    ]); // prettier-ignore
  });

  it('counts a corrected fill by the figures of the account, and omits an unknown cost', () => {
    const day = aDay([
      aFill(1, { decision_price: '' }),
      { kind: 'correction', client_order_id: 'c1', order_id: 'o', quantity: '0.4', price: '60000', amount: '24000', fees: '1', was_quantity: '0.5', was_amount: '30030', was_fees: '3' },
    ]); // prettier-ignore
    expect(day.traded).toMatchObject([{ quantity: '0.4', amount: '24000', fees: '1', cost: undefined }]);
  });

  it('omits records from before and after the day', () => {
    const day = aDay([[after(NINE, -1), aFill(1)], aFill(2), [until, aFill(3)]]);
    expect(day.traded).toMatchObject([{ fills: 1 }]);
  });

  it('states in words the trades, the untraded slices with reasons, the costs, the events and the open tasks', () => {
    const day = aDay([
      { kind: 'started', version: '1', mode: 'paper', desk: 'main', config_hash: '', account: '' },
      aFill(1),
      aSlice('limit_price'), aSlice('limit_price'), aSlice('no_funds'),
      { kind: 'attempt', client_order_id: 'c9', result: 'doubt' },
      { kind: 'attempt', client_order_id: 'c9', result: 'absent' },
      { kind: 'alert', alert: 'venue_down', severity: 'critical', facts: {}, others: 2 },
      { kind: 'alert', alert: 'doubt_open', severity: 'info', facts: {} },
      { kind: 'control', state: 'halted', by: 'ann', why: 'lunch' },
      { kind: 'wake', strategy: 'old', hash: '', on: 'at', detail: {}, waits: [], intents: [], missed: [], finished: 'finished' },
    ]); // prettier-ignore
    expect(dayWords(day, ['the desk is halted until an approver re-arms it: lunch'])).toEqual([
      '2026-12-01T09:00:00.000Z to 2026-12-02T09:00:00.000Z',
      'Traded, 1 fill:',
      '- twap bought 0.5 btc for 30030 usd, 60060 on average, 1 fill, fees 3 usd; cost 10 bps (30 usd) against the price at the decision',
      'Not traded, and why:',
      '- twap, 2 slices: the quoted price is worse than limit_price (limit_price)',
      '- twap, 1 slice: the account has insufficient funds for the trade (no_funds)',
      'Ended:',
      '- old: the parent is complete (finished)',
      'Alerts:',
      '- critical venue_down, 3 times',
      'Who did what:',
      '- 2026-12-01T09:00:00.000Z the desk halted, by ann: lunch',
      'Orders whose outcome was unknown:',
      '- c9, since 2026-12-01T09:00:00.000Z: the account showed that it did not trade',
      'The desk was started once.',
      'Waits:',
      '- the desk is halted until an approver re-arms it: lunch',
    ]);
  });

  it('names the records of each line, and who resolved an order that the account could not prove', () => {
    const day = aDay([
      { kind: 'wake', strategy: 'twap', hash: '', on: 'at', detail: {}, waits: [], intents: [], missed: [{ leg: 'all', slice: 3 }], reason: 'blackout' },
      [after(NINE, -HOUR_MS), { kind: 'attempt', client_order_id: 'old', result: 'doubt' }],
      [after(NINE, -HOUR_MS), { kind: 'attempt', client_order_id: 'over', result: 'doubt' }],
      [after(NINE, -HOUR_MS), { kind: 'attempt', client_order_id: 'over', result: 'filled' }],
      aSlice('no_funds'), aSlice('limit_price'), aSlice('no_funds'),
      { kind: 'resolved', client_order_id: 'old', verdict: 'filled', by: 'ann', why: 'statement of the venue' },
      { kind: 'attempt', client_order_id: 'old', result: 'filled' },
      { kind: 'attempt', client_order_id: 'new', result: 'doubt' },
    ]); // prettier-ignore
    expect(dayWords(day, [], { hasRecords: true }).slice(1)).toEqual([
      'Planned:',
      '- twap: 1 slice [1]',
      'Nothing traded.',
      'Not traded, and why:',
      '- twap, 2 slices: the account has insufficient funds for the trade (no_funds) [5, 7]',
      expect.stringMatching(/^- twap, 1 slice: .*\(blackout\) \[1\]$/u),
      '- twap, 1 slice: the quoted price is worse than limit_price (limit_price) [6]',
      'Who did what:',
      '- 2026-12-01T09:00:00.000Z order old resolved as traded, by ann: statement of the venue [8]',
      'Orders whose outcome was unknown:',
      '- old, since 2026-12-01T08:00:00.000Z: ann stated that it traded [2, 8-9]',
      '- new, since 2026-12-01T09:00:00.000Z: still unknown [10]',
      'Nothing waits for a person.',
    ]);
  });

  it('lists settings that differ from the previous start, with their author, but none of a first start', () => {
    const settings = (before: string | undefined): RecordBody => ({
      kind: 'settings', cause: 'start', changes: [{ path: 'mode', ...(before === undefined ? {} : { before }), after: 'live' }],
      hash: '', by: 'cli:ann', why: 'changed while the desk was stopped',
    }); // prettier-ignore
    expect(aDay([settings(undefined), settings('dry_run')]).actions).toMatchObject([
      {
        what: 'settings differ from those of the previous start: mode dry_run -> live',
        by: 'cli:ann',
        records: [2],
      },
    ]);
  });

  it('shows a placeholder for a day without records, and truncates a long list', () => {
    expect(dayWords(aDay([]), []).slice(1)).toEqual(['Nothing traded.', 'Nothing waits for a person.']);
    const many = aDay(Array.from({ length: 30 }, (_, n) => aFill(n, { strategy: `s${n}` })));
    expect(dayWords(many, [])).toContain('- and 18 more');
    expect(dayWords(many, [], { name: () => 'X' }).join(' ')).not.toContain('s1 ');
  });
});
