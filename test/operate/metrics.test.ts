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

/** Values of series as Prometheus would read them, by name and labels besides that of the desk; `undefined` if one is not shown. */
async function read(...series: readonly string[]): Promise<readonly (number | undefined)[]> {
  const shown = new Map<string, number>();
  for (const line of (await metrics.text()).split('\n')) {
    const groups = /^(?<name>[a-z_]+)\{(?<labels>[^}]*)\} (?<value>\S+)$/u.exec(line)?.groups ?? {};
    const labels = (groups['labels'] ?? '').split(',').filter((label) => label !== 'desk="main"');
    shown.set([groups['name'], ...labels.toSorted()].join(' ').replaceAll('"', ''), Number(groups['value']));
  }
  return series.map((one) => shown.get(one));
}
const expectShown = async (values: Readonly<Record<string, number | undefined>>): Promise<void> => {
  expect(await read(...Object.keys(values))).toEqual(Object.values(values));
};

const FILLS = 'tranche_fills_total pair=btcusd side=buy';

describe('the metrics collector', () => {
  it('counts an order, its fill and its notional from the records of one attempt', async () => {
    write(anIntent('a'));
    const quote = { quote_id: 'q', quantity: '0.5', price: '60000', amount: '30000.25', life_ms: 10_000 };
    write({ kind: 'quote', client_order_id: 'a', ...quote, age_ms: 3 });
    write(aFill('a'));
    now = after(now, 1_500);
    write({ kind: 'attempt', client_order_id: 'a', result: 'filled' });
    await expectShown({
      'tranche_orders_total pair=btcusd result=filled side=buy': 1,
      [FILLS]: 1,
      'tranche_fills_notional_total currency=usd pair=btcusd side=buy': 30_000.25,
      'tranche_quote_age_at_accept_seconds_sum pair=btcusd': 0.003,
      'tranche_journal_records_total kind=intent': 1,
      tranche_journal_head: 4,
      'tranche_cycle_seconds_sum result=filled': 1.5,
    });
  });

  it('counts a discarded attempt as an attempt with its reason, not as an order', async () => {
    write(anIntent('a'));
    write({ kind: 'attempt', client_order_id: 'a', result: 'discarded', reason: 'collar' });
    await expectShown({ 'tranche_attempts_total pair=btcusd reason=collar result=discarded': 1 });
    expect(await metrics.text()).not.toMatch(/^tranche_orders_total\{/mu);
  });

  it('shows a doubt from its record until the attempt ends, with the age of the oldest', async () => {
    const doubt = (id: string): void => {
      write(anIntent(id));
      write({ kind: 'attempt', client_order_id: id, result: 'doubt', reason: 'outcome_unknown' });
      now = after(now, 30_000);
    };
    doubt('a');
    doubt('b');
    await expectShown({ tranche_doubts_open: 2, tranche_oldest_doubt_age_seconds: 60 });
    write({ kind: 'attempt', client_order_id: 'a', result: 'absent', reason: 'proven_absent' });
    await expectShown({ tranche_doubts_open: 1, tranche_oldest_doubt_age_seconds: 30 });
  });

  it('counts attempts that a previous process left open as doubts, but does not count its records', async () => {
    metrics.replay(stored(anIntent('a')));
    metrics.replay(stored(aFill('z')));
    metrics.replay(stored({ kind: 'control', state: 'halted', by: 'operator', why: 'drill' }));
    now = after(now, 5_000);
    write(aStart());
    await expectShown({
      tranche_doubts_open: 1,
      tranche_oldest_doubt_age_seconds: 5,
      [FILLS]: undefined,
      'tranche_journal_records_total kind=intent': undefined,
      'tranche_desk_state state=halted': 1,
      'tranche_desk_state state=active': 0,
    });
  });

  it('omits a value that is not known yet or no longer, instead of showing 0', async () => {
    const [gone, held] = ['gone', 'held'].map(
      (id) => `tranche_portfolio_drift_ratio currency=btc strategy=${id}`,
    );
    const value = 'tranche_portfolio_value_usd';
    const age = 'tranche_transactions_read_age_seconds';
    await expectShown({ [value]: undefined, [age]: undefined });
    metrics.portfolioValue(12.5);
    metrics.accountRead(3);
    for (const id of ['gone', 'held']) metrics.portfolioDrift(id, 'btc', 0.1);
    now = after(now, 1_500);
    await expectShown({ [value]: 12.5, [age]: 1.5, [gone ?? '']: 0.1 });
    metrics.forgetDrifts();
    metrics.portfolioDrift('held', 'btc', 0.1);
    metrics.portfolioValue(undefined);
    await expectShown({ [value]: undefined, [gone ?? '']: undefined, [held ?? '']: 0.1 });
  });

  it('shows one risk mode per pair, and the age of a reference price from the time of the price', async () => {
    metrics.reference({ pair: 'btcusd', mid: price('60000'), at: now, source: 'probe' });
    now = after(now, 42_000);
    metrics.riskMode('btcusd', 'Enabled');
    metrics.riskMode('btcusd', 'Reduce-Only');
    await expectShown({
      'tranche_reference_age_seconds pair=btcusd': 42,
      'tranche_risk_mode mode=Reduce-Only pair=btcusd': 1,
      'tranche_risk_mode mode=Enabled pair=btcusd': 0,
    });
    metrics.riskMode('btcusd', undefined);
    await expectShown({ 'tranche_risk_mode mode=unknown pair=btcusd': 1 });
  });

  it('converts milliseconds into seconds and ignores invalid measurements', async () => {
    metrics.quoted('btcusd', 'quote', 250);
    metrics.quoted('btcusd', 'quotes_unavailable', Number.NaN);
    metrics.ordered('btcusd', 'filled', 40, 2);
    metrics.ordered('btcusd', 'not_sent', 0, 4);
    metrics.paced('quote', 'execute', -1);
    metrics.committed(2);
    await expectShown({
      'tranche_quotes_total pair=btcusd result=quotes_unavailable': 1,
      'tranche_cycle_part_seconds_sum part=quote': 0.25,
      'tranche_cycle_part_seconds_count part=quote': 1,
      'tranche_cycle_part_seconds_sum part=decide': 0.006,
      'tranche_cycle_part_seconds_count part=order': 1,
      'tranche_budget_wait_seconds_sum priority=execute route=quote': 0,
      tranche_journal_commit_seconds_sum: 0.002,
    });
  });

  it('counts slices and wakes with their reasons', async () => {
    const nothing = { filled: '0', filled_amount: '0', result: 'expired', reason: 'deadline' } as const;
    write({ kind: 'slice', strategy: 's', parent: 'p', leg: 'l', slice: 0, ...nothing });
    const none = { detail: {}, state: {}, waits: [], intents: [], missed: [] };
    write({ kind: 'wake', strategy: 's', hash: 'h', on: 'drift', reason: 'inside_band', ...none });
    await expectShown({
      'tranche_slices_total reason=deadline result=expired strategy=s': 1,
      'tranche_wakes_total on=drift reason=inside_band strategy=s': 1,
    });
  });

  it('limits the number of values of a label', async () => {
    for (let i = 0; i < 1_000; i++) metrics.quoted(`pair${i}`, 'quote', 1);
    await expectShown({ 'tranche_quotes_total pair=other result=quote': 744 });
  });

  it('shows build, start and process figures', async () => {
    metrics.extraFields('orders', 2);
    metrics.retried('quotes_unavailable');
    metrics.budget('quote', 0.97);
    await expectShown({
      [`tranche_build_info mode=paper node=${process.version} version=0.1.0`]: 1,
      tranche_start_time_seconds: 1_790_000_000,
      'tranche_extra_fields_total resource=orders': 2,
      'tranche_retries_total reason=quotes_unavailable': 1,
      'tranche_budget_utilisation_ratio route=quote': 0.97,
    });
    const [memory, cpu, lag] = await read(
      'tranche_resident_memory_bytes',
      'tranche_cpu_seconds_total',
      'tranche_event_loop_lag_seconds quantile=0.99',
    );
    expect(memory).toBeGreaterThan(1e6);
    expect(cpu).toBeGreaterThan(0);
    expect(lag).toBeGreaterThanOrEqual(0);
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
