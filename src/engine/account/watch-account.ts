import {
  EMPTY,
  catchError,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  ignoreElements,
  merge,
  mergeMap,
  of,
  repeat,
  timer,
  switchMap,
  take,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { audit } from '../../core/cycle/account-audit.ts';
import type { Audit } from '../../core/cycle/account-audit.ts';
import { adoptable, judge, notedRows } from '../../core/cycle/doubts.ts';
import type { Doubt, WholeRead } from '../../core/cycle/doubts.ts';
import { VenueError } from '../../core/errors.ts';
import { tradesOf } from '../../core/cycle/evidence.ts';
import type { KnownOrder } from '../../core/cycle/evidence.ts';
import { text } from '../../core/money.ts';
import { compareFill } from '../../core/cycle/compare-fill.ts';
import { quotedIn } from '../../core/cycle/order-extent.ts';
import type { FillRecord, RecordBody } from '../../core/record.ts';
import { MINUTE_MS, after, isoOf } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Transaction } from '../../core/venue.ts';
import { earliestStamp, readAccount } from './read-account.ts';
import type { AccountRead, WholeAccount } from './read-account.ts';
import { keepBalances } from './balances.ts';
import { executedTwice, halt, haltRecord } from './halt.ts';
import { adoptedFill, fillFromEvidence } from '../attempt/booking.ts';
import type { Desk } from '../desk.ts';
import type { Unshown } from '../state/strategy-run.ts';
import type { AttemptEnd } from '../attempt/execute.ts';
import { trustOf } from '../desk-settings.ts';
import { watch } from '../watch.ts';
import type { ReadAccountContext } from './read-account.ts';
import type { BalancesContext } from './balances.ts';
import type { BookingContext } from '../attempt/booking.ts';

/** The parts of a desk that this file uses. */
export type AccountWatchContext = Pick<Desk, 'changed$' | 'limitDay' | 'mark'> &
  BalancesContext &
  BookingContext &
  ReadAccountContext &
  Pick<Desk, 'venueHealth'>;

/** Interval from the start of a failed read to the next read; at least `SOON_MS` after its end. */
const RETRY_MS = 10_000;
const SOON_MS = 1_000;
/** Delay between a hint and the read. The feed may be ahead of the transactions, and one read serves a burst of hints. */
const HINT_MS = 1_000;

/**
 * Reads the account while subscribed: every minute, more often while there are doubts or after a hint from the account
 * feed. Emits how doubts ended, books fills that the journal does not know, and maintains the balances. A failed read
 * proves nothing and is retried.
 */
export function watchAccount(desk: AccountWatchContext): Observable<AttemptEnd> {
  const { ports } = desk;
  const waitMs$ = watch(desk.changed$, () => untilNextRead(desk)).pipe(distinctUntilChanged());
  // Measured from the start of one read to the start of the next, because a read of many pages takes long.
  let begunAt = ports.clock.monotonic();
  const left = (ms: number): number =>
    ms < desk.policy.accountPollMs
      ? untilCountingRead(desk, ms, begunAt)
      : Math.max(0, ms - (ports.clock.monotonic() - begunAt));
  // A new doubt or hint shortens the current wait.
  const wait = (): Observable<unknown> =>
    waitMs$.pipe(
      switchMap((ms) => timer(left(ms), ports.clock.scheduler)),
      take(1),
    );
  const reads$ = defer(wait).pipe(
    concatMap(() => {
      begunAt = ports.clock.monotonic();
      return readOnce(desk);
    }),
    repeat(),
  );
  const hints$ = (ports.accountFeed?.hints$ ?? EMPTY).pipe(
    tap(() => {
      if (desk.account.isHinted) return;
      desk.account.isHinted = true;
      desk.changed$.next();
    }),
    ignoreElements(),
  );
  return merge(reads$, hints$);
}

/** Reports trades on the account that this desk did not make, once per read that shows new ones. */
function tellForeign(desk: AccountWatchContext, { rows, from, known, trades }: WholeAccount): void {
  const before = desk.account.readFrom;
  desk.account.readFrom = from;
  // The first read shows what happened before this process, so it cannot determine which rows are new.
  if (known.rows.size === 0) return;
  const foreign = new Set<string>();
  const ours = new Set([...trades.values()].flatMap((trade) => trade.rows.map(({ id }) => id)));
  for (const row of rows) {
    // Only rows of the last read are remembered, so a read that goes further back reports older rows again.
    if (before !== undefined && row.at < before) continue;
    if (row.action !== 'buy' && row.action !== 'sell') continue;
    if (known.rows.has(row.id) || row.status.toLowerCase() !== 'done') continue;
    if (!ours.has(row.id)) foreign.add(row.tradeId ?? String(row.id));
  }
  if (foreign.size === 0) return;
  desk.observer.alert('foreign_trades', {
    count: foreign.size,
    trades: [...foreign].slice(0, 20).join(', '),
  });
}

/** Hints cannot overload the route, because the rate limiter bounds reads of the account. */
function untilNextRead(desk: AccountWatchContext): number {
  const { inDoubt, accountPollMs } = desk.policy;
  const ms = desk.state.hasDoubts() || desk.account.booking.size > 0 ? inDoubt.pollMs : accountPollMs;
  return desk.account.isHinted ? Math.min(ms, HINT_MS) : ms;
}

/**
 * How long to wait before the next read, milliseconds, so that a read starts at the first instant at which it counts
 * towards the proof of a doubt. A read shortly before that instant would delay the proof, because the route is rate
 * limited. `lastAt`: when the last read started.
 */
function untilCountingRead(
  { account, ports }: AccountWatchContext,
  pollMs: number,
  lastAt: Monotonic,
): number {
  const now = ports.clock.monotonic();
  let first: Monotonic | undefined;
  for (const { proof } of account.doubts.values())
    if (proof.notBefore > now && (first === undefined || proof.notBefore < first)) first = proof.notBefore;
  // The delay counts from the hint, because an immediate read would be too early to show the change.
  if (pollMs <= HINT_MS) return pollMs;
  if (first === undefined) return Math.max(0, lastAt + pollMs - now);
  const leftMs = first - now;
  // Delayed, because an immediate read would be too early to show anything.
  const soonestMs = Math.max(HINT_MS, lastAt + pollMs - now);
  return leftMs - Math.max(0, Math.floor((leftMs - soonestMs) / pollMs)) * pollMs;
}

/** One read and its consequences. Empty after a failure, which proves nothing. */
export function readOnce(desk: AccountWatchContext): Observable<AttemptEnd> {
  const { clock } = desk.ports;
  return defer(() => {
    const retryAt = after(clock.monotonic(), RETRY_MS);
    return readAccount(desk).pipe(
      concatMap((read) => applyRead(desk, read)),
      catchError((error: unknown) => {
        if (!(error instanceof VenueError)) throw error;
        desk.account.readFault = error.message;
        desk.venueHealth.readFailed(error);
        desk.observer.alert('account_unreadable', { error: error.message });
        if (error.code === 'rate_limited')
          desk.rateLimiter.block('transactions', error.retryAfterMs ?? RETRY_MS);
        return concat(
          error.code === 'unauthorised' ? halt(desk, error.message) : EMPTY,
          timer(Math.max(SOON_MS, retryAt - clock.monotonic()), clock.scheduler).pipe(ignoreElements()),
        );
      }),
    );
  });
}

/** Applies a whole read: fills first, so that balances include them, then proofs of absence. */
function applyRead(desk: AccountWatchContext, read: AccountRead): Observable<AttemptEnd> {
  return defer(() => {
    desk.observer.accountRead(read.rows.length);
    desk.venueHealth.answered();
    desk.account.lastReadAt = read.startedAt;
    desk.account.readFault = 'its rows do not add up';
    for (const { at } of read.rows)
      if (desk.account.newestRowAt === undefined || at > desk.account.newestRowAt)
        desk.account.newestRowAt = at;
    const trades = tradesOf(read.rows, {
      mark: desk.mark,
      pairOf: (pair) => {
        const pairs = desk.instruments.pair(pair);
        return 'problem' in pairs ? undefined : pairs;
      },
      orderOf: ordersOf(desk),
    });
    desk.account.openAtFirst = notedRows(
      desk.account.openAtFirst,
      read.rows,
      new Set(desk.state.attempts.keys()),
    );
    const known = desk.account.books;
    const audited = audit(known, { rows: read.rows, from: read.from, hasDoubts: desk.state.hasDoubts() });
    desk.account.books = audited.books;
    const { openAtFirst } = desk.account;
    const whole: WholeAccount = { ...read, trades, doubtful: audited.doubtful, known, openAtFirst };
    tellForeign(desk, whole);
    const ends = judgeDoubts(desk, whole);
    return concat(
      compare(desk, whole),
      defer(() => report(desk, audited)),
      defer(() => adopt(desk, whole)),
      of(...ends),
      // Balances from a lagging replica are older than the known ones.
      audited.doubtful === 'all'
        ? EMPTY
        : concat(
            defer(() => keepBalances(desk, whole)),
            defer(() => {
              desk.account.readUntil = read.at;
              if (audited.doubtful !== 'all' && audited.doubtful.size > 0) return EMPTY;
              desk.account.wholeReadAt = read.startedAt;
              desk.account.readFault = undefined;
              return EMPTY;
            }),
          ),
    );
  });
}

/** Finds the order of a fill by its order id, for rows without a client id. Built on first use. */
function ordersOf({ state }: AccountWatchContext): (orderId: string) => KnownOrder | undefined {
  let orders: Map<string, KnownOrder> | undefined;
  return (orderId) => {
    orders ??= new Map(
      state.filledIds
        .values()
        .map(({ fill: { client_order_id: clientId, order_id: id, pair, side } }) => [
          id,
          { clientId, pair, side },
        ]),
    );
    return orderId === '' ? undefined : orders.get(orderId);
  };
}

/**
 * Compares every booked fill with the account, regardless of its source and age. The account is authoritative, and its
 * figures apply before anything is sized again.
 */
function compare(desk: AccountWatchContext, read: WholeAccount): Observable<never> {
  const { state, observer } = desk;
  const bodies: RecordBody[] = [];
  /**
   * Written first, because if the journal stored only the beginning of the batch, it would otherwise contain the trade
   * without the halt.
   */
  const halts: RecordBody[] = [];
  const shown: Record<string, readonly number[]> = {};
  const booking = new Map<string, string>();
  for (const { fill, since } of compared(desk, read)) {
    const { client_order_id: id, base, quote } = fill;
    // Rows have the venue's time. If the venue's clock is far behind ours, the read may seem to start after the fill.
    const isCovered = read.from < since + Math.min(0, state.venueAheadMs) - MINUTE_MS;
    const hasHole = read.doubtful === 'all' || [base, quote].some((each) => isIn(read.doubtful, each));
    const found = compareFill({
      fill,
      trade: read.trades.get(id),
      readAt: read.at,
      isDue: isCovered && !hasHole && read.startedAt >= desk.account.bookingEnds(id),
      ...desk.instruments.precisions(fill.pair),
    });
    switch (found.is) {
      case 'agreed':
      case 'early':
        break;
      case 'shown':
        shown[id] = found.rows;
        break;
      case 'booking':
        booking.set(id, found.why);
        if (found.isMore) halts.push(...tellTwice(desk, id, found.why));
        break;
      case 'unbooked':
        if (isCovered && read.doubtful !== 'all') bodies.push(...tellUnbooked(desk, fill));
        break;
      case 'differs':
        bodies.push(found.correction);
        if (found.isMore) halts.push(...tellTwice(desk, id, found.why));
        else if (found.by !== 'rounding')
          observer.alert('fill_differs', { client_order_id: id, why: found.why });
        // The desk already halted or paused when the fill fell short.
        if (found.by === 'grave' && !found.isMore && fill.rows === undefined && desk.control !== 'halted')
          halts.push(haltRecord(`the account shows another trade of ${id} than was booked: ${found.why}`));
    }
  }
  desk.account.booking = booking;
  if (Object.keys(shown).length > 0) bodies.push({ kind: 'shown', fills: shown });
  const all = [...halts, ...bodies];
  return all.length === 0 ? EMPTY : desk.journal.append(all).pipe(mergeMap(() => EMPTY));
}

/** Fills that a read may confirm: those whose rows it contains, and recent fills that it should contain. */
function compared({ state }: AccountWatchContext, { trades, at }: WholeAccount): readonly Unshown[] {
  const recent = new Set(state.recentFills(at).map(({ client_order_id: id }) => id));
  const waiting = [...state.unshown.values()].filter(
    ({ fill: { client_order_id: id } }) => recent.has(id) && !trades.has(id),
  );
  const traded = [...trades.keys()].flatMap((id): readonly Unshown[] => {
    const fill = state.filledIds.get(id)?.fill;
    if (fill === undefined || fill.source === 'dry_run') return [];
    return [{ fill, since: state.unshown.get(id)?.since ?? fill.executed_at }];
  });
  return [...traded, ...waiting];
}

const isIn = (doubtful: WholeRead['doubtful'], currency: string): boolean =>
  doubtful !== undefined && doubtful !== 'all' && doubtful.has(currency);

/** Alerts, once, about a fill that the account should have shown. */
function tellUnbooked(desk: AccountWatchContext, fill: FillRecord): readonly RecordBody[] {
  const { client_order_id: id, order_id: orderId, pair } = fill;
  if (desk.account.unbooked.has(id)) return [];
  desk.account.unbooked.add(id);
  desk.observer.alert('fill_unbooked', { client_order_id: id, order_id: orderId, pair });
  const { control, controlUntil } = desk.state;
  if (control !== 'active' && (control !== 'paused' || controlUntil === undefined)) return [];
  return [
    { kind: 'control', state: 'paused', by: 'tranche', why: `the account does not show the fill of ${id}` },
  ];
}

/** Reports that the venue executed more than was ordered, for each read that shows more, and halts the desk. */
function tellTwice(desk: AccountWatchContext, id: string, why: string): readonly RecordBody[] {
  const key = `${id} ${why}`;
  // A person who re-arms the desk has seen the alert.
  if (desk.account.executedTwice.has(key)) return [];
  desk.observer.alert('executed_twice', { client_order_id: id, why });
  if (desk.account.executedTwice.size >= AMBIGUOUS_MAX) desk.account.executedTwice.clear();
  desk.account.executedTwice.add(key);
  return desk.control === 'halted' ? [] : [haltRecord(executedTwice({ client_order_id: id }, why))];
}

/** Reports inconsistencies of a read, and halts the desk when past rows have changed. */
function report(
  desk: AccountWatchContext,
  { changed, gone, isCut, stayed, isGivenUp }: Audit,
): Observable<never> {
  for (const hole of stayed) desk.observer.alert('account_hole', { ...hole });
  if (isGivenUp) desk.observer.alert('balances_unchecked');
  const rows = changed.length > 0 ? changed : isCut ? gone : [];
  if (rows.length === 0) return EMPTY;
  const ids = rows.slice(0, 20).join(', ');
  desk.observer.alert('history_changed', { rows: ids, count: rows.length });
  return halt(desk, `the account shows a different history than before: rows ${ids}`);
}

/**
 * Judges each open doubt by this read. Returns the doubts that end, with a trade or with proof that there is none, and
 * the doubts whose proof has progressed.
 */
function judgeDoubts(desk: AccountWatchContext, read: WholeAccount): readonly AttemptEnd[] {
  const ends: AttemptEnd[] = [];
  for (const open of desk.state.doubts) {
    const { intent } = open;
    const clientId = intent.client_order_id;
    const phase = desk.account.doubts.get(clientId);
    if (phase === undefined) continue;
    const asked = {
      intent,
      quoted: quotedIn(open.quote),
      precisions: desk.instruments.precisions(intent.pair),
      earliest: earliestStamp(desk, open),
    };
    const judged = judge(asked, phase, read, trustOf(desk.policy));
    switch (judged.is) {
      case 'filled': {
        const fill = fillFromEvidence(open, judged.trade, {
          now: desk.limitDay.now(),
          decisionPrice: desk.state.decisionPrice(intent),
          missing: judged.missing,
        });
        const { differs, isMore } = judged;
        ends.push({ end: 'filled', intent, fill, differs, isGrave: differs !== undefined, isMore });
        break;
      }
      case 'closed':
        ends.push({ end: 'closed', intent, phase: judged.phase });
        break;
      case 'open':
        // Records the progress of the proof, so that the next process continues from it and cannot contradict it.
        if (judged.phase !== phase && hasMoved(phase, judged.phase))
          ends.push({ end: 'doubt', intent, phase: judged.phase });
        desk.account.doubts.set(clientId, judged.phase);
        if (judged.row !== undefined) alertLookalike(desk, clientId, judged.row);
    }
  }
  return ends;
}

const hasMoved = (before: Doubt, now: Doubt): boolean =>
  now.reason !== before.reason ||
  now.proof.readsLeft !== before.proof.readsLeft ||
  now.proof.proves !== before.proof.proves;

/** Reports a row that could be the trade of a doubt, once. */
function alertLookalike(
  { account, observer }: AccountWatchContext,
  clientOrderId: string,
  row: Transaction,
): void {
  const { ambiguousTrades } = account;
  const key = `${clientOrderId} ${row.id}`;
  if (ambiguousTrades.has(key)) return;
  // Limits the rows in memory: during a flood of similar rows, the desk reports some again.
  if (ambiguousTrades.size >= AMBIGUOUS_MAX) ambiguousTrades.clear();
  ambiguousTrades.add(key);
  observer.alert('doubt_lookalike', {
    client_order_id: clientOrderId,
    row: {
      id: row.id,
      at: isoOf(row.at),
      order_id: row.orderId,
      action: row.action,
      pair: row.pair,
      amount: text(row.amount),
      currency: row.currency,
    },
  });
}

const AMBIGUOUS_MAX = 1_000;

/**
 * Books trades with one of our ids that the journal does not know, and halts unless the operator allowed it. A trade
 * that was proven absent always halts the desk, because the venue contradicted its own account.
 */
function adopt(desk: AccountWatchContext, read: WholeAccount): Observable<never> {
  const { unknown, waiting, isBreach } = adoptable(read.trades, desk.state);
  const ids = [...unknown, ...waiting].map(({ clientId }) => clientId).join(', ');
  const why = `the account shows trades that the journal does not know: ${ids}`;
  // The trade's slice must not trade again before this trade is booked, although the trade's value is not known yet.
  if (unknown.length === 0) return waiting.length === 0 ? EMPTY : halt(desk, why);
  desk.observer.alert('fill_adopted', { ids });
  const bodies: RecordBody[] = unknown.map((trade) => adoptedFill(desk, trade, desk.limitDay.now()));
  const isBroken =
    isBreach ||
    waiting.length > 0 ||
    // A trade without a value cannot count towards the limits.
    bodies.some((body) => body.kind === 'fill' && body.notional_usd === '0');
  if (isBroken || !desk.policy.adoptFills) bodies.unshift(haltRecord(why));
  // The trade's order is unknown. The rest may still be booked, and the slice must not trade again before then.
  else if (desk.control === 'active') bodies.push(untilBooked(desk, why));
  return desk.journal.append(bodies).pipe(mergeMap(() => EMPTY));
}

/** A pause for the booking margin and one more read of the account. */
const untilBooked = ({ ports, policy }: AccountWatchContext, why: string): RecordBody => ({
  kind: 'control',
  state: 'paused',
  by: 'tranche',
  why,
  until: after(ports.clock.wall(), policy.inDoubt.bookingMarginMs + policy.accountPollMs),
});
