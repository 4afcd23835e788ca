import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { add, money, text } from '../../src/core/money.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { Against } from '../../src/report/json/against.ts';
import { runLine } from './support/cli.ts';
import type { Ran } from './support/cli.ts';
import { backtestConfig } from './support/desk-config.ts';
import { aFolder } from '../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);

/** A folder with the journal of three hours of trading under the model of `truth.yaml`. */
async function traded(): Promise<string> {
  const cwd = aFolder();
  const rows = Array.from({ length: 200 }, (_, n) => {
    const close = 60_000 + 10 * (n % 17);
    return `${BEGIN + n * MINUTE_MS},${close},${close},${close},${close},1`;
  });
  writeFileSync(join(cwd, 'btc.csv'), ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n'));
  writeFileSync(
    join(cwd, 'config.yaml'),
    backtestConfig({ balances: { usd: '2500000', btc: '1' }, dayUsd: '10000000' }),
  );
  writeFileSync(
    join(cwd, 'desk.yaml'),
    `id: buy\nkind: twap\npair: btcusd\nside: buy\ntotal_notional: { amount: '61234.56', currency: usd }\nduration: PT3H\nslices: 60\n`,
  );
  writeFileSync(
    join(cwd, 'truth.yaml'),
    'base: tight\nhalf_spread_bps: 7.5\nquote_latency_ms: 120\nfee_bps: 10\n',
  );
  const { code, err } = await backtest(cwd, ...DATA, '--model', './truth.yaml', '--journal', 'run.db');
  if (code !== 0) throw new Error(err);
  return cwd;
}

const DATA = ['--data', 'btcusd=btc.csv'];

const backtest = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await runLine(addBacktest, ['backtest', ...line], { cwd, now: instant(BEGIN), config: 'config.yaml' });

const against = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await backtest(cwd, '--against', join(cwd, 'run.db'), ...line);

const sumOf = ({ delay, timing, execution, opportunity, fees }: Readonly<Record<string, string>>): string =>
  text(
    [delay, timing, execution, opportunity, fees].map((part = '') => money(part)).reduce((a, b) => add(a, b)),
  );

describe('tranche backtest --against', () => {
  it.each([['the given prices', DATA], ['the prices of the journal', []]])(
    'finds no difference under the model of the venue itself, over %s',
    async (_, data) => {
      const { code, out } = await against(await traded(), ...data, '--model', './truth.yaml', '--json');
      expect(code).toBe(0);
      const { totals, parents } = JSON.parse(out) as Against;
      expect(totals).toMatchObject([{ quote: 'usd', parents: 1, difference: { delay: '0', timing: '0', execution: '0', opportunity: '0', fees: '0', total: '0' } }]);
      expect(parents[0]?.live).toEqual(parents[0]?.model);
      expect(parents[0]?.live?.costs?.fees).not.toBe('0');
    },
  );

  it('puts a wider spread of live into execution and dearer fees into fees, and each side sums to its shortfall', async () => {
    const { out } = await against(await traded(), ...DATA, '--model', 'tight', '--json');
    const { totals: [all], parents } = JSON.parse(out) as Against;
    expect(Number(all?.difference.execution)).toBeGreaterThan(30);
    expect(Number(all?.difference.fees)).toBeGreaterThan(0);
    expect(all?.difference).toMatchObject({ delay: '0', opportunity: '0' });
    for (const side of [all?.live, all?.model, all?.difference, parents[0]?.difference]) expect(sumOf(side ?? {})).toBe(side?.total);
  });

  it('prints the same rows, and writes a page and a JSON file that it does not overwrite', async () => {
    const cwd = await traded();
    const { code, out } = await against(cwd, '--model', 'tight', '--out', 'files');
    expect(code).toBe(0);
    expect(out).toMatch(/buy buy btcusd \S+ +live +[\d.]+ of [\d.]+ btc +60,\d+\.\d\d/u);
    expect(out).toContain('Note: prices of btcusd are those that the journal recorded');
    const report = JSON.parse(readFileSync(join(cwd, 'files', 'against.json'), 'utf8')) as Against;
    const page = readFileSync(join(cwd, 'files', 'against.html'), 'utf8');
    for (const part of ['Live against the model', report.head, report.parents[0]?.parent]) expect(page).toContain(part);
    expect(await against(cwd, '--out', 'files')).toMatchObject({ code: 64, err: expect.stringContaining('already contains') as string });
  });

  it('rejects options that the journal answers', async () => {
    const cwd = await traded();
    expect(await against(cwd, '--holdings', 'usd=1')).toMatchObject({ code: 64, err: expect.stringContaining('omit strategy files') as string });
  });
}); // prettier-ignore
