import { approvalCounts } from '../desk-api/approvals-api.ts';
import { add, approximate, NO_MONEY, quantity, ratio } from '../../core/money.ts';
import { drifts, value } from '../../core/risk/portfolio.ts';
import type { Reason } from '../../core/reasons.ts';
import type { RecordBody, StoredRecord, WakeRecord } from '../../core/record.ts';
import { isoOf } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../../engine/desk.ts';
import type { Observer } from '../../engine/observer.ts';
import type { StrategySource } from '../../engine/state/strategy-source.ts';
import type { Metrics } from '../../operate/metrics.ts';
import type { ParentProgress } from '../../strategy/kernel.ts';
import type { AlertHistory } from '../daemon/open-alerts.ts';
import type { Progress } from './progress.ts';
import type { Summary } from './summary.ts';

interface Watchers {
  readonly metrics: Metrics;
  readonly progress: Progress;
  readonly summary: Summary;
  readonly alerts: AlertHistory;
  /** Returns what a parent has traded, from the record of its last step. */
  readonly progressOf: (wake: WakeRecord) => ParentProgress | undefined;
  readonly warn: Observer['warn'];
  readonly alert: Observer['alert'];
  readonly onRecord: (stored: StoredRecord) => void;
}

interface KeptWatch {
  readonly metrics: ReturnType<Metrics['saved']>;
  readonly summary: ReturnType<Summary['saved']>;
  readonly alerts: ReturnType<AlertHistory['saved']>;
}

/** Returns one observer that passes engine events to all listeners. */
export const observe = ({
  metrics,
  progress,
  summary,
  alerts,
  progressOf,
  warn,
  alert,
  onRecord,
}: Watchers): Observer => ({
  ...metrics,
  warn,
  alert,
  record(stored) {
    metrics.record(stored);
    const short = shortEnd(stored.body, progressOf);
    if (short !== undefined) alert('parent_short', short);
    summary.take(stored);
    alerts.take(stored);
    progress.record(stored);
    onRecord(stored);
  },
  replay(stored) {
    metrics.replay(stored);
    summary.replay(stored);
    alerts.take(stored);
  },
  kept: {
    save: () =>
      ({ metrics: metrics.saved(), summary: summary.saved(), alerts: alerts.saved() }) satisfies KeptWatch,
    restore(saved) {
      const kept = saved as KeptWatch; // oxlint-disable-line typescript/no-unsafe-type-assertion -- `save` made it
      metrics.restore(kept.metrics);
      summary.restore(kept.summary);
      alerts.restore(kept.alerts);
    },
  },
});

/** Returns what a parent left untraded, if the record ends it short of its total; otherwise `undefined`. */
export function shortEnd(
  body: RecordBody,
  progressOf: Watchers['progressOf'],
): { readonly strategy: string; readonly reason: Reason; readonly left: string } | undefined {
  if (body.kind !== 'wake') return undefined;
  const { strategy, finished, reason, note } = body;
  if (finished === undefined) {
    // When an occurrence of a recurring strategy ends, the state is already that of the next occurrence. Only the note has the figures.
    const left =
      reason === 'window_over'
        ? /(?:^|; )(?<left>[^;]+) not traded$/u.exec(note ?? '')?.groups?.['left']
        : undefined;
    return left === undefined ? undefined : { strategy, reason: 'window_over', left };
  }
  const progress = progressOf(body);
  if (progress === undefined || !quantity(progress.left).gt(0)) return undefined;
  const { left, total, currency } = progress;
  return { strategy, reason: finished, left: `${left} of ${total} ${currency}` };
}

/** Converts a record to an event of the JSON output. */
export const eventOf = ({ seq, at, body }: StoredRecord): object => ({
  event: body.kind,
  seq,
  at: isoOf(at),
  ...body,
});

/** Updates the polled gauges. Their floating-point figures are never converted back to money. */
export function showDesk(
  desk: Desk,
  metrics: Pick<Metrics, 'approvals' | 'budget' | 'portfolioValue' | 'portfolioDrift' | 'forgetDrifts'>,
): void {
  for (const route of ['quote', 'order', 'transactions', 'all'] as const) {
    metrics.budget(route, desk.rateLimiter.utilisation(route));
  }
  metrics.approvals(approvalCounts(desk));
  metrics.forgetDrifts();
  const { balances } = desk.state;
  if (balances === undefined) return;
  let total: typeof NO_MONEY | undefined = NO_MONEY;
  for (const [currency, amount] of balances) {
    const worth = desk.rates.convert(currency, amount, 'usd');
    total = worth === undefined || total === undefined ? undefined : add(total, worth);
  }
  metrics.portfolioValue(total === undefined ? undefined : approximate(total));
  for (const { strategy, waits } of desk.state.lives.values()) {
    if (!desk.strategies.sources.has(strategy)) continue;
    // The first band is the strategy's own. A strategy that limits block has a second one, because it also waits for
    // its weights to move.
    for (const wait of waits.filter((one) => one.on === 'drift').slice(0, 1)) {
      const targets = new Map(
        Object.entries(wait.targets).map(([currency, weight]) => [currency, ratio(weight)]),
      );
      const valued = value(
        targets,
        wait.cash,
        balances,
        (currency) => desk.references.get(currency + wait.cash)?.mid,
      );
      if (valued === undefined) continue;
      for (const [currency, drift] of drifts(valued.weights, targets, 'absolute')) {
        metrics.portfolioDrift(strategy, currency, approximate(drift));
      }
    }
  }
}

/** Returns the number of slices of each strategy, if it is known in advance. */
export const slotCounts = (desk: Desk): ReadonlyMap<string, number> =>
  new Map([...desk.strategies.sources.values()].map((source) => [source.id, slotCount(desk, source)]));

/** Cached slot counts of lives that have started. Computing the slots of every strategy at each poll would delay orders. */
const counted = new WeakMap<StrategySource, { readonly begunAt: Instant; readonly count: number }>();

function slotCount(desk: Desk, source: StrategySource): number {
  const begunAt = desk.state.lives.get(source.id)?.begunAt;
  if (begunAt === undefined) return source.bound.slots(desk.ports.clock.wall(), undefined).length;
  const known = counted.get(source);
  if (known?.begunAt === begunAt) return known.count;
  const count = source.bound.slots(begunAt, undefined).length;
  counted.set(source, { begunAt, count });
  return count;
}
