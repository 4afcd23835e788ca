import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { figuresOf } from '../../src/report/figures/figures.ts';
import { reportOf } from '../../src/report/json/json.ts';
import { walkTape } from '../research/bench.ts';
import { START } from '../engine/harness.ts';
import { expectPlainPortfolio, expectPlainReport } from './plain-check.ts';
import { dcaReport, rebalanceReport, twapReport } from './runs.ts';
import { problemsOf } from './validator.ts';

describe('the execution figures of a report', () => {
  it('equal a plain calculation for a twap over two days of minute bars', () => {
    const tape = walkTape({ pair: 'btcusd', rows: 3 * 1_440, startPrice: 60_000, volatility: 0.0008 });
    const { report, records, tapes } = twapReport(tape, START + HOUR_MS * 2, 2, 96);
    expect(expectPlainReport(report, records, tapes)).toEqual({ parents: 1, slices: 96 });
    expect(report.fills).toBeGreaterThan(60);
    expect(report.totals[0]?.costs.missed_slices).toBeGreaterThan(10);
    expect(Number(report.totals[0]?.costs.opportunity)).not.toBe(0);
    expect(Number(report.totals[0]?.fees)).toBeGreaterThan(10);
    expect(problemsOf(report)).toEqual([]);
  });

  it('equal a plain calculation for a hundred dollars a day over two months of hourly bars', () => {
    const tape = walkTape({ pair: 'btcusd', rows: 24 * 60, barMs: HOUR_MS, startPrice: 7_000, volatility: 0.008 }); // prettier-ignore
    const { report, records, tapes } = dcaReport(tape, START + HOUR_MS, START + 59 * DAY_MS);
    expect(expectPlainReport(report, records, tapes).parents).toBeGreaterThan(55);
    expect(problemsOf(report)).toEqual([]);
  });

  it('equal a plain calculation for a rebalancing of three assets over a year of daily bars', () => {
    const shape = { rows: 365, barMs: DAY_MS, volatility: 0.04 };
    const all = [
      walkTape({ ...shape, pair: 'btcusd', startPrice: 9_000 }),
      walkTape({ ...shape, pair: 'ethusd', startPrice: 300 }),
      walkTape({ ...shape, pair: 'xrpusd', startPrice: 0.25, isMissing: (row) => row % 97 === 96 }),
    ];
    const targets = { btc: '0.4', eth: '0.3', xrp: '0.2', usd: '0.1' };
    const { report, records, tapes } = rebalanceReport(all, { targets, from: START + DAY_MS, until: START + 363 * DAY_MS }); // prettier-ignore
    expect(expectPlainReport(report, records, tapes).parents).toBeGreaterThan(20);
    expectPlainPortfolio(report, records, { tapes, usd: '1000000' });
    expect(report.warnings.join('\n')).toContain(
      'The history of xrpusd has 3 gaps in this period, 3 bars in all',
    );
    expect(problemsOf(report)).toEqual([]);
    const [bare] = reportOf(figuresOf(records, { version: 't' })).portfolios;
    expect(bare).not.toHaveProperty('course');
    expect([bare?.decisions, bare?.end?.at]).toEqual([
      report.portfolios[0]?.decisions,
      report.portfolios[0]?.end?.at,
    ]);
  });
});
