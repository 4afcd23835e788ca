import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runPool, sharedIndex, sharedTape } from '../../src/app/sweep/sweep-pool.ts';
import { progressLine, sweepProgress } from '../../src/app/sweep/sweep-progress.ts';
import { sweepNotes, sweepResultOf } from '../../src/app/sweep/sweep-result.ts';
import { SettingRunner, packBase, unpackBase } from '../../src/app/sweep/sweep-run.ts';
import type { SweepOutcome } from '../../src/app/sweep/sweep-run.ts';
import { indexPrices } from '../../src/research/tape/index.ts';
import type { Spread } from '../../src/research/sweep/standard-error.ts';
import type { PriceIndex } from '../../src/research/tape/index.ts';
import { openTape, writeTape } from '../../src/research/tape/store.ts';
import type { Tape } from '../../src/research/tape/tape.ts';
import { MINUTE_MS, instant } from '../../src/core/time.ts';
import { expectRan } from '../support/command.ts';
import { TWAP, prepared, sweep, sweepFolder } from './support/sweep.ts';

describe('a sweep on threads', () => {
  it('gives the same outcomes and hashes as runs one by one', async () => {
    const vary = ['slices=4,6,12', 'side=buy,sell', 'limit_price=60200,60400'];
    const { base, tapes, jobs } = await prepared(sweepFolder(), vary);
    const found: (SweepOutcome | undefined)[] = jobs.map(() => undefined);
    await runPool({
      jobs,
      base: packBase(base),
      tapes: tapes.map(sharedTape),
      workers: 2,
      done: (index, outcome) => (found[index] = outcome),
    });
    const alone = new SettingRunner(base, tapes);
    expect(found).toEqual(jobs.map((job) => alone.run(job)));
    expect(new Set(found.map((one) => one && 'head' in one && one.head)).size).toBe(12);
  });

  it('evaluates a window without the prices after its end', async () => {
    const { base, tapes, jobs } = await prepared(sweepFolder(), ['slices=4,6', 'duration=PT1H,PT3H']);
    const [tape] = tapes;
    if (tape === undefined) throw new Error('there is a tape');
    const middle = Math.floor(tape.rows / 2);
    const until = instant((tape.times[middle] ?? 0) + 2_000);
    const close = tape.close.map((price, row) => (row < middle ? price : price * (2 + (row % 3))));
    const other = { ...tape, hash: 'other', open: close, high: close, low: close, close };
    const windows = jobs.map((job) => ({ ...job, until }));
    const found = (over: readonly Tape[]): readonly SweepOutcome[] => {
      const runner = new SettingRunner(base, over);
      return windows.map((job) => runner.run(job));
    };
    const [was, then] = [found(tapes), found([other])];
    expect(was.map((one) => 'figures' in one && Number(one.figures.fills) > 1)).toEqual(was.map(() => true));
    expect(then).toEqual(was);
  });

  it('gives its workers the columns of tapes in shared memory, and every amount of the config', async () => {
    const { base, tapes } = await prepared(sweepFolder(), ['slices=4']);
    const shared = tapes.map(sharedTape);
    expect(shared).toEqual(tapes);
    for (const { close } of shared) expect(close.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(unpackBase(packBase(base))).toEqual(base);
  });

  it('gives its workers the index of a tape in shared memory, and they use it only for that tape', async () => {
    const strategy =
      'id: high\nkind: limit\npair: btcusd\nside: sell\nlimit_price: "60300"\ntotal_quantity: { amount: "0.5", currency: btc }\n';
    const { base, tapes, jobs } = await prepared(sweepFolder({ strategy }), ['limit_price=60300']);
    const index = indexPrices(tapes[0] as Tape);
    const shared = sharedIndex(index);
    expect(shared).toEqual(index);
    for (const { buffer } of [shared.starts, ...shared.bounds])
      expect(buffer).toBeInstanceOf(SharedArrayBuffer);
    const fillsWith = async (indexes: readonly PriceIndex[]): Promise<unknown> => {
      const found: SweepOutcome[] = [];
      await runPool({
        jobs,
        base: packBase(base),
        tapes: tapes.map(sharedTape),
        indexes,
        workers: 1,
        done: (_, outcome) => found.push(outcome),
      });
      return found.map((one) => ('figures' in one ? one.figures['fills'] : one));
    };
    expect(await fillsWith([shared])).toEqual(['1']);
    // With an index that contains no price as high as the limit, no fill is possible.
    for (const level of shared.bounds) level.fill(1);
    expect(await fillsWith([shared])).toEqual(['0']);
    expect(await fillsWith([{ ...shared, tape: 'of another' }])).toEqual(['1']);
  });

  it('fails if a worker dies, after it has reported the finished runs', async () => {
    const { base, tapes, jobs } = await prepared(sweepFolder(), ['slices=1..20/1']);
    const ended: number[] = [];
    const all = runPool({
      jobs,
      base: packBase(base),
      tapes,
      workers: 1,
      done: (index) => ended.push(index),
      kept: 'what ended is kept',
      script: new URL('support/dying-worker.ts', import.meta.url),
    });
    await expect(all).rejects.toThrow('a worker thread died: it ended with code 3; what ended is kept');
    expect(ended).toEqual([0, 1]);
  });
});

describe('tranche sweep', () => {
  it('does not run if a setting is invalid, and names the first invalid setting', async () => {
    const cwd = sweepFolder();
    const says = '1 of 3 settings are invalid. The first is slices=0:\ndesk.yaml:8';
    expectRan(await sweep(cwd, ['--vary', 'slices=0..4/2', '--out', 'out']), 78, says);
    expect(existsSync(join(cwd, 'out'))).toBe(false);
  });

  it('writes text fields as text and number fields as numbers, whether the field exists or not', async () => {
    const strategy = `${TWAP}---\n${TWAP.replace('hour', 'other')}jitter: { size_pct: 5, seed: 1 }\n`;
    const vary = ['hour.limit_price=60100', 'other.jitter.time_pct=7', 'other.total_quantity.amount=0.5']; // prettier-ignore
    const { jobs } = await prepared(sweepFolder({ strategy }), vary);
    expect(jobs.map(({ strategies }) => strategies.map(({ document }) => document))).toMatchObject([
      [
        { id: 'hour', limit_price: '60100', slices: 12 },
        { id: 'other', jitter: { size_pct: 5, time_pct: 7 }, total_quantity: { amount: '0.5' } },
      ],
    ]);
  });

  it.each([
    ['max_slippage_bps=none,10,20', [{ max_slippage_bps: 10 }, { max_slippage_bps: 20 }]],
    [
      'slices+total_quantity.amount=6+0.3,12+0.6',
      [
        { slices: 6, total_quantity: { amount: '0.3' } },
        { slices: 12, total_quantity: { amount: '0.6' } },
      ],
    ],
  ])(
    'writes numbers even if the first value is none, and varies several fields together: %s',
    async (vary, settings) => {
      const { jobs } = await prepared(sweepFolder(), [vary]);
      expect(jobs.map(({ strategies }) => strategies[0]?.document)).toMatchObject(settings);
    },
  );

  it('reports earlier runs on the same history in the same folder', async () => {
    const cwd = sweepFolder();
    const notes = async (line: readonly string[]): Promise<string> => (await sweep(cwd, [...line, '--out', 'out'])).out; // prettier-ignore
    const further = 'more runs on this history';
    expect(await notes(['--vary', 'slices=4,6'])).not.toContain(further);
    expect(await notes(['--vary', 'slices=4,6'])).not.toContain(further);
    expect(await notes(['--vary', 'slices=6,12,20'])).toContain(`The folder contains 1 ${further}`);
    expect(await notes(['--vary', 'slices=2,20'])).toContain(`The folder contains 3 ${further}`);
  });

  it('does not continue with the same prices in shorter bars, which are known earlier', async () => {
    const cwd = sweepFolder();
    const rows = Array.from(
      { length: 60 },
      (_, n) => `${Date.UTC(2026, 0, 5) + 5 * n * MINUTE_MS},${60_000 + n}`,
    );
    writeFileSync(join(cwd, 'five.csv'), `timestamp_ms,close\n${rows.join('\n')}\n`);
    const keep = async (barMs: number): Promise<void> => {
      const { tape, report } = await openTape(['five.csv'], { cwd, pair: 'btcusd', barMs });
      rmSync(join(cwd, 'btc.csv'));
      writeTape(join(cwd, 'btc.csv'), tape, report);
    };
    const line = ['--vary', 'slices=4', '--from', '2026-01-05T00:05:00Z', '--until', '2026-01-05T04:00:00Z', '--out', 'out']; // prettier-ignore
    await keep(5 * MINUTE_MS);
    expectRan(await sweep(cwd, line), 0);
    await keep(MINUTE_MS);
    expectRan(await sweep(cwd, line), 64, 'have other inputs (tape btcusd)');
  });
});

describe('the result of a sweep', () => {
  /** The result of these settings of `slices`, each with its figures. */
  function resultOf(
    settings: Readonly<Record<string, object>>[],
    by?: 'risk_bps',
    isLimited = false,
    spreadOf: (index: number) => Spread = () => ({ level: 0, parts: [] }),
  ): ReturnType<typeof sweepResultOf> {
    const at = instant(0);
    const rows = settings.flatMap((one) => Object.entries(one));
    return sweepResultOf({
      fields: ['slices'],
      settings: rows.map(([slices]) => [slices]),
      windows: [{ from: at, until: at }],
      outcomes: [
        rows.map(([, figures], index) => ({
          figures: { cost_bps: '1', execution_bps: '1', ...figures },
          spreads: { execution_bps: spreadOf(index) },
          control: 'active',
          records: 1,
          head: '',
        })),
      ],
      by,
      risk: undefined,
      isForward: false,
      isLimited,
      repeated: 0,
      invalid: 0,
      further: 0,
    });
  }

  it.each([
    [{ risk_bps: '2' }, undefined, ['execution_bps', 'execution_bps', 'risk_bps']],
    [
      { cost_usd: '9', tracking_error: '0.01', portfolio_bps: '3' },
      undefined,
      ['portfolio_bps', 'cost_usd', 'tracking_error'],
    ],
    [{ risk_bps: '2' }, 'risk_bps' as const, ['risk_bps', 'execution_bps', 'risk_bps']],
  ])(
    'compares the cost of portfolios with their tracking error, that of orders with its scatter: %j',
    (over, by, names) => {
      const result = resultOf([{ 1: over }], by);
      expect([result.by, result.cost, result.risk]).toEqual(names);
      expect(result.front).toEqual([0]);
    },
  );

  it('ranks by all cost if a limit price decides what trades, because waiting then costs opportunity', () => {
    expect(resultOf([{ 1: { risk_bps: '2' } }], undefined, true).by).toBe('cost_bps');
  });

  it('recommends a setting whose lead is larger than its error, and otherwise names those that do not differ and trade least', () => {
    const spread = (error: number, sign: number) => ({ level: 5, parts: Array.from({ length: 32 }, (_, i) => [i, ((i % 2 === 0 ? error : -error) * sign * Math.sqrt(31)) / 32] as const) });
    const noteOf = (costs: readonly number[], error: number): string | undefined => {
      const rows = costs.map((cost, i) => [String(12 * (i + 1)), { execution_bps: String(cost), risk_bps: '1', fills: String(90 - i) }] as const);
      return sweepNotes(resultOf(rows.map((one) => Object.fromEntries([one])), undefined, false, (i) => spread(error, i === 0 ? 1 : -1)))[0];
    };
    expect(noteOf([-5.38, 1, 2], 13.7)).toBe('No setting is recommended: setting 1 (slices 12) (execution_bps -5.38 ± 13.70) is 6.38 ± 27.40 bps better than the next, setting 2, and none of the others differs from it by more than chance explains: 2, 3. Of these, setting 3 has the fewest trades, 88.');
    expect(noteOf([1.6, 1.5], 0.01)).toBe('Recommended: setting 2 (slices 24) (execution_bps 1.50 ± 0.0100), 0.1000 ± 0.0200 bps better than the next, setting 1. It is better than every other setting on the same prices by more than chance explains (5 %).');
  }); // prettier-ignore

  it('lists equal settings on the efficient frontier once, and warns about a best setting at the edge of the grid', () => {
    const of = (slices: string, cost: string): Record<string, object> => ({
      [slices]: { execution_bps: cost, risk_bps: '1', fills: '9' },
    });
    const result = resultOf([of('12', '5'), of('24', '4'), of('48', '3'), of('48', '3')]);
    expect(result.front).toEqual([2]);
    const notes = sweepNotes(result).join('\n');
    expect(notes).toContain('Equal in both figures of the efficient frontier, and listed once: 3 and 4.');
    expect(notes).toContain(
      'The best setting lies at the edge of the grid: slices 48 is the highest tried. A better one may lie beyond it: widen the range.',
    );
  });
});

describe('the progress of a sweep', () => {
  it('shows the rate of this run and the remaining time', () => {
    const line = progressLine({ done: 60, total: 200, already: 20, seconds: 8 });
    expect(line).toBe('[######..............] 60/200  5.0 a second  28 s left');
    expect(progressLine({ done: 0, total: 9, already: 0, seconds: 0 })).toContain('? left');
    expect(progressLine({ done: 1, total: 7_201, already: 0, seconds: 1 })).toContain('2 h 0 min left');
    expect(progressLine({ done: 1, total: 91, already: 0, seconds: 1 })).toContain('2 min left');
  });

  it('is one line on a terminal, redrawn at most ten times per second, and is not shown elsewhere', () => {
    for (const isTTY of [true, false]) {
      const written: string[] = [];
      let at = 0;
      const screen = { write: (text: string) => written.push(text), isTTY };
      const progress = sweepProgress(screen, { total: 100, already: 0, now: () => at });
      for (let i = 0; i < 50; i++) {
        at += 10;
        progress.ended();
      }
      progress.clear();
      expect(written).toHaveLength(isTTY ? 6 : 0);
    }
  });
});
