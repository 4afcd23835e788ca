import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { modelKeys } from '../../src/research/run/model.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import { problemsOf } from '../report/validator.ts';
import { expectRan } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder, put } from '../support/folder.ts';
import { TWAP, backtest, bars, wave } from './support/backtest.ts';
import { backtestConfig } from './support/desk-config.ts';
import { aKernelText, aModuleText } from './support/texts.ts';

const PRICES = bars(200, wave);
const desk = (strategy = TWAP): string =>
  aFolder({ 'config.yaml': backtestConfig(), 'desk.yaml': strategy, 'btc.csv': PRICES });
const DATA = ['--data', 'btcusd=btc.csv'] as const;
const tranche = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await backtest(cwd, [...DATA, ...line]);
/** The same without a config: the one that is read by default does not exist. */
const bare = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await backtest(cwd, [...DATA, ...line], { config: 'none.yaml' });

describe('tranche backtest', () => {
  it('reports the trades, their cost and the assumptions', async () => {
    const ran = await tranche(desk(), '--model', 'tight');
    expectRan(
      ran,
      0,
      'from 2026-01-05T00:01:00.000Z to 2026-01-05T03:21:00.000Z, model tight, seed 1',
      /hour +buy +1 btc +at 60,0\d\d/u,
      /Balances at the end: .*\b2 btc\b.*; value \d{3},\d{3}\.\d\d usd/u,
      'half_spread_bps 1, impact_bps 4',
    );
    expect(ran.out).toBe('');
  });

  it('warns in its first line which prices shorten the window and by how much', async () => {
    const cwd = desk();
    put(cwd, { 'btc.csv': bars(4_000, wave), 'eth.csv': bars(1_000, wave) });
    const { code, err } = await tranche(cwd, '--data', 'ethusd=eth.csv');
    expect([code, err.split('\n')[0]]).toEqual([
      0,
      'warning: the window ends at 2026-01-05T16:41:00.000Z, where the prices of ethusd end: 2.1 days of btcusd are omitted',
    ]);
    const asked = await tranche(cwd, '--data', 'ethusd=eth.csv', '--until', '2026-01-05T12:00:00Z');
    expect(asked.err).not.toContain('are omitted');
  });

  it('counts the fills at a price older than its bar', async () => {
    const lines = PRICES.split('\n');
    const cwd = desk();
    // Minutes 20 to 39 are missing; slices are due every five minutes.
    put(cwd, { 'btc.csv': [...lines.slice(0, 21), ...lines.slice(41)].join('\n') });
    const { err } = await tranche(cwd);
    expect(err).toMatch(/Note: [34] of 12 fills have a price that is older than its bar, up to 1\d min/u);
    expect((await tranche(desk())).err).not.toContain('older than its bar');
  });

  it.each([
    [
      `${TWAP}start_time: '2026-02-01T09:00:00Z'\n`,
      'hour could not trade: it waits for 2026-02-01T09:00:00.000Z, and the window ends at 2026-01-05T03:21',
    ],
    [
      `${TWAP}start_time: '2025-02-01T09:00:00Z'\n`,
      'hour could not trade: its last slice was due at 2025-02-01T09:55:00.000Z, and the window starts at 2026',
    ],
    [
      `id: weekly\nkind: recurring\npair: btcusd\nside: buy\neach_notional: { amount: '20', currency: usd }\nschedule: { cron: '0 9 * * 6' }\n`,
      'weekly could not trade: it waits for 2026-01-10T09:00:00.000Z, and the window ends at 2026-01-05T03:21',
    ],
    [
      `${TWAP}start_time: '2026-12-01T09:00:00Z'\n`,
      'strategy hour has start_time 2026-12-01T09:00:00.000Z, but the window ends at 2026-01-05T03:21:00.000Z: it will not trade',
    ],
    [
      TWAP.replace('slices', "limit_price: '100'\nslices"),
      /^NOTHING TRADED\.\nhour traded nothing, 12 times because .*\(limit_price\)\. To change this: another limit_price/mu,
    ],
    [
      `id: calm\nkind: rebalance\ntarget_weights: { usd: '1', btc: '0' }\ncash: usd\nmin_interval: PT5M\ndrift_threshold: '0.5'\n`,
      /^NOTHING TRADED\.\ncalm traded nothing: in the whole window, every weight that a trade may move lies inside its drift band \(inside_band\)\. To change this: a smaller drift_threshold/mu,
    ],
  ])('explains why a strategy could not trade: %s', async (strategy, says) => {
    expectRan(await tranche(desk(strategy)), 0, says);
  });

  it('states in its first line that a strategy could trade on one side only', async () => {
    const config = backtestConfig({ balances: { usd: '100000', btc: '0' } });
    const cwd = desk(
      `id: both\nkind: rebalance\ntarget_weights: { btc: '0.5', usd: '0.5' }\ncash: usd\nmin_interval: PT5M\ndrift_threshold: '0.02'\n`,
    );
    put(cwd, {
      'config.yaml': config.replace('  collar_bps: 100', '  collar_bps: 100\n  sides: [buy]'),
      // Prices that fall by a third and recover.
      'btc.csv': bars(300, (n) => 60_000 - 200 * (n < 150 ? n / 1.5 : (300 - n) / 1.5)),
    });
    expect((await tranche(cwd)).err.split('\n')[0]).toMatch(
      /^both COULD NOT SELL: none of \d+ sells traded, \d+ times because controls\.pairs does not list the pair, or controls\.sides not the side/u,
    );
  });

  it('states that the code of a strategy failed, with file and line', async () => {
    const cwd = desk();
    put(cwd, { 'own.ts': aKernelText("throw new Error('no good');"), 'own.yaml': aModuleText() });
    const ran = await bare(cwd, 'own.yaml', '--holdings', 'usd=100000');
    expectRan(ran, 78, 'own FAILED: Error: no good (own.ts:6)\n');
  });

  it('runs without a config if data and holdings are given, and states the limits it uses', async () => {
    const ran = await bare(desk(), 'desk.yaml', '--holdings', 'usd=100000');
    expectRan(
      ran,
      0,
      /^no config: using limits of a billion usd per order.*\nBacktest from/u,
      /hour +buy +1 btc/u,
    );
    expectRan(
      await bare(desk(), 'desk.yaml'),
      78,
      'a backtest without a config needs strategy files and --holdings',
    );
  });

  it('prints one JSON object with --json, identical in each run', async () => {
    const cwd = desk();
    put(cwd, { 'btc.csv.gz': gzipSync(PRICES) });
    const first = await tranche(cwd, '--json');
    const again = await backtest(cwd, ['--data', 'btcusd=btc.csv.gz', '--json']);
    const read: unknown = JSON.parse(first.out);
    expect(problemsOf(read)).toEqual([]);
    expect(read).toMatchObject({
      fills: 12,
      groups: [{ strategy: 'hour', traded: '1', fills: { fills: 12 } }],
      prices: [{ pair: 'btcusd', rows: 200 }],
      backtest: { control: 'active', open_doubts: 0, holdings: { btc: '2' }, files: { btcusd: 'btc.csv' } },
    });
    expect(again.out).toBe(first.out.replaceAll('btc.csv', 'btc.csv.gz'));
  });

  it('applies the window, holdings and assumptions of the command line', async () => {
    const window = ['--from', '2026-01-05T01:00:00Z', '--until', '2026-01-05T01:30:00Z'];
    const line = [...window, '--holdings', 'usd=70000', '--assume', 'half_spread_bps=0', '--json'];
    expect(JSON.parse((await tranche(desk(), ...line)).out)).toMatchObject({
      fills: 6,
      backtest: {
        from: '2026-01-05T01:00:00.000Z',
        until: '2026-01-05T01:30:00.000Z',
        model: 'normal, half_spread_bps=0',
        settings: { half_spread_bps: 0, impact_bps: 10, impact_memory: 'none' },
        holdings: { btc: '0.49999998' },
      },
    });
  });

  it('reads the config of a live desk without its token', async () => {
    const venue = "venue:\n  base_url: https://venue.example\n  token: '${TRANCHE_TOKEN}'\n";
    const cwd = desk();
    const config = backtestConfig().replace('mode: paper', 'mode: live').replace('venue:\n', venue);
    put(cwd, { 'config.yaml': config });
    expect(JSON.parse((await tranche(cwd, '--json')).out)).toMatchObject({ fills: 12 });
  });

  it('writes the same report with --every-tick as without it', async () => {
    const cwd = desk(
      `id: dip\nkind: limit\npair: btcusd\nside: buy\nlimit_price: '60050'\ntotal_quantity: { amount: '1', currency: btc }\n`,
    );
    const jumped = await tranche(cwd, '--json');
    expect(JSON.parse(jumped.out)).toMatchObject({ backtest: { holdings: { btc: '2' } } });
    expect((await tranche(cwd, '--json', '--every-tick')).out).toBe(jumped.out);
  });

  it('writes a journal with a valid hash chain and does not overwrite an existing file', async () => {
    const cwd = desk();
    const file = join(cwd, 'run.db');
    const { out } = await tranche(cwd, '--json', '--journal', 'run.db');
    const { made_from: told } = reportSchema.parse(JSON.parse(out));
    const saved = openJournal(`sqlite:${file}`, { readOnly: true });
    expect(saved.verify()).toMatchObject({ ok: true });
    expect(saved.head()).toEqual({ seq: told.records, hash: told.head });
    saved.close();
    const before = readFileSync(file);
    expectRan(await tranche(cwd, '--journal', 'sqlite:./named.db'), 0);
    expect(existsSync(join(cwd, 'named.db'))).toBe(true);
    for (const wrong of ['memory:', file]) expectRan(await tranche(cwd, '--journal', wrong), 64);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('prints every setting of the model of a file, including omitted ones, and the opening balances', async () => {
    const cwd = desk();
    put(cwd, {
      'credit.yaml': `base: tight
fee_bps: 7
pairs: { btcusd: { impact_bps: 7 } }
pts:
  enabled: true
  credit_limit_usd: '12345'
  modes: { btcusd: Long-Only }
  rates: { usd: { annual_rate: '0.07', grace_minutes: 11, frequency_minutes: 13 } }
`,
    });
    const { out } = await tranche(cwd, '--model', './credit.yaml', '--json');
    const { assumptions, backtest: ran } = reportSchema.parse(JSON.parse(out));
    const said = assumptions.join('\n');
    for (const name of modelKeys) expect(said).toMatch(new RegExp(`\\b${name} \\S`, 'u'));
    expect(said).toContain('last_look_bps never');
    expect(said).toContain('Of btcusd: impact_bps 7.');
    expect(said).toMatch(
      /credit up to 12345 USD.*Long-Only for btcusd.*usd: annual_rate 0\.07, grace_minutes 11, /u,
    );
    expect(said).toContain('Opening balances: 250000 usd, 1 btc.');
    expect(ran).toMatchObject({
      model: 'credit.yaml',
      settings: { fee_bps: 7, impact_bps: 4, pts: { credit_limit_usd: '12345' } },
    });
  });

  it('reports every problem of the files and does not run', async () => {
    const cwd = desk(`${TWAP}limit: 5\n`);
    expectRan(await tranche(cwd, '--journal', 'run.db'), 78, 'limit_price');
    expect(existsSync(join(cwd, 'run.db'))).toBe(false);
  });
});
