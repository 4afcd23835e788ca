import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { addCalibrate } from '../../src/app/cli/calibrate-cli.ts';
import { readModel } from '../../src/app/config/model-file.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import { runLine } from './support/cli.ts';
import { backtestConfig } from './support/desk-config.ts';
import type { Ran } from './support/cli.ts';
import { aFolder } from '../support/folder.ts';

const BEGIN = Date.UTC(2026, 0, 5);
const CONFIG = backtestConfig({ balances: { usd: '2500000', btc: '1' }, dayUsd: '10000000' });
const strategyOf = (id: string, amount: string): string =>
  `id: ${id}\nkind: twap\npair: btcusd\nside: buy\ntotal_notional: { amount: '${amount}', currency: usd }\nduration: PT3H\nslices: 60\n`;

/** A folder with the journal of a backtest under a known model. */
async function traded(): Promise<string> {
  const cwd = aFolder();
  const rows = Array.from({ length: 200 }, (_, n) => {
    const close = 60_000 + 10 * (n % 17);
    return `${BEGIN + n * MINUTE_MS},${close},${close},${close},${close},1`;
  });
  writeFileSync(join(cwd, 'btc.csv'), ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n'));
  writeFileSync(join(cwd, 'config.yaml'), CONFIG);
  writeFileSync(
    join(cwd, 'desk.yaml'),
    `${strategyOf('small', '61234.56')}---\n${strategyOf('large', '1234567.89')}`,
  );
  writeFileSync(join(cwd, 'truth.yaml'), "base: tight\nhalf_spread_bps: 7.5\nimpact_bps: 33\nquote_latency_ms: 120\norder_latency_ms: 90\nfee_bps: 3\nmax_usd: '15000'\n"); // prettier-ignore
  const line = ['backtest', '--data', 'btcusd=btc.csv', '--model', './truth.yaml', '--journal', 'run.db'];
  const { code, err } = await runLine(addBacktest, line, { cwd, now: instant(0), config: 'config.yaml' });
  if (code !== 0) throw new Error(err);
  return cwd;
}

const calibrate = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await runLine(addCalibrate, ['calibrate', ...line], { cwd, now: instant(BEGIN), config: 'config.yaml' });

describe('tranche calibrate', () => {
  it('writes a model that backtests accept, and states the observations behind each fitted value', async () => {
    const cwd = await traded();
    const { code, out, err } = await calibrate(cwd, join(cwd, 'run.db'), '--out', 'model.yaml');
    expect(code).toBe(0);
    expect(out).toBe('');
    expect(err).toMatch(/half_spread_bps +all +7\.[45]\d* +3 +\d+ quotes; 95 %:/u);
    expect(err).toContain('Not fitted; taken from normal:');
    expect(err).toContain('The quotes come from a simulated venue');
    const text = readFileSync(join(cwd, 'model.yaml'), 'utf8');
    expect(text).toMatch(/^half_spread_bps: 7\.[45]\d* # \d+ quotes; 95 %: /mu);
    expect(text).toMatch(/^ {4}max_usd: '15000' # \d+ refusals that stated a maximum/mu);
    const { model } = readModel({ model: './model.yaml', assume: [] }, { cwd, env: {} });
    expect(model).toMatchObject({ quoteLatencyMs: 120, orderLatencyMs: 90, quoteLifeMs: 10_000, unavailableMs: 60_000, pairs: { btcusd: { maxUsd: '15000' } } }); // prettier-ignore
    expect(model.impactBps).toBeCloseTo(33, 2);
    expect(model.feeBps).toBeCloseTo(3, 2);

    const again = await calibrate(cwd, '--journal', join(cwd, 'run.db'), '--out', 'model.yaml');
    expect(again.code).toBe(64);
    expect(again.err).toContain('exists: name another file, or add --overwrite');
    expect((await calibrate(cwd, '--journal', join(cwd, 'run.db'), '--out', 'model.yaml', '--overwrite')).code).toBe(0); // prettier-ignore
  });

  it('prints one JSON object with --json, relative to the requested base', async () => {
    const cwd = await traded();
    const { code, out } = await calibrate(cwd, '--journal', join(cwd, 'run.db'), '--base', 'stressed', '--json'); // prettier-ignore
    expect(code).toBe(0);
    const read: unknown = JSON.parse(out);
    expect(read).toMatchObject({
      format: 1,
      base: 'stressed',
      modes: ['backtest'],
      model: { quote_latency_ms: 120, last_look_bps: 2, unavailable_ms: 300_000 },
    });
    expect(out).toContain('no outage was observed');
    expect(read).toHaveProperty('learnt.0.name', 'half_spread_bps');
    expect(read).toHaveProperty('learnt.0.of', 'quotes');
  });

  it('reports that it fitted no setting in a window without quotes', async () => {
    const cwd = await traded();
    const { code, err } = await calibrate(cwd, '--journal', join(cwd, 'run.db'), '--since', '2026-02-01');
    expect(code).toBe(0);
    expect(err).toContain('Nothing was learnt.');
    expect(err).toContain('0 quotes: at least 20 are needed');
  });

  it.each([
    [['--journal', 'none.db'], 74, 'none.db'],
    [['--base', 'loose', '--journal', 'x.db'], 64, 'Allowed choices are tight, normal, stressed'],
    [['--since', '2026-02-01', '--until', '2026-01-01', '--journal', 'x.db'], 64, '--until must be after'],
    [['none.db'], 74, 'none.db'],
    [['x.db', '--journal', 'x.db'], 64, 'the journal is given twice'],
    [[], 78, 'keeps its journal in memory'],
  ])('rejects %j', async (line, code, says) => {
    const cwd = await traded();
    const ran = await calibrate(cwd, ...line);
    expect(ran.err).toContain(says);
    expect(ran.code).toBe(code);
    expect(existsSync(join(cwd, 'none.db'))).toBe(false);
  });
});
