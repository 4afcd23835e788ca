import { describe, expect, it } from 'vitest';
import { Summary, summaryLines } from '../../src/app/cli/summary.ts';
import { pack, unpack } from '../../src/core/text/pack.ts';
import type { RecordBody, StoredRecord } from '../../src/core/record.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { aFill, aLife, aWake, records, wanted } from '../report/records.ts';

const buy = (slice: number, quantity: string, amount: string, price: string): RecordBody =>
  aFill(slice * 1_000, { slice, quantity, amount, price });
const timed = (bodies: readonly RecordBody[]): readonly StoredRecord[] =>
  records(...bodies.map((body, i) => [i * 1_000, body] as const));

const BEGUN = [
  aLife('twap', { total_quantity: { amount: '1.657', currency: 'btc' } }),
  aWake({ intents: [wanted({ decision_price: '100' })] }),
];
const EARLIER = [buy(0, '0.3', '30.01', '100.03'), buy(1, '0.39', '39.2', '100.51')];
const LATER = [buy(2, '0.967', '97.199', '100.52')];

function taken(all: readonly StoredRecord[]): Summary {
  const summary = new Summary();
  for (const record of all) summary.take(record);
  return summary;
}

describe('the final summary of a process', () => {
  it('includes the part of a strategy that an earlier process traded, from its records or its saved state', () => {
    const [before, after] = [timed([...BEGUN, ...EARLIER]), timed(LATER)];
    const whole = taken([...before, ...after]);
    const replayed = new Summary();
    for (const record of before) replayed.replay(record);
    const restored = new Summary();
    restored.restore(unpack(pack(taken(before).saved())) as ReturnType<Summary['saved']>);
    for (const one of [replayed, restored]) {
      for (const record of after) one.take(record);
      expect(summaryLines(one.rows())).toEqual(summaryLines(whole.rows()));
    }
    expect(summaryLines(whole.rows())[0]).toMatch(/^buyer {2}buy {2}1\.657 btc {2}3 fills /u);
  });

  it('states the average price and the cost as the report does, rounded to the nearest digit', () => {
    const all = timed([...BEGUN, ...EARLIER, ...LATER]);
    const summary = taken(all);
    const [group] = reportOf(figuresOf(all, { version: 't' })).groups;
    const [row] = summary.rows();
    expect([row?.average, row?.costBps]).toEqual([group?.average_price, group?.costs.arrival_slippage_bps]);
    // 166.409 / 1.657 = 100.4278…, which would be 100.427 if it were truncated.
    expect(summaryLines(summary.rows())[0]).toContain('at 100.428  arrival 100.000  cost 42.79 bps');
  });

  it('separates the execution cost from the market move, with the terms and figures of the report', () => {
    const decided = (slice: number, price: string): RecordBody =>
      aWake({ intents: [wanted({ slice, decision_price: price })] });
    const all = timed([
      aLife('twap', { total_quantity: { amount: '2', currency: 'btc' } }),
      decided(0, '100'),
      buy(0, '1', '100.04', '100.04'),
      decided(1, '100.8'),
      buy(1, '1', '100.86', '100.86'),
    ]);
    const summary = taken(all);
    const [group] = reportOf(figuresOf(all, { version: 't' })).groups;
    const [row] = summary.rows();
    const { execution, timing } = (group as unknown as { costs: { bps: Record<string, string> } }).costs.bps;
    expect([row?.executionBps, row?.timingBps]).toEqual([execution, timing]);
    expect(summaryLines(summary.rows())[0]).toContain('cost 45.00 bps  = execution 5.00 + timing 40.00');
  });

  it('omits strategies that finished in an earlier process, and starts again with a new document', () => {
    const over = aWake({ on: 'outcome', finished: 'finished' });
    const before = timed([...BEGUN, ...EARLIER, over]);
    const summary = new Summary();
    for (const record of before) summary.replay(record);
    expect(summaryLines(summary.rows())).toEqual(['nothing was traded']);
    const other = taken(timed([...BEGUN, ...EARLIER, ...BEGUN, ...LATER]));
    expect(other.rows().map(({ fills }) => fills)).toEqual([2, 1]);
  });
});
