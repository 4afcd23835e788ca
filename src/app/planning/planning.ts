import type { Instrument, Precisions } from '../../core/instrument.ts';
import { money, price, quantity } from '../../core/money.ts';
import { after, instant, parseDuration, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { Side, Size } from '../../core/venue.ts';
import type { PlannedSlice, PlannedStrategy, PlannedTime } from '../../planning/plan.ts';
import type { BoundStrategy, CheckWorld, Slot } from '../../strategy/kernel.ts';
import { closureAt } from '../../strategy/calendar/calendar.ts';
import { countedScheduleFields, timesBetween } from '../../strategy/calendar/schedule.ts';
import type { CountedSchedule } from '../../strategy/calendar/schedule.ts';
import { zoneOf } from '../cli/local-time.ts';
import type { SnapshotRun } from '../strategies/journal-snapshot.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';

export interface Span {
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
}

export interface PlanWorld extends CheckWorld {
  /** Returns the state of a started strategy in the journal. */
  life?(strategy: string): SnapshotRun | undefined;
  /** Zone of strategies whose document names none. */
  readonly zone: string;
}

/** Fields of a strategy that a plan needs. */
export type PlannedSource = Pick<LoadedStrategy, 'id' | 'kind' | 'hash' | 'bound' | 'document'>;

/** Maximum number of times examined per calendar; a desk reads no more either. */
const TIMES_MAX = 20_000;

type Document = Readonly<Record<string, unknown>>;

/** Returns everything that a strategy plans within a period, as far as it is known in advance. */
export function planOf(
  { id, kind, hash, bound, document }: PlannedSource,
  span: Span,
  world: PlanWorld,
): PlannedStrategy {
  const own: Planned = { id, bound, document, span, world };
  const zone = zoneOf(document) ?? world.zone;
  const life = world.life?.(id);
  const [isSame, isOver] = [life?.hash === hash, life?.isFinished === true];
  if (isSame && isOver) return nothingOf(own, { kind, zone });
  const begunAt = isSame && life !== undefined ? life.begunAt : span.from;
  const [pair] = bound.pairs;
  const known = pair === undefined ? undefined : world.precisions(pair);
  const times = [...timesOf(own), ...looksOf(own, begunAt)];
  const slots = bound.slots(begunAt, known);
  const slices =
    slots.length > 0
      ? slicesOf(own, slots, { end: endOf(document, begunAt) })
      : times.flatMap((time) => occurrenceOf(own, time, known));
  const within = slices.filter(({ at }) => at >= span.from && at < span.until);
  const instrument = pair === undefined ? undefined : instrumentOf(pair, world);
  const ceiling = instrument && slots.length === 0 ? ceilingOf(own, instrument) : undefined;
  const forecast = slots.length > 0 ? bound.forecast(begunAt, known) : undefined;
  return {
    id,
    kind,
    zone,
    pairs: bound.pairs,
    notes: bound.notes,
    slices: within,
    times: within.length > 0 ? times.filter(({ closed }) => closed !== undefined) : times,
    isCut: times.length >= TIMES_MAX,
    ...(life === undefined || isOver ? {} : { standing: isSame ? 'running' : 'edited' }),
    passed: slices.filter(({ at }) => at < span.from).length,
    beyond: slices.filter(({ at }) => at >= span.until).length,
    ...(ceiling === undefined ? {} : { ceiling }),
    ...(forecast === undefined ? {} : { forecast }),
  };
}

/** Returns the plan of a finished strategy, which never runs again with the same document. */
const nothingOf = (
  { id, bound }: Planned,
  { kind, zone }: Pick<PlannedStrategy, 'kind' | 'zone'>,
): PlannedStrategy => ({
  id,
  kind,
  zone,
  pairs: bound.pairs,
  notes: [],
  slices: [],
  times: [],
  isCut: false,
  standing: 'finished',
  passed: 0,
  beyond: 0,
});

interface Planned {
  readonly id: string;
  readonly bound: BoundStrategy;
  readonly document: Document;
  readonly span: Span;
  readonly world: PlanWorld;
}

/** Returns the instrument of a pair, or `undefined` if its currencies or precisions are unknown. */
function instrumentOf(pair: string, world: PlanWorld): Instrument | undefined {
  const names = world.currencies(pair);
  if (names === undefined) return undefined;
  const { basePrecision, quotePrecision } = world.precisions(pair);
  return basePrecision === undefined || quotePrecision === undefined
    ? undefined
    : { pair, ...names, basePrecision, quotePrecision, minimum: world.minimum(pair) };
}

/** Returns the times of the document's schedule in the span, between the document's own start and end. */
function timesOf({ document, span }: Planned): readonly PlannedTime[] {
  const schedule = scheduleOf(document);
  if (schedule === undefined) return [];
  const start = timeIn(document, 'start_time');
  const end = timeIn(document, 'end_time');
  const from = instant(Math.max(span.from, start ?? span.from) - 1);
  const until = instant(Math.min(span.until, end ?? span.until));
  return timesBetween(schedule, { from, until, most: TIMES_MAX });
}

/** Returns the times in the period at which a life decides on sizes that are unknown in advance. */
const looksOf = ({ bound, span }: Planned, begunAt: Instant): readonly PlannedTime[] =>
  bound
    .looks(begunAt)
    .filter((at) => at >= span.from && at < span.until)
    .slice(0, TIMES_MAX)
    .map((at) => ({ at }));

function scheduleOf(document: Document): CountedSchedule | undefined {
  const parsed = countedScheduleFields.safeParse(document['schedule']);
  return parsed.success ? parsed.data : undefined;
}

/** Returns the slices of one time of a calendar; a closed time has none. */
function occurrenceOf(
  own: Planned,
  { at: due, closed }: PlannedTime,
  known: Precisions | undefined,
): readonly PlannedSlice[] {
  if (closed !== undefined) return [];
  const slots = own.bound.slotsAt(due, known);
  const window = own.document['window'];
  const lengthMs = typeof window === 'string' ? parseDuration(window) : DEFAULT_WINDOW_MS;
  const leg = Temporal.Instant.fromEpochMilliseconds(due).toString();
  return slicesOf(own, slots, { end: after(due, lengthMs), leg });
}
/** Default of `window` in the kind `recurring`. */
const DEFAULT_WINDOW_MS = 600_000;

function slicesOf(
  { id, document, bound, world }: Planned,
  slots: readonly Slot[],
  { end, leg }: { readonly end: Instant | undefined; readonly leg?: string },
): readonly PlannedSlice[] {
  const [pair = ''] = bound.pairs;
  const side = sideOf(document);
  const schedule = scheduleOf(document);
  const base = world.currencies(pair)?.base;
  const limit = limitOf(document);
  return slots.map((slot, i): PlannedSlice => {
    const last = slots[i - 1];
    // In a window without a known end, the last slice is assumed to last as long as the previous one.
    const until =
      slots[i + 1]?.at ?? end ?? after(slot.at, last === undefined ? DEFAULT_WINDOW_MS : slot.at - last.at);
    const closed = schedule && closureAt(schedule, slot.at)?.why;
    return {
      strategy: id,
      leg,
      slice: slot.slice,
      at: slot.at,
      until,
      pair,
      side,
      size: sizeOf(slot.size, slot.currency === base || slotIsQuantity(document)),
      limit,
      closed,
    };
  });
}

/** Returns whether the document states its size as a quantity. This determines the unit if the pair's currencies are unknown. */
const slotIsQuantity = (document: Document): boolean =>
  document['total_quantity'] !== undefined || document['each_quantity'] !== undefined;

const sizeOf = (text: string, isQuantity: boolean): Size =>
  isQuantity ? { by: 'quantity', quantity: quantity(text) } : { by: 'amount', amount: money(text) };

const sideOf = (document: Document): Side => (document['side'] === 'sell' ? 'sell' : 'buy');
const limitOf = (document: Document): PlannedSlice['limit'] =>
  typeof document['limit_price'] === 'string' ? price(document['limit_price']) : undefined;

/**
 * Returns the most that may trade at times that only the market determines. Applies to a kind with a ceiling or a
 * document with a total.
 */
function ceilingOf({ bound, document, span }: Planned, instrument: Instrument): PlannedStrategy['ceiling'] {
  const start = timeIn(document, 'start_time');
  if (start !== undefined && start >= span.until) return undefined;
  const ceiling = bound.ceiling(instrument) ?? totalIn(document, bound);
  if (ceiling === undefined) return undefined;
  const size = sizeOf(ceiling.total, ceiling.currency === instrument.base);
  return { pair: instrument.pair, side: sideOf(document), size, limit: limitOf(document) };
}

/** Returns the total of a document without slots that trades one pair. */
function totalIn(
  document: Document,
  { pairs }: BoundStrategy,
): { readonly total: string; readonly currency: string } | undefined {
  const total = document['total_quantity'] ?? document['total_notional'];
  if (pairs.length !== 1 || document['side'] === undefined || typeof total !== 'object' || total === null)
    return undefined;
  const { amount, currency } = total as { readonly amount?: unknown; readonly currency?: unknown };
  return typeof amount === 'string' && typeof currency === 'string' ? { total: amount, currency } : undefined;
}

/** Returns the end of the window of a parent that is planned as a whole. */
export function endOf(document: Document, begunAt: Instant): Instant | undefined {
  const end = timeIn(document, 'end_time');
  if (end !== undefined) return end;
  const { duration } = document;
  if (typeof duration !== 'string') return undefined;
  return after(timeIn(document, 'start_time') ?? begunAt, parseDuration(duration));
}

/** Returns a time in a document, Unix ms, or `undefined` if it states none. */
export function timeIn(document: Document, key: string): Instant | undefined {
  const text = document[key];
  return typeof text === 'string' ? parseTime(text) : undefined;
}
