import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addBacktest } from '../../src/app/cli/backtest-cli.ts';
import { compareDay } from '../../src/app/twin/compare-day.ts';
import { dailyTwin, twinLine } from '../../src/app/twin/daily-twin.ts';
import type { DailyTwin } from '../../src/app/twin/daily-twin.ts';
import { MODELS } from '../../src/app/twin/twin-schema.ts';
import { dayResult } from '../../src/operate/api/schema-twin.ts';
import { ratio } from '../../src/core/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, after, instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { presets } from '../../src/research/run/model.ts';
import type { TwinReport } from '../../src/research/twin/twin-json.ts';
import { NINE, aFill, appendNow } from '../journal/records.ts';
import { backtestConfig } from './support/desk-config.ts';
import { runLine } from './support/cli.ts';
import { aReport } from './support/twin-report.ts';

/** A desk that starts at nine on 1 December; `verdicts` are the results of its comparisons by day. */
function aDesk(verdicts: Readonly<Record<string, TwinReport['verdict']>>, timeZone = 'UTC') {
  const clock = new VirtualClock(NINE);
  const journal = memoryJournal();
  const seen: string[] = [];
  const alerts: (readonly [string, unknown])[] = [];
  const begin = (): DailyTwin => {
    const daily = dailyTwin(
      { model: 'tight', bound: ratio('5'), days: 2, timeZone },
      {
        clock,
        journal,
        alert: (id, facts) => alerts.push([id, facts]),
        warn: (text) => seen.push(`warning: ${text}`),
        async compareDay(day) {
          seen.push(day);
          await Promise.resolve();
          const verdict = verdicts[day];
          if (verdict === undefined) throw new Error('the journal cannot be read');
          return aReport(verdict);
        },
      },
    );
    const running = daily.running$.subscribe();
    onTestFinished(() => {
      running.unsubscribe();
    });
    return daily;
  };
  const pass = async (ms: number): Promise<void> => {
    for (const end = clock.now() + ms; clock.now() < end;) {
      clock.run(after(instant(clock.now()), 10 * MINUTE_MS));
      await turn();
    }
  };
  return { clock, journal, seen, alerts, begin, pass };
}

describe('the daily twin of a desk', () => {
  it('compares each day once, 15 minutes after its end in the time zone of the config', async () => {
    const desk = aDesk({ '2026-12-01': 'within', '2026-12-02': 'within' }, 'Europe/Zurich');
    appendNow(desk.journal, [aFill()], NINE);
    const daily = desk.begin();
    await desk.pass(14 * HOUR_MS);
    expect(desk.seen).toEqual([]);
    await desk.pass(HOUR_MS / 2);
    expect(desk.seen).toEqual(['2026-12-01']);
    await desk.pass(DAY_MS);
    expect(desk.seen).toEqual(['2026-12-01', '2026-12-02']);
    expect(daily.last()).toMatchObject({ day: '2026-12-02', days_beyond: 0, report: { verdict: 'within', slices: 12, differing: 12 } }); // prettier-ignore
  });

  it('does not compare a day before the first record of the journal', async () => {
    const desk = aDesk({});
    desk.begin();
    appendNow(desk.journal, [aFill()], NINE);
    await desk.pass(HOUR_MS);
    expect(desk.seen).toEqual([]);
  });

  it('raises an alert with the largest cause after two days beyond the bound, not counting days without trades', async () => {
    const desk = aDesk({ '2026-12-01': 'beyond', '2026-12-02': 'empty', '2026-12-03': 'beyond', '2026-12-04': 'within', '2026-12-05': 'beyond' }); // prettier-ignore
    appendNow(desk.journal, [aFill()], NINE);
    const daily = desk.begin();
    await desk.pass(2 * DAY_MS);
    expect(desk.alerts).toEqual([]);
    await desk.pass(3 * DAY_MS);
    expect(daily.last()).toMatchObject({ day: '2026-12-05', days_beyond: 1 });
    expect(desk.alerts).toEqual([
      ['twin_beyond', { day: '2026-12-03', days: 2, difference_bps: '-8.0000', bound_bps: '5', cause: 'quote', cause_bps: '-8.0000' }],
    ]); // prettier-ignore
  });

  it('passes its last result and the number of days beyond the bound to the next process', async () => {
    const desk = aDesk({ '2026-12-01': 'beyond', '2026-12-02': 'beyond' });
    appendNow(desk.journal, [aFill()], NINE);
    desk.begin();
    await desk.pass(DAY_MS);
    const next = desk.begin();
    expect(dayResult.safeParse(next.last()).error).toBeUndefined();
    expect(next.last()?.report.largest.map(({ slice }) => slice)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    await desk.pass(HOUR_MS);
    expect(desk.seen).toEqual(['2026-12-01']);
    const last = next.last();
    expect(last && twinLine(last)).toBe(
      'twin of 2026-12-01: live differs by -8.0000 bps, beyond the bound of 5; mainly: the venue quoted other prices, or did not quote',
    );
  });

  it('reports a failed comparison, keeps the last result, and compares the next day on time', async () => {
    const desk = aDesk({ '2026-12-01': 'within', '2026-12-03': 'within' });
    appendNow(desk.journal, [aFill()], NINE);
    const daily = desk.begin();
    await desk.pass(2 * DAY_MS);
    const why = 'the twin of 2026-12-02 could not be computed: the journal cannot be read';
    expect(desk.seen).toEqual(['2026-12-01', '2026-12-02', `warning: ${why}`]);
    expect([daily.problem(), daily.last()?.day]).toEqual([why, '2026-12-01']);
    await desk.pass(DAY_MS);
    expect([daily.problem(), daily.last()?.day]).toEqual([undefined, '2026-12-03']);
  });

  it('compares a day on a separate thread, and fails with the cause if the journal, model or config is unusable', async () => {
    const cwd = await traded();
    const file = join(cwd, 'config.yaml');
    const at = (model: string, journal = `sqlite:${join(cwd, 'run.db')}`) =>
      compareDay({
        config: { file, journal },
        twin: { model, bound: ratio('5'), days: 1, timeZone: 'UTC' },
        env: {},
        now: () => instant(BEGIN + DAY_MS),
      });
    const { signal } = new AbortController();
    expect(await at(join(cwd, 'truth.yaml'))('2026-01-05', signal)).toMatchObject({ verdict: 'within', model: 'truth.yaml' }); // prettier-ignore
    expect(await at('stressed')('2026-01-05', signal)).toMatchObject({ verdict: 'beyond', bound_bps: '5' });
    await expect(at('tight', 'sqlite:none.db')('2026-01-05', signal)).rejects.toThrow('none.db');
    writeFileSync(file, 'mode: nowhere\n');
    await expect(at('tight')('2026-01-05', signal)).rejects.toThrow('config.yaml');
    await expect(at('tight')('2026-01-05', AbortSignal.abort())).rejects.toThrow('aborted');
  }, 60_000);

  it('accepts exactly the names of the built-in models', () => {
    expect(MODELS).toEqual(Object.keys(presets));
  });
});

const BEGIN = Date.UTC(2026, 0, 5);

/** A folder with the journal of half an hour of trading under the model of `truth.yaml`. */
async function traded(): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'tranche-daily-twin-'));
  onTestFinished(() => {
    rmSync(cwd, { recursive: true, force: true });
  });
  const files = {
    'btc.csv': `timestamp_ms,open,high,low,close,volume\n${Array.from({ length: 40 }, (_, n) => `${BEGIN + n * MINUTE_MS},60000,60000,60000,60000,1`).join('\n')}`,
    'config.yaml': backtestConfig({ balances: { usd: '2500000', btc: '1' }, dayUsd: '10000000' }),
    'desk.yaml': `id: buy\nkind: twap\npair: btcusd\nside: buy\ntotal_notional: { amount: '61234.56', currency: usd }\nduration: PT30M\nslices: 10\n`,
    'truth.yaml': 'base: tight\nhalf_spread_bps: 7.5\nquote_latency_ms: 120\n',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  const line = ['backtest', '--data', 'btcusd=btc.csv', '--model', './truth.yaml', '--journal', 'run.db'];
  const { code, err } = await runLine(addBacktest, line, { cwd, now: instant(0), config: 'config.yaml' });
  if (code !== 0) throw new Error(err);
  return cwd;
}
