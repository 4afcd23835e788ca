import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { expectRan } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';
import { BEGIN, backtest, bars } from './support/backtest.ts';

/** Hours until the prices of ether end; those of bitcoin and solana end after twice as many. */
const ENDS_AFTER = 300;
const REBALANCE = `
id: keep
kind: rebalance
target_weights: { btc: '0.4', eth: '0.3', sol: '0.2', usd: '0.1' }
drift_threshold: '0.02'
min_interval: PT1H
`;

const desk = (): string =>
  aFolder({
    'keep.yaml': REBALANCE,
    'btc.csv': bars(2 * ENDS_AFTER, (n) => cents(40_000 * (1 + 0.25 * Math.sin(n / 40))), HOUR_MS),
    'eth.csv': bars(ENDS_AFTER, (n) => cents(2_000 * (1 + 0.1 * Math.sin(n / 25))), HOUR_MS),
    'sol.csv': bars(2 * ENDS_AFTER, (n) => cents(100 * (1 - 0.2 * Math.sin(n / 60))), HOUR_MS),
  });
const cents = (price: number): number => Math.round(price * 100) / 100;

const DATA = ['btcusd=btc.csv', 'ethusd=eth.csv', 'solusd=sol.csv'].flatMap((each) => ['--data', each]);
const ENDED = BEGIN + ENDS_AFTER * HOUR_MS;

const run = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await backtest(cwd, ['keep.yaml', ...DATA, '--holdings', 'usd=100000', ...line]);

interface Done extends Ran {
  readonly report: Report;
  readonly fills: readonly Readonly<Record<string, string>>[];
}

async function reported(...line: readonly string[]): Promise<Done> {
  const cwd = desk();
  const ran = await run(cwd, '--assume', 'unavailable_share=0', '--out', 'out', ...line);
  return {
    ...ran,
    report: JSON.parse(readFileSync(join(cwd, 'out', 'report.json'), 'utf8')) as Report, // oxlint-disable-line typescript/no-unsafe-type-assertion -- its schema is tested elsewhere
    fills: parse(readFileSync(join(cwd, 'out', 'fills.csv')), { columns: true }), // oxlint-disable-line typescript/no-unsafe-assignment -- a header names the columns
  };
}

const after = (fills: Done['fills'], pair: string): Done['fills'] =>
  fills.filter((fill) => fill['pair'] === pair && Date.parse(fill['executed_at'] ?? '') >= ENDED);

describe('an asset whose prices end before the window', () => {
  it('is rejected if the window is given explicitly, with the options to handle it', async () => {
    expectRan(
      await run(desk(), '--until', '2026-01-25'),
      64,
      '--until 2026-01-25T00:00:00.000Z, but the tape of ethusd (eth.csv) ends at 2026-01-17T13:00:00.000Z',
      '--delisted liquidate sells it there and --delisted freeze keeps it at its last price',
    );
  });

  it('shortens the default window, with a warning at the start of the output and in the report', async () => {
    const { code, err, report } = await reported();
    expect(code).toBe(0);
    const words = 'he window ends at 2026-01-17T13:00:00.000Z, where the prices of ethusd end: 12.5 days of btcusd are omitted'; // prettier-ignore
    expect(err.split('\n')[1]).toBe(`warning: t${words}`);
    expect(report.warnings[0]).toBe(`T${words}.`);
    expect(report.backtest?.shortened).toEqual([
      { end: 'until', at: '2026-01-17T13:00:00.000Z', by: ['ethusd'], left_out_of: 'btcusd', left_out_ms: 300 * HOUR_MS }, // prettier-ignore
    ]);
    expect(report.backtest?.delisted).toBeUndefined();
  });

  it('is liquidated at its last price, at the cost of the model, and the other assets share its weight', async () => {
    const { code, err, report, fills } = await reported('--delisted', 'liquidate');
    expect(code).toBe(0);
    expect(err.split('\n')[1]).toBe('warning: the prices of ethusd end at 2026-01-17T12:00:00.000Z, before the window: holdings are sold at the last price, at the cost of the model, and the backtest buys no more of it'); // prettier-ignore
    const last = 2_000 * (1 + 0.1 * Math.sin((ENDS_AFTER - 1) / 25));
    expect(report.backtest?.delisted).toEqual([
      { pair: 'ethusd', currency: 'eth', at: new Date(ENDED).toISOString(), price: last.toFixed(2), does: 'liquidate', held: '0' }, // prettier-ignore
    ]);
    const [sold, ...more] = after(fills, 'ethusd');
    expect(more).toEqual([]);
    expect(sold).toMatchObject({ strategy: 'delisted-eth', side: 'sell' });
    const usd = Number(sold?.['quantity']) * last;
    const bps = 10_000 * (1 - Number(sold?.['price']) / last);
    // The half spread of 3 bps and the impact of the model for this size.
    expect(bps).toBeCloseTo(3 + 10 * Math.sqrt(usd / 1_000_000), 1);
    const at = report.portfolios[0]?.course?.points.at(-1);
    expect(at?.weights['eth']).toBe(0);
    for (const [asset, weight] of [
      ['btc', 0.4 / 0.7],
      ['sol', 0.2 / 0.7],
      ['usd', 0.1 / 0.7],
    ] as const)
      // prettier-ignore
      expect(Math.abs((at?.weights[asset] ?? 0) - weight)).toBeLessThan(0.021);
  });

  it('keeps its last value and is not traded if it is frozen, while the other assets are traded', async () => {
    const { code, report, fills } = await reported('--delisted', 'freeze');
    expect(code).toBe(0);
    expect(after(fills, 'ethusd')).toEqual([]);
    expect(after(fills, 'btcusd').length).toBeGreaterThan(1);
    const [gone] = report.backtest?.delisted ?? [];
    expect(gone?.does).toBe('freeze');
    expect(Number(gone?.held)).toBeGreaterThan(1);
    const value = Number(gone?.held) * Number(gone?.price);
    const at = report.portfolios[0]?.course?.points.at(-1);
    expect((at?.weights['eth'] ?? 0) * (at?.value ?? 0)).toBeCloseTo(value, 2);
    // It trades only on a drift, not at every price because of the asset that can no longer be bought.
    expect(after(fills, 'solusd').length).toBeLessThan(40);
  });

  it.each(['liquidate', 'freeze'])('leads to the same journal with --every-tick: %s', async (choice) => {
    const [jumping, every] = [await reported('--delisted', choice), await reported('--delisted', choice, '--every-tick')]; // prettier-ignore
    expect(every.report.made_from.head).toBe(jumping.report.made_from.head);
  });

  it('is reported if it could not be sold', async () => {
    const held = await reported('--delisted', 'liquidate', '--holdings', 'usd=70000,eth=15', '--assume', 'unavailable_share=1'); // prettier-ignore
    expect(held.report.fills).toBe(0);
    const [gone] = held.report.backtest?.delisted ?? [];
    expect(Number(gone?.held)).toBeGreaterThan(0);
    expect(held.report.warnings[1]).toBe(`${gone?.held} eth could not be sold before the quotes ended, and are valued at the last price, ${gone?.price}.`); // prettier-ignore
  });
});
