import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { validate } from '../../src/app/commands/validate.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import { runLine } from './support/cli.ts';
import { backtestConfig } from './support/desk-config.ts';
import type { Ran } from './support/cli.ts';
import { aFolder } from '../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const KERNEL = `import { defineKernel, later, z } from 'tranche/strategy';
export const kernel = defineKernel({
  params: z.strictObject({}),
  start: (params, view) => ({ state: { n: 0 }, waits: [{ on: 'at', at: later(view.at, 'PT1M') }] }),
  step(state, _wake, params, view) {
    BODY
  },
});
`;
const MODULE = `
id: own
kind: module
module: ./own.ts
pairs: [btcusd]
total_notional: { amount: '1000', currency: usd }
`;
const TWAP = `
id: hour
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT1H
slices: 12
`;

/** A folder with these files and with prices that fall by a third and recover. */
function aDesk(files: Readonly<Record<string, string>>): string {
  const cwd = aFolder();
  const rows = Array.from({ length: 300 }, (_, n) => {
    const close = 60_000 - 200 * (n < 150 ? n / 1.5 : (300 - n) / 1.5);
    return `${BEGIN + n * MINUTE_MS},${close},${close},${close},${close},1`;
  });
  writeFileSync(join(cwd, 'btc.csv'), ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return cwd;
}

const backtest = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await runLine(addBacktest, ['backtest', ...line, '--data', 'btcusd=btc.csv'], {
    cwd,
    now: instant(0),
    config: 'config/paper.yaml',
  });

describe('a backtest without a config', () => {
  it('runs if data and holdings are given, and states the limits it uses', async () => {
    const { code, err } = await backtest(aDesk({ 'hour.yaml': TWAP }), 'hour.yaml', '--holdings', 'usd=100000'); // prettier-ignore
    expect(code).toBe(0);
    expect(err).toMatch(/^no config: using limits of a billion usd per order/u);
    expect(err).toMatch(/hour +buy +1 btc/u);
  });

  it('exits with 78 if no holdings are given, and states that it needs them', async () => {
    const { code, err } = await backtest(aDesk({ 'hour.yaml': TWAP }), 'hour.yaml');
    expect(code).toBe(78);
    expect(err).toContain('there is no config/paper.yaml: a backtest without a config needs strategy files and --holdings'); // prettier-ignore
  });
});

describe('the first lines of a backtest', () => {
  it('state that there were no trades, the reason, and how to change it', async () => {
    const { code, err } = await backtest(aDesk({ 'hour.yaml': TWAP.replace('slices', "limit_price: '100'\nslices") }), 'hour.yaml', '--holdings', 'usd=100000'); // prettier-ignore
    expect(code).toBe(0);
    const [, first, second] = err.split('\n');
    expect(first).toBe('NOTHING TRADED.');
    expect(second).toMatch(/^hour traded nothing, 12 times because .*\(limit_price\)\. To change this: another limit_price/u); // prettier-ignore
  });

  it('state that a strategy could trade on one side only', async () => {
    const config = backtestConfig({ balances: { usd: '100000', btc: '0' }, strategies: 'both.yaml' });
    const cwd = aDesk({
      'config.yaml': config.replace('  collar_bps: 100', '  collar_bps: 100\n  sides: [buy]'),
      'both.yaml': `
id: both
kind: rebalance
target_weights: { btc: '0.5', usd: '0.5' }
cash: usd
min_interval: PT5M
drift_threshold: '0.02'
`,
    });
    const { err } = await backtest(cwd, '--config', 'config.yaml');
    expect(err.split('\n')[0]).toMatch(/^both COULD NOT SELL: none of \d+ sells traded, \d+ times because controls\.pairs does not list the pair, or controls\.sides not the side/u); // prettier-ignore
  });

  it('state that the code of a strategy failed, with file and line, and the exit code is 78', async () => {
    const cwd = aDesk({ 'own.ts': KERNEL.replace('BODY', "throw new Error('no good');"), 'own.yaml': MODULE }); // prettier-ignore
    const { code, err } = await backtest(cwd, 'own.yaml', '--holdings', 'usd=100000');
    expect(code).toBe(78);
    expect(err).toContain('own FAILED: Error: no good (own.ts:6)\n');
  });

  it('contain no warning if the strategy traded as planned', async () => {
    const { err } = await backtest(aDesk({ 'hour.yaml': TWAP }), 'hour.yaml', '--holdings', 'usd=100000');
    expect(err.split('\n')[1]).toMatch(/^Backtest from/u);
  });
});

describe('tranche validate', () => {
  it('checks the types of modules and reports file, line and column', () => {
    const said = { out: '', err: '' };
    const io = (cwd: string): Parameters<typeof validate>[1] => ({
      cwd,
      env: {},
      now: instant(0),
      colour: false,
      stdout: { write: (text: string) => (said.out += text) },
      stderr: { write: (text: string) => (said.err += text) },
    });
    const wrong = aDesk({ 'own.ts': KERNEL.replace('BODY', "const n: number = 'one';\n    return { state: { n }, finished: true };"), 'own.yaml': MODULE }); // prettier-ignore
    expect(validate({ files: ['own.yaml'] }, io(wrong))).toBe(78);
    expect(said.err).toMatch(
      /^own\.ts:6:11\n {2}Type 'string' is not assignable to type 'number'\. \(TS2322\)/u,
    );
    const right = aDesk({ 'own.ts': KERNEL.replace('BODY', 'return { state, finished: true };'), 'own.yaml': MODULE }); // prettier-ignore
    said.err = '';
    expect([validate({ files: ['own.yaml'] }, io(right)), said.err]).toEqual([0, '']);
  });
});
