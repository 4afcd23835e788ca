import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { Registry } from 'prom-client';
import type { Histogram } from 'prom-client';
import { alerts } from '../core/alerts.ts';
import type { Alert } from '../core/alerts.ts';
import type { ControlRecord, StoredRecord } from '../core/record.ts';
import { SECOND_MS } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Observer } from '../engine/observer.ts';
import { descriptorReader } from './descriptors.ts';
import { boundedLabels, countRecord } from './count.ts';
import type { Labels } from './count.ts';
import { OpenAttempts } from './doubt-metrics.ts';
import type { OpenAttempt } from './doubt-metrics.ts';
import { createMeters } from './meters.ts';
import type { ChannelFigures } from './notify/notifier.ts';
import type { Meters } from './meters.ts';

export interface MetricsOptions {
  readonly version: string;
  /** `paper`, `dry_run` or `live`. */
  readonly mode: string;
  /** Name of the desk; a label of every series. */
  readonly desk: string;
  /** Wall time, for ages and the start time. */
  readonly now: () => Instant;
}

/**
 * The metrics that the daemon exposes to Prometheus. It observes the engine: `record` counts from durable records, and
 * the other methods receive facts that no record contains. Durations are passed as milliseconds and exposed as seconds.
 * No method throws on unexpected values, because a metric must never stop a trade.
 */
export interface Metrics extends Omit<Observer, 'warn' | 'alert' | 'kept'> {
  /** The state of `replay` for a snapshot, and its restoration. */
  saved(): SavedMetrics;
  restore(saved: SavedMetrics): void;
  /** Applies a record of an earlier process: only to state such as open doubts, not to counts. */
  replay(stored: StoredRecord): void;
  /** An alert was raised. */
  alerted(alert: Alert): void;
  /** `used` is the used part of the limit of `route` in its window, 0 to 1. */
  budget(route: string, used: number): void;
  /** In USD; `undefined` if currently unknown, so that no outdated figure is shown. */
  portfolioValue(usd: number | undefined): void;
  /** Weight minus target weight. */
  portfolioDrift(strategy: string, currency: string, drift: number): void;
  /** Number of requests that wait for people, by kind; only kinds with at least one such request. */
  approvals(open: ReadonlyMap<string, number>): void;
  /** Removes the drifts; after this call, all current ones are reported again. */
  forgetDrifts(): void;
  /** A response of the venue contained `count` unknown fields. */
  extraFields(resource: string, count: number): void;
  /** State of the notification channels. */
  channels(figures: readonly ChannelFigures[]): void;
  /** Calls `look` before every scrape, to update gauges that are read on demand. */
  onScrape(look: () => void): void;
  /** The exposition, in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
  /** Stops watching the event loop. */
  close(): void;
}

/** Figures of earlier processes. */
export interface SavedMetrics {
  readonly head: number;
  readonly state: ControlRecord['state'];
  readonly accountReadAt: Instant | undefined;
  readonly open: ReadonlyMap<string, OpenAttempt>;
}

const DESK_STATES = [
  'active',
  'paused',
  'reducing',
  'halted',
] as const satisfies readonly ControlRecord['state'][];
const RISK_MODES = ['Enabled', 'Long-Only', 'Short-Only', 'Reduce-Only', 'unknown'] as const;
const QUANTILES = [0.5, 0.9, 0.99, 1] as const;
/** Interval of the event loop measurement. It is part of every measured delay, and subtracted from it. */
const LAG_RESOLUTION_MS = 10;

export function createMetrics({ version, mode, desk, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ desk });
  const meters = createMeters(registry);
  const labels = boundedLabels();
  const attempts = new OpenAttempts();
  const references = new Map<string, Instant>();
  const looks: (() => void)[] = [];
  let accountReadAt: Instant | undefined;
  let head = 0;
  let state: ControlRecord['state'] = 'active';
  const age = (since: Instant): number => Math.max(0, now() - since) / SECOND_MS;
  const showProcess = watchProcess(meters);

  meters.build.set({ version, mode, node: process.version }, 1);
  meters.started.set(now() / SECOND_MS);
  // Starts at 0, because Prometheus does not count the first appearance of a series as an increase.
  for (const [alert, { severity }] of Object.entries(alerts)) meters.alerts.inc({ alert, severity }, 0);
  showDeskState(meters, 'active');

  function take(stored: StoredRecord): OpenAttempt | undefined {
    const { body, seq } = stored;
    head = seq;
    meters.journalHead.set(head);
    if (body.kind === 'control' && body.parent === undefined && body.pair === undefined) {
      ({ state } = body);
      showDeskState(meters, state);
    }
    if (body.kind === 'balances') accountReadAt = body.read_at;
    return attempts.take(stored);
  }

  function showAges(): void {
    const { count, oldest } = attempts.doubts();
    meters.doubts.set(count);
    meters.oldestDoubt.set(oldest === undefined ? 0 : age(oldest));
    for (const [pair, at] of references) meters.referenceAge.set({ pair }, age(at));
    if (accountReadAt !== undefined) meters.transactionsAge.set(age(accountReadAt));
  }

  return {
    ...direct(meters, labels),
    record: (stored) => {
      countRecord(meters, labels, stored, take(stored));
    },
    replay: (stored) => {
      take(stored);
    },
    saved: () => ({ head, state, accountReadAt, open: attempts.saved() }),
    restore: (saved) => {
      ({ head, state, accountReadAt } = saved);
      attempts.restore(saved.open);
      meters.journalHead.set(head);
      showDeskState(meters, state);
    },
    reference: ({ pair, at }) => {
      references.set(labels.pair(pair), at);
    },
    accountRead: (rows) => {
      accountReadAt = now();
      meters.transactions.inc(rows);
    },
    channels: (all) => {
      showChannels(meters, all, now());
    },
    onScrape: (look) => {
      looks.push(look);
    },
    async text() {
      for (const look of looks) look();
      showAges();
      showProcess.now();
      return await registry.metrics();
    },
    contentType: registry.contentType,
    close: showProcess.close,
  };
}

function showChannels(meters: Meters, all: readonly ChannelFigures[], now: Instant): void {
  meters.notifications.reset();
  meters.notificationsDropped.reset();
  for (const { channel, waiting, delivered, failed, dropped, failingSince } of all) {
    meters.notifications.inc({ channel, result: 'delivered' }, delivered);
    meters.notifications.inc({ channel, result: 'failed' }, failed);
    meters.notificationsDropped.inc({ channel }, dropped);
    meters.notificationsWaiting.set({ channel }, waiting);
    const failingMs = failingSince === undefined ? 0 : Math.max(0, now - failingSince);
    meters.channelFailing.set({ channel }, failingMs / SECOND_MS);
  }
}

type Direct =
  | 'quoted' | 'ordered' | 'retried' | 'paced' | 'committed' | 'budget' | 'portfolioValue' | 'portfolioDrift' | 'forgetDrifts' | 'approvals'
  | 'riskMode' | 'extraFields' | 'alerted' | 'footprint'; // prettier-ignore

/** The methods that only pass their values on. */
function direct(meters: Meters, labels: Labels): Pick<Metrics, Direct> {
  return {
    quoted: (pair, result, ms) => {
      meters.quotes.inc({ pair: labels.pair(pair), result });
      observe(meters.cyclePart, { part: 'quote' }, ms);
    },
    ordered: (_pair, result, ms, quoteAgeMs) => {
      observe(meters.cyclePart, { part: 'decide' }, quoteAgeMs);
      if (result !== 'not_sent') observe(meters.cyclePart, { part: 'order' }, ms);
    },
    retried: (reason) => {
      meters.retries.inc({ reason });
    },
    paced: (route, priority, waitedMs) => {
      observe(meters.budgetWait, { route, priority }, waitedMs);
    },
    committed: (ms) => {
      observe(meters.journalCommit, {}, ms);
    },
    alerted: (alert) => {
      meters.alerts.inc({ alert, severity: alerts[alert].severity });
    },
    budget: (route, used) => {
      meters.budget.set({ route: labels.route(route) }, used);
    },
    portfolioValue: (usd) => {
      if (usd === undefined) meters.value.remove();
      else meters.value.set(usd);
    },
    portfolioDrift: (strategy, currency, drift) => {
      meters.drift.set({ strategy: labels.strategy(strategy), currency: labels.currency(currency) }, drift);
    },
    approvals(open) {
      meters.approvals.reset();
      for (const [kind, count] of open) meters.approvals.set({ kind }, count);
    },
    forgetDrifts: () => {
      meters.drift.reset();
    },
    riskMode: (pair, current) => {
      for (const mode of RISK_MODES) {
        meters.riskMode.set({ pair: labels.pair(pair), mode }, mode === (current ?? 'unknown') ? 1 : 0);
      }
    },
    footprint: (named, { quotesPerFill, hitRatio, slowdown }) => {
      const pair = labels.pair(named);
      meters.quotesPerFill.set({ pair }, quotesPerFill);
      if (hitRatio !== undefined) meters.hitRatio.set({ pair }, hitRatio);
      meters.quoteSlowdown.set({ pair }, slowdown);
    },
    extraFields: (resource, count) => {
      if (count > 0) meters.extras.inc({ resource: labels.route(resource) }, count);
    },
  };
}

/** Omits an invalid measurement: prom-client throws on NaN, and a metric must never end a cycle. */
function observe<Label extends string>(
  into: Histogram<Label>,
  labels: Partial<Record<Label, string>>,
  ms: number,
): void {
  if (Number.isFinite(ms)) into.observe(labels, Math.max(0, ms) / SECOND_MS);
}

function showDeskState(meters: Meters, current: ControlRecord['state']): void {
  for (const state of DESK_STATES) meters.deskState.set({ state }, state === current ? 1 : 0);
}

/** Event loop, memory and processor time, read at each scrape. */
function watchProcess(meters: Meters): { now: () => void; close: () => void } {
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  const readDescriptors = descriptorReader();
  let cpuSeconds = 0;

  return {
    now() {
      for (const quantile of QUANTILES) {
        const ms = lag.count === 0 ? 0 : lag.percentile(quantile * 100) / 1e6 - LAG_RESOLUTION_MS;
        meters.loopLag.set({ quantile: String(quantile) }, Math.max(0, ms) / SECOND_MS);
      }
      lag.reset();
      const files = readDescriptors();
      if (files !== undefined) {
        meters.openDescriptors.set(files.open);
        meters.maxDescriptors.set(files.max);
      }
      meters.memory.set(process.memoryUsage.rss());
      const { user, system } = process.cpuUsage();
      meters.cpu.inc((user + system) / 1e6 - cpuSeconds);
      cpuSeconds = (user + system) / 1e6;
    },
    close() {
      lag.disable();
    },
  };
}
