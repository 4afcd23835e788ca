import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** In seconds, from half a millisecond (a local exchange) to a minute (a cycle that waited for its turn). */
const WAITS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** In seconds: one durable write takes tens of microseconds on a fast disk, and seconds on a failing disk. */
const COMMITS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];

export type Meters = ReturnType<typeof tradingMeters> &
  ReturnType<typeof timeMeters> &
  ReturnType<typeof accountMeters> &
  ReturnType<typeof processMeters>;

/**
 * Every series of Tranche, by name. `docs/metrics.md` explains each to people, and a test compares the two. Names and
 * labels are stable, because dashboards and alerts rely on them.
 */
export function createMeters(registry: Registry): Meters {
  const kit = kitFor(registry);
  return { ...tradingMeters(kit), ...timeMeters(kit), ...accountMeters(kit), ...processMeters(kit) };
}

type Kit = ReturnType<typeof kitFor>;

/** Quotes, orders and fills. */
const tradingMeters = ({ counter, gauge }: Kit) => ({
  quotes: counter('tranche_quotes_total', 'Answers to quote requests', ['pair', 'result']),
  orders: counter('tranche_orders_total', 'Orders by result', ['pair', 'side', 'result']),
  attempts: counter('tranche_attempts_total', 'Attempts by result and reason', ['pair', 'result', 'reason']),
  slices: counter('tranche_slices_total', 'Slices that ended', ['strategy', 'result', 'reason']),
  wakes: counter('tranche_wakes_total', 'Wakes of strategies, by reason for not trading', [
    'strategy',
    'on',
    'reason',
  ]),
  untraded: counter('tranche_untraded_total', 'Slices, and evaluations without a slice, that did not trade', [
    'strategy',
    'reason',
  ]),
  retries: counter('tranche_retries_total', 'Quote requests retried', ['reason']),
  fills: counter('tranche_fills_total', 'Fills', ['pair', 'side']),
  notional: counter(
    'tranche_fills_notional_total',
    'Value of fills in quote currency; approximate, not for accounting',
    ['pair', 'side', 'currency'],
  ),

  quotesPerFill: gauge('tranche_quotes_per_fill', 'Quotes requested per fill, in the last hour', ['pair']),
  hitRatio: gauge('tranche_quote_hit_ratio', 'Fills per firm quote, in the last hour', ['pair']),
  quoteSlowdown: gauge(
    'tranche_quote_slowdown_ratio',
    'Factor, 1 to 64, by which waits between quotes are lengthened because too few quotes trade',
    ['pair'],
  ),

  approvals: gauge('tranche_approvals_open', 'Requests that wait for the approval of people', ['kind']),

  doubts: gauge('tranche_doubts_open', 'Attempts whose order may have traded', []),
  oldestDoubt: gauge(
    'tranche_oldest_doubt_age_seconds',
    'Age of the oldest open doubt; 0 if none is open',
    [],
  ),
});

/** Durations. */
const timeMeters = ({ gauge, histogram }: Kit) => ({
  cycle: histogram('tranche_cycle_seconds', 'A whole attempt, from its intent to its end', WAITS, ['result']),
  cyclePart: histogram('tranche_cycle_part_seconds', 'One part of an attempt', WAITS, ['part']),
  quoteAge: histogram(
    'tranche_quote_age_at_accept_seconds',
    'Age of a quote when its order was sent',
    WAITS,
    ['pair'],
  ),
  budgetWait: histogram('tranche_budget_wait_seconds', 'Wait for a rate limiter permit', WAITS, [
    'route',
    'priority',
  ]),
  budget: gauge('tranche_budget_utilisation_ratio', 'Used share of the rate limit in its newest window', [
    'route',
  ]),
});

/** State of the account and the market. */
const accountMeters = ({ counter, gauge }: Kit) => ({
  value: gauge('tranche_portfolio_value_usd', 'Value of the account at the reference prices of the desk', []),
  drift: gauge('tranche_portfolio_drift_ratio', 'Weight minus target weight', ['strategy', 'currency']),
  riskMode: gauge('tranche_risk_mode', '1 for the current risk mode of the pair', ['pair', 'mode']),

  referenceAge: gauge('tranche_reference_age_seconds', 'Age of the newest reference price', ['pair']),
  transactionsAge: gauge(
    'tranche_transactions_read_age_seconds',
    "Time since the account's transactions were last read",
    [],
  ),
  transactions: counter('tranche_transactions_total', 'Rows read from the account', []),
  extras: counter('tranche_extra_fields_total', "Unknown fields in the venue's responses", ['resource']),
});

/** The process and its journal. */
const processMeters = ({ counter, gauge, histogram }: Kit) => ({
  build: gauge('tranche_build_info', 'Always 1; the labels identify the build', ['version', 'mode', 'node']),
  started: gauge('tranche_start_time_seconds', 'Unix time of the process start', []),
  alerts: counter('tranche_alerts_total', 'Alerts raised', ['alert', 'severity']),
  deskState: gauge('tranche_desk_state', '1 for the current state of the desk, 0 for the others', ['state']),

  notifications: counter('tranche_notifications_total', 'Attempts to deliver a message, by result', [
    'channel',
    'result',
  ]),
  notificationsWaiting: gauge('tranche_notifications_waiting', 'Notices that wait for delivery', ['channel']),
  notificationsDropped: counter('tranche_notifications_dropped_total', 'Notices that were never delivered', [
    'channel',
  ]),
  channelFailing: gauge(
    'tranche_channel_failing_seconds',
    'Time since the first failure of a channel that has not delivered since; 0 when it delivers',
    ['channel'],
  ),

  journalCommit: histogram('tranche_journal_commit_seconds', 'Making records durable', COMMITS, []),
  journalRecords: counter('tranche_journal_records_total', 'Records written', ['kind']),
  journalHead: gauge('tranche_journal_head', 'Number of the newest record', []),

  loopLag: gauge('tranche_event_loop_lag_seconds', 'Delay of the event loop since the last scrape', [
    'quantile',
  ]),
  openDescriptors: gauge('tranche_open_descriptors', 'Open files and connections of the process', []),
  maxDescriptors: gauge('tranche_max_descriptors', 'Files and connections that the process may open', []),
  memory: gauge('tranche_resident_memory_bytes', 'Resident memory of the process', []),
  cpu: counter('tranche_cpu_seconds_total', 'Processor time used by the process', []),
});

function kitFor(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> => {
    const made = new Gauge({ name, help, labelNames, registers });
    // A gauge without labels starts at 0, which would be wrong for an unknown value, so it is removed until the value
    // is known.
    if (labelNames.length === 0) made.remove();
    return made;
  };
  const histogram = <Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[],
  ) => new Histogram({ name, help, buckets, labelNames, registers });

  return { counter, gauge, histogram };
}
