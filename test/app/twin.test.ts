import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { priceNotes } from '../../src/app/twin/check-prices.ts';
import { addTwin } from '../../src/app/twin/twin-cli.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import type { CandidateReport } from '../../src/research/twin/candidate-json.ts';
import type { Recorded } from '../../src/research/twin/recorded.ts';
import type { TwinReport } from '../../src/research/twin/twin-json.ts';
import { strategies } from '../../src/strategy/registry.ts';
import { runLine } from './support/cli.ts';
import { backtestConfig } from './support/desk-config.ts';
import type { Ran } from './support/cli.ts';

const BEGIN = Date.UTC(2026, 0, 5);

/** A folder with the journal of three hours of trading under the model of `truth.yaml`. */
async function traded(): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'tranche-twin-'));
  onTestFinished(() => {
    rmSync(cwd, { recursive: true, force: true });
  });
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
  writeFileSync(join(cwd, 'truth.yaml'), 'base: tight\nhalf_spread_bps: 7.5\nquote_latency_ms: 120\n');
  const line = ['backtest', '--data', 'btcusd=btc.csv', '--model', './truth.yaml', '--journal', 'run.db'];
  const { code, err } = await runLine(addBacktest, line, { cwd, now: instant(0), config: 'config.yaml' });
  if (code !== 0) throw new Error(err);
  return cwd;
}

const twin = async (cwd: string, ...line: readonly string[]): Promise<Ran> =>
  await runLine(addTwin, ['twin', join(cwd, 'run.db'), ...line], {
    cwd,
    now: instant(BEGIN),
    config: 'config.yaml',
  });

const DATA = ['--data', 'btcusd=btc.csv'];

describe('tranche twin', () => {
  it('finds no difference under the model of the venue itself', async () => {
    const cwd = await traded();
    const { code, out } = await twin(cwd, ...DATA, '--model', './truth.yaml', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ verdict: 'within', difference_usd: '0', modelled: 0, decisions: [{ live: 'filled', twin: 'filled', slices: 60 }] }); // prettier-ignore
  });

  it('exits with 65 beyond the bound, names the quotes as the cause, and suggests a calibration', async () => {
    const cwd = await traded();
    const { code, out } = await twin(cwd, ...DATA, '--model', 'tight', '--bound', '5', '--zone', 'UTC', '--day', '2026-01-05'); // prettier-ignore
    expect(code).toBe(65);
    expect(out).toMatch(/quote +\u2212\d+\.\d\d USD +-6\.\d+ bps/u);
    expect(out).toContain('beyond the bound of 5 bps; mainly: the venue quoted other prices');
    expect(out).toContain('fit it with tranche calibrate');
    expect((await twin(cwd, ...DATA, '--model', 'tight', '--bound', '7')).code).toBe(0);
  });

  it('writes a page and a JSON file and does not overwrite them', async () => {
    const cwd = await traded();
    expect((await twin(cwd, '--model', 'tight', '--out', 'files', '--bound', '100')).code).toBe(0);
    const report = JSON.parse(readFileSync(join(cwd, 'files', 'twin.json'), 'utf8')) as TwinReport;
    expect(report.notes.join()).toContain(
      'prices of btcusd are the reference prices that the journal recorded',
    );
    expect(report.slices).toHaveLength(60);
    const page = readFileSync(join(cwd, 'files', 'twin.html'), 'utf8');
    expect(page).toContain('Where the difference comes from');
    expect(page).toContain(report.head);
    expect(await twin(cwd, '--out', 'files')).toMatchObject({
      code: 64,
      err: expect.stringContaining('already contains twin.html and twin.json') as string,
    });
  });

  it('reports the cost of a candidate and the number of responses that come from the model', async () => {
    const cwd = await traded();
    writeFileSync(
      join(cwd, 'new.yaml'),
      readFileSync(join(cwd, 'desk.yaml'), 'utf8').replace('61234.56', '30617.28'),
    );
    const line = ['--candidate', 'new.yaml', ...DATA, '--model', './truth.yaml', '--out', 'files'];
    const { code, out } = await twin(cwd, ...line);
    expect(code).toBe(0);
    expect(out).toMatch(/candidate +60 of 60 slices filled, 30,617\.\d\d USD/u);
    const report = JSON.parse(readFileSync(join(cwd, 'files', 'candidate.json'), 'utf8')) as CandidateReport;
    expect(report).toMatchObject({ strategy: 'buy', modelled: 0, warnings: [], live: { filled: 60 } });
    expect(readFileSync(join(cwd, 'files', 'candidate.html'), 'utf8')).toContain(report.hash);
    const larger = readFileSync(join(cwd, 'desk.yaml'), 'utf8').replace('61234.56', '122469.12');
    writeFileSync(join(cwd, 'large.yaml'), larger);
    const { out: said } = await twin(cwd, '--candidate', 'large.yaml', ...DATA);
    expect(said).toMatch(
      /warning: \d+ requests use responses from the model: live requested smaller sizes at that time/u,
    );
    writeFileSync(join(cwd, 'bad.yaml'), 'id: buy\nkind: twpa\n');
    expect(await twin(cwd, '--candidate', 'bad.yaml')).toMatchObject({ code: 78, err: expect.stringContaining('twap') as string }); // prettier-ignore
  });

  it('rejects prices that do not match the journal, and reports the period of incomplete prices', async () => {
    const cwd = await traded();
    const rows = readFileSync(join(cwd, 'btc.csv'), 'utf8').split('\n');
    writeFileSync(join(cwd, 'eth.csv'), rows.map((row) => row.replaceAll(',60', ',30')).join('\n'));
    expect(await twin(cwd, '--data', 'btcusd=eth.csv')).toMatchObject({ code: 64, err: expect.stringContaining('check that the file has the right pair') as string }); // prettier-ignore
    writeFileSync(join(cwd, 'short.csv'), rows.slice(0, 40).join('\n'));
    const { out } = await twin(cwd, '--data', 'btcusd=short.csv', '--bound', '1000');
    expect(out).toContain(
      'note: prices of btcusd reach from 2026-01-05T00:01:00.000Z to 2026-01-05T00:39:00.000Z',
    );
  });

  it.each([
    [['--bound', '-1'], '--bound: expected basis points'],
    [['--day', '2026-02-01', '--zone', 'UTC'], '--day: the journal covers 2026-01-05'],
    [['--day', 'tuesday'], 'expected a day such as'],
    [['--model', 'tigth'], 'did you mean tight'],
  ])('rejects %j', async (line, says) => {
    const cwd = await traded();
    expect(await twin(cwd, ...line)).toMatchObject({
      code: 64,
      err: expect.stringContaining(says) as string,
    });
  });
});

describe('the notes of a twin without price files', () => {
  it('warn about every kind that reacts to prices or volume between two references, and about no other', () => {
    const documents = [...strategies.keys()].map((kind) => ({
      strategy: kind,
      hash: '',
      type: kind,
      document: {},
    }));
    const recorded = {
      references: new Map([['btcusd', []]]),
      texts: [{ at: instant(0), documents }],
    } as unknown as Recorded;
    const [, note = ''] = priceNotes(recorded, []);
    const untimed = [...strategies.values()].flatMap(({ kind, isTimed }) => (isTimed === true ? [] : [kind]));
    expect(untimed).toContain('pov');
    expect(note.split(':')[0]?.split(', ')).toEqual(untimed);
  });
});
