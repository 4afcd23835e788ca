import { EMPTY, catchError, map, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../../core/errors.ts';
import { balancesOf } from '../../core/cycle/evidence.ts';
import { add, NO_QUANTITY, quantity, subtract, text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { bookedBalances, isDue, reconcile } from '../../core/cycle/reconcile.ts';
import type { Anchor, Difference } from '../../core/cycle/reconcile.ts';
import type { FillRecord, RecordBody } from '../../core/record.ts';
import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import { PAGE } from './read-account.ts';
import type { WholeAccount } from './read-account.ts';
import { fillFromEvidence } from '../attempt/booking.ts';
import { changesBy, changesOf } from '../../core/cycle/balance-changes.ts';
import type { Desk } from '../desk.ts';
import { noteTransfers } from './transfers.ts';
import type { TransfersContext } from './transfers.ts';

/** The parts of a desk that this file uses. */
export type BalancesContext = Pick<
  Desk,
  'control' | 'instruments' | 'journal' | 'observer' | 'policy' | 'rateLimiter' | 'state'
> &
  TransfersContext;

/**
 * Unchanged balances are recorded again after this time, so that a restart need not read far back. If the account has
 * more than one page of rows, every read records the balances, because reading half an hour at one page every ten
 * seconds would take long.
 */
const REWRITE_MS = HOUR_MS / 2;

/** Balances as reported by the venue. */
interface ReportedBalances {
  /** The balances that orders may rely on. */
  readonly now: ReadonlyMap<string, Quantity>;
  /** The balances that the rows must add up to. */
  readonly booked: ReadonlyMap<string, Quantity>;
}

/** Records new balances: those that the venue reports as booked, plus own fills that it has not booked yet. */
export function keepBalances(desk: BalancesContext, read: WholeAccount): Observable<never> {
  const { venue } = desk.ports;
  noteTransfers(desk, read.rows);
  const told = balancesOf(read.rows);
  const own =
    venue.balances &&
    desk.rateLimiter.through({ route: 'read', priority: 'valuation', key: 'account' }, venue.balances());
  const fillsBefore = desk.state.fills;
  const source: Observable<ReportedBalances> =
    own === undefined
      ? of({ now: merged(desk, told.balances, read), booked: bookedBalances(read.rows) })
      : own.pipe(
          map((list) => ({
            now: new Map(list.map((one) => [one.currency, one.available])),
            booked: new Map(list.map((one) => [one.currency, one.balance])),
          })),
        );
  return source.pipe(
    mergeMap((one) => slowRows(desk, read).pipe(map((slow) => ({ ...one, slow })))),
    mergeMap(({ now, booked, slow }) => {
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
      const same =
        before !== undefined &&
        found.bodies.length === 0 &&
        read.rows.length < PAGE &&
        read.at - (desk.state.balancesReadAt ?? 0) < REWRITE_MS &&
        [...now].every(([currency, amount]) => before.get(currency)?.eq(amount) === true);
      if (same) return EMPTY;
      const body: RecordBody = {
        kind: 'balances',
        balances: Object.fromEntries(
          [...now].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([c, amount]) => [c, text(amount)]),
        ),
        newest_id: Math.max(told.newestId, desk.state.newestTransaction),
        read_at: read.at,
      };
      return desk.journal.append([body, ...found.bodies]);
    }),
    mergeMap(() => EMPTY),
  );
}

/**
 * A deposit or withdrawal may have moved a balance although no read shows it, because a read omits those that are
 * pending or that began before its period. The desk requests them when a difference would count.
 */
function slowRows(desk: BalancesContext, { at, startedAt }: WholeAccount): Observable<WholeAccount['rows']> {
  if (!isDue(desk.account.ledger, startedAt)) return of([]);
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

/** Compares the reported balances with the known ones plus the rows shown since. */
function compared(
  desk: BalancesContext,
  read: WholeAccount,
  {
    booked,
    slow,
    isOwn,
  }: Pick<ReportedBalances, 'booked'> & { readonly slow: WholeAccount['rows']; readonly isOwn: boolean },
): Compared {
  const { onDifference } = desk.policy;
  // If balances do not follow from rows at all, there is nothing to compare. This was already reported.
  if (onDifference === 'ignore' || desk.account.books.check !== 'on') return AGREED;
  // The balance that orders rely on is not a sum of rows, because a separate route starts over with the first read of
  // each process.
  if (desk.account.ledger.anchors.size === 0 && !isOwn)
    desk.account.ledger = { ...desk.account.ledger, anchors: inherited(desk) };
  const underWay = underWayIn(desk, read);
  const { ledger, differences } = reconcile(desk.account.ledger, {
    told: booked,
    rows: read.rows,
    at: read.at,
    startedAt: read.startedAt,
    isExcused: (currency) => underWay.has(currency),
    unit: (currency) => desk.instruments.unit(currency),
    slow,
  });
  desk.account.ledger = ledger;
  for (const one of differences) desk.observer.alert('balance_difference', { ...one });
  const steady = differences.filter(({ isSteady }) => isSteady);
  const isHalt = onDifference === 'halt' && steady.length > 0 && desk.control !== 'halted';
  const why = `balance_difference: ${steady.map(inWords).join('; ')}`;
  return {
    isPending: ledger.pending.size > 0,
    bodies: isHalt ? [{ kind: 'control', state: 'halted', by: 'tranche', why }] : [],
  };
}

const inWords = ({ currency, expected, told }: Difference): string =>
  `limit=${expected} ${currency} value=${told} ${currency}`;

/** Balances in the journal, as an earlier process left them. Later rows must explain what has changed since. */
function inherited({ state }: BalancesContext): ReadonlyMap<string, Anchor> {
  const { lastBalances, filledIds, bookedFrom } = state;
  if (lastBalances === undefined) return new Map();
  const booked = new Set(filledIds.keys().take(bookedFrom));
  return new Map(
    Object.entries(lastBalances.balances).map(([currency, amount]) => [
      currency,
      {
        balance: quantity(amount),
        newestId: lastBalances.newest_id,
        at: lastBalances.read_at,
        booked,
      },
    ]),
  );
}

/** Recent fills that no read has shown completely. The reported balances lack them or a part of them. */
const unshown = ({ state }: BalancesContext, { at }: WholeAccount): readonly FillRecord[] =>
  state.recentFills(at).filter(({ client_order_id: id }) => state.unshown.has(id));

/** Currencies that an order in flight may have moved, or that an incompletely booked fill has moved. */
function underWayIn(desk: BalancesContext, read: WholeAccount): ReadonlySet<string> {
  const { state } = desk;
  const currencies = new Set<string>();
  for (const { intent } of state.attempts.values()) currencies.add(intent.base).add(intent.quote);
  for (const { base, quote } of unshown(desk, read)) currencies.add(base).add(quote);
  return currencies;
}

function merged(
  desk: BalancesContext,
  told: ReadonlyMap<string, Quantity>,
  read: WholeAccount,
): ReadonlyMap<string, Quantity> {
  const { trades } = read;
  const now = new Map([...(desk.state.balances ?? []), ...told]);
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
  for (const fill of unshown(desk, read)) {
    const part = trades.get(fill.client_order_id);
    const has = new Map(part === undefined ? [] : changesBy(fill, part));
    for (const [currency, change] of changesOf(fill)) {
      const left = subtract(change, has.get(currency) ?? NO_QUANTITY);
      if (told.has(currency)) now.set(currency, add(now.get(currency) ?? NO_QUANTITY, left));
    }
  }
  return now;
}
