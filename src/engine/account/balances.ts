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
 * Balances that did not change are written again after this long, so that a restart need not read far back. Those of an
 * account with more than a page of rows are written with each read: at a page every ten seconds, half an hour would take long.
 */
const REWRITE_MS = HOUR_MS / 2;

/** Balances as reported by the venue. */
interface Told {
  /** What orders may count on. */
  readonly now: ReadonlyMap<string, Quantity>;
  /** What rows must add up to. */
  readonly booked: ReadonlyMap<string, Quantity>;
}

/** Writes balances that are new: what the venue booked, and own fills that it has not booked yet. */
export function keepBalances(desk: BalancesContext, read: WholeAccount): Observable<never> {
  const { venue } = desk.ports;
  noteTransfers(desk, read.rows);
  const told = balancesOf(read.rows);
  const own =
    venue.balances &&
    desk.rateLimiter.through({ route: 'read', priority: 'valuation', key: 'account' }, venue.balances());
  const fillsBefore = desk.state.fills;
  const source: Observable<Told> =
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
      // What an order under way will change may or may not be in this answer: the next one tells.
      if (
        own !== undefined &&
        before !== undefined &&
        (desk.state.hasFlights() || desk.state.fills !== fillsBefore)
      )
        return EMPTY;
      const found = compared(desk, read, { booked, slow, isOwn: own !== undefined });
      // What does not add up is not written over what is known: the next process must find it as well. With a route of its
      // own it begins anew, and orders must not count on money that has left.
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
 * Deposits and withdrawals may have moved a balance although no read shows them: it leaves out what is not done, and what
 * began before it. They are asked for when a difference would count.
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
      // A venue that does not take the question tells nothing, and a difference counts without it.
      if (error instanceof VenueError && error.code === 'refused') return of([]);
      throw error;
    }),
  );
}

/** The newest of them. */
const SLOW_MAX = 1_000;
/** None takes longer to be done. */
const SLOW_MS = 30 * DAY_MS;

interface Compared {
  /** Something does not add up that a later read may explain. */
  readonly isPending: boolean;
  /** The halt that a difference calls for. */
  readonly bodies: readonly RecordBody[];
}

const AGREED: Compared = { isPending: false, bodies: [] };

/** Holds what the venue tells of the balances against what is known, moved by the rows that it has shown since. */
function compared(
  desk: BalancesContext,
  read: WholeAccount,
  {
    booked,
    slow,
    isOwn,
  }: Pick<Told, 'booked'> & { readonly slow: WholeAccount['rows']; readonly isOwn: boolean },
): Compared {
  const { onDifference } = desk.policy;
  // Where balances do not follow from rows at all, there is nothing to hold against one another: that was told.
  if (onDifference === 'ignore' || desk.account.books.check !== 'on') return AGREED;
  // What orders may count on is not what rows add up to: a route of its own begins with the first read of each process.
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

/** Balances of the journal, as an earlier process left them: rows after them must explain what has changed meanwhile. */
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

/** Fills of the last minutes that no read has shown whole: what the venue tells of the balances lacks them, or a part of them. */
const unshown = ({ state }: BalancesContext, { at }: WholeAccount): readonly FillRecord[] =>
  state.recentFills(at).filter(({ client_order_id: id }) => state.unshown.has(id));

/** Currencies that an order under way may have moved, or a fill whose rows are not all there yet. */
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
  // An order that is still waiting for its answer will be booked when that comes, not twice.
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
