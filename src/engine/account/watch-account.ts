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
import { compareFill } from '../../core/account/booked-fill.ts';
import { judge } from '../../core/account/judge.ts';
import type { WholeRead } from '../../core/account/judge.ts';
import { compareRowIds, parseClientId } from '../../core/ids.ts';
import { attribute, changeText, hasBothLegs, isTrade, tradeOf } from '../../core/account/rows.ts';
import type { Attributed, Replaced, Trade } from '../../core/account/rows.ts';
import { audit, booksOf, reaches } from '../../core/account/whole-read.ts';
import type { Audit } from '../../core/account/whole-read.ts';
import type { Doubt } from '../../core/cycle/cycle.ts';
import { quotedIn } from '../../core/cycle/order-extent.ts';
import { VenueError } from '../../core/errors.ts';
import { text } from '../../core/money.ts';
import type { FillRecord, RecordBody, RowText } from '../../core/record.ts';
import { DAY_MS, after } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import type { Transaction } from '../../core/venue.ts';
import type { BookingPart } from './account-state.ts';
import { rowFacts } from './doubt-alerts.ts';
import { readAccount } from './read-account.ts';
import type { AccountRead, Strange, WholeAccount } from './read-account.ts';
import { keepBalances } from './balances.ts';
import { debtsOf } from './debts.ts';
import { executedTwice, halt, haltRecord } from './halt.ts';
import { adoptedFill, fillFromEvidence } from '../attempt/booking.ts';
import type { Desk } from '../desk.ts';
import type { Booked } from '../state/strategy-run.ts';
import type { AttemptEnd } from '../attempt/execute.ts';
import { sliceKey } from '../state/engine-state.ts';
import type { OpenAttempt } from '../state/engine-state.ts';
import { watch } from '../watch.ts';

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
export function watchAccount(desk: Desk): Observable<AttemptEnd> {
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

/** Hints cannot overload the route, because the rate limiter bounds reads of the account. */
function untilNextRead(desk: Desk): number {
  const { inDoubt, accountPollMs } = desk.policy;
  const ms = desk.state.hasDoubts() || desk.account.booking.size > 0 ? inDoubt.pollMs : accountPollMs;
  return desk.account.isHinted ? Math.min(ms, HINT_MS) : ms;
}

/**
 * How long to wait before the next read, milliseconds, so that a read starts at the first instant at which it counts
 * towards the proof of a doubt. A read shortly before that instant would delay the proof, because the route is rate
 * limited. `lastAt`: when the last read started.
 */
function untilCountingRead({ account, ports }: Desk, pollMs: number, lastAt: Monotonic): number {
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
export function readOnce(desk: Desk): Observable<AttemptEnd> {
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
function applyRead(desk: Desk, read: AccountRead): Observable<AttemptEnd> {
  return defer(() => {
    const { account, state } = desk;
    desk.observer.accountRead(read.rows.length);
    desk.venueHealth.answered();
    const isFirst = account.lastReadAt === undefined;
    account.lastReadAt = read.startedAt;
    account.readFault = 'its rows do not add up';
    account.rereadAfter = undefined;
    for (const { at } of read.rows)
      if (account.newestRowAt === undefined || at > account.newestRowAt) account.newestRowAt = at;
    const attributed = attribute(read.rows, {
      mark: desk.mark,
      known: state.rows,
      open: state.attempts.keys(),
    });
    if (isFirst && state.lastBalances?.tails !== undefined) account.books = booksOf(state.lastBalances.tails);
    const isBooked = (id: string): boolean => state.rows.fillOf(id) !== undefined;
    const audited = audit(account.books, { ...read, replaced: account.replaced, isBooked });
    const isGivenUp = audited.books.check === 'off' && account.books.check !== 'off';
    account.books = audited.books;
    const whole: WholeAccount = {
      ...read,
      ...attributed,
      ...tradesIn(desk, attributed),
      doubtful: audited.doubtful,
    };
    const ends = judgeDoubts(desk, whole);
    const wereUnbooked = account.unbooked.size;
    const noted = noteOthers(desk, whole);
    if (!isFirst || state.rows.data.newest !== '') tellForeign(desk, noted);
    return concat(
      isFirst ? defer(() => suspectLostJournal(desk, read)) : EMPTY,
      noted.length === 0 ? EMPTY : desk.journal.append([shownOthers(noted)]).pipe(mergeMap(() => EMPTY)),
      compare(desk, whole),
      defer(() => report(desk, { ...audited, isGivenUp })),
      defer(() => adopt(desk, whole)),
      of(...ends),
      // Balances from a lagging replica are older than the known ones.
      audited.doubtful === 'all'
        ? EMPTY
        : concat(
            defer(() => keepBalances(desk, whole)),
            defer(() => {
              account.readUntil = read.at;
              if (audited.doubtful !== 'all' && audited.doubtful.size > 0) return EMPTY;
              // A read that is the first to miss a fill may not be what the account holds.
              const isConfirmed = account.unbooked.size === wereUnbooked;
              account.readFault = isConfirmed ? undefined : 'it lacks a fill';
              if (isConfirmed) account.wholeReadAt = read.startedAt;
              return EMPTY;
            }),
          ),
    );
  });
}

/** The trades in a read, of the orders that the journal knows and of the others with our ids. */
function tradesIn(
  { state, instruments }: Desk,
  { ours }: Attributed,
): Pick<WholeAccount, 'trades' | 'strange'> {
  const trades = new Map<string, Trade>();
  const strange: Strange[] = [];
  for (const [clientId, rows] of ours) {
    const known = state.attempts.get(clientId)?.intent ?? state.filledIds.get(clientId)?.fill;
    if (known !== undefined) trades.set(clientId, tradeOf(known, rows));
    else {
      const { parent = '', slice = 0 } = parseClientId(clientId) ?? {};
      const decided = state.slices.get(sliceKey(parent, slice))?.intent.pair;
      const named = decided === undefined ? undefined : instruments.pair(decided);
      const currencies = new Set(rows.filter(isTrade).map(({ currency }) => currency));
      const pair = named === undefined || 'problem' in named ? instruments.pairIn([...currencies]) : named;
      const { base = '', quote = '' } = pair ?? {};
      strange.push({ trade: tradeOf({ client_order_id: clientId, base, quote }, rows), pair });
    }
  }
  return { trades, strange };
}

/**
 * Rows of trades that this read shows for the first time and that are not ours. They cannot be the trade of an order
 * whose intent becomes durable after this is recorded.
 */
const noteOthers = (
  { state }: Desk,
  { rows, unattributed, others }: WholeAccount,
): readonly Transaction[] => {
  const transfers = rows.filter((row) => row.isSettlement === true && !isTrade(row));
  return [...unattributed, ...others, ...transfers].filter((row) => state.rows.seenAt(row) === undefined);
};

const shownOthers = (rows: readonly Transaction[]): RecordBody => ({
  kind: 'shown',
  fills: {},
  others: rows.map(({ id, orderId, currency, amount }) => ({
    id,
    currency,
    amount: text(amount),
    ...(orderId === undefined ? {} : { order_id: orderId }),
  })),
});

/**
 * Reports trades on the account that this desk did not make, except those that hold a doubt open. While the account owes
 * something, rows without the ids of an order are what the venue settled, whatever their text says.
 */
function tellForeign({ account, observer, state }: Desk, rows: readonly Transaction[]): void {
  const held = new Set([...account.evidence.values()].flatMap((one) => one.rows.map(({ id }) => id)));
  const owes = debtsOf(state).size > 0;
  const isSettled = (row: Transaction): boolean =>
    row.isSettlement ?? (owes && [row.orderId, row.clientId, row.tradeId].every((id) => id === undefined));
  const others = rows.filter(({ id }) => !held.has(id));
  const settled = others.filter(isSettled);
  if (settled.length > 0) {
    const moved = settled.map(({ id, amount, currency }) => `${text(amount)} ${currency} (${id})`);
    observer.alert('positions_settled', { count: settled.length, rows: moved.slice(0, 20).join(', ') });
  }
  const foreign = new Set(others.filter((row) => !isSettled(row)).map(({ id, tradeId }) => tradeId ?? id));
  if (foreign.size === 0) return;
  observer.alert('foreign_trades', { count: foreign.size, trades: [...foreign].slice(0, 20).join(', ') });
}

/**
 * A journal without any intent, on an account that traded its pairs within a day, may have replaced a lost one, whose
 * plan would be bought again. A live desk then starts halted until a person says that it is new.
 */
function suspectLostJournal(desk: Desk, { rows, at }: AccountRead): Observable<never> {
  const { state, policy } = desk;
  if (policy.mode !== 'live' || state.rows.data.newest !== '' || state.balancesReadAt !== undefined)
    return EMPTY;
  const pairs = [...desk.strategies.sources.values()].flatMap(({ bound }) => bound.pairs);
  const currencies = new Set(
    [...pairs, ...(policy.limits.pairs ?? [])].flatMap((pair) => {
      const known = desk.instruments.pair(pair);
      return 'problem' in known ? [] : [known.base, known.quote];
    }),
  );
  const traded = rows.filter(
    (row) => isTrade(row) && row.at > at - DAY_MS && (row.currency === '' || currencies.has(row.currency)),
  );
  if (traded.length === 0) return EMPTY;
  const why = `the journal is new, and the account has traded within a day (${traded.length} rows): if no journal was lost, re-arm the desk`;
  desk.observer.alert('journal_new', { rows: traded.length });
  return halt(desk, why);
}

/**
 * Compares every booked fill with the account, regardless of its source and age. The account is authoritative, and its
 * figures apply before anything is sized again.
 */
function compare(desk: Desk, read: WholeAccount): Observable<never> {
  const { account, observer } = desk;
  const bodies: RecordBody[] = [];
  /**
   * Written first, because if the journal stored only the beginning of the batch, it would otherwise contain the trade
   * without the halt.
   */
  const halts: RecordBody[] = [];
  const shown: Record<string, readonly RowText[]> = {};
  const booking = new Map<string, BookingPart>();
  const replaced: Replaced[] = [];
  for (const { fill, rowBefore, lifeMs } of compared(desk, read)) {
    const { client_order_id: id, base, quote } = fill;
    const trade = read.trades.get(id);
    const covers = ({ id: row }: { readonly id: string }): boolean =>
      reaches(read.reach, { id: row, at: fill.executed_at });
    const isCovered =
      'from' in read.reach || (rowBefore !== '' && compareRowIds(read.reach.after, rowBefore) <= 0);
    const hasHole = read.doubtful === 'all' || [base, quote].some((each) => isIn(read.doubtful, each));
    const dueAt = account.bookingEnds(id, lifeMs);
    const found = compareFill({
      fill,
      trade,
      covers,
      isDue: isCovered && !hasHole && read.startedAt >= dueAt,
      precisions: desk.instruments.precisions(fill.pair),
    });
    switch (found.is) {
      case 'agreed':
      case 'early':
        break;
      case 'shown':
        shown[id] = found.rows;
        replaced.push(...found.replaced);
        if (found.replaced.length > 0) tellChanged(desk, id, found.replaced.map(changeText));
        break;
      case 'unclear':
        // The next read comes soon, because this may be a second execution.
        account.isHinted = true;
        if (account.rereadAfter === undefined || compareRowIds(rowBefore, account.rereadAfter) < 0)
          account.rereadAfter = rowBefore;
        break;
      case 'booking':
        booking.set(id, { shown: found.why, dueAt });
        if (found.isMore) halts.push(...tellTwice(desk, id, found.why));
        break;
      case 'unbooked':
        bodies.push(...tellUnbooked(desk, fill));
        break;
      case 'differs':
        bodies.push(found.correction);
        replaced.push(...found.replaced);
        if (found.isMore) halts.push(...tellTwice(desk, id, found.why));
        else if (found.correction.changes !== undefined) tellChanged(desk, id, found.correction.changes);
        else if (found.by !== 'rounding')
          observer.alert('fill_differs', { client_order_id: id, why: found.why });
        // The desk already halted or paused when the fill fell short.
        if (found.by === 'grave' && !found.isMore && fill.rows === undefined && desk.control !== 'halted')
          halts.push(haltRecord(`the account shows another trade of ${id} than was booked: ${found.why}`));
    }
  }
  account.booking = booking;
  account.replaced = replaced;
  if (Object.keys(shown).length > 0) bodies.push({ kind: 'shown', fills: shown });
  const all = [...halts, ...bodies];
  return all.length === 0 ? EMPTY : desk.journal.append(all).pipe(mergeMap(() => EMPTY));
}

/** The account changed rows of a fill that it had shown, or shows them under new ids. */
const tellChanged = ({ observer }: Desk, id: string, changes: readonly string[]): void => {
  observer.alert('fill_differs', { client_order_id: id, why: changes.slice(0, 20).join('; ') });
};

interface Compared extends Pick<Booked, 'fill' | 'rowBefore'> {
  readonly lifeMs: number | undefined;
}

/** Fills that a read may confirm: those of which it shows rows, and those that no read has shown completely. */
function compared({ state }: Desk, { trades }: WholeAccount): readonly Compared[] {
  return [...new Set([...trades.keys(), ...state.unshown.keys()])].flatMap((id): readonly Compared[] => {
    const booked = state.filledIds.get(id);
    if (booked === undefined || booked.fill.source === 'dry_run') return [];
    return [{ fill: booked.fill, rowBefore: booked.rowBefore, lifeMs: state.unshown.get(id)?.lifeMs }];
  });
}

const isIn = (doubtful: WholeRead['doubtful'], currency: string): boolean =>
  doubtful !== undefined && doubtful !== 'all' && doubtful.has(currency);

/** Alerts, once, about a fill that the account should have shown. */
function tellUnbooked(desk: Desk, fill: FillRecord): readonly RecordBody[] {
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
function tellTwice(desk: Desk, id: string, why: string): readonly RecordBody[] {
  const key = `${id} ${why}`;
  // A person who re-arms the desk has seen the alert.
  if (desk.account.executedTwice.has(key)) return [];
  desk.observer.alert('executed_twice', { client_order_id: id, why });
  if (desk.account.executedTwice.size >= AMBIGUOUS_MAX) desk.account.executedTwice.clear();
  desk.account.executedTwice.add(key);
  return desk.control === 'halted' ? [] : [haltRecord(executedTwice({ client_order_id: id }, why))];
}

/** Reports inconsistencies of a read, and halts the desk when rows have disappeared. */
function report(
  desk: Desk,
  { gone, isCut, isGivenUp }: Audit & { readonly isGivenUp: boolean },
): Observable<never> {
  if (isGivenUp)
    desk.observer.warn(
      'the balances of this venue do not follow from its rows: reads are not checked for gaps',
    );
  if (!isCut) return EMPTY;
  const ids = gone.slice(0, 20).join(', ');
  desk.observer.alert('history_changed', { rows: ids, count: gone.length });
  return halt(desk, `the account no longer shows rows that it had shown: ${ids}`);
}

/**
 * Judges each open doubt by this read. Returns the doubts that end, with a trade or with proof that there is none, and
 * the doubts whose proof has progressed.
 */
function judgeDoubts(desk: Desk, read: WholeAccount): readonly AttemptEnd[] {
  const ends: AttemptEnd[] = [];
  const { account } = desk;
  for (const open of desk.state.doubts) {
    const { intent } = open;
    const clientId = intent.client_order_id;
    const phase = account.doubts.get(clientId);
    if (phase === undefined) continue;
    const asked = {
      intent,
      intentSeq: open.seq,
      quoted: quotedIn(open.quote),
      precisions: desk.instruments.precisions(intent.pair),
    };
    const judged = judge(asked, phase, read, desk.state.rows);
    account.evidence.delete(clientId);
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
          ends.push({ end: 'doubt', intent, phase: judged.phase, orderIds: orderIdsOf(judged.trade) });
        account.doubts.set(clientId, judged.phase);
        account.evidence.set(clientId, { rows: judged.rows, trade: judged.trade });
        if (judged.rows.length > 0) alertUnattributed(desk, open, judged.rows);
    }
  }
  return ends;
}

const hasMoved = (before: Doubt, now: Doubt): boolean =>
  now.reason !== before.reason ||
  now.proof.readsLeft !== before.proof.readsLeft ||
  now.proof.proves !== before.proof.proves;

const orderIdsOf = (trade: Trade | undefined): readonly string[] =>
  trade === undefined || trade.orderId === '' ? [] : [trade.orderId];

/** Reports rows that could be the trade of a doubt, each once. */
function alertUnattributed(desk: Desk, open: OpenAttempt, rows: readonly Transaction[]): void {
  const { account, observer } = desk;
  const { client_order_id: id } = open.intent;
  const fresh = rows.filter((row) => !account.ambiguousTrades.has(`${id} ${row.id}`));
  if (fresh.length === 0) return;
  // Limits the rows in memory: during a flood of similar rows, the desk reports some again.
  if (account.ambiguousTrades.size >= AMBIGUOUS_MAX) account.ambiguousTrades.clear();
  for (const row of fresh) account.ambiguousTrades.add(`${id} ${row.id}`);
  observer.alert('doubt_unattributed', { client_order_id: id, rows: rowFacts(open, rows) });
}

const AMBIGUOUS_MAX = 1_000;

/**
 * Books trades with one of our ids that the journal does not know, and halts unless the operator allowed it. A trade
 * that was proven absent always halts the desk, because the venue contradicted its own account.
 */
function adopt(desk: Desk, read: WholeAccount): Observable<never> {
  const { rememberedSince, closedIds } = desk.state;
  const strange = read.strange.filter(({ trade: { at } }) => at === 0 || at > rememberedSince);
  // A trade with one leg so far waits: nothing may trade in its place before its figures are known.
  const unknown = strange.filter(({ trade }) => hasBothLegs(trade));
  const waiting = strange.filter(({ trade }) => !hasBothLegs(trade));
  const isBreach = strange.some(({ trade: { clientId } }) => closedIds.has(clientId));
  const ids = [...unknown, ...waiting].map(({ trade: { clientId } }) => clientId).join(', ');
  const why = `the account shows trades that the journal does not know: ${ids}`;
  // The trade's slice must not trade again before this trade is booked, although the trade's value is not known yet.
  if (unknown.length === 0) return waiting.length === 0 ? EMPTY : halt(desk, why);
  desk.observer.alert('fill_adopted', { ids });
  const bodies: RecordBody[] = unknown.map((one) => adoptedFill(desk, one, desk.limitDay.now()));
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
const untilBooked = ({ ports, policy }: Desk, why: string): RecordBody => ({
  kind: 'control',
  state: 'paused',
  by: 'tranche',
  why,
  until: after(ports.clock.wall(), policy.inDoubt.bookingMarginMs + policy.accountPollMs),
});
