import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSweep } from '../../src/app/sweep/sweep-store.ts';
import { expectRan } from '../support/command.ts';
import { TWAP, keptIn, sweep, sweepFolder } from './support/sweep.ts';

describe('tranche sweep', () => {
  it('lists settings by cost, with a map and a warning about the number of tries', async () => {
    expectRan(
      await sweep(sweepFolder(), ['--vary', 'slices=4,12', '--vary', 'duration=PT30M,PT1H']),
      0,
      /^ranked by execution_bps \(less is better/u,
      /# +slices +duration +execution_bps +risk_bps/u,
      'execution_bps: slices down, duration across',
      'Overfitting: 4 settings were tried on the same history',
      /4 runs in \d+\.\d\d s on 1 threads/u,
    );
  });

  it('stores the results and one line per setting, and does not repeat finished runs', async () => {
    const cwd = sweepFolder();
    const line = ['--vary', 'slices=4,12,24', '--out', 'out', '--json'];
    const first = await sweep(cwd, line);
    const again = await sweep(cwd, line);
    const out = join(cwd, 'out');
    expect([first.code, again.code]).toEqual([0, 0]);
    expect(again.err).toContain('3 of 3 runs are already done and are not repeated\n0 runs');
    expect(again.out).toBe(first.out);
    expect(readFileSync(join(out, 'results.json'), 'utf8')).toBe(first.out);
    expect(JSON.parse(first.out)).toMatchObject({
      fields: ['slices'],
      by: 'execution_bps',
      risk: 'risk_bps',
      counts: { asked: 3, settings: 3 },
      settings: [{ setting: 1, values: { slices: '4' }, runs: [{ figures: { fills: '4', untraded: '0' }, control: 'active' }] }, {}, {}],
    });
    expect(first.out).toMatch(/"standard_errors": \{\s+"execution_bps": \d/u);
    const csv = readFileSync(join(out, 'results.csv'), 'utf8').split('\r\n');
    expect(csv[0]).toMatch(/^setting,from,until,slices,execution_bps,cost_bps,cost_usd,slippage_bps/u);
    expect(csv).toHaveLength(5);
    expect(new Set(keptIn(out).map(({ values }) => values['slices']))).toEqual(new Set(['4', '12', '24']));
    const more = await sweep(cwd, ['--vary', 'slices=4,6', '--out', 'out']);
    expect(more.err).toContain('1 of 2 runs are already done');
    expect(keptIn(out)).toHaveLength(4);
  }); // prettier-ignore

  it('keeps finished runs when it is interrupted, and the same command runs only the rest', async () => {
    const cwd = sweepFolder();
    const line = ['--vary', 'slices=1..30/1', '--out', 'out'];
    const stopped = await sweep(cwd, line, { interrupted: true });
    const before = keptIn(join(cwd, 'out'));
    expect(stopped.code).toBe(75);
    expect(stopped.err).toContain('sweep stopped early: run the same command to resume');
    expect(stopped.out).toContain(`Incomplete: ${before.length} of 30 runs have finished.`);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(30);
    appendFileSync(join(cwd, 'out/settings.jsonl'), '{"key":"a line that was cut o');
    const rest = await sweep(cwd, line);
    const after = keptIn(join(cwd, 'out'));
    expect(rest.code).toBe(0);
    expect(rest.err).toContain(`${before.length} of 30 runs are already done`);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map(({ key }) => key)).size).toBe(30);
    expect(after).toHaveLength(30);
    expect((await sweep(cwd, ['--vary', 'slices=1..30/1', '--json'])).out).toBe(readFileSync(join(cwd, 'out/results.json'), 'utf8'));
  }); // prettier-ignore

  it('refuses a folder with results of other inputs', async () => {
    const cwd = sweepFolder();
    const line = ['--vary', 'slices=4', '--out', 'out'];
    expect((await sweep(cwd, line)).code).toBe(0);
    const refused = async (input: string, ...more: readonly string[]): Promise<void> => {
      expectRan(await sweep(cwd, [...line, ...more]), 64, `have other inputs (${input})`);
    };
    await refused('model', '--assume', 'fee_bps=3');
    await refused('seed', '--seed', '2');
    await refused('until', '--until', '2026-01-05T02:00:00Z');
    await refused('holdings', '--holdings', 'usd=100000');
    writeFileSync(join(cwd, 'desk.yaml'), TWAP.replace('PT1H', 'PT2H'));
    await refused('strategy hour');
    writeFileSync(join(cwd, 'desk.yaml'), TWAP);
    writeFileSync(join(cwd, 'btc.csv'), readFileSync(join(cwd, 'btc.csv'), 'utf8').replace(',60000,1', ',60000,2'));
    await refused('tape btcusd');
    expect(keptIn(join(cwd, 'out'))).toHaveLength(1);
  }); // prettier-ignore

  it('refuses a folder that another process writes, and a damaged line', async () => {
    const cwd = sweepFolder();
    const line = ['--vary', 'slices=4', '--out', 'out'];
    await sweep(cwd, line);
    const inputs = (JSON.parse(readFileSync(join(cwd, 'out/sweep.json'), 'utf8')) as { inputs: Record<string, string> }).inputs;
    const other = openSweep(join(cwd, 'out'), inputs);
    const busy = await sweep(cwd, line);
    other.close();
    expectRan(busy, 75, 'another sweep is writing');
    appendFileSync(join(cwd, 'out/settings.jsonl'), '{"key":1}\n');
    expectRan(await sweep(cwd, line), 65, 'line 2 is damaged');
  }); // prettier-ignore

  it('selects settings in one window and evaluates them in the next with --walk-forward', async () => {
    const strategy = TWAP.replace('PT1H', 'PT20M');
    const { code, out } = await sweep(sweepFolder({ strategy }), ['--vary', 'slices=2,4,10', '--walk-forward', '3', '--json']);
    expect(code).toBe(0);
    const result = JSON.parse(out) as { settings: { runs: { from: string; figures: object }[] }[]; walk_forward: { test: object }[] };
    expect(result.settings.map(({ runs }) => runs.length)).toEqual([4, 4, 4]);
    expect(result.walk_forward).toHaveLength(3);
    expect(result.walk_forward[0]).toMatchObject({ of: 3, train: { from: '2026-01-05T00:01:00.000Z' } });
    expect(out).toContain('3 settings were tried in each window');
  }); // prettier-ignore

  it('omits and counts invalid settings with --skip-invalid', async () => {
    const cwd = sweepFolder();
    const line = ['--vary', 'slices=0..4/2', '--out', 'out'];
    const says = '1 settings were skipped: a desk would not start with them.';
    expectRan(await sweep(cwd, [...line, '--skip-invalid']), 0, says);
    expect(keptIn(join(cwd, 'out'))).toHaveLength(2);
  });
});
