import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { withSeparators } from '../../src/core/text/with-separators.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { put } from '../support/folder.ts';
import { backtest, bars } from './support/backtest.ts';
import { TWAP, sweep, sweepFolder } from './support/sweep.ts';

const REBALANCE = `
id: hour
kind: rebalance
target_weights: { btc: '0.5', usd: '0.5' }
cash: usd
drift_type: absolute
drift_threshold: '0.1'
rebalance_to: target
schedule: { cron: '*/30 * * * *', time_zone: UTC }
`;

/** A price that nearly doubles, falls back, and continues for hours after the strategies have ended. */
const closeAt = (minute: number): number =>
  60_000 + (minute < 120 ? 400 * minute : minute < 240 ? 400 * (240 - minute) : 7 * (minute - 240)) + (minute % 7); // prettier-ignore
const ROWS = 787;
const PRICES = bars(ROWS, closeAt);

interface Told {
  readonly terminal: string;
  readonly report: Report;
  readonly html: string;
  readonly csv: readonly Readonly<Record<string, string>>[];
  readonly parquet: readonly Readonly<Record<string, unknown>>[];
  readonly swept: Readonly<Record<string, string>>;
}

/** Returns the figures of one run from every output. */
async function told(strategy: string, vary: string): Promise<Told> {
  const cwd = sweepFolder({ strategy });
  put(cwd, { 'btc.csv': PRICES });
  const line = ['--data', 'btcusd=btc.csv', '--model', 'tight', '--out', 'out'];
  const { code, err } = await backtest(cwd, line);
  expect(code).toBe(0);
  const read = (name: string): string => readFileSync(join(cwd, 'out', name), 'utf8');
  const [head = '', ...rows] = read('fills.csv').trimEnd().split('\r\n');
  const parquet = await parquetReadObjects({
    file: await asyncBufferFromFile(join(cwd, 'out', 'fills.parquet')),
  });
  const { out } = await sweep(cwd, ['--vary', vary, '--json']);
  const results = JSON.parse(out) as {
    settings: readonly { runs: readonly { figures: Record<string, string> }[] }[];
  };
  return {
    terminal: err,
    report: reportSchema.parse(JSON.parse(read('report.json'))),
    html: read('report.html').replaceAll(/<[^>]*>/gu, ' ').replaceAll(/&nbsp;|\u00A0/gu, ' ').replaceAll('\u2212', '-'), // prettier-ignore
    csv: rows.map((row) => Object.fromEntries(row.split(',').map((cell, i) => [head.split(',')[i] ?? '', cell]))), // prettier-ignore
    parquet,
    swept: results.settings[0]?.runs[0]?.figures ?? {},
  };
}

const sumOf = (rows: readonly Readonly<Record<string, unknown>>[], column: string): number =>
  rows.reduce((sum, row) => sum + Number(row[column]), 0);
const two = (value: string | number | undefined): string => Number(value).toFixed(2);
const grouped = (value: string): string => Number(two(value)).toLocaleString('en-US', { minimumFractionDigits: 2 }); // prettier-ignore

function expectSameFills({ terminal, report, csv, parquet, swept }: Told): void {
  const [group] = report.groups;
  expect(report.fills).toBeGreaterThan(0);
  expect([csv.length, parquet.length, Number(swept['fills'])]).toEqual([report.fills, report.fills, report.fills]); // prettier-ignore
  const amount = report.groups.reduce((sum, one) => sum + Number(one.amount), 0);
  for (const rows of [csv, parquet]) expect(sumOf(rows, 'amount')).toBeCloseTo(amount, 6);
  for (const row of csv) expect(parquet).toContainEqual(expect.objectContaining({ client_order_id: row['client_order_id'], slice: Number(row['slice']) })); // prettier-ignore
  expect(Number(swept['turnover_usd'])).toBeCloseTo(amount, 6);
  // The value of the account at the end of the window, long after the last trade.
  const { value_usd: value, holdings } = report.backtest ?? {};
  expect(swept['value_usd']).toBe(value);
  const end = closeAt(ROWS - 1);
  expect(Number(value)).toBeCloseTo(Number(holdings?.['usd']) + Number(holdings?.['btc']) * end, 2);
  expect(terminal).toContain(`value ${withSeparators(value ?? '')} usd`);
  expect(terminal).toContain(`${group?.traded} ${group?.base}`);
}

describe('the figures of a run on the terminal, in JSON, HTML, CSV, Parquet and in a sweep', () => {
  it('are the same for an order that ends long before its prices', async () => {
    const all = await told(TWAP, 'slices=12,6');
    expectSameFills(all);
    const { terminal, report, html, swept } = all;
    const [group] = report.groups;
    expect(swept['cost_bps']).toBe(group?.costs.bps?.total);
    expect(swept['slippage_bps']).toBe(group?.costs.arrival_slippage_bps);
    for (const bps of [group?.costs.bps?.total, group?.costs.arrival_slippage_bps]) {
      expect(terminal).toMatch(new RegExp(` ${grouped(bps ?? '')}(?: |$)`, 'mu'));
      expect(html).toContain(grouped(bps ?? ''));
    }
    expect(terminal).toContain(`at ${grouped(group?.average_price ?? '')}`);
    expect(html).toContain(grouped(group?.average_price ?? ''));
  });

  it('are the same for a portfolio that drifts far in the middle and little at the end', async () => {
    const all = await told(REBALANCE.replace("'0.1'", "'0.3'"), 'drift_threshold=0.3,0.4');
    expectSameFills(all);
    const { terminal, report, html, swept } = all;
    const [portfolio] = report.portfolios;
    const { course, end } = portfolio ?? {};
    const percent = (fraction: string | number | undefined): string => `${(100 * Number(fraction)).toFixed(2)} %`; // prettier-ignore
    expect(course?.drift_max).toBeGreaterThan(2 * Number(end?.drift));
    expect(terminal).toContain(`drift ${percent(end?.drift)} at the end`);
    // The drift counts from the purchase of the portfolio; the distance from the targets before it is separate.
    const { since_built: built } = course ?? {};
    expect(built).toBeDefined();
    expect(terminal).toContain(
      `largest drift ${percent(built?.drift_max)}, mean ${percent(built?.drift_mean)} since it was bought`,
    );
    expect(terminal).toContain(`${percent(course?.drift_max)} from its targets before`);
    expect(html).toContain(percent(built?.drift_max));
    expect(html).toContain(percent(built?.drift_mean));
    // The same holds for the tracking error.
    expect(built?.tracking_error).toBeLessThan(course?.tracking_error ?? 0);
    for (const each of [course?.return, course?.drawdown, course?.tracking_error, built?.tracking_error]) {
      expect(terminal).toContain(percent(each));
      expect(html).toContain(percent(each));
    }
    expect([swept['drawdown'], swept['tracking_error']]).toEqual([course?.drawdown.toFixed(6), course?.tracking_error?.toFixed(6)]); // prettier-ignore
    expect(end?.at).toBe(report.period?.until);
    expect([two(end?.value), end?.at]).toEqual([two(report.backtest?.value_usd), report.backtest?.until]);
    expect(terminal).toContain(`worth ${grouped(end?.value ?? '')} usd`);
    expect(html).toContain(grouped(end?.value ?? ''));
    expect(course?.points.at(-1)).toMatchObject({ at: end?.at, value: Number(Number(end?.value).toPrecision(9)) }); // prettier-ignore
  });
});
