import type { RunResult, Scenario, Violation } from './scenario.ts';

/** A history that went wrong. */
export interface Failure {
  readonly seed: number;
  readonly violation: Violation;
}

/** What many histories came to. Plain data: it crosses processes. */
export interface Tally {
  runs: number;
  events: number;
  virtualMs: number;
  crashes: number;
  /** CPU time of the process that played them, milliseconds. */
  cpuMs: number;
  /** Most memory that one process took, bytes. */
  rssMax: number;
  readonly faults: Record<string, number>;
  readonly probes: Record<string, number>;
  /** The first of them; `failed` counts all. */
  readonly failures: Failure[];
  failed: number;
  /** Seeds that were played twice, and those of them that went another way. */
  twice: number;
  readonly astray: number[];
}

export const emptyTally = (): Tally => ({
  runs: 0,
  events: 0,
  virtualMs: 0,
  crashes: 0,
  cpuMs: 0,
  rssMax: 0,
  faults: {},
  probes: {},
  failures: [],
  failed: 0,
  twice: 0,
  astray: [],
});

const FAILURES_KEPT = 20;
/** Every so many seeds one is played a second time. */
const TWICE_EVERY = 100;

export interface Batch {
  readonly from: number;
  readonly count: number;
  /** Between two seeds of this batch: its neighbours take the others. */
  readonly step: number;
  /** Stops at the first history that goes wrong. */
  readonly isFirstEnough?: boolean | undefined;
  /** Stops after so much time, milliseconds. */
  readonly maxMs?: number | undefined;
}

/** Plays one seed after the other. */
export function play(scenario: Scenario, batch: Batch, told?: (tally: Tally) => void): Tally {
  const tally = emptyTally();
  const cpu = process.cpuUsage();
  const until = batch.maxMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + batch.maxMs;
  let toldAt = performance.now();
  for (let i = 0; i < batch.count && performance.now() < until; i++) {
    const seed = batch.from + i * batch.step;
    const result = scenario.run(seed);
    count(tally, result);
    if (i % TWICE_EVERY === 0) {
      tally.twice++;
      if (scenario.run(seed).traceHash !== result.traceHash) tally.astray.push(seed);
    }
    if (tally.failed > 0 && batch.isFirstEnough === true) break;
    if (told === undefined || performance.now() - toldAt < 5_000) continue;
    toldAt = performance.now();
    measure(tally, cpu);
    told(tally);
  }
  measure(tally, cpu);
  return tally;
}

function measure(tally: Tally, since: NodeJS.CpuUsage): void {
  const { user, system } = process.cpuUsage(since);
  tally.cpuMs = (user + system) / 1_000;
  tally.rssMax = Math.max(tally.rssMax, process.memoryUsage.rss());
}

function count(tally: Tally, { violations, probes, crashes, virtualMs, events, plan }: RunResult): void {
  tally.runs++;
  tally.events += events;
  tally.virtualMs += virtualMs;
  tally.crashes += crashes;
  for (const { at, kind } of plan.faults) {
    const name = `${at.slice(0, at.indexOf('@'))}:${kind}`;
    tally.faults[name] = (tally.faults[name] ?? 0) + 1;
  }
  for (const probe of probes) tally.probes[probe] = (tally.probes[probe] ?? 0) + 1;
  const [violation] = violations;
  if (violation === undefined) return;
  tally.failed++;
  if (tally.failures.length < FAILURES_KEPT) tally.failures.push({ seed: plan.seed, violation });
}

/** Adds `more` to `sum`. */
export function merge(sum: Tally, more: Tally): void {
  sum.runs += more.runs;
  sum.events += more.events;
  sum.virtualMs += more.virtualMs;
  sum.crashes += more.crashes;
  sum.cpuMs += more.cpuMs;
  sum.rssMax = Math.max(sum.rssMax, more.rssMax);
  sum.failed += more.failed;
  sum.twice += more.twice;
  sum.astray.push(...more.astray);
  sum.failures.push(...more.failures);
  for (const kind of ['faults', 'probes'] as const)
    for (const [name, count_] of Object.entries(more[kind]))
      sum[kind][name] = (sum[kind][name] ?? 0) + count_;
}
