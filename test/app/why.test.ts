import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { START, aBench, aStrategy, aTwap } from '../engine/harness.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';
import { aFolder } from '../support/folder.ts';

const why = async (file: string, ...more: readonly string[]): Promise<Ran> =>
  await look('/', ['why', '--journal', file, ...more], { now: after(START, HOUR_MS) });

interface RunningDesk {
  readonly file: string;
  untraded(): Promise<string>;
  end(): void;
}

/** A running desk with its journal: one strategy trades, one never gets its limit price, one stays within its drift bands. */
function aRunningDesk(folder: string): RunningDesk {
  const file = join(folder, 'desk.db');
  const journal = sqliteJournal(file);
  const metrics = createMetrics({ version: 't', mode: 'paper', desk: 'main', now: () => START });
  const bench = aBench({
    journal,
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
  });
  bench.start();
  bench.clock.run(after(START, 8 * MINUTE_MS));
  for (const record of bench.records()) metrics.record(record);
  return {
    file,
    end() {
      bench.kill();
      journal.close();
      metrics.close();
    },
    untraded: async () =>
      (await metrics.text())
        .split('\n')
        .filter((line) => line.startsWith('tranche_untraded'))
        .join('\n'),
  };
}

let desk: RunningDesk;
let home = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'tranche-why-'));
  desk = aRunningDesk(home);
});
afterAll(() => {
  desk.end();
  rmSync(home, { recursive: true });
});

describe('tranche why', () => {
  it('explains why each slice did or did not trade, while the daemon runs', async () => {
    const { code, out, err } = await why(desk.file, '--zone', 'UTC');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^2026-01-05 00:00:\d\d\.?\d* UTC {2}buys {2}slice 0: bought 0\.5 btc for \d\d,\d{3}\.?\d* usd$/mu,
    );
    expect(out).toMatch(
      /^2026-01-05 00:05:00\.?\d* UTC {2}dear {2}slice 0: did not buy 0\.5 btc: expired.*: the quoted price is worse than limit_price \(limit 1, here \d\d,\d{3}/mu,
    );
    expect(out).toMatch(
      /^2026-01-05 00:05:0\d\.?\d* UTC {2}weights: woke without trading: every weight lies inside its drift band \(.*%.*\); next 2026-01-05 01:05:00$/mu,
    );
    expect(out).toMatch(/dear {2}slice 1: buy 0\.75 btc is under way; its last attempt: discarded/u);
    expect(err).toMatch(/^2 traded, 2 did not: .*, 1 under way\n$/u);
    expect(err).toContain('limit_price 1');
    expect(err).toContain('inside_band 1');
  });

  it('prints all times in one time zone: that of the requested strategy, otherwise that of the machine', async () => {
    const { out } = await why(desk.file, '--strategy', 'buys');
    expect(out).toMatch(/^2026-01-05 09:00:\d\d\.?\d* Asia\/Tokyo {2}buys {2}slice 0/mu);
    const all = await why(desk.file);
    const clocks = new Set(all.out.trimEnd().split('\n').map((line) => /^\S+ \S+ (?<zone>\S+) {2}/u.exec(line)?.groups?.['zone'])); // prettier-ignore
    expect([...clocks]).toEqual([Temporal.Now.timeZoneId()]);
    expect(all.out).toContain('  weights');
  });

  it('prints one JSON object per line with --json', async () => {
    const { out, err } = await why(desk.file, '--json', '--strategy', 'dear');
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
    const bought = await why(desk.file, '--json', '--strategy', 'buys');
    expect(bought.out).toMatch(/"says":"bought 0\.5 btc for \d{5}\.?\d* usd"/u);
    expect(bought.out).not.toMatch(/\d,\d{3}\b/u);
  });

  it('uses the same strategies and reasons as the metrics', async () => {
    const text = await desk.untraded();
    expect(text).toContain('strategy="dear",reason="limit_price"');
    expect(text).toContain('strategy="weights",reason="inside_band"');
    expect(text).not.toContain('strategy="buys"');
  });

  it('explains the slices of a daemon that has stopped', async () => {
    const file = join(aFolder(), 'desk.db');
    const journal = sqliteJournal(file);
    const bench = aBench({ journal, strategies: [aTwap('buys', { slices: 2 })] });
    bench.start({ isUntilDone: true });
    bench.clock.run();
    journal.close();
    const { code, out, err } = await why(file);
    expect(code).toBe(0);
    expect(out.match(/buys {2}slice \d: bought 0\.5 btc/gu)).toHaveLength(2);
    expect(err).toBe('2 traded, 0 did not\n');
  });

  it('omits slices before --since, but not those in progress', async () => {
    const day = await why(desk.file, '--since', '2026-01-05T00:04:00Z');
    const ago = await why(desk.file, '--since', 'PT56M');
    const local = await why(desk.file, '--since', '2026-01-05T00:04', '--zone', 'UTC');
    for (const { code, out } of [day, ago, local]) {
      expect(code).toBe(0);
      expect(out).not.toContain('slice 0: bought');
      expect(out).toContain('dear  slice 0: did not buy');
      expect(out).toContain('is under way');
    }
  });

  it('reports that no record is newer than --since', async () => {
    const { code, out, err } = await why(
      desk.file,
      '--since',
      '2026-01-05T00:50:00Z',
      '--strategy',
      'buys',
      '--zone',
      'UTC',
    );
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toMatch(/^nothing since 2026-01-05 00:50:00 UTC; the newest record is from 2026-01-05 00:0/u);
  });

  it.each([
    ['--since', 'yesterday', 64, /--since: expected a day such as 2026-12-01/u],
    ['--since', '2026-02-30', 64, /--since: expected a day/u],
    ['--since', 'PT', 64, /--since: expected a day/u],
    ['--zone', 'Europe/Londn', 64, /--zone: "Europe\/Londn" is not a time zone/u],
    ['--strategy', 'wieghts', 64, /has no strategy "wieghts": did you mean "weights"\?/u],
    ['--strategy', 'unlike-any', 64, /has no strategy "unlike-any": it knows buys, dear, weights/u],
    ['--sinse', 'PT1H', 64, /unknown option '--sinse'/u],
  ])('rejects %s %s', async (option, value, expected, message) => {
    const { code, out, err } = await why(desk.file, option, value);
    expect(code).toBe(expected);
    expect(out).toBe('');
    expect(err).toMatch(message);
  });

  it('reports an empty journal', async () => {
    const file = join(aFolder(), 'new.db');
    sqliteJournal(file).close();
    const { code, out, err } = await why(file);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('the journal is empty: no strategy has woken yet');
  });

  it('exits with 74 if there is no journal', async () => {
    const { code, err } = await why(join(aFolder(), 'none.db'));
    expect(code).toBe(74);
    expect(err).toContain('no journal at');
  });

  it('finds the journal through the config, or reports that it is only in memory', async () => {
    const folder = aFolder();
    const file = join(folder, 'desk.db');
    sqliteJournal(file).close();
    writeFileSync(join(folder, 'a.yaml'), `journal: "sqlite:${file}"\nstrategies: .\n`);
    writeFileSync(join(folder, 'b.yaml'), 'journal: "memory:"\nstrategies: .\n');
    expect((await look(folder, ['why', '--config', 'a.yaml'])).err).toContain('the journal is empty');
    expect((await look(folder, ['why', file, '--config', 'b.yaml'])).err).toContain('the journal is empty');
    expect(await look(folder, ['why', '--config', 'b.yaml'])).toMatchObject({
      code: 78,
      err: expect.stringContaining('keeps its journal in memory') as unknown,
    });
  });
});
