import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FillRecord, IntentRecord, RecordBody, StoredRecord } from '../../src/core/record.ts';
import { price } from '../../src/core/money.ts';
import { after, instant } from '../../src/core/time.ts';
import { createMeters } from '../../src/operate/meters.ts';
import { createStandbyMetric } from '../../src/operate/standby.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import type { Metrics } from '../../src/operate/metrics.ts';

const START = instant(1_790_000_000_000);
let now = START;
let metrics: Metrics;
let seq = 0;

beforeEach(() => {
  now = START;
  seq = 0;
  metrics = createMetrics({ version: '0.1.0', mode: 'paper', desk: 'main', now: () => now });
});
afterEach(() => {
  metrics.close();
});

const stored = (body: RecordBody): StoredRecord => ({ seq: ++seq, at: now, body, hash: '' });
const write = (body: RecordBody): void => {
  metrics.record(stored(body));
};

const anIntent = (id: string): IntentRecord => ({
  kind: 'intent', client_order_id: id, strategy: 'btc-twap', parent: 'p', slice: 0, attempt: 0, pair: 'btcusd', base: 'btc',
  quote: 'usd', side: 'buy', by: 'quantity', size: '0.5', worst_price: '60600', reference_price: '60000',
  notional_usd: '30300', cuts: [],
}); // prettier-ignore
const aFill = (id: string): FillRecord => ({
  kind: 'fill', client_order_id: id, order_id: 'o', quote_id: 'q', pair: 'btcusd', base: 'btc', quote: 'usd', side: 'buy',
  quantity: '0.5', price: '60000', amount: '30000.25', fees: '0', executed_at: now, strategy: 'btc-twap', parent: 'p',
  slice: 0, attempt: 0, notional_usd: '30000.25', decision_price: '', source: 'order',
}); // prettier-ignore
const aStart = (): RecordBody => ({
  kind: 'started', version: '0.1.0', mode: 'paper', desk: 'main', config_hash: 'c', account: 'a',
}); // prettier-ignore

/** Value of a series as Prometheus would read it, with labels in any order; `undefined` if it is not shown. */
async function read(
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const text = await metrics.text();
  const wanted = Object.entries({ desk: 'main', ...labels }).map(([key, value]) => `${key}="${value}"`);
  for (const line of text.split('\n')) {
    const groups = /^(?<series>[a-z_]+)\{(?<labels>[^}]*)\} (?<value>\S+)$/u.exec(line)?.groups;
    if (groups?.['series'] !== name) continue;
    const shown = groups['labels']?.split(',') ?? [];
    if (shown.length === wanted.length && wanted.every((each) => shown.includes(each)))
      return Number(groups['value']);
  }
  return undefined;
}

describe('the metrics collector', () => {
  it('counts an order, its fill and its notional from the records of one attempt', async () => {
    write(anIntent('a'));
    write({
      kind: 'quote',
      client_order_id: 'a',
      quote_id: 'q',
      quantity: '0.5',
      price: '60000',
      amount: '30000.25',
      life_ms: 10_000,
      age_ms: 3,
    });
    write(aFill('a'));
    write({ kind: 'attempt', client_order_id: 'a', result: 'filled' });

    expect(await read('tranche_orders_total', { pair: 'btcusd', side: 'buy', result: 'filled' })).toBe(1);
    expect(await read('tranche_fills_total', { pair: 'btcusd', side: 'buy' })).toBe(1);
    expect(await read('tranche_fills_notional_total', { pair: 'btcusd', side: 'buy', currency: 'usd' })).toBe(
      30_000.25,
    );
    expect(await read('tranche_quote_age_at_accept_seconds_sum', { pair: 'btcusd' })).toBe(0.003);
    expect(await read('tranche_journal_records_total', { kind: 'intent' })).toBe(1);
    expect(await read('tranche_journal_head')).toBe(4);
  });

  it('counts a discarded attempt as an attempt with its reason, not as an order', async () => {
    write(anIntent('a'));
    write({ kind: 'attempt', client_order_id: 'a', result: 'discarded', reason: 'collar' });

    expect(
      await read('tranche_attempts_total', { pair: 'btcusd', result: 'discarded', reason: 'collar' }),
    ).toBe(1);
    expect(await metrics.text()).not.toMatch(/^tranche_orders_total\{/mu);
  });

  it('shows a doubt from its record until the attempt ends, with the age of the oldest', async () => {
    write(anIntent('a'));
    write({ kind: 'attempt', client_order_id: 'a', result: 'doubt', reason: 'outcome_unknown' });
    now = after(now, 30_000);
    write(anIntent('b'));
    write({ kind: 'attempt', client_order_id: 'b', result: 'doubt', reason: 'outcome_unknown' });
    now = after(now, 30_000);
    expect(await read('tranche_doubts_open')).toBe(2);
    expect(await read('tranche_oldest_doubt_age_seconds')).toBe(60);

    write({ kind: 'attempt', client_order_id: 'a', result: 'absent', reason: 'proven_absent' });
    expect(await read('tranche_doubts_open')).toBe(1);
    expect(await read('tranche_oldest_doubt_age_seconds')).toBe(30);
  });

  it('counts attempts that a previous process left open as doubts, but does not count its records', async () => {
    metrics.replay(stored(anIntent('a')));
    metrics.replay(stored(aFill('z')));
    now = after(now, 5_000);
    write(aStart());

    expect(await read('tranche_doubts_open')).toBe(1);
    expect(await read('tranche_oldest_doubt_age_seconds')).toBe(5);
    expect(await read('tranche_fills_total', { pair: 'btcusd', side: 'buy' })).toBeUndefined();
    expect(await read('tranche_journal_records_total', { kind: 'intent' })).toBeUndefined();
  });

  it('shows exactly one state of the desk, also after a restart', async () => {
    metrics.replay(stored({ kind: 'control', state: 'halted', by: 'operator', why: 'drill' }));

    expect(await read('tranche_desk_state', { state: 'halted' })).toBe(1);
    expect(await read('tranche_desk_state', { state: 'active' })).toBe(0);
  });

  it('omits a value that is not known yet instead of showing 0', async () => {
    expect(await read('tranche_portfolio_value_usd')).toBeUndefined();
    expect(await read('tranche_transactions_read_age_seconds')).toBeUndefined();

    metrics.portfolioValue(12.5);
    metrics.accountRead(3);
    now = after(now, 1_500);
    expect(await read('tranche_portfolio_value_usd')).toBe(12.5);
    expect(await read('tranche_transactions_read_age_seconds')).toBe(1.5);
  });

  it('omits a value that is no longer known and the drift of a strategy that no longer has a band', async () => {
    metrics.portfolioValue(12.5);
    metrics.portfolioDrift('gone', 'btc', 0.2);
    metrics.portfolioDrift('held', 'btc', 0.1);

    metrics.forgetDrifts();
    metrics.portfolioDrift('held', 'btc', 0.1);
    metrics.portfolioValue(undefined);

    expect(await read('tranche_portfolio_value_usd')).toBeUndefined();
    expect(
      await read('tranche_portfolio_drift_ratio', { strategy: 'gone', currency: 'btc' }),
    ).toBeUndefined();
    expect(await read('tranche_portfolio_drift_ratio', { strategy: 'held', currency: 'btc' })).toBe(0.1);
  });

  it('computes the age of a reference price from the time of the price', async () => {
    metrics.reference({ pair: 'btcusd', mid: price('60000'), at: now, source: 'probe' });
    now = after(now, 42_000);

    expect(await read('tranche_reference_age_seconds', { pair: 'btcusd' })).toBe(42);
  });

  it('shows one risk mode per pair', async () => {
    metrics.riskMode('btcusd', 'Enabled');
    metrics.riskMode('btcusd', 'Reduce-Only');

    expect(await read('tranche_risk_mode', { pair: 'btcusd', mode: 'Reduce-Only' })).toBe(1);
    expect(await read('tranche_risk_mode', { pair: 'btcusd', mode: 'Enabled' })).toBe(0);

    metrics.riskMode('btcusd', undefined);
    expect(await read('tranche_risk_mode', { pair: 'btcusd', mode: 'unknown' })).toBe(1);
  });

  it('converts milliseconds into seconds and ignores invalid measurements', async () => {
    metrics.quoted('btcusd', 'quote', 250);
    metrics.quoted('btcusd', 'quotes_unavailable', Number.NaN);
    metrics.ordered('btcusd', 'filled', 40, 2);
    metrics.ordered('btcusd', 'not_sent', 0, 4);
    metrics.paced('quote', 'execute', -1);
    metrics.committed(2);

    expect(await read('tranche_quotes_total', { pair: 'btcusd', result: 'quotes_unavailable' })).toBe(1);
    expect(await read('tranche_cycle_part_seconds_sum', { part: 'quote' })).toBe(0.25);
    expect(await read('tranche_cycle_part_seconds_count', { part: 'quote' })).toBe(1);
    expect(await read('tranche_cycle_part_seconds_sum', { part: 'decide' })).toBe(0.006);
    expect(await read('tranche_cycle_part_seconds_count', { part: 'order' })).toBe(1);
    expect(await read('tranche_budget_wait_seconds_sum', { route: 'quote', priority: 'execute' })).toBe(0);
    expect(await read('tranche_journal_commit_seconds_sum')).toBe(0.002);
  });

  it('measures a cycle by the times of its records', async () => {
    write(anIntent('a'));
    now = after(now, 1_500);
    write({ kind: 'attempt', client_order_id: 'a', result: 'filled' });

    expect(await read('tranche_cycle_seconds_sum', { result: 'filled' })).toBe(1.5);
  });

  it('counts slices and wakes with their reasons', async () => {
    write({
      kind: 'slice',
      strategy: 's',
      parent: 'p',
      leg: 'l',
      slice: 0,
      result: 'expired',
      reason: 'deadline',
      filled: '0',
      filled_amount: '0',
    });
    write({
      kind: 'wake',
      strategy: 's',
      hash: 'h',
      on: 'drift',
      detail: {},
      reason: 'inside_band',
      state: {},
      waits: [],
      intents: [],
      missed: [],
    });

    expect(await read('tranche_slices_total', { strategy: 's', result: 'expired', reason: 'deadline' })).toBe(
      1,
    );
    expect(await read('tranche_wakes_total', { strategy: 's', on: 'drift', reason: 'inside_band' })).toBe(1);
  });

  it('limits the number of values of a label', async () => {
    for (let i = 0; i < 1_000; i++) metrics.quoted(`pair${i}`, 'quote', 1);

    expect(await read('tranche_quotes_total', { pair: 'other', result: 'quote' })).toBe(744);
  });

  it('shows build, start and process figures', async () => {
    metrics.extraFields('orders', 2);
    metrics.retried('quotes_unavailable');
    metrics.budget('quote', 0.97);
    metrics.portfolioDrift('rebalance', 'btc', -0.013);

    expect(await read('tranche_build_info', { version: '0.1.0', mode: 'paper', node: process.version })).toBe(
      1,
    );
    expect(await read('tranche_start_time_seconds')).toBe(1_790_000_000);
    expect(await read('tranche_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(await read('tranche_cpu_seconds_total')).toBeGreaterThan(0);
    expect(await read('tranche_event_loop_lag_seconds', { quantile: '0.99' })).toBeGreaterThanOrEqual(0);
    expect(await read('tranche_extra_fields_total', { resource: 'orders' })).toBe(2);
    expect(await read('tranche_retries_total', { reason: 'quotes_unavailable' })).toBe(1);
    expect(await read('tranche_budget_utilisation_ratio', { route: 'quote' })).toBe(0.97);
    expect(await read('tranche_portfolio_drift_ratio', { strategy: 'rebalance', currency: 'btc' })).toBe(
      -0.013,
    );
  });
});

describe('docs/metrics.md', () => {
  it('lists exactly the registered metrics, with their types and labels', () => {
    const registry = new Registry();
    createMeters(registry);
    createStandbyMetric(registry);
    const registered = registry.getMetricsAsArray().map((metric) => {
      const { labelNames } = metric as unknown as { labelNames: readonly string[] };
      return `${metric.name} ${String(metric.type)} ${labelNames.join(', ')}`.trim();
    });
    const document = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    const rows = document.matchAll(/^\| `(?<name>tranche_\w+)`\s*\| (?<type>\w+)\s*\| (?<labels>[^|]*)\|/gmu);
    const documented = [...rows].map(({ groups }) =>
      `${groups?.['name']} ${groups?.['type']} ${groups?.['labels']?.replaceAll('`', '').trim()}`.trim(),
    );

    expect(documented.toSorted()).toStrictEqual(registered.toSorted());
  });
});
