import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from './support/desk.ts';
import { finish, ROOT, start } from './support/program.ts';

const CONFIG = join(ROOT, 'config/paper.yaml');

const journalIn = (folder: string): string => {
  const name = readdirSync(join(folder, 'var/paper')).find((file) => file.endsWith('.db'));
  return `sqlite:${join(folder, 'var/paper', name ?? 'none')}`;
};

describe('the paper demo', () => {
  it('exits with code 0 and reports the trades, their cost and the next steps', async () => {
    const bought = /demo-twap-buy {2}buy 0\.05 btc at [\d,]+(\.\d+)? usd/gu;
    let [cwd, told] = ['', ''];
    // A machine that pauses for seconds costs slices: then the test tries again.
    for (let tries = 0; tries < 3 && told.match(bought)?.length !== 12; tries++) {
      cwd = aFolder();
      const demo = start(['run', '--until-done', '--config', CONFIG], { cwd });
      expect(await demo.ended(300_000)).toEqual({ code: 0, signal: null });
      expect(demo.stdout).toBe('');
      told = demo.stderr;
    }
    expect(told).toContain('paper: simulated venue on this machine, no real money');
    expect(told).toMatch(/^metrics {2}http:\/\/127\.0\.0\.1:\d+\/metrics$/mu);
    // Every fill as it happens: twelve slices of the TWAP and the trades of the rebalancing.
    expect(told.match(bought)).toHaveLength(12);
    expect(told).toMatch(/demo-rebalance {2}(buy|sell) [\d.,]+ (btc|eth) at/u);
    // The summary: total of each strategy, cost against arrival, journal, next steps.
    expect(told).toMatch(
      /^demo-twap-buy +buy +0\.6 btc +12 fills +at [\d.,]+ +arrival [\d.,]+ +cost -?[\d.]+ bps += execution -?[\d.]+ \+ timing -?[\d.]+$/mu,
    );
    expect(told).toContain('cost is measured against the reference price at the decision of each order');
    expect(told).toMatch(/^journal {2}sqlite:\.\/var\/paper\/.+\.db$/mu);
    expect(told).toContain('tranche journal verify sqlite:./var/paper/');
    expect(told).toContain('tranche init my-desk');

    const verified = await finish(['journal', 'verify', journalIn(cwd)], { cwd });
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    const fills = await finish(
      ['journal', 'export', '--format', 'jsonl', '--kind', 'fills', journalIn(cwd)],
      { cwd },
    );
    expect(fills.stdout.split('\n').filter((line) => line.includes('demo-twap-buy'))).toHaveLength(12);
  });
});
