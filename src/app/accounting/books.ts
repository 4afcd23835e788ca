import { historyEvents, journalEvent } from '../../accounting/events.ts';
import type { AccountingEvent } from '../../accounting/events.ts';
import { Subledger } from '../../accounting/subledger.ts';
import type { Entry } from '../../accounting/subledger.ts';
import { OperatorError } from '../../core/errors.ts';
import { add, NO_QUANTITY, quantity, subtract, text } from '../../core/money.ts';
import type { Quantity } from '../../core/money.ts';
import type { Instant } from '../../core/time.ts';
import { openHistory } from '../../journal/account-history.ts';
import type { HistoryRow } from '../../journal/account-history.ts';
import { balanceOrder } from '../../journal/history-gaps.ts';
import type { Journal } from '../../journal/journal.ts';
import type { AccountingSettings } from './accounting-settings.ts';
import { PriceList } from './price-list.ts';

/** The books of one account. */
export interface Books {
  readonly settings: AccountingSettings;
  /** Oldest first; to be read once. */
  readonly entries: Iterable<Entry>;
  /** Complete once the entries have been read. */
  readonly subledger: Subledger;
  readonly prices: PriceList | undefined;
  /** Modes of the runs in the journal: books of `live` alone are those of an account. */
  readonly modes: readonly string[];
  /** Head of the chain that they were made from. */
  readonly head: string;
  /** The newest balance that the account's history shows, by currency. */
  readonly balances: ReadonlyMap<string, Quantity> | undefined;
}

/**
 * Folds the journal and the account's history into books.
 *
 * @throws OperatorError `data` when the chain of the journal breaks, or for what cannot be booked.
 */
export function makeBooks(journal: Journal, settings: AccountingSettings): Books {
  const verdict = journal.verify();
  if (!verdict.ok)
    throw new OperatorError('data', `the journal breaks at record ${verdict.seq}: ${verdict.why}`);
  const prices = settings.prices === undefined ? undefined : PriceList.read(settings.prices);
  const ownEvents: AccountingEvent[] = [];
  const modes = new Set<string>();
  for (const record of journal.read()) {
    const event = journalEvent(record);
    if (event !== undefined) ownEvents.push(event);
    if (record.body.kind === 'started') modes.add(record.body.mode);
  }
  const history = settings.history === undefined ? undefined : readHistory(settings.history);
  const own = new Set(ownEvents.map(({ id }) => id));
  const corrected = new Set(ownEvents.filter(({ type }) => type === 'correction').map(({ id }) => id));
  const events: AccountingEvent[] = [
    ...ownEvents,
    ...historyEvents(history?.rows ?? [], (id) => own.has(id)),
  ];
  // A correction comes after its trade: the sort is stable, and the record of a trade is older.
  events.sort((a, b) => a.at - b.at);
  const subledger = new Subledger({
    currency: settings.currency,
    method: settings.method,
    priceAt: (currency, at) => prices?.at(currency, at)?.price,
    choiceOf: (id) => settings.specific.get(id),
    costOf: (id) => settings.deposits.get(id),
    isCorrected: (id) => corrected.has(id),
  });
  return {
    settings,
    entries: book(subledger, settings, events),
    subledger,
    prices,
    modes: [...modes],
    head: verdict.head,
    balances: history?.balances,
  };
}

/** One entry at a time: a million of them need not be held. */
function* book(
  subledger: Subledger,
  { opening }: AccountingSettings,
  events: readonly AccountingEvent[],
): Generator<Entry> {
  for (const { currency, ...lot } of opening.toSorted((a, b) => a.acquiredAt - b.acquiredAt))
    yield subledger.openWith(currency, lot);
  for (const event of events) yield* subledger.book(event);
}

interface History {
  readonly rows: readonly HistoryRow[];
  readonly balances: ReadonlyMap<string, Quantity>;
}

function readHistory(file: string): History {
  const store = openHistory(file, {});
  try {
    const rows = [...store.rows(balanceOrder(store, { isFromStart: false }).order)];
    const balances = new Map<string, Quantity>();
    for (const { currency, balance, status } of rows)
      if (status.toLowerCase() === 'done') balances.set(currency, quantity(balance));
    return { rows, balances };
  } finally {
    store.close();
  }
}

/** What the books hold of a currency against what the account shows. */
export interface BalanceRow {
  readonly currency: string;
  readonly books: string;
  /** Absent without a history of the account. */
  readonly account?: string | undefined;
  readonly difference?: string | undefined;
}

/** Holdings by currency, compared with the account to the last digit. */
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

/** Entries from `from` on and before `until`. */
export function* inPeriod(
  entries: Iterable<Entry>,
  { from, until }: { readonly from?: Instant | undefined; readonly until?: Instant | undefined },
): Generator<Entry> {
  for (const entry of entries)
    if (entry.at >= (from ?? 0) && (until === undefined || entry.at < until)) yield entry;
}
