import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readModel } from '../../src/app/config/model-file.ts';
import { add, money, text } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type { Against } from '../../src/report/json/against.ts';
import { expectRan, runLine } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder } from '../support/folder.ts';
import { BEGIN, backtest, bars, wave } from './support/backtest.ts';
import { backtestConfig } from './support/desk-config.ts';

const DATA = ['--data', 'btcusd=btc.csv'];
const strategyOf = (id: string, amount: string): string =>
  `id: ${id}\nkind: twap\npair: btcusd\nside: buy\ntotal_notional: { amount: '${amount}', currency: usd }\nduration: PT3H\nslices: 60\n`;

/** A folder with the journal of three hours of trading under a model that is known. */
async function traded(strategies: string, model: string): Promise<string> {
  const cwd = aFolder({
    'btc.csv': bars(200, wave),
    'config.yaml': backtestConfig({ balances: { usd: '2500000', btc: '1' }, dayUsd: '10000000' }),
    'desk.yaml': strategies,
    'truth.yaml': `base: tight\nhalf_spread_bps: 7.5\nquote_latency_ms: 120\n${model}`,
  });
  expectRan(await backtest(cwd, [...DATA, '--model', './truth.yaml', '--journal', 'run.db']), 0);
  return cwd;
}

const ofOne = async (): Promise<string> => await traded(strategyOf('buy', '61234.56'), 'fee_bps: 10\n');
const against = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await backtest(cwd, ['--against', join(cwd, 'run.db'), ...line], { now: instant(BEGIN) });

const sumOf = ({ delay, timing, execution, opportunity, fees }: Readonly<Record<string, string>>): string =>
  text(
    [delay, timing, execution, opportunity, fees].map((part = '') => money(part)).reduce((a, b) => add(a, b)),
  );

describe('tranche backtest --against', () => {
  it.each([
    ['the given prices', DATA],
    ['the prices of the journal', []],
  ])('finds no difference under the model of the venue itself, over %s', async (_, data) => {
    const { out } = await against(await ofOne(), ...data, '--model', './truth.yaml', '--json');
    const { totals, parents } = JSON.parse(out) as Against;
    const none = { delay: '0', timing: '0', execution: '0', opportunity: '0', fees: '0', total: '0' };
    expect(totals).toMatchObject([{ quote: 'usd', parents: 1, difference: none }]);
    expect(parents[0]?.live).toEqual(parents[0]?.model);
    expect(parents[0]?.live?.costs?.fees).not.toBe('0');
  });

  it('puts a wider spread of live into execution and dearer fees into fees, and each side sums to its shortfall', async () => {
    const { out } = await against(await ofOne(), ...DATA, '--model', 'tight', '--json');
    const {
      totals: [all],
      parents,
    } = JSON.parse(out) as Against;
    expect(Number(all?.difference.execution)).toBeGreaterThan(30);
    expect(Number(all?.difference.fees)).toBeGreaterThan(0);
    expect(all?.difference).toMatchObject({ delay: '0', opportunity: '0' });
    for (const side of [all?.live, all?.model, all?.difference, parents[0]?.difference])
      expect(sumOf(side ?? {})).toBe(side?.total);
  });

  it('prints the same rows, and writes a page and a JSON file that it does not overwrite', async () => {
    const cwd = await ofOne();
    expectRan(
      await against(cwd, '--model', 'tight', '--out', 'files'),
      0,
      /buy buy btcusd \S+ +live +[\d.]+ of [\d.]+ btc +60,\d+\.\d\d/u,
      'Note: prices of btcusd are those that the journal recorded',
    );
    const report = JSON.parse(readFileSync(join(cwd, 'files', 'against.json'), 'utf8')) as Against;
    const page = readFileSync(join(cwd, 'files', 'against.html'), 'utf8');
    for (const part of ['Live against the model', report.head, report.parents[0]?.parent])
      expect(page).toContain(part);
    expectRan(await against(cwd, '--out', 'files'), 64, 'already contains');
    expectRan(await against(cwd, '--holdings', 'usd=1'), 64, 'omit strategy files');
  });
});

describe('tranche calibrate', () => {
  const ofTwo = async (): Promise<string> =>
    await traded(
      `${strategyOf('small', '61234.56')}---\n${strategyOf('large', '1234567.89')}`,
      "impact_bps: 33\norder_latency_ms: 90\nfee_bps: 3\nmax_usd: '15000'\n",
    );
  const calibrate = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
    await runLine(['calibrate', join(cwd, 'run.db'), ...line], { cwd, now: instant(BEGIN) });

  it('writes a model that backtests accept, and states the observations behind each fitted value', async () => {
    const cwd = await ofTwo();
    const line = ['--out', 'model.yaml'];
    expectRan(
      await calibrate(cwd, ...line),
      0,
      /half_spread_bps +all +7\.[45]\d* +3 +\d+ quotes; 95 %:/u,
      'Not fitted; taken from normal:',
      'The quotes come from a simulated venue',
    );
    const written = readFileSync(join(cwd, 'model.yaml'), 'utf8');
    expect(written).toMatch(/^half_spread_bps: 7\.[45]\d* # \d+ quotes; 95 %: /mu);
    expect(written).toMatch(/^ {4}max_usd: '15000' # \d+ refusals that stated a maximum/mu);
    const { model } = readModel({ model: './model.yaml', assume: [] }, { cwd, env: {} });
    expect(model).toMatchObject({
      quoteLatencyMs: 120,
      orderLatencyMs: 90,
      quoteLifeMs: 10_000,
      unavailableMs: 60_000,
      pairs: { btcusd: { maxUsd: '15000' } },
    });
    expect(model.impactBps).toBeCloseTo(33, 2);
    expect(model.feeBps).toBeCloseTo(3, 2);
    expectRan(await calibrate(cwd, ...line), 64, 'exists: name another file, or add --overwrite');
    expectRan(await calibrate(cwd, ...line, '--overwrite'), 0);
  });

  it('prints one JSON object with --json, relative to the requested base', async () => {
    const { out } = await calibrate(await ofTwo(), '--base', 'stressed', '--json');
    expect(JSON.parse(out)).toMatchObject({
      format: 1,
      base: 'stressed',
      modes: ['backtest'],
      model: { quote_latency_ms: 120, last_look_bps: 2, unavailable_ms: 300_000 },
      learnt: expect.arrayContaining([
        expect.objectContaining({ name: 'half_spread_bps', of: 'quotes' }),
      ]) as unknown,
    });
    expect(out).toContain('no outage was observed');
  });

  it('reports that it fitted no setting in a window without quotes', async () => {
    const ran = await calibrate(await ofTwo(), '--since', '2026-02-01');
    expectRan(ran, 0, 'Nothing was learnt.', '0 quotes: at least 20 are needed');
  });
});
