import type { Instant } from '../core/time.ts';
import { dateOf, historyEvents } from './events.ts';
import type { AccountRow, AccountingEvent, CorrectionEvent, TradeEvent } from './events.ts';

/** The source of a closed period. */
export interface ClosedPeriod {
  /** The first instant after it. */
  readonly until: Instant;
  /** Number of the newest record that the period was computed from. */
  readonly seq: number;
  /** Transactions booked in the period that come only from the history of the account. */
  readonly transactions: readonly number[];
}

export interface BookingSources {
  /** Fills and corrections of the journal, oldest record first. */
  readonly own: readonly (TradeEvent | CorrectionEvent)[];
  /** The account's history. */
  readonly rows: readonly AccountRow[];
  /** Oldest first. */
  readonly closed: readonly ClosedPeriod[];
}

/**
 * Returns all events in booking order. An event that became known after its period was closed is dated in the period that was open then:
 * a fill at the time of its record; a row of the history, which does not show when it appeared, at the start of that period.
 *
 * @throws OperatorError `data` for a row that cannot be booked.
 */
export function bookingOrder({ own, rows, closed }: BookingSources): AccountingEvent[] {
  const periodOf = new Map(
    closed.flatMap(({ transactions }, n) => transactions.map((id): [number, number] => [id, n])),
  );
  const ownIds = new Set(own.map(({ id }) => id));
  const history = historyEvents(
    rows,
    ({ id, client_order_id: client }) => ownIds.has(client) && !periodOf.has(id),
  );
  const booked = new Map<string, TradeEvent>();
  if (periodOf.size > 0) {
    // A closed period contains these trades from the history, because the journal recorded them later.
    const clients = new Map(
      rows.filter(({ id }) => periodOf.has(id)).map(({ id, client_order_id: client }) => [id, client]),
    );
    for (const event of history) {
      const [row] = 'transactions' in event.source ? event.source.transactions : [];
      const client = row === undefined ? undefined : clients.get(row);
      if (event.type === 'trade' && client !== undefined && ownIds.has(client)) booked.set(client, event);
    }
  }
  const merged = [...own.flatMap((event) => asBooked(event, booked.get(event.id))), ...history];
  const dated = closed.length === 0 ? merged : merged.map((event) => dateIn(event, closed, periodOf));
  const trades = new Map<string, Instant>();
  const corrected = new Set(dated.filter(({ type }) => type === 'correction').map(({ id }) => id));
  for (const event of dated)
    if (event.type === 'trade' && corrected.has(event.id)) trades.set(event.id, dateOf(event));
  return (
    dated
      // A correction comes after its trade, regardless of the clock of the venue, because the sort is stable, and the record of a trade is
      // older.
      .map((event) =>
        event.type === 'correction'
          ? { ...event, bookedAt: later(dateOf(event), trades.get(event.id) ?? event.at) }
          : event,
      )
      .toSorted((a, b) => dateOf(a) - dateOf(b))
  );
}

/** Returns the events for a fill of the journal that a closed period contains from the history: none, or its correction. */
function asBooked(
  event: TradeEvent | CorrectionEvent,
  booked: TradeEvent | undefined,
): readonly (TradeEvent | CorrectionEvent)[] {
  if (booked === undefined) return [event];
  const { id } = booked;
  const { knownAt, quantity, amount, fees, source } = event;
  const isSame = quantity.eq(booked.quantity) && amount.eq(booked.amount) && fees.eq(booked.fees);
  if (event.type === 'trade' && isSame) return [];
  const at = knownAt ?? event.at;
  return [{ type: 'correction', id, at, knownAt, quantity, amount, fees, source }];
}

const later = (a: Instant, b: Instant): Instant => (a > b ? a : b);

function dateIn<E extends AccountingEvent>(
  event: E,
  closed: readonly ClosedPeriod[],
  periodOf: ReadonlyMap<number, number>,
): E {
  const { source, knownAt } = event;
  const isIn = (period: ClosedPeriod, n: number): boolean =>
    'seq' in source ? source.seq <= period.seq : source.transactions.every((id) => periodOf.get(id) === n);
  let date = event.at;
  for (const [n, period] of closed.entries()) {
    if (date >= period.until) continue;
    if (isIn(period, n)) break;
    date = later(period.until, knownAt ?? period.until);
  }
  return date === event.at ? event : { ...event, bookedAt: date };
}
