import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keptIn, sweepFolder } from '../app/support/sweep.ts';
import { finish, start } from './support/program.ts';
import { until } from './support/until.ts';

/** So many that the test sees some of them end before all have ended. */
const SETTINGS = 120;
const LINE = [
  'sweep',
  '--config',
  'config.yaml',
  '--data',
  'btcusd=btc.csv',
  '--workers',
  '2',
  '--vary',
  `slices=1..${SETTINGS}/1`,
];

describe('an interrupted sweep', () => {
  it('stops cleanly, keeps its finished runs, and has the same results after it is resumed', async () => {
    const cwd = sweepFolder({ rows: 400 });
    const out = join(cwd, 'out');
    const kept = (): number => (existsSync(join(out, 'settings.jsonl')) ? keptIn(out).length : 0);
    const first = start([...LINE, '--out', 'out'], { cwd });
    await until(
      () => kept() > 5,
      () => `waited for settings of ${first.lastWords()}`,
      60_000,
    );
    first.signal('SIGINT');
    expect(await first.ended()).toEqual({ code: 75, signal: null });
    const before = keptIn(out);
    expect(first.stderr).toContain('sweep stopped early: run the same command to resume');
    expect(first.stdout).toContain(`Incomplete: ${before.length} of ${SETTINGS} runs have finished.`);

    // A killed sweep cannot stop cleanly.
    const second = start([...LINE, '--out', 'out'], { cwd });
    await until(
      () => kept() > before.length + 5,
      () => `waited for more settings of ${second.lastWords()}`,
      60_000,
    );
    await second.kill();
    const between = kept();

    const third = await finish([...LINE, '--out', 'out', '--json'], { cwd });
    expect(third.code).toBe(0);
    expect(third.stderr).toContain(`${between} of ${SETTINGS} runs are already done`);
    const all = keptIn(out);
    expect(all.slice(0, before.length)).toEqual(before);
    expect(all).toHaveLength(SETTINGS);
    expect(new Set(all.map(({ key }) => key)).size).toBe(SETTINGS);
    const whole = await finish([...LINE, '--json'], { cwd });
    expect(whole.stdout).toBe(third.stdout);
    expect(readFileSync(join(out, 'results.json'), 'utf8')).toBe(whole.stdout);
  });
});
