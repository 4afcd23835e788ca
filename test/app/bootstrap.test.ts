import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBlock } from '../../src/app/research/bootstrap.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import type { Report } from '../../src/report/json/schema.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { normalAt } from '../../src/simulator/market/random.ts';
import { expectRan } from '../support/command.ts';
import type { CliWorld, Ran } from '../support/command.ts';
import { backtest, bars } from './support/backtest.ts';
import { backtestConfig } from './support/desk-config.ts';
import { aFolder, put } from '../support/folder.ts';

const TWAP = `
id: day
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT20H
slices: 10
`;

const walk = (seed: number, price: number): readonly number[] => {
  let logarithm = Math.log(price);
  return Array.from({ length: 300 }, (_, n) => {
    logarithm += 0.003 * normalAt(seed, 1, n);
    return Number(Math.exp(logarithm).toFixed(2));
  });
};

const STEP_MS = 10 * MINUTE_MS;
const pricesOf = (closes: readonly number[]): string => bars(closes.length, (n) => closes[n] ?? 0, STEP_MS);
const desk = (strategy = TWAP): string =>
  aFolder({
    'config.yaml': backtestConfig(),
    'desk.yaml': strategy,
    'btc.csv': pricesOf(walk(1, 60_000)),
    'eth.csv': pricesOf(walk(2, 3_000)),
  });

const tranche = async (cwd: string, line: readonly string[], over?: Partial<CliWorld>): Promise<Ran> =>
  await backtest(cwd, ['--data', 'btcusd=btc.csv', '--model', 'tight', ...line], over);
const reportIn = ({ out }: Ran): Report => reportSchema.parse(JSON.parse(out));
type Figure = NonNullable<Report['bootstrap']>['figures'][number];
function figureOf({ bootstrap }: Report, name: string): Figure {
  const found = bootstrap?.figures.find(({ figure }) => figure === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

describe('tranche backtest --bootstrap', () => {
  it('gives the same result for the same seed with any number of threads', async () => {
    const cwd = desk();
    const line = ['--bootstrap', '24', '--level', '90', '--json'];
    const [one, three, other] = [
      await tranche(cwd, [...line, '--workers', '1']),
      await tranche(cwd, [...line, '--workers', '3']),
      await tranche(cwd, [...line, '--seed', '2']),
    ];
    expect([one.code, one.err]).toEqual([0, '']);
    expect(three.out).toBe(one.out);
    const made = reportIn(one);
    const cost = figureOf(made, 'cost_bps');
    expect(cost).toMatchObject({ resamples: 24, history: Number(made.totals[0]?.costs.bps?.total) });
    const parts = ['delay', 'timing', 'execution', 'opportunity', 'fees'] as const;
    const bps = made.totals[0]?.costs.bps;
    expect(parts.map((part) => figureOf(made, `${part}_bps`).history)).toEqual(parts.map((part) => Number(bps?.[part]))); // prettier-ignore
    expect(figureOf(made, 'slippage_bps').history).toBe(Number(made.totals[0]?.costs.arrival_slippage_bps));
    const sum = parts.reduce((total, part) => total + figureOf(made, `${part}_bps`).mean, 0);
    expect(sum).toBeCloseTo(cost.mean, 3);
    expect(cost.p95).toBeGreaterThan(cost.p5 + 10);
    expect(cost).toMatchObject({ low: cost.p5, high: cost.p95 });
    expect(figureOf(reportIn(other), 'cost_bps').mean).not.toBe(cost.mean);
    expect(figureOf(reportIn(other), 'cost_bps').history).toBe(cost.history);
  });

  it('reports the value and the drawdown of a portfolio', async () => {
    const strategy = `id: mix\nkind: rebalance\ncash: usd\ntarget_weights: { btc: '0.4', eth: '0.3', usd: '0.3' }\ndrift_type: absolute\ndrift_threshold: '0.02'\nmin_trade_notional: { amount: '50', currency: usd }\n`;
    const cwd = desk(strategy);
    const line = ['--data', 'ethusd=eth.csv', '--bootstrap', '20', '--level', '80', '--json'];
    const { code, out, err } = await tranche(cwd, line);
    expect([code, err]).toEqual([0, '']);
    const made = reportSchema.parse(JSON.parse(out));
    const [value, fall] = [figureOf(made, 'value_usd'), figureOf(made, 'drawdown')];
    expect(value.p95).toBeGreaterThan(value.p5 + 100);
    expect(fall.p5).toBeGreaterThan(0);
    expect(fall.history).toBeCloseTo(made.portfolios[0]?.course?.drawdown ?? Number.NaN, 5);
  });

  it('prints the intervals with their limitations and adds them to the report', async () => {
    const cwd = desk();
    const line = ['--bootstrap', '20', '--block', '4h', '--level', '80', '--no-trend', '--out', 'found'];
    const { code, err } = await tranche(cwd, line);
    expect(code).toBe(0);
    expect(err).toContain('Intervals over 20 resamples in blocks of PT4H');
    expect(err).toMatch(/implementation shortfall, bps +-?\d+\.\d+/u);
    expect(err).toContain('errors of the execution model');
    const html = readFileSync(join(cwd, 'found/report.html'), 'utf8');
    expect(html).toContain('Confidence intervals');
    expect(html).toContain('The trend of the window is removed from every pair');
    const read: unknown = JSON.parse(readFileSync(join(cwd, 'found/report.json'), 'utf8'));
    expect(reportSchema.parse(read).bootstrap).toMatchObject({ resamples: 20, block_ms: 4 * HOUR_MS, blocks: 12.5, trend: 'removed', seed: '1', level: 0.8 }); // prettier-ignore
  });

  it('compares anchored with unanchored blocks over the same random numbers', async () => {
    // Hourly bars of twenty days, with prices that rise in the first half of each day and fall in the second.
    const daily = (n: number): number => 60_000 * (1 + 0.02 * Math.sin((2 * Math.PI * (n % 24)) / 24));
    const cwd = desk();
    put(cwd, { 'btc.csv': bars(480, daily, HOUR_MS) });
    const line = ['--bootstrap', '40', '--level', '90', '--block', '1d'];
    const [kept, free] = [
      await tranche(cwd, [...line, '--json', '--out', 'kept']),
      await tranche(cwd, [...line, '--json', '--unanchored']),
    ];
    const [one, other] = [reportIn(kept), reportIn(free)];
    const anchoring = one.bootstrap?.anchoring;
    expect(anchoring?.resamples).toBe(40);
    // Both requests compare the same pairs of resamples.
    expect(other.bootstrap?.anchoring).toEqual(anchoring);
    const cost = anchoring?.figures.find(({ figure }) => figure === 'cost_bps');
    expect(figureOf(one, 'cost_bps')).toMatchObject({ ...cost?.anchored });
    expect(figureOf(other, 'cost_bps')).toMatchObject({ ...cost?.unanchored });
    // A purchase at fixed hours costs the same each day; at shifted hours, its cost depends on the hour.
    expect((cost?.anchored.p95 ?? 0) - (cost?.anchored.p5 ?? 0)).toBeLessThan(1);
    expect((cost?.unanchored.p95 ?? 0) - (cost?.unanchored.p5 ?? 0)).toBeGreaterThan(50);
    const words = one.bootstrap?.notes.find((note) => note.startsWith('Effect of keeping the time of day on implementation shortfall, bps, 40 resamples')); // prettier-ignore
    expect(words).toContain(
      `median ${cost?.anchored.median.toFixed(2)} against ${cost?.unanchored.median.toFixed(2)}`,
    );
    expect(readFileSync(join(cwd, 'kept/report.html'), 'utf8')).toContain(
      'Effect of keeping the time of day',
    );
  });

  /** Runs the command and interrupts it once `ended` runs have finished, including that of the history. */
  async function interrupted(cwd: string, ended: number, ...line: readonly string[]): Promise<Ran> {
    let interrupt = (): void => undefined;
    return await tranche(cwd, line, {
      onSignal(listener) {
        interrupt = () => {
          interrupt = () => undefined;
          listener('SIGINT');
        };
        if (ended === 0) interrupt();
        return () => undefined;
      },
      watch(text) {
        if (Number(/ (?<done>\d+)\/\d+ /u.exec(text)?.groups?.['done'] ?? 0) >= ended) interrupt();
      },
    });
  }

  it('writes no files if it is interrupted before there are enough resamples for an interval', async () => {
    const cwd = desk();
    const ran = await interrupted(cwd, 0, '--bootstrap', '200', '--out', 'found');
    expectRan(ran, 75, /stopped after \d+ resamples, which is too few for an interval: nothing is written/u);
    expect(existsSync(join(cwd, 'found'))).toBe(false);
  });

  it('gives the intervals of the finished resamples if it is interrupted later', async () => {
    const cwd = desk();
    // One thread finishes the resamples in order; of several threads, one may finish an early resample late.
    const line = ['--bootstrap', '10000', '--level', '80', '--json', '--out', 'found', '--workers', '1'];
    const ran = await interrupted(cwd, 30, ...line);
    expect(ran.code).toBe(75);
    const { bootstrap } = reportIn(ran);
    const drawn = bootstrap?.resamples ?? 0;
    expect(drawn).toBeGreaterThanOrEqual(20);
    expect(bootstrap?.asked).toBe(10_000);
    expect(ran.err).toContain(`stopped after ${drawn} of 10000 resamples: the intervals cover only those`);
    expect(bootstrap?.notes[0]).toContain(`stopped after ${drawn} of 10000 resamples`);
    const whole = reportIn(await tranche(cwd, ['--bootstrap', String(drawn), '--level', '80', '--json']));
    const { asked: _, notes: [stopped, ...notes] = [], ...partial } = bootstrap ?? {};
    expect({ ...partial, notes }).toEqual(whole.bootstrap);
    expect(stopped).toContain(`--bootstrap ${drawn}`);
    expect(reportSchema.parse(JSON.parse(readFileSync(join(cwd, 'found/report.json'), 'utf8')))).toEqual(
      reportIn(ran),
    );
  });

  it('reads block lengths in short form and as ISO 8601 durations', () => {
    expect(['1d', '4h', '30m', '90s', '2w', 'P1D', 'PT4H'].map(readBlock)).toEqual([DAY_MS, 4 * HOUR_MS, 30 * MINUTE_MS, 90_000, 14 * DAY_MS, DAY_MS, 4 * HOUR_MS]); // prettier-ignore
  });
});
