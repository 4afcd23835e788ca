import type { Repeats } from '../../core/risk/limits.ts';
import { after, MINUTE_MS } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Size } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';
import { sliceKey } from '../state/engine-state.ts';
import type { OpenSlice } from '../state/engine-state.ts';
import { ParentSlices } from '../state/parent-slices.ts';
import { leftOrder } from '../state/recent-orders.ts';
import type { LeftOrder } from '../state/recent-orders.ts';
import type { ParentTotals } from '../state/totals.ts';

/** The parts of a desk that this file uses. */
export type RepeatsSource = Pick<Desk, 'leaving' | 'policy' | 'state'>;

/** The fields of an attempt that are compared with orders that were sent. */
export interface RepeatTrial {
  readonly slice: Pick<OpenSlice, 'intent'>;
  readonly size: Size;
  /** The attempt, once it has an id. */
  readonly clientId?: string | undefined;
}

interface Moment {
  readonly at: Instant;
  readonly known: ParentTotals | undefined;
  /** Slices that the parent plans. */
  readonly planned: number | undefined;
}

/** Earlier orders that resemble this attempt, including those whose record is not written yet. */
export function repeatsOf(desk: RepeatsSource, trial: RepeatTrial, { at, known, planned }: Moment): Repeats {
  const { slice, clientId } = trial;
  const { filledIds, closedIds } = desk.state;
  const { duplicateMs = 0, minuteExecutionsMax } = desk.policy.limits;
  const recent = ordersSince(desk, after(at, -MINUTE_MS), at);
  const identical = after(at, -Math.min(duplicateMs, MINUTE_MS));
  return {
    isReused: clientId !== undefined && (filledIds.has(clientId) || closedIds.has(clientId)),
    duplicate: duplicateOf(recent, trial, identical),
    inMinute: minuteExecutionsMax === undefined ? 0 : othersOfPair(recent, slice.intent),
    ofParent: othersOfParent(desk, slice.intent, known?.slices),
    planned,
    gapUntil: known?.slices.lastGap(slice.intent.slice),
  };
}

/** Orders that were sent after `from`, and those that are leaving now. */
function ordersSince({ leaving, state }: RepeatsSource, from: Instant, at: Instant): readonly LeftOrder[] {
  const written = state.totals.orders.since(from);
  if (leaving.size === 0) return written;
  const ids = new Set(written.map(({ clientId }) => clientId));
  const unwritten = [...leaving.values()].filter((intent) => !ids.has(intent.client_order_id));
  return [...written, ...unwritten.map((intent) => leftOrder(intent, at))];
}

/** Client id of the first identical order of another parent that was sent after `from`. */
function duplicateOf(
  recent: readonly LeftOrder[],
  { slice, size }: RepeatTrial,
  from: Instant,
): string | undefined {
  if (recent.length === 0) return undefined;
  const { pair, parent, side } = slice.intent;
  const figure = size.by === 'quantity' ? size.quantity : size.amount;
  const own = `${figure.toFixed()} ${size.by}`;
  return recent.find(
    (order) =>
      order.at > from &&
      order.parent !== parent &&
      order.pair === pair &&
      order.side === side &&
      order.size === own,
  )?.clientId;
}

/** Other slices of the pair with an order. */
function othersOfPair(recent: readonly LeftOrder[], { pair, parent, slice }: OpenSlice['intent']): number {
  const keys = recent
    .filter((order) => order.pair === pair)
    .map((order) => sliceKey(order.parent, order.slice));
  return new Set(keys).difference(new Set([sliceKey(parent, slice)])).size;
}

/** Other slices of the parent with an order. */
function othersOfParent(
  { leaving }: RepeatsSource,
  { parent, slice }: Pick<RepeatTrial['slice']['intent'], 'parent' | 'slice'>,
  known: ParentTotals['slices'] = NO_SLICES,
): number {
  const executed = known.executed - (known.hasExecuted(slice) ? 1 : 0);
  if (leaving.size === 0) return executed;
  const unwritten = new Set<number>();
  for (const order of leaving.values())
    if (order.parent === parent && order.slice !== slice && !known.hasExecuted(order.slice))
      unwritten.add(order.slice);
  return executed + unwritten.size;
}

const NO_SLICES: ParentTotals['slices'] = new ParentSlices();
