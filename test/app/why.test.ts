import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { START, aStrategy, aTwap, started } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';
import { expectRan, expectRefused } from '../support/command.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';
import { aFolder, aSharedFolder, put } from '../support/folder.ts';

const why = async (file: string, ...more: readonly string[]): Promise<Ran> =>
  await look('/', ['why', '--journal', file, ...more], { now: after(START, HOUR_MS) });

/** A running desk: one strategy trades, one never gets its limit price, one stays within its drift bands. */
const home = aSharedFolder();
const file = join(home, 'desk.db');
let bench: Bench;
beforeAll(() => {
  bench = started(
    {
      journal: sqliteJournal(file),
      policy: { retry: { baseMs: 500, capMs: 30_000, budgetMs: 600_000, requoteMs: 60_000 } },
      strategies: [
        aTwap('buys', { slices: 2, start_time: '2026-01-05T09:00:00[Asia/Tokyo]' }),
        aTwap('dear', { slices: 2, limit_price: '1' }),
        aStrategy('weights', 'rebalance', {
          target_weights: { btc: '0.5', usd: '0.5' },
          drift_threshold: '0.9',
          valuation_tolerance: '1',
          schedule: { cron: '5 * * * *', time_zone: 'Europe/London' },
        }),
      ],
    },
    8 * MINUTE_MS,
  );
});
afterAll(() => {
  bench.kill();
  bench.journal.close();
});

describe('tranche why', () => {
  it('explains why each slice did or did not trade, while the daemon runs', async () => {
    const ran = await why(file, '--zone', 'UTC');
    expectRan(
      ran,
      0,
      /^2026-01-05 00:00:\d\d\.?\d* UTC {2}buys {2}slice 0: bought 0\.5 btc for \d\d,\d{3}\.?\d* usd$/mu,
      /^2026-01-05 00:05:00\.?\d* UTC {2}dear {2}slice 0: did not buy 0\.5 btc: expired.*: the quoted price is worse than limit_price \(limit 1, here \d\d,\d{3}/mu,
      /^2026-01-05 00:05:0\d\.?\d* UTC {2}weights: woke without trading: every weight that a trade may move lies inside its drift band \(.*%.*\); next 2026-01-05 01:05:00$/mu,
      /dear {2}slice 1: buy 0\.75 btc is under way; its last attempt: discarded/u,
      'limit_price 1',
      'inside_band 1',
    );
    expect(ran.err).toMatch(/^2 traded, 2 did not: .*, 1 under way\n$/u);
  });

  it('prints all times in one time zone: that of the requested strategy, otherwise that of the machine', async () => {
    const { out } = await why(file, '--strategy', 'buys');
    expect(out).toMatch(/^2026-01-05 09:00:\d\d\.?\d* Asia\/Tokyo {2}buys {2}slice 0/mu);
    const all = await why(file);
    const clocks = new Set(all.out.trimEnd().split('\n').map((line) => /^\S+ \S+ (?<zone>\S+) {2}/u.exec(line)?.groups?.['zone'])); // prettier-ignore
    expect([...clocks]).toEqual([Temporal.Now.timeZoneId()]);
    expect(all.out).toContain('  weights');
  });

  it('prints one JSON object per line with --json', async () => {
    const { out, err } = await why(file, '--json', '--strategy', 'dear');
    expect(err).toBe('');
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.filter(({ event }) => event === 'not_traded')).toMatchObject([
      {
        at: expect.stringMatching(/^2026-01-05T00:05:00.*Z$/u) as unknown,
        strategy: 'dear',
        slices: [0],
        pair: 'btcusd',
        side: 'buy',
        wanted: '0.5 btc',
        reason: 'limit_price',
      },
    ]);
    expect(rows.map(({ strategy }) => strategy)).not.toContain('buys');
    // With --json, amounts have no separators, neither in texts nor in fields.
    const bought = await why(file, '--json', '--strategy', 'buys');
    expect(bought.out).toMatch(/"says":"bought 0\.5 btc for \d{5}\.?\d* usd"/u);
    expect(bought.out).not.toMatch(/\d,\d{3}\b/u);
  });

  it('uses the same strategies and reasons as the metrics', async () => {
    const metrics = createMetrics({ version: 't', mode: 'paper', desk: 'main', now: () => START });
    for (const record of bench.records()) metrics.record(record);
    const untraded = (await metrics.text()).match(/^tranche_untraded.*$/gmu)?.join('\n');
    metrics.close();
    expect(untraded).toContain('strategy="dear",reason="limit_price"');
    expect(untraded).toContain('strategy="weights",reason="inside_band"');
    expect(untraded).not.toContain('strategy="buys"');
  });

  it('explains the slices of a daemon that has stopped', async () => {
    const stopped = join(aFolder(), 'desk.db');
    const journal = sqliteJournal(stopped);
    const over = started({ journal, strategies: [aTwap('buys', { slices: 2 })] }, 0, { isUntilDone: true });
    over.clock.run();
    journal.close();
    const ran = await why(stopped);
    expectRan(ran, 0);
    expect(ran.out.match(/buys {2}slice \d: bought 0\.5 btc/gu)).toHaveLength(2);
    expect(ran.err).toBe('2 traded, 0 did not\n');
  });

  it('omits slices before --since, but not those in progress', async () => {
    const day = await why(file, '--since', '2026-01-05T00:04:00Z');
    const ago = await why(file, '--since', 'PT56M');
    const local = await why(file, '--since', '2026-01-05T00:04', '--zone', 'UTC');
    for (const { code, out } of [day, ago, local]) {
      expect(code).toBe(0);
      expect(out).not.toContain('slice 0: bought');
      expect(out).toContain('dear  slice 0: did not buy');
      expect(out).toContain('is under way');
    }
  });

  it('reports that no record is newer than --since', async () => {
    const late = ['--since', '2026-01-05T00:50:00Z', '--strategy', 'buys', '--zone', 'UTC'];
    const says = /^nothing since 2026-01-05 00:50:00 UTC; the newest record is from 2026-01-05 00:0/u;
    expectRefused(await why(file, ...late), 0, says);
  });

  it('finds the journal through the config or an argument, and reports that it is empty', async () => {
    const folder = aFolder();
    const empty = join(folder, 'desk.db');
    sqliteJournal(empty).close();
    put(folder, { 'a.yaml': `journal: "sqlite:${empty}"\nstrategies: .\n`, 'b.yaml': 'strategies: .\n' });
    const says = 'the journal is empty: no strategy has woken yet';
    expectRan(await look(folder, ['why', '--config', 'a.yaml']), 0, says);
    expectRan(await look(folder, ['why', empty, '--config', 'b.yaml']), 0, says);
    expectRan(await why(empty), 0, says);
  });
});
