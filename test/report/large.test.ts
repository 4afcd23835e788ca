import { describe, expect, it } from 'vitest';
import type { RecordBody } from '../../src/core/record.ts';
import { after } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportHtml } from '../../src/report/html/html.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { bps, times, units, wide, wideText } from './plain.ts';
import { MINUTE, NINE, aFill, aLife, aSlice, aStart, aWake, anEnd, anIntent, idOf, records, wanted } from './records.ts'; // prettier-ignore
import { problemsOf } from './validator.ts';

const PARENTS = 20_000;
const priceOf = (i: number): string => `${100 + (i % 40)}.${i % 9}1`;
const paidOf = (i: number): string => `${100 + (i % 40)}.${(i % 9) + 1}3`;

function* story(): Generator<readonly [number, RecordBody]> {
  yield [0, aStart('backtest')];
  yield [0, aLife('recurring', { each_quantity: { amount: '1', currency: 'btc' } })];
  for (let i = 0; i < PARENTS; i++) {
    const [ms, parent] = [i * MINUTE, `p${i}`];
    const leg = new Date(NINE + ms).toISOString();
    yield [ms, aWake({ detail: { due: after(NINE, ms) }, intents: [wanted({ parent, leg, decision_price: priceOf(i) })] })]; // prettier-ignore
    yield [ms, anIntent({ parent, reference_price: priceOf(i) })];
    yield [ms + 20, aFill(ms + 20, { parent, client_order_id: idOf(parent, 0), price: paidOf(i), amount: paidOf(i), fees: '0.01' })]; // prettier-ignore
    yield [ms + 20, anEnd(idOf(parent, 0), 'filled')];
    yield [ms + 20, aSlice({ parent })];
  }
}

describe('a report of twenty thousand parents', () => {
  const figures = figuresOf(records(...story()), { version: 't' });
  const report = reportOf(figures);

  it('has the sums of all of them, to the last digit', () => {
    const all = Array.from({ length: PARENTS }, (_, i) => i);
    const at = all.reduce((total, i) => total + times(units('1'), units(priceOf(i))), 0n);
    const paid = all.reduce((total, i) => total + wide(units(paidOf(i))), 0n);
    const fees = wide(units('0.01')) * BigInt(PARENTS);
    expect(report.totals).toMatchObject([
      {
        amount: wideText(paid),
        costs: {
          parents: PARENTS,
          paper: wideText(at),
          trading: wideText(paid - at),
          total: wideText(paid - at + fees),
          arrival_slippage_bps: bps(paid - at, at),
          all_in_bps: bps(paid - at + fees, at),
        },
      },
    ]);
  });

  it('lists the most expensive ones, and states how many it omits', () => {
    expect([report.parents.length, report.parents_left_out]).toEqual([1_000, PARENTS - 1_000]);
    const listed = report.parents.map(({ costs }) => Number(costs?.total));
    const dearest = Array.from({ length: PARENTS }, (_, i) => Number(paidOf(i)) - Number(priceOf(i)) + 0.01).toSorted((a, b) => b - a)[999]; // prettier-ignore
    expect(Math.min(...listed)).toBeCloseTo(dearest ?? 0, 9);
    expect(problemsOf(report)).toEqual([]);
  });

  it('is a page of less than 250 kilobytes that combines slices and fills in its charts', () => {
    const html = reportHtml(report, figures);
    expect(html.length).toBeLessThan(250_000);
    expect(html).toContain('bars of 167 slices');
    expect(html).toContain('every 20th fill');
    expect(html).toContain(`${PARENTS - 100} more are in report.json; the sums above include them`);
  });
});
