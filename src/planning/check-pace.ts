import { instant, isoOf, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { openSlices } from './plan.ts';
import type { Check, PlanFacts, PlannedSlice, PlannedStrategy } from './plan.ts';

/** Compares the numbers of quotes and orders that are due simultaneously with the numbers that may be sent. */

/** The venue allows no more orders per second for one account. */
const ORDERS_MAX = 60;
/** Share of the longest wait that a plan may use; the rest is for repeated quote requests. */
const WAIT_SHARE = 0.8;

type Pace = Pick<PlanFacts['pacing'], 'quotesPerSecond' | 'ordersPerSecond' | 'guardMs'>;

/** Largest number of `times` in any second, with the first of them. `times` is sorted. */
function peakOf(times: readonly number[]): { readonly count: number; readonly at: number } | undefined {
  let from = 0;
  let best: { readonly count: number; readonly at: number } | undefined;
  for (const [i, at] of times.entries()) {
    while ((times[from] ?? at) <= at - SECOND_MS) from++;
    const count = i - from + 1;
    if (best === undefined || count > best.count) best = { count, at: times[from] ?? at };
  }
  return best;
}

/**
 * How long each slice waits for its order, in ms, if each slice needs one quote and one order and all are served one
 * after the other within the per-second limits.
 */
function waitsOf(
  times: readonly number[],
  { quotesPerSecond, ordersPerSecond, guardMs }: Pace,
): readonly number[] {
  const windowMs = SECOND_MS + guardMs;
  const quotes: number[] = [];
  const orders: number[] = [];
  return times.map((at, i) => {
    const quoted = Math.max(at, (quotes[i - quotesPerSecond] ?? Number.NEGATIVE_INFINITY) + windowMs);
    quotes.push(quoted);
    const ordered = Math.max(quoted, (orders[i - ordersPerSecond] ?? Number.NEGATIVE_INFINITY) + windowMs);
    orders.push(ordered);
    return ordered - at;
  });
}

export function checkPace(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  const slices = openSlices(strategies);
  const times = slices.map(({ at }) => at as number);
  const peak = peakOf(times);
  if (peak === undefined) return [];
  const { pacing } = facts;
  const allowed = `${pacing.quotesPerSecond} quotes and ${pacing.ordersPerSecond} orders are allowed in a second`;
  const when = `${peak.count} ${peak.count === 1 ? 'slice is' : 'slices are'} due in one second at the peak (${isoOf(instant(Math.floor(peak.at)))})`;
  const waits = waitsOf(times, pacing);
  const longest = waits.reduce((a, b) => Math.max(a, b), 0);
  const late = slices.filter((slice, i) => slice.at + (waits[i] ?? 0) >= slice.until).length;
  const mostMs = WAIT_SHARE * pacing.waitMaxMs;
  if (longest > mostMs || late > 0) {
    const why =
      longest > mostMs
        ? `the last would wait ${seconds(longest)} for its order; the desk pauses after a wait of ${seconds(pacing.waitMaxMs)}, and a plan may use 80 % of it`
        : `${late} of them would wait past their own deadline`;
    return [
      {
        check: 'pace',
        verdict: 'refused',
        says: `${when}; ${allowed}: ${why}`,
        fix: fixOf(slices, waits, pacing),
      },
    ];
  }
  const says = `${when}; ${allowed}`;
  return [
    longest < 1
      ? { check: 'pace', verdict: 'ok', says }
      : { check: 'pace', verdict: 'note', says: `${says}: the longest wait is ${seconds(longest)}` },
  ];
}

/** Slices of one pair whose orders fall within one minute. One slice more than the controls allow halts the desk. */
export function checkMinutes(strategies: readonly PlannedStrategy[], facts: PlanFacts): readonly Check[] {
  const slices = openSlices(strategies);
  const waits = waitsOf(
    slices.map(({ at }) => at),
    facts.pacing,
  );
  const most = facts.limits.minuteExecutionsMax;
  const ordered = slices.map((slice, i) => ({ pair: slice.pair, at: slice.at + (waits[i] ?? 0) }));
  const found: Check[] = [];
  for (const [pair, of] of Map.groupBy(ordered, (one) => one.pair)) {
    const times = of.map(({ at }) => at).toSorted((a, b) => a - b);
    const first = times.find((at, i) => (times[i + most] ?? Number.POSITIVE_INFINITY) - at < MINUTE_MS);
    if (first === undefined) continue;
    const count = times.filter((at) => at >= first && at < first + MINUTE_MS).length;
    found.push({
      check: 'limits',
      verdict: 'refused',
      says: `${count} slices of ${pair} have their order in the minute from ${isoOf(instant(Math.floor(first)))}, more than controls.max_executions_per_minute of ${most}: the desk would halt`,
      fix: `leave at least ${Math.ceil(MINUTE_MS / most / SECOND_MS)} s between two slices of ${pair}`,
    });
  }
  return found;
}

/** The run of slices that delay one another around the slice that waits longest. */
function crowdOf(slices: readonly PlannedSlice[], waits: readonly number[]): readonly PlannedSlice[] {
  const worst = waits.reduce((best, wait, i) => (wait > (waits[best] ?? 0) ? i : best), 0);
  let [from, to] = [worst, worst];
  while (from > 0 && (waits[from] ?? 0) > 0) from--;
  // Slices of the same second that did not wait used the permits.
  while (from > 0 && (slices[from - 1]?.at ?? 0) > (slices[from]?.at ?? 0) - SECOND_MS) from--;
  while (to + 1 < slices.length && (waits[to + 1] ?? 0) > 0) to++;
  return slices.slice(from, to + 1);
}

/** The necessary distance between these slices, and the settings that would help instead. */
function fixOf(
  slices: readonly PlannedSlice[],
  waits: readonly number[],
  pacing: PlanFacts['pacing'],
): string {
  const crowd = crowdOf(slices, waits);
  const from = crowd[0]?.at ?? 0;
  const isGood = (spreadMs: number, pace: Pace): boolean => {
    // A slice that starts later also has a later deadline.
    const spread = crowd.map((slice, i) => {
      const at = Math.max(slice.at, from + (i * spreadMs) / crowd.length);
      return { at, until: slice.until + at - slice.at };
    });
    const found = waitsOf(
      spread.map(({ at }) => at),
      pace,
    );
    return spread.every(({ at, until }, i) => {
      const wait = found[i] ?? 0;
      return wait <= WAIT_SHARE * pacing.waitMaxMs && at + wait < until;
    });
  };
  const fixes: string[] = [];
  const spread = smallest(1, DAY_SECONDS, (s) => isGood(s * SECOND_MS, pacing));
  if (spread !== undefined) {
    const strategies = new Set(crowd.map(({ strategy }) => strategy)).size;
    const who =
      strategies === 1
        ? `its ${crowd.length} slices`
        : `these ${crowd.length} slices of ${strategies} strategies`;
    fixes.push(`spread ${who} over at least ${spread} s, using their start times${jitterFor(crowd, pacing)}`);
  }
  const orders = smallest(pacing.ordersPerSecond + 1, ORDERS_MAX, (n) =>
    isGood(0, { ...pacing, ordersPerSecond: n }),
  );
  if (orders !== undefined) fixes.push(`set pacing.orders_per_second: ${orders}`);
  return fixes.length === 0 ? 'trade less often: the slices do not fit into a day' : fixes.join(', or ');
}
const DAY_SECONDS = 86_400;

/**
 * Random times are spread less evenly than planned start times, so the jitter must cover as much time as the slices
 * need without any wait.
 */
function jitterFor(crowd: readonly PlannedSlice[], { quotesPerSecond, ordersPerSecond }: Pace): string {
  const neededMs = (crowd.length / Math.min(quotesPerSecond, ordersPerSecond)) * SECOND_MS;
  const gapMs = Math.min(...crowd.map(({ at, until }) => until - at));
  const pct = Math.ceil((100 * neededMs) / gapMs);
  return pct > JITTER_MAX ? '' : ` or with jitter: { time_pct: ${pct} } and another seed in each`;
}
const JITTER_MAX = 95;

/**
 * The smallest whole number from `low` to `high` for which `is` returns true. `is` must then be true for all larger
 * ones.
 */
function smallest(low: number, high: number, is: (n: number) => boolean): number | undefined {
  if (low > high || !is(high)) return undefined;
  let [no, yes] = [low - 1, high];
  while (yes - no > 1) {
    const between = Math.floor((no + yes) / 2);
    if (is(between)) yes = between;
    else no = between;
  }
  return yes;
}

const seconds = (ms: number): string => `${Number((ms / SECOND_MS).toFixed(1))} s`;
