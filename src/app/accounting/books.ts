import { bookingOrder } from '../../accounting/booking-order.ts';
import { dateOf, journalEvent } from '../../accounting/events.ts';
import type { AccountingEvent, CorrectionEvent, TradeEvent } from '../../accounting/events.ts';
import { Subledger } from '../../accounting/subledger.ts';
import type { Entry } from '../../accounting/subledger.ts';
import { add, NO_QUANTITY, quantity, subtract, text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { openHistory } from '../../journal/account-history.ts';
import type { HistoryRow } from '../../journal/account-history.ts';
import { balanceOrder } from '../../journal/history-gaps.ts';
import type { Journal } from '../../journal/journal.ts';
import { EMPTY } from '../../journal/proof/chain.ts';
import type { Head } from '../../journal/proof/chain.ts';
import { methodAt } from './accounting-settings.ts';
import type { AccountingSettings } from './accounting-settings.ts';
import { ClosedPeriods } from './closed-periods.ts';
import type { Closing } from './closed-periods.ts';
import { closingsOf, numbersOf } from './closings.ts';
import { PriceList } from './price-list.ts';

/** The books of one account. */
export interface Books {
  readonly settings: AccountingSettings;
  /** Oldest first. The caller can read them only once. */
  readonly entries: Iterable<Entry>;
  /** Complete once the entries have been read. */
  readonly subledger: Subledger;
  readonly prices: PriceList | undefined;
  /** Modes of the runs in the journal: only the books of `live` belong to a real account. */
  readonly modes: readonly string[];
  /** Head of the chain that is the source of the books. */
  readonly head: Head;
  /** Closed periods, oldest first, and the results of the books for them, which are complete once the entries have been read. */
  readonly closings: readonly Closing[];
  readonly periods: ClosedPeriods;
  /** The newest balance that the account's history shows, by currency. */
  readonly balances: ReadonlyMap<string, Quantity> | undefined;
  /** Returns the newest balance before a time, by currency. */
  readonly balancesAt: (until: Instant) => ReadonlyMap<string, Quantity> | undefined;
}

export interface BooksOptions {
  /** Time at which the books are made: days that are over by then are complete. */
  readonly now: Instant;
  /** End of a period to hash like a closed one. */
  readonly until?: Instant | undefined;
  /** Whether the caller compares the closed periods; otherwise a difference is an error. */
  readonly isLenient?: boolean | undefined;
  readonly onLine?: ((line: string, until: Instant) => void) | undefined;
}

/**
 * Folds the journal and the account's history into books.
 *
 * @throws OperatorError `data` when the chain of the journal breaks, or for an event that cannot be booked.
 */
export function makeBooks(
  journal: Journal,
  settings: AccountingSettings,
  { now, until, isLenient = false, onLine }: BooksOptions,
): Books {
  const closings = closingsOf(journal, settings);
  const prices = settings.prices === undefined ? undefined : PriceList.read(settings.prices);
  const own: (TradeEvent | CorrectionEvent)[] = [];
  const modes = new Set<string>();
  // Reads the journal once, because a desk may write in the meantime: the head then belongs to the records in the books.
  // Reading checks the chain.
  let head: Head = EMPTY;
  for (const record of journal.read()) {
    head = record;
    const event = journalEvent(record);
    if (event !== undefined) own.push(event);
    if (record.body.kind === 'started') modes.add(record.body.mode);
  }
  const history = settings.history === undefined ? undefined : readHistory(settings.history);
  const closed = closings.map((closing) => ({
    until: closing.until,
    seq: closing.head.seq,
    transactions: numbersOf(closing.transactions),
  }));
  const events = bookingOrder({ own, rows: history ?? [], closed });
  const corrected = new Set(events.filter(({ type }) => type === 'correction').map(({ id }) => id));
  const { currency, jurisdiction, timeZone, earlierMethods } = settings;
  const last = closings.at(-1)?.until ?? 0;
  const further = until !== undefined && until > last ? until : undefined;
  const method = methodAt(settings, instant((further ?? now) - 1));
  const subledger = new Subledger({
    currency,
    method: earlierMethods[0]?.method ?? settings.method,
    timeZone,
    priceAt: (asset, at) => prices?.at(asset, at)?.price,
    choiceOf: (id) => settings.specific.get(id),
    costOf: (id) => settings.deposits.get(id),
    isCorrected: (id) => corrected.has(id),
    closedUntil: closings.map((closing) => closing.until),
  });
  const periods = new ClosedPeriods(
    { closings, until: further, currency, method, jurisdiction, isStrict: !isLenient, onLine },
    subledger,
  );
  return {
    settings,
    entries: book({ subledger, periods, settings }, events, now),
    subledger,
    prices,
    modes: [...modes],
    head: { seq: head.seq, hash: head.hash },
    closings,
    periods,
    balances: history && balancesOf(history),
    balancesAt: (end) => history && balancesOf(history.filter(({ at }) => at < end)),
  };
}

/** Yields one entry at a time, so that a million entries need not be in memory. Removes the events from their list. */
function* book(
  { subledger, periods, settings }: Pick<Books, 'subledger' | 'periods' | 'settings'>,
  events: AccountingEvent[],
  now: Instant,
): Generator<Entry> {
  const { opening, earlierMethods, method } = settings;
  const taken = function* (entries: Iterable<Entry>): Generator<Entry> {
    for (const entry of entries) {
      periods.take(entry);
      const closing = periods.current?.seq;
      yield closing === undefined ? entry : { ...entry, closing };
    }
  };
  let earlier = 0;
  /** Ends the days, periods and methods that are over at a date. */
  const reach = function* (date: Instant): Generator<Entry> {
    yield* taken(subledger.endDays(date));
    periods.reach(date);
    for (; date >= (earlierMethods[earlier]?.until ?? Infinity); earlier += 1) {
      const next = earlierMethods[earlier + 1]?.method ?? method;
      if (next !== 'average' && next !== 'pool') subledger.changeMethod(next);
    }
  };
  const found = opening
    .filter(({ bookedAt = Infinity }) => bookedAt <= now)
    .toSorted((a, b) => (a.bookedAt ?? 0) - (b.bookedAt ?? 0));
  /** Books the opening lots whose `bookedAt` is at or before a date. */
  const openUntil = function* (date: Instant): Generator<Entry> {
    for (let [lot] = found; lot?.bookedAt !== undefined && lot.bookedAt <= date; [lot] = found) {
      yield* reach(lot.bookedAt);
      yield* taken([subledger.openWith(lot.currency, lot, lot.bookedAt)]);
      found.shift();
    }
  };
  for (const lot of opening.toSorted((a, b) => a.acquiredAt - b.acquiredAt))
    if (lot.bookedAt === undefined) yield* taken([subledger.openWith(lot.currency, lot)]);
  for (const event of drained(events)) {
    const date = dateOf(event);
    yield* openUntil(date);
    yield* reach(date);
    yield* taken(subledger.book(event));
  }
  yield* openUntil(now);
  yield* taken(subledger.endDays(now));
  periods.reach();
}

/** Yields the items in their order and keeps none, so that a million events need only the memory of lots and output. */
function* drained<T>(items: T[]): Generator<T> {
  items.reverse();
  for (let item = items.pop(); item !== undefined; item = items.pop()) yield item;
}

/** Reads the rows of the account's history in the order of their balances. */
function readHistory(file: string): readonly HistoryRow[] {
  const store = openHistory(file, {});
  try {
    return [...store.rows(balanceOrder(store, { isFromStart: false }).order)];
  } finally {
    store.close();
  }
}

function balancesOf(rows: readonly HistoryRow[]): ReadonlyMap<string, Quantity> {
  const balances = new Map<string, Quantity>();
  for (const { currency, balance, status } of rows)
    if (status.toLowerCase() === 'done') balances.set(currency, quantity(balance));
  return balances;
}

/** The balance of a currency in the books and in the account. */
export interface BalanceRow {
  readonly currency: string;
  readonly books: string;
  /** Absent without a history of the account. */
  readonly account?: string | undefined;
  readonly difference?: string | undefined;
}

/** Returns the holdings by currency, compared with the account to the last digit. */
export function balanceRows({
  entries,
  balances,
}: Pick<Books, 'entries' | 'balances'>): readonly BalanceRow[] {
  const held = new Map<string, Quantity>();
  for (const { postings } of entries)
    for (const { account, currency, quantity: units } of postings)
      if (account === 'holdings') held.set(currency, add(held.get(currency) ?? NO_QUANTITY, units));
  const names = [...new Set([...held.keys(), ...(balances?.keys() ?? [])])].toSorted();
  return names.map((currency) => {
    const books = held.get(currency) ?? NO_QUANTITY;
    if (balances === undefined) return { currency, books: text(books) };
    const account = balances.get(currency) ?? NO_QUANTITY;
    return {
      currency,
      books: text(books),
      account: text(account),
      difference: text(subtract(books, account)),
    };
  });
}

/** Yields the entries from `from` on and before `until`. */
export function* inPeriod(
  entries: Iterable<Entry>,
  { from, until }: { readonly from?: Instant | undefined; readonly until?: Instant | undefined },
): Generator<Entry> {
  for (const entry of entries)
    if (entry.at >= (from ?? 0) && (until === undefined || entry.at < until)) yield entry;
}
