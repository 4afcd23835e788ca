import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { modelKeys } from '../../src/research/run/model.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { reportSchema } from '../../src/report/json/schema.ts';
import { problemsOf } from '../report/validator.ts';
import { runLine } from './support/cli.ts';
import { backtestConfig } from './support/desk-config.ts';
import type { Ran } from './support/cli.ts';
import { aFolder } from '../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const CONFIG = backtestConfig();
const TWAP = `
id: hour
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: '1', currency: btc }
duration: PT1H
slices: 12
`;

const bars = (rows: number): string =>
  ['timestamp_ms,open,high,low,close,volume']
    .concat(
      Array.from({ length: rows }, (_, n) => {
        const close = 60_000 + 10 * (n % 17);
        return `${BEGIN + n * MINUTE_MS},${close},${close},${close},${close},1`;
      }),
    )
    .join('\n');

function desk(strategy = TWAP): string {
  const cwd = aFolder();
  writeFileSync(join(cwd, 'config.yaml'), CONFIG);
  writeFileSync(join(cwd, 'desk.yaml'), strategy);
  writeFileSync(join(cwd, 'btc.csv'), bars(200));
  writeFileSync(join(cwd, 'btc.csv.gz'), gzipSync(bars(200)));
  return cwd;
}

const tranche = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await runLine(addBacktest, ['backtest', ...line], { cwd, now: instant(0), config: 'config.yaml' });

const DATA = ['--data', 'btcusd=btc.csv'] as const;

describe('tranche backtest', () => {
  it('reports the trades, their cost and the assumptions', async () => {
    const { code, out, err } = await tranche(desk(), ...DATA, '--model', 'tight');
    expect(code).toBe(0);
    expect(out).toBe('');
    expect(err).toContain('from 2026-01-05T00:01:00.000Z to 2026-01-05T03:21:00.000Z, model tight, seed 1');
    expect(err).toMatch(/hour +buy +1 btc +at 60,0\d\d/u);
    expect(err).toMatch(/Balances at the end: .*\b2 btc\b.*; value \d{3},\d{3}\.\d\d usd/u);
    expect(err).toContain('half_spread_bps 1, impact_bps 4');
  });

  it('warns in its first line which prices shorten the window and by how much', async () => {
    const cwd = desk();
    writeFileSync(join(cwd, 'btc.csv'), bars(4_000));
    writeFileSync(join(cwd, 'eth.csv'), bars(1_000));
    const { code, err } = await tranche(cwd, ...DATA, '--data', 'ethusd=eth.csv');
    expect(code).toBe(0);
    expect(err.split('\n')[0]).toBe('warning: the window ends at 2026-01-05T16:41:00.000Z, where the prices of ethusd end: 2.1 days of btcusd are omitted'); // prettier-ignore
    const asked = await tranche(cwd, ...DATA, '--data', 'ethusd=eth.csv', '--until', '2026-01-05T12:00:00Z');
    expect(asked.err).not.toContain('are omitted');
  });

  it('counts the fills at a price older than its bar', async () => {
    const cwd = desk();
    const lines = bars(200).split('\n');
    // Minutes 20 to 39 are missing; slices are due every five minutes.
    writeFileSync(join(cwd, 'btc.csv'), [...lines.slice(0, 21), ...lines.slice(41)].join('\n'));
    const { err } = await tranche(cwd, ...DATA);
    expect(err).toMatch(/Note: [34] of 12 fills have a price that is older than its bar, up to 1\d min/u);
    expect((await tranche(desk(), ...DATA)).err).not.toContain('older than its bar');
  });

  it('explains why a strategy whose times lie outside the window could not trade', async () => {
    const late = `${TWAP}start_time: '2026-02-01T09:00:00Z'\n`;
    const early = `${TWAP}start_time: '2025-02-01T09:00:00Z'\n`;
    const weekly = [
      'id: weekly',
      'kind: recurring',
      'pair: btcusd',
      'side: buy',
      "each_notional: { amount: '20', currency: usd }",
      "schedule: { cron: '0 9 * * 6' }",
    ].join('\n');
    const said = async (strategy: string): Promise<string> => {
      const { code, err } = await tranche(desk(strategy), ...DATA);
      expect(code).toBe(0);
      return err.split('\n').find((line) => line.includes('could not trade')) ?? '';
    };
    expect(await said(late)).toBe(
      'hour could not trade: it waits for 2026-02-01T09:00:00.000Z, and the window ends at 2026-01-05T03:21:00.000Z',
    );
    expect(await said(early)).toBe(
      'hour could not trade: its last slice was due at 2025-02-01T09:55:00.000Z, and the window starts at 2026-01-05T00:01:00.000Z',
    );
    expect(await said(weekly)).toBe(
      'weekly could not trade: it waits for 2026-01-10T09:00:00.000Z, and the window ends at 2026-01-05T03:21:00.000Z',
    );
    expect(await said(TWAP)).toBe('');
  });

  it('prints one JSON object with --json, identical in each run', async () => {
    const cwd = desk();
    const [first, again] = [
      await tranche(cwd, ...DATA, '--json'),
      await tranche(cwd, '--data', 'btcusd=btc.csv.gz', '--json'),
    ];
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
    const line = [
      '--from',
      '2026-01-05T01:00:00Z',
      '--until',
      '2026-01-05T01:30:00Z',
      '--holdings',
      'usd=70000',
    ];
    const { code, out } = await tranche(desk(), ...DATA, ...line, '--assume', 'half_spread_bps=0', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
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
    const cwd = desk();
    const venue = "venue:\n  base_url: https://venue.example\n  token: '${TRANCHE_TOKEN}'\n";
    writeFileSync(
      join(cwd, 'config.yaml'),
      CONFIG.replace('mode: paper', 'mode: live').replace('venue:\n', venue),
    );
    const { code, out } = await tranche(cwd, ...DATA, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ fills: 12 });
  });

  it('writes the same report with --every-tick as without it', async () => {
    const limit = `id: dip\nkind: limit\npair: btcusd\nside: buy\nlimit_price: '60050'\ntotal_quantity: { amount: '1', currency: btc }\n`;
    const cwd = desk(limit);
    const jumped = await tranche(cwd, ...DATA, '--json');
    expect(JSON.parse(jumped.out)).toMatchObject({ backtest: { holdings: { btc: '2' } } });
    expect((await tranche(cwd, ...DATA, '--json', '--every-tick')).out).toBe(jumped.out);
  });

  it('reads a model from a file that states a base and the settings that differ from it', async () => {
    const cwd = desk();
    writeFileSync(
      join(cwd, 'model.yaml'),
      'base: tight\nfee_bps: 7\npairs: { btcusd: { half_spread_bps: 2 } }\n',
    );
    const { out } = await tranche(cwd, ...DATA, '--model', './model.yaml', '--json');
    expect(JSON.parse(out)).toMatchObject({
      backtest: {
        model: 'model.yaml',
        settings: { fee_bps: 7, impact_bps: 4, pairs: { btcusd: { half_spread_bps: 2 } } },
      },
    });
  });

  it('writes a journal with a valid hash chain and does not overwrite an existing file', async () => {
    const cwd = desk();
    const file = join(cwd, 'run.db');
    const { out } = await tranche(cwd, ...DATA, '--json', '--journal', 'run.db');
    const { made_from: told } = reportSchema.parse(JSON.parse(out));
    const saved = openJournal(`sqlite:${file}`, { readOnly: true });
    expect(saved.verify()).toMatchObject({ ok: true });
    expect(saved.head()).toEqual({ seq: told.records, hash: told.head });
    saved.close();
    const before = readFileSync(file);
    const named = await tranche(cwd, ...DATA, '--journal', 'sqlite:./named.db');
    expect([named.code, existsSync(join(cwd, 'named.db'))]).toEqual([0, true]);
    expect(await tranche(cwd, ...DATA, '--journal', 'memory:')).toMatchObject({ code: 64 });
    const again = await tranche(cwd, ...DATA, '--journal', file);
    expect(again.code).toBe(64);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('writes the report files and overwrites them only with --overwrite', async () => {
    const cwd = desk();
    expect((await tranche(cwd, ...DATA, '--out', 'found')).code).toBe(0);
    const report: unknown = JSON.parse(readFileSync(join(cwd, 'found', 'report.json'), 'utf8'));
    expect(report).toMatchObject({ fills: 12, backtest: { seed: '1' } });
    expect(
      readFileSync(join(cwd, 'found', 'fills.csv'), 'utf8')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(13);
    const again = await tranche(cwd, ...DATA, '--out', 'found', '--seed', '2');
    expect(again.code).toBe(64);
    expect((await tranche(cwd, ...DATA, '--out', 'found', '--seed', '2', '--overwrite')).code).toBe(0);
    expect(readFileSync(join(cwd, 'found', 'report.json'), 'utf8')).toContain('"seed": "2"');
  });

  it.each([
    [[], 64, 'add --data PAIR=FILE'],
    [['--data', 'btc.csv'], 64, 'expected a pair and a file with its prices'],
    [[...DATA, ...DATA], 64, 'btcusd is given twice'],
    [['--data', 'ethusd=btc.csv'], 78, 'no tape for btcusd: add --data btcusd=FILE'],
    [['--data', 'btcusd=none.csv'], 65, 'cannot read none.csv'],
    [[...DATA, '--model', 'norml'], 64, 'did you mean normal?'],
    [[...DATA, '--model', './none.yaml'], 78, 'none.yaml'],
    [[...DATA, '--assume', 'half_spred_bps=1'], 64, 'did you mean half_spread_bps?'],
    [[...DATA, '--assume', 'half_spread_bps=wide'], 64, 'half_spread_bps'],
    [
      [...DATA, '--from', '2026-01-05T00:00:30Z'],
      64,
      'before the first price of btcusd, at 2026-01-05T00:01',
    ],
    [[...DATA, '--until', '2026-01-06'], 64, 'ends at 2026-01-05T03:21'],
    [[...DATA, '--from', '2026-01-05T02:00:00Z', '--until', '2026-01-05T01:00:00Z'], 64, 'the window from'],
    [[...DATA, '--holdings', 'usd'], 64, '--holdings'],
    [
      [...DATA, '--holdings', 'usd=1,chf=5'],
      78,
      'the value of chf in USD is unknown: add --data chfusd=FILE, use --holdings without chf, or set rates: { chf:',
    ],
    [[...DATA, '--holdings', 'usd=-5'], 64, 'a backtest starts without debts, got usd=-5'],
    [[...DATA, '--assume', 'spread=5'], 64, 'expected one of half_spread_bps, impact_bps, max_usd'],
    [[...DATA, '--assume', 'max_usd=0'], 64, '--assume max_usd=0: expected more than 0 (Largest quote, USD)'],
    [[...DATA, '--from', '2026-01-05'], 64, 'use that time or omit --from'],
  ])('rejects %j with exit code %d and an explanation', async (line, code, why) => {
    const ran = await tranche(desk(), ...line);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(why);
  });

  it('names the data import command for a file that needs one of its options', async () => {
    const cwd = desk();
    writeFileSync(join(cwd, 'one.csv'), bars(1));
    const ran = await tranche(cwd, '--data', 'btcusd=one.csv');
    expect(ran.code).toBe(65);
    expect(ran.err).toContain('tranche data import one.csv --pair btcusd');
  });

  it('warns about a strategy that starts after the end of the window', async () => {
    const { code, err } = await tranche(desk(`${TWAP}start_time: '2026-12-01T09:00:00Z'\n`), ...DATA);
    expect(code).toBe(0);
    expect(err).toContain(
      'strategy hour has start_time 2026-12-01T09:00:00.000Z, but the window ends at 2026-01-05T03:21:00.000Z: it will not trade',
    );
  });

  it('prints every setting of the model, including omitted ones, and the opening balances', async () => {
    const cwd = desk();
    writeFileSync(
      join(cwd, 'credit.yaml'),
      `base: tight
pairs: { btcusd: { impact_bps: 7 } }
pts:
  enabled: true
  credit_limit_usd: '12345'
  modes: { btcusd: Long-Only }
  rates: { usd: { annual_rate: '0.07', grace_minutes: 11, frequency_minutes: 13 } }
`,
    );
    const { out } = await tranche(cwd, ...DATA, '--model', './credit.yaml', '--json');
    const { assumptions, backtest } = reportSchema.parse(JSON.parse(out));
    const said = assumptions.join('\n');
    for (const name of modelKeys) expect(said).toMatch(new RegExp(`\\b${name} \\S`, 'u'));
    expect(said).toContain('last_look_bps never');
    expect(said).toContain('Of btcusd: impact_bps 7.');
    expect(said).toMatch(
      /credit up to 12345 USD.*Long-Only for btcusd.*usd: annual_rate 0\.07, grace_minutes 11, /u,
    );
    expect(said).toContain('Opening balances: 250000 usd, 1 btc.');
    expect(backtest?.settings).toMatchObject({ pts: { credit_limit_usd: '12345' } });
  });

  it('reports every problem of the files and does not run', async () => {
    const cwd = desk(`${TWAP}limit: 5\n`);
    const ran = await tranche(cwd, ...DATA, '--journal', 'run.db');
    expect(ran.code).toBe(78);
    expect(ran.err).toContain('limit_price');
    expect(existsSync(join(cwd, 'run.db'))).toBe(false);
  });
});
