import { DAY_MS, after } from '../../../core/time.ts';
import type { Instant } from '../../../core/time.ts';
import type { Desk } from '../../../engine/desk.ts';
import type { StrategyRun } from '../../../engine/state/engine-state.ts';
import type { StrategySource } from '../../../engine/state/strategy-source.ts';
import type { Config } from '../../config/config.ts';
import type { AlertHistory } from '../../daemon/open-alerts.ts';
import { notReady } from '../../daemon/readiness.ts';
import { openApprovals } from '../../desk-api/approvals-api.ts';
import { whatWaits } from '../../notify/what-waits.ts';

/** Returns whether a desk does more than trade: it publishes heads, sends heartbeats, or runs a twin. */
export const isWatchedOutside = ({ operate }: Config): boolean =>
  operate?.heads !== undefined || operate?.notify?.heartbeat !== undefined || operate?.twin !== undefined;

/**
 * Returns the time until which a desk has nothing to do, at most a day ahead. Returns `undefined` if it has something
 * to do or may have at any moment, because an order, a doubt, a debt, an alert or a request is open, or a strategy
 * waits for something other than a time.
 */
export function idleUntil(desk: Desk, alerts: Pick<AlertHistory, 'open'>): Instant | undefined {
  const { control, ports, state, strategies } = desk;
  const isBusy =
    control !== 'active' ||
    state.slices.size > 0 ||
    state.attempts.size > 0 ||
    [...(state.balances?.values() ?? [])].some((balance) => balance.lt(0)) ||
    [notReady(desk), whatWaits(desk), openApprovals(desk), alerts.open(desk)].some(
      ({ length }) => length > 0,
    );
  if (isBusy) return undefined;
  let idle = after(ports.clock.wall(), DAY_MS);
  for (const source of strategies.sources.values()) {
    const run = state.lives.get(source.id);
    if (run?.finished !== undefined) continue;
    const next = run === undefined ? undefined : nextTime(run, source);
    if (next === undefined) return undefined;
    if (next < idle) idle = next;
  }
  return idle;
}

/** Returns the earliest time that a strategy waits for, or `undefined` if it also waits for something else or needs bars or terms. */
function nextTime({ late, waits }: StrategyRun, { bound }: StrategySource): Instant | undefined {
  if (late.length > 0 || bound.bars.length > 0 || bound.needsTerms) return undefined;
  let next: Instant | undefined;
  for (const wait of waits) {
    if (wait.on !== 'at') return undefined;
    if (next === undefined || wait.at < next) next = wait.at;
  }
  return next;
}
