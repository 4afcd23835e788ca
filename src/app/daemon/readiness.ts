import { MINUTE_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import { blindness } from '../../engine/market/risk-context.ts';

/** Number of consecutive failures of a pair at which the desk is no longer ready. */
const FAILURES_MAX = 3;
/**
 * Shortest time for which a failure counts. After a rate-limit refusal, the desk waits up to a minute, however short
 * its retry waits are.
 */
const ASKED_WITHIN_MS = 2 * MINUTE_MS;

/** Returns why the desk cannot trade now, in words; empty if it can. */
export function notReady(desk: Desk): readonly string[] {
  if (desk.isStopping) return ['stopping'];
  if (desk.control === 'halted' || desk.control === 'paused') return [`${desk.control}: ${desk.controlWhy}`];
  const stale = blindness(desk);
  const now = desk.ports.clock.monotonic();
  // A slice that still wants to trade the pair has retried by then. Without a retry, for example because the strategy
  // has finished, the pair's state is unknown.
  const isRecent = (last: Monotonic): boolean =>
    now - last <= Math.max(4 * desk.policy.retry.capMs, ASKED_WITHIN_MS);
  const failing = new Map<string, number>();
  // A slice that waits for a reference price has requested no quote itself; the probe quotes for that price count instead.
  for (const [pair, { count, last }] of [...desk.references.failures, ...desk.failures])
    if (count >= FAILURES_MAX && isRecent(last)) failing.set(pair, count);
  const outage = desk.venueHealth.unreachable;
  return [
    ...(outage === undefined
      ? []
      : [`the venue has not responded for ${Math.round((now - outage.since) / 1000)} s: ${outage.detail}`]),
    ...(stale === undefined
      ? []
      : [`the account was last read ${stale.value} ago; the limit is ${stale.limit}`]),
    ...[...failing].map(([pair, count]) => `the venue is not quoting ${pair}: ${count} failures in a row`),
  ];
}
