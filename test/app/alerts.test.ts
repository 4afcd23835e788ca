import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { observe } from '../../src/app/cli/watch.ts';
import { noProgress } from '../../src/app/cli/progress.ts';
import { Summary } from '../../src/app/cli/summary.ts';
import { deskApi } from '../../src/app/desk-api/desk-api.ts';
import { AlertHistory } from '../../src/app/daemon/open-alerts.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, after } from '../../src/core/time.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import { AlertRecords } from '../../src/operate/alert-records.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import type { Bench } from '../engine/harness.ts';
import { expectRan, expectRefused } from '../support/command.ts';
import { look } from './support/look.ts';
import type { Ran } from './support/look.ts';
import { aFolder } from '../support/folder.ts';

interface Told {
  readonly bench: Bench;
  readonly file: string;
  /** Whether the venue quotes. */
  readonly venue: { isQuoting: boolean };
  readonly status: () => Readonly<Record<string, unknown>>;
}

/** A desk that records and reports its alerts as in a daemon. */
function aTellingDesk(folder = aFolder(), before?: Bench, over: Record<string, unknown> = {}): Told {
  const file = join(folder, 'desk.db');
  const journal = sqliteJournal(file);
  const venue = { isQuoting: false };
  const closed = { kind: 'error', status: 503, error: 'quotes temporarily unavailable' } as const;
  const metrics = createMetrics({ version: 't', mode: 'paper', desk: 'main', now: () => START });
  const records = new AlertRecords(() => bench.clock.monotonic());
  const history = new AlertHistory();
  const twap = aTwap('btc', over);
  const observer = observe({
    metrics,
    progress: noProgress,
    summary: new Summary(),
    alerts: history,
    progressOf: ({ state }) => twap.bound.progress(state),
    warn: () => undefined,
    alert: (id, facts) => {
      records.raise(id, facts);
    },
    onRecord: () => undefined,
  });
  const bench: Bench = aBench({
    ...(before && { clock: before.clock, exchange: before.exchange }),
    journal,
    strategies: [twap],
    alerts: records,
    observer,
    wrap: faultyVenue({ quote: () => (venue.isQuoting ? undefined : closed) }),
  });
  const api = deskApi(bench.desk, () => undefined, history);
  onTestFinished(() => {
    bench.kill();
    metrics.close();
    journal.close();
  });
  return { bench, file, venue, status: () => api.status() as Readonly<Record<string, unknown>> };
}

describe('alerts of a desk', () => {
  it('become journal records and stay open in the status until their cause ends', () => {
    const { bench, status, venue } = aTellingDesk();
    bench.start();
    bench.until(MINUTE_MS);
    expect(bench.bodies('alert').map(({ alert }) => alert)).toEqual(['no_quotes']);
    expect(status()).toMatchObject({
      open_alerts: [{ alert: 'no_quotes', severity: 'critical', facts: { pair: 'btcusd' } }],
      alerts_last_day: { critical: 1, warning: 0, info: 0 },
    });
    venue.isQuoting = true;
    bench.until(3 * MINUTE_MS);
    expect(status()).toMatchObject({ open_alerts: [], alerts_last_day: { critical: 1 } });
  });

  it('are restored from the journal by the next process', () => {
    const folder = aFolder();
    const { bench } = aTellingDesk(folder);
    bench.start();
    bench.until(MINUTE_MS);
    bench.kill();
    bench.journal.close();
    const second = aTellingDesk(folder, bench);
    second.bench.start();
    second.bench.run(SECOND_MS);
    expect(second.status()).toMatchObject({ alerts_last_day: { critical: 1 } });
  });

  it('precede the stopped record in the journal', () => {
    const { bench } = aTellingDesk(undefined, undefined, { duration: 'PT1M', slices: 1 });
    bench.start({ isUntilDone: true });
    bench.until(5 * MINUTE_MS);
    const kinds = bench.records().map(({ body }) => (body.kind === 'alert' ? body.alert : body.kind));
    expect(kinds.at(-1)).toBe('stopped');
    expect(kinds).toContain('parent_short');
  });
});

describe('the status of a strategy', () => {
  it('shows the traded part of the total, the slices that did not trade, and the last fills', () => {
    const { bench, status, venue } = aTellingDesk();
    bench.start();
    bench.until(4 * MINUTE_MS);
    venue.isQuoting = true;
    bench.until(8 * MINUTE_MS);
    const {
      strategies: [btc],
      last_fills: fills,
    } = status() as {
      strategies: [{ traded: { amount: string }; slices_done: number; slices_filled: number }];
      last_fills: readonly unknown[];
    };
    expect(btc).toMatchObject({ slices_total: 10, traded: { of: '1', currency: 'btc' } });
    expect(btc.slices_done - btc.slices_filled).toBeGreaterThanOrEqual(3);
    const bought = bench.bodies('fill').map(({ quantity }) => Number(quantity));
    expect(Number(btc.traded.amount)).toBeCloseTo(
      bought.reduce((sum, each) => sum + each, 0),
      12,
    );
    expect(fills.length).toBe(Math.min(5, bought.length));
    expect(fills.at(-1)).toMatchObject({ strategy: 'btc', pair: 'btcusd', side: 'buy' });
  });
});

describe('tranche alerts', () => {
  it('lists alerts from the journal by severity and time, each with its remedy', async () => {
    const { bench, file } = aTellingDesk();
    bench.start();
    bench.until(MINUTE_MS);
    const alerts = async (...line: readonly string[]): Promise<Ran> =>
      await look('/', ['alerts', file, ...line], { now: after(START, HOUR_MS) });
    expectRan(
      await alerts('--zone', 'UTC'),
      0,
      /^2026-01-05 00:00:\d\d(?:\.\d+)? UTC {2}critical no_quotes: the venue has not quoted a pair for 30 seconds, or its quotes expire too soon for an order; retrying; .*pair btcusd/mu,
      /^ {2}no_quotes: Read `reason`/mu,
    );
    const grave = await alerts('--severity', 'critical', '--json');
    const facts = { pair: 'btcusd' };
    expect(JSON.parse(grave.out)).toMatchObject({ alert: 'no_quotes', severity: 'critical', facts });
    expectRefused(await alerts('--since', 'PT10M'), 0, 'no alerts since');
  });
});
