import { EMPTY, catchError, map, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../../core/errors.ts';
import { add, greatest, least, NO_QUANTITY, quantity, subtract, text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { atRoute, dueBreaks, isDone, settle, tailsOf } from '../../core/account/whole-read.ts';
import type { Difference } from '../../core/account/whole-read.ts';
import { compareRowIds, isNumericId } from '../../core/ids.ts';
import type { FillRecord, Hold, RecordBody } from '../../core/record.ts';
import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import type { Transaction } from '../../core/venue.ts';
import type { WholeAccount } from './read-account.ts';
import { fillFromEvidence } from '../attempt/booking.ts';
import { changesBy, changesOf } from '../../core/cycle/balance-changes.ts';
import type { Desk } from '../desk.ts';
import { noteTransfers } from './transfers.ts';

/**
 * Unchanged balances are recorded again after this time or after a read of so many rows, so that reads need not go far
 * back: a page takes ten seconds.
 */
const REWRITE_MS = HOUR_MS / 2;
const REWRITE_ROWS = 250;

/** Balances as reported by the venue. */
interface ReportedBalances {
  /** The balances that orders may rely on. */
  readonly now: ReadonlyMap<string, Quantity>;
  /** Deposits that `now` excludes although rows include them. A balances route excludes them by itself. */
  readonly holds: readonly Hold[];
  /** The balances that the rows must add up to. */
  readonly booked: ReadonlyMap<string, Quantity>;
}

/** Records new balances: those that the venue reports as booked, plus own fills that it has not booked yet. */
export function keepBalances(desk: Desk, read: WholeAccount): Observable<never> {
  const { venue } = desk.ports;
  noteTransfers(desk, read.rows);
  const told = balancesIn(read.rows);
  const own =
    venue.balances &&
    desk.rateLimiter.through({ route: 'read', priority: 'valuation', key: 'account' }, venue.balances());
  const fillsBefore = desk.state.fills;
  const source: Observable<ReportedBalances> =
    own === undefined
      ? of({ ...withoutHeld(merged(desk, told, read), holdsIn(desk, read)), booked: told })
      : own.pipe(
          map((list) => ({
            now: new Map(list.map((one) => [one.currency, one.available])),
            holds: [],
            booked: new Map(list.map((one) => [one.currency, one.balance])),
          })),
        );
  return source.pipe(
    mergeMap((one) => slowRows(desk, read).pipe(map((slow) => ({ ...one, slow })))),
    mergeMap(({ now, holds, booked, slow }) => {
      const before = desk.state.balances;
      // This response may or may not include the effect of an order in flight, so the next response decides.
      if (
        own !== undefined &&
        before !== undefined &&
        (desk.state.hasFlights() || desk.state.fills !== fillsBefore)
      )
        return EMPTY;
      const found = compared(desk, read, { booked, slow, isOwn: own !== undefined });
      // A balance that differs from the rows does not replace the known one, so that the next process also finds the
      // difference. A separate balance route starts over in each process, and orders must not rely on money that has
      // left.
      if (found.isPending && own === undefined) return EMPTY;
      const { balancesReadAt = 0, rows } = desk.state;
      const { newest: newestRow, beforeNewest } = rows.data;
      // While a balance does not follow, the next process too must begin before it.
      const newest = found.isPending ? newestRow : newestOf(read, newestRow);
      const tails = found.isPending ? desk.state.lastBalances?.tails : tailsOf(desk.account.books);
      // Until the journal knows two rows, stamps bound the reads.
      const isKnown = beforeNewest !== '' || newest === newestRow;
      const same =
        isKnown &&
        before !== undefined &&
        found.bodies.length === 0 &&
        desk.account.replaced.length === 0 &&
        read.rows.length < REWRITE_ROWS &&
        read.at - balancesReadAt < REWRITE_MS &&
        [...now].every(([currency, amount]) => before.get(currency)?.eq(amount) === true) &&
        JSON.stringify(holds) === JSON.stringify(holdsOf(desk));
      if (same) return EMPTY;
      const body: RecordBody = {
        kind: 'balances',
        balances: Object.fromEntries(
          [...now].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([c, amount]) => [c, text(amount)]),
        ),
        newest_id: newest,
        ...(tails === undefined ? {} : { tails }),
        ...(holds.length === 0 ? {} : { holds }),
        read_at: read.at,
      };
      return desk.journal.append([body, ...found.bodies]);
    }),
    mergeMap(() => EMPTY),
  );
}

/** Balance of each currency after its newest completed row. */
const balancesIn = (rows: readonly Transaction[]): ReadonlyMap<string, Quantity> =>
  new Map(
    rows
      .filter(isDone)
      .toSorted((a, b) => compareRowIds(a.id, b.id))
      .flatMap(({ currency, balance }) => (balance === undefined ? [] : [[currency, balance] as const])),
  );

const holdsOf = ({ state }: Desk): readonly Hold[] => state.lastBalances?.holds ?? [];

/** The holds that are in force at a read: those known before, and those of its rows. */
function holdsIn(desk: Desk, { rows, at }: WholeAccount): readonly Hold[] {
  const holds = new Map(holdsOf(desk).map((hold) => [hold.id, hold]));
  for (const { id, currency, amount, heldUntil: until = at } of rows.filter(isDone))
    if (amount.gt(0)) holds.set(id, { id, currency, amount: text(amount), until });
  return [...holds.values()].filter(({ until }) => until > at);
}

/** Takes holds from balances. A hold shrinks to the balance, because what the venue let the desk spend is no debt. */
function withoutHeld(all: Map<string, Quantity>, holds: readonly Hold[]): Pick<ReportedBalances, 'now' | 'holds'> {
  const kept = holds.map((hold) => {
    const balance = all.get(hold.currency) ?? NO_QUANTITY;
    const amount = least(quantity(hold.amount), greatest(balance, NO_QUANTITY));
    all.set(hold.currency, subtract(balance, amount));
    return { ...hold, amount: text(amount) };
  });
  return { now: all, holds: kept };
} // prettier-ignore

/** The newest row that reads have shown. */
function newestOf({ rows }: WholeAccount, before: string): string {
  const ids = rows.map(({ id }) => id).filter(isNumericId);
  return ids.reduce((newest, id) => (compareRowIds(id, newest) > 0 ? id : newest), before);
}

/**
 * A deposit or withdrawal may have moved a balance although no read shows it, because a read omits those that are
 * pending or that began before its period. The desk requests them when a difference would count.
 */
function slowRows(desk: Desk, { at, startedAt }: WholeAccount): Observable<WholeAccount['rows']> {
  if (dueBreaks(desk.account.books, startedAt).length === 0) return of([]);
  const asked = desk.ports.venue.transactions({
    from: instant(at - Math.min(desk.policy.historyMs, SLOW_MS)),
    limit: SLOW_MAX,
    types: new Set(['deposit', 'withdraw'] as const),
    pending: true,
  });
  return desk.rateLimiter.through({ route: 'transactions', priority: 'history', key: 'account' }, asked).pipe(
    catchError((error: unknown) => {
      // If the venue refuses the query, nothing explains the difference, so it counts.
      if (error instanceof VenueError && error.code === 'refused') return of([]);
      throw error;
    }),
  );
}

/** Number of newest deposits and withdrawals that are considered. */
const SLOW_MAX = 1_000;
/** Longest time that a deposit or withdrawal takes to complete. */
const SLOW_MS = 30 * DAY_MS;

interface Compared {
  /** A later read may explain the difference. */
  readonly isPending: boolean;
  /** The halt that the difference requires. */
  readonly bodies: readonly RecordBody[];
}

const AGREED: Compared = { isPending: false, bodies: [] };

/** Compares the balances of a route of their own with the rows, and reports what no row explains. */
function compared(
  desk: Desk,
  { startedAt }: WholeAccount,
  { booked, slow, isOwn }: Pick<ReportedBalances, 'booked'> & { readonly slow: WholeAccount['rows']; readonly isOwn: boolean },
): Compared {
  const { account, policy } = desk;
  // If balances do not follow from rows at all, there is nothing to compare. This was already reported.
  if (account.books.check !== 'on') return AGREED;
  // Which rows are new is known once a read goes back to those that may have other ids now.
  if (account.rereadAfter !== undefined) return { isPending: true, bodies: [] };
  const underWay = underWayIn(desk);
  if (isOwn) {
    const told = new Map([...booked].filter(([currency]) => !underWay.has(currency)));
    account.books = atRoute(account.books, { told, startedAt, unit: (currency) => desk.instruments.unit(currency) });
  }
  const { books, differences } = settle(account.books, { startedAt, slow, isUnderWay: (currency) => underWay.has(currency) });
  account.books = books;
  if (policy.onDifference === 'ignore') return AGREED;
  for (const { currency, isSteady, row, ...one } of differences)
    desk.observer.alert('balance_difference', { currency, ...figuresOf(one), isSteady, ...(row === undefined ? {} : { row }) });
  const steady = differences.filter(({ isSteady }) => isSteady);
  const isHalt = policy.onDifference === 'halt' && steady.length > 0 && desk.control !== 'halted';
  const why = `balance_difference: ${steady.map(inWords).join('; ')}`;
  return {
    isPending: books.open.size > 0,
    bodies: isHalt ? [{ kind: 'control', state: 'halted', by: 'tranche', why }] : [],
  };
} // prettier-ignore

const figuresOf = ({ told, missing }: Pick<Difference, 'told' | 'missing'>) => ({
  expected: text(subtract(told, missing)),
  told: text(told),
});
const inWords = (one: Difference): string =>
  `limit=${figuresOf(one).expected} ${one.currency} value=${figuresOf(one).told} ${one.currency}`;

/** Recent fills that no read has shown completely. The reported balances lack them or a part of them. */
const unshown = ({ state, limitDay }: Desk): readonly FillRecord[] =>
  state.recentFills(limitDay.now()).filter(({ client_order_id: id }) => state.unshown.has(id));

/** Currencies that an order in flight may have moved, or that an incompletely booked fill has moved. */
function underWayIn(desk: Desk): ReadonlySet<string> {
  const { state } = desk;
  const currencies = new Set<string>();
  for (const { intent } of state.attempts.values()) currencies.add(intent.base).add(intent.quote);
  for (const { base, quote } of unshown(desk)) currencies.add(base).add(quote);
  return currencies;
}

function merged(desk: Desk, told: ReadonlyMap<string, Quantity>, read: WholeAccount): Map<string, Quantity> {
  const { trades } = read;
  // Rows include what is held, and balances do not.
  const before = new Map(desk.state.balances);
  for (const { currency, amount } of holdsOf(desk))
    before.set(currency, add(before.get(currency) ?? NO_QUANTITY, quantity(amount)));
  const now = new Map([...before, ...told]);
  // An order that still waits for its response is booked when the response comes, and must not be counted twice.
  for (const { intent, doubt } of desk.state.attempts.values()) {
    const trade = trades.get(intent.client_order_id);
    const open = desk.state.attempts.get(intent.client_order_id);
    if (doubt !== undefined || trade === undefined || open === undefined) continue;
    const booked = fillFromEvidence(open, trade, { now: read.at, decisionPrice: '' });
    for (const [currency, change] of changesOf(booked)) {
      if (told.has(currency)) now.set(currency, subtract(now.get(currency) ?? NO_QUANTITY, change));
    }
  }
  // The balance of a row may include trades whose own rows come later.
  const isComplete = (currency: string): boolean =>
    told.get(currency)?.eq(before.get(currency) ?? NO_QUANTITY) === true;
  for (const fill of unshown(desk)) {
    const part = trades.get(fill.client_order_id);
    const has = new Map(part === undefined ? [] : changesBy(fill, part));
    for (const [currency, change] of changesOf(fill)) {
      const left = subtract(change, has.get(currency) ?? NO_QUANTITY);
      if (told.has(currency) && !isComplete(currency))
        now.set(currency, add(now.get(currency) ?? NO_QUANTITY, left));
    }
  }
  return now;
}
