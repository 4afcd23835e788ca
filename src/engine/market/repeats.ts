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
  const minute = after(at, -MINUTE_MS);
  const unwritten = unwrittenOrders(desk, { at, minute });
  const identical = after(at, -Math.min(duplicateMs, MINUTE_MS));
  return {
    isReused: clientId !== undefined && (filledIds.has(clientId) || closedIds.has(clientId)),
    duplicate: duplicateOf(desk, trial, { unwritten, from: identical }),
    inMinute: minuteExecutionsMax === undefined ? 0 : othersOfPair(desk, trial, { unwritten, from: minute }),
    ofParent: othersOfParent(desk, slice.intent, known?.slices),
    planned,
    gapUntil: known?.slices.lastGap(slice.intent.slice),
  };
}

function unwrittenOrders(
  { leaving, state }: RepeatsSource,
  { at, minute }: { readonly at: Instant; readonly minute: Instant },
): readonly LeftOrder[] {
  if (leaving.size === 0) return NO_ORDERS;
  return [...leaving.values()]
    .filter((intent) => !state.totals.orders.hasLeft(intent.client_order_id, minute))
    .map((intent) => leftOrder(intent, at));
}

const NO_ORDERS: readonly LeftOrder[] = [];

interface Compared {
  readonly unwritten: readonly LeftOrder[];
  /** Orders that were sent at this time or earlier do not count. */
  readonly from: Instant;
}

/** Client id of the first identical order of another parent. */
function duplicateOf(
  { state }: RepeatsSource,
  { slice, size }: RepeatTrial,
  { unwritten, from }: Compared,
): string | undefined {
  const { orders } = state.totals;
  if (unwritten.length === 0 && !orders.hasAny(from)) return undefined;
  const { pair, parent, side } = slice.intent;
  const figure = size.by === 'quantity' ? size.quantity : size.amount;
  const own = { pair, side, size: `${figure.toFixed()} ${size.by}` };
  const isDuplicate = (order: LeftOrder): boolean =>
    order.at > from &&
    order.parent !== parent &&
    order.pair === pair &&
    order.side === side &&
    order.size === own.size;
  return (orders.alike(own).find(isDuplicate) ?? unwritten.find(isDuplicate))?.clientId;
}

/** Other slices of the pair with an order. */
function othersOfPair(
  { state }: RepeatsSource,
  { slice }: RepeatTrial,
  { unwritten, from }: Compared,
): number {
  const { orders } = state.totals;
  const { intent } = slice;
  const written = orders.slicesSince(intent.pair, from) - (orders.hasSlice(intent, from) ? 1 : 0);
  if (unwritten.length === 0) return written;
  const others = unwritten.filter(
    (order) =>
      order.pair === intent.pair &&
      !(order.parent === intent.parent && order.slice === intent.slice) &&
      !orders.hasSlice(order, from),
  );
  return written + new Set(others.map((order) => sliceKey(order.parent, order.slice))).size;
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
