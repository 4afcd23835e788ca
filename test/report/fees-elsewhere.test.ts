import { describe, expect, it } from 'vitest';
import { Summary, summaryLines } from '../../src/app/cli/summary.ts';
import type { CorrectionRecord, RecordBody, ResolvedRecord, StoredRecord } from '../../src/core/record.ts';
import { pack, unpack } from '../../src/core/text/pack.ts';
import { correctionsIn, exportRecords } from '../../src/journal/export.ts';
import { wordsFor } from '../../src/journal/format-record.ts';
import { whyOf } from '../../src/journal/why.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { aFill, aLife, aWake, anEnd, anIntent, idOf, records, wanted } from './records.ts';

/** A fill of 1 btc for 101 usd, corrected to 0.5 btc for 50 usd with fees in three currencies. */
const correction: CorrectionRecord = {
  kind: 'correction',
  client_order_id: idOf('p', 0),
  order_id: '77',
  quantity: '0.5',
  price: '100',
  amount: '50',
  fees: '0.25',
  was_quantity: '1',
  was_amount: '101',
  was_fees: '0',
  other_fees: { bnb: '0.1', btc: '0.002' },
  rows: [],
  changes: ['row 12 is now row 15'],
};
const attributed: ResolvedRecord = {
  kind: 'resolved',
  client_order_id: idOf('p', 0),
  verdict: 'ours',
  rows: ['12', '13'],
  by: 'ann',
  why: 'ticket 4711',
};
const shown: RecordBody = {
  kind: 'shown',
  fills: {},
  others: [
    { id: '8', currency: 'btc', amount: '1', order_id: '9' },
    { id: '10', currency: 'usd', amount: '-5' },
  ],
};
const BEGUN: readonly RecordBody[] = [
  aLife('twap', { total_quantity: { amount: '1', currency: 'btc' } }),
  aWake({ intents: [wanted({ decision_price: '100' })] }),
  anIntent(),
];
const day = (...more: readonly RecordBody[]): readonly StoredRecord[] =>
  records(...[...BEGUN, aFill(1_000), ...more].map((body, i) => [i * 1_000, body] as const));

describe('an export of fills', () => {
  const exported = (format: 'csv' | 'jsonl', all: readonly StoredRecord[]): readonly string[] => [
    ...exportRecords(all, { format, kind: 'fill', corrections: correctionsIn(all) }),
  ];

  it('has the corrected figures, and fees in other currencies in its last column', () => {
    const [header = '', row = ''] = exported('csv', day(correction));
    expect(header).toMatch(/,attempt,other_fees\r\n$/u);
    expect(row).toContain(',btcusd,buy,0.5,100,50,0.25,');
    expect(row).toMatch(/,bnb 0\.1; btc 0\.002\r\n$/u);
    expect(JSON.parse(exported('jsonl', day(correction))[0] ?? '')).toMatchObject({
      quantity: '0.5',
      fees: '0.25',
      other_fees: 'bnb 0.1; btc 0.002',
    });
  });

  it('uses the last of several corrections', () => {
    const [, row = ''] = exported('csv', day(correction, { ...correction, quantity: '0.75', amount: '75' }));
    expect(row).toContain(',btcusd,buy,0.75,100,75,0.25,');
  });

  it('has no such column without other fees', () => {
    expect(exported('csv', day())[0]).not.toContain('other_fees');
  });
});

describe('the costs of fees in other currencies', () => {
  it('include a fee in the base currency at the price of the fill, and name the others', () => {
    const figures = figuresOf(day(correction), { version: 't' });
    // 0.25 usd, and 0.002 btc at 100 usd.
    expect(reportOf(figures).totals).toMatchObject([{ quote: 'usd', fees: '0.45' }]);
    expect(reportOf(figures).warnings).toContainEqual(expect.stringContaining('0.1 bnb'));
    expect(reportOf(figuresOf(day(), { version: 't' })).warnings.join()).not.toContain('do not trade');
  });

  it('are in the summary of a run, which follows corrections, also from its saved state', () => {
    const [before, after] = [day(), day(correction).slice(4)];
    const first = new Summary();
    for (const record of before) first.take(record);
    const restored = new Summary();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `pack` wrote
    restored.restore(unpack(pack(first.saved())) as ReturnType<Summary['saved']>);
    for (const one of [first, restored]) {
      for (const record of after) one.take(record);
      expect(summaryLines(one.rows())[0]).toMatch(/0\.5 btc {2}1 fill .*fees 0\.45 usd and 0\.1 bnb$/u);
    }
  });
});

describe('rows of the account in words', () => {
  const said = (...bodies: readonly RecordBody[]): readonly string[] =>
    [...whyOf(day(...bodies), { currencies: () => ({ base: 'btc', quote: 'usd' }) })].map(
      ({ strategy = 'desk', slices = [], says }) => `${strategy} ${slices.join()}: ${says}`,
    );

  it('say whose they are, and who said it', () => {
    expect(wordsFor(attributed)).toBe('rows 12, 13 belong to p-0-0, says ann: ticket 4711');
    expect(wordsFor({ ...attributed, verdict: 'not_ours', rows: ['12'] })).toBe(
      'row 12 of the doubt p-0-0 belongs to no order of this desk, says ann: ticket 4711',
    );
    const all = records(
      ...[...BEGUN, anEnd('p-0-0', 'doubt'), attributed].map((body, i) => [i * 1_000, body] as const),
    );
    expect([...whyOf(all, { currencies: () => undefined })]).toContainEqual(
      expect.objectContaining({
        event: 'noted',
        strategy: 'buyer',
        slices: [0],
        says: 'rows 12, 13 belong to p-0-0, says ann: ticket 4711',
      }),
    );
  });

  it('say what changed, and all fees', () => {
    expect(wordsFor(correction)).toBe(
      'p-0-0 as the account shows it: 0.5 for 50, fees 0.25 and 0.1 bnb and 0.002 btc; booked: 1 for 101, fees 0; row 12 is now row 15',
    );
    expect(said(correction)).toContainEqual(
      'buyer 0: the account shows p-0-0 with fees of 0.25 usd and 0.1 bnb and 0.002 btc; row 12 is now row 15',
    );
    expect(wordsFor(aFill(0, { other_fees: { btc: '0.002' } }))).toContain('fees 0 and 0.002 btc');
  });

  it('name the first rows that belong to no order of the desk', () => {
    const words = 'the account shows trades that no id ties to this desk: rows 8 (order 9), 10';
    expect(wordsFor(shown)).toBe(words);
    expect(said(shown)).toContainEqual(`desk : ${words}`);
    const others = Array.from({ length: 25 }, (_, n) => ({ id: String(n), currency: 'btc', amount: '1' }));
    expect(wordsFor({ kind: 'shown', fills: { c: [] }, others })).toMatch(
      /^the account shows c as booked; .* 19 and 5 more$/u,
    );
  });
});
