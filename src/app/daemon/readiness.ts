import { MINUTE_MS } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import { blindness } from '../../engine/market/risk-context.ts';

/** Failures in a row of a pair from which on the daemon does not count as ready. */
const FAILURES_MAX = 3;
/** However short its waits are set: after a refusal for its rate the desk waits up to a minute. */
const ASKED_WITHIN_MS = 2 * MINUTE_MS;

/** Why the desk cannot trade now, in words; empty when it can. */
export function notReady(desk: Desk): readonly string[] {
  if (desk.isStopping) return ['stopping'];
  if (desk.control === 'halted' || desk.control === 'paused') return [`${desk.control}: ${desk.controlWhy}`];
  const stale = blindness(desk);
  const now = desk.ports.clock.monotonic();
  // A slice that still wants to trade a pair has retried by then. Of one that nobody asks for, as its strategy is over, nothing is
  // known.
  const isRecent = (last: Monotonic): boolean =>
    now - last <= Math.max(4 * desk.policy.retry.capMs, ASKED_WITHIN_MS);
  const failing = new Map<string, number>();
  // A slice that waits for a price has not asked yet: small quotes are asked for it.
  for (const [pair, { count, last }] of [...desk.references.failures, ...desk.failures])
    if (count >= FAILURES_MAX && isRecent(last)) failing.set(pair, count);
  const outage = desk.venueHealth.unreachable;
  return [
    ...(outage === undefined
      ? []
      : [`the venue does not answer, for ${Math.round((now - outage.since) / 1000)} s: ${outage.detail}`]),
    ...(stale === undefined
      ? []
      : [`the account was last read ${stale.value} ago, of at most ${stale.limit}`]),
    ...[...failing].map(([pair, count]) => `venue is not quoting ${pair}: ${count} failures in a row`),
  ];
}
