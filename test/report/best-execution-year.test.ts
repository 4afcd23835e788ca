import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, instant } from '../../src/core/time.ts';
import { packOf } from '../../src/report/best-execution/pack.ts';
import type { PeriodSpan } from '../../src/report/best-execution/pack.ts';
import { START } from '../engine/harness.ts';
import { walkTape } from '../research/bench.ts';
import { bps, times, units, wide, wideText } from './plain.ts';
import { plainParents, plainQuoting } from './plain-report.ts';
import { dcaAndRebalanceReport } from './runs.ts';

const shape = { rows: 24 * 365, barMs: HOUR_MS, volatility: 0.008 };
const tapes = [
  walkTape({ ...shape, pair: 'btcusd', startPrice: 60_000 }),
  walkTape({ ...shape, pair: 'ethusd', startPrice: 3_000 }),
  walkTape({ ...shape, pair: 'ltcusd', startPrice: 80 }),
  walkTape({ ...shape, pair: 'solusd', startPrice: 150 }),
  walkTape({ ...shape, pair: 'xrpusd', startPrice: 1 }),
];
const targets = { btc: '0.3', eth: '0.2', ltc: '0.1', sol: '0.1', xrp: '0.1', usd: '0.2' };
const [from, until] = [START + DAY_MS, START + 363 * DAY_MS];

/** Thirty days each. */
const periods: readonly PeriodSpan[] = Array.from({ length: 13 }, (_, n) => ({
  name: `part ${n + 1}`,
  from: instant(from + n * 30 * DAY_MS),
  until: instant(from + (n + 1) * 30 * DAY_MS),
}));

describe('the best execution pack of a year of purchases and rebalancings of five assets', () => {
  const { records, report } = dcaAndRebalanceReport(tapes, { targets, from, until });
  const { pack, links } = packOf(records, { version: 't', prices: tapes, periods });
  const parents = plainParents(records);

  it('has in each period the figures of a plain reading of the records', () => {
    expect(pack.periods.length).toBe(13);
    for (const [n, period] of pack.periods.entries()) {
      const own = parents.filter(({ begun }) => begun >= (periods[n]?.from ?? 0) && begun < (periods[n]?.until ?? 0)); // prettier-ignore
      expect(period.quoting).toMatchObject(plainQuoting(records, new Set(own.map(({ id }) => id))));
      for (const group of period.groups) {
        const members = own.filter(({ first, strategy }) => strategy === group.strategy && first.pair === group.pair && first.side === group.side); // prettier-ignore
        const s = group.side === 'buy' ? 1n : -1n;
        let [over, at, amount] = [0n, 0n, 0n];
        for (const { first, fills } of members)
          for (const fill of fills) {
            const paper = times(units(fill.quantity), units(first.decision_price ?? ''));
            over += s * (wide(units(fill.amount)) - paper);
            at += paper;
            amount += wide(units(fill.amount));
          }
        expect(group).toMatchObject({
          amount: wideText(amount),
          costs: { trading: wideText(over), parents: members.length },
        });
        expect(group.costs.arrival_slippage_bps).toBe(at === 0n ? undefined : bps(over, at));
        const ids = new Set(members.map(({ id }) => id));
        const seqs = (kind: 'intent' | 'fill'): readonly number[] => records.filter(({ body }) => body.kind === kind && ids.has(body.parent)).map(({ seq }) => seq); // prettier-ignore
        const name = `${period.name}/${group.strategy}/${group.pair}/${group.side}`;
        expect(links.listed(`${name}/requests`)).toEqual(seqs('intent'));
        expect(links.listed(`${name}/fills`)).toEqual(seqs('fill'));
      }
    }
  });

  it('equals the report if there is one period, and has as many fills over all periods', () => {
    const whole = { name: 'window', from: instant(0), until: instant(until + DAY_MS) };
    const one = packOf(records, { version: 't', prices: tapes, periods: [whole] }).pack;
    const [window] = one.periods;
    expect(window?.groups.length).toBeGreaterThan(10);
    expect(window?.groups).toMatchObject(JSON.parse(JSON.stringify(report.groups)) as object);
    expect(window?.totals).toEqual(report.totals);
    expect(window?.quoting).toEqual(report.quoting);
    expect(window?.untraded).toMatchObject(report.untraded);
    expect(window?.untraded.length).toBe(report.untraded.length);
    expect(pack.periods.reduce((sum, { quoting }) => sum + quoting.fills, 0)).toBe(report.fills);
  });

  it('splits the cost of each outlier into market and quote', () => {
    const { slices } = pack.outliers;
    expect(slices.length).toBeGreaterThan(3);
    for (const one of slices) {
      const sum = units(one.moved_bps ?? '') + units(one.quoted_bps ?? '');
      const apart = sum - units(one.cost_bps);
      // Each is rounded to four decimals.
      expect((apart < 0n ? -apart : apart) <= units('0.0001')).toBe(true);
      expect(one.records.count).toBeGreaterThan(2);
    }
  });
});
