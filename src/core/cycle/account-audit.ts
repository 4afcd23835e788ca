import { NO_QUANTITY, subtract, text } from '../money.ts';
import type { Quantity } from '../money.ts';
import type { Instant } from '../time.ts';
import type { Transaction } from '../venue.ts';

/**
 * Decides whether a read of the account can prove that something is absent. Compares its rows with those of earlier
 * reads of this process, and checks that the balance after each row follows from the previous row. A mismatch is a
 * gap, in which any row may be missing.
 */

/** Data of earlier reads. Starts as `NO_BOOKS`. */
export interface Books {
  /** Content of the rows of the last read, by id: the newest `ROWS_MAX`. */
  readonly rows: ReadonlyMap<number, { readonly at: Instant; readonly content: string }>;
  /** Consecutive reads that lacked rows shown by an earlier read. */
  readonly shrunk: number;
  /** Breaks that appeared before any order was in doubt, or that existed when the check was switched on. */
  readonly accepted: ReadonlySet<string>;
  /** Other breaks, with the number of consecutive reads that showed them. */
  readonly breaks: ReadonlyMap<string, number>;
  /** `undefined` until the rows decide; `off`: this venue's balances do not follow from its rows. */
  readonly check: 'on' | 'off' | undefined;
  /** Number of reads in which most balances did not follow from the rows. */
  readonly strikes: number;
}

export const NO_BOOKS: Books = {
  rows: new Map(),
  shrunk: 0,
  accepted: new Set(),
  breaks: new Map(),
  check: undefined,
  strikes: 0,
};

/** The result of the audit of a read. */
export interface Audit {
  readonly books: Books;
  /** Rows whose content changed or differs within one read, which means that history was changed. */
  readonly changed: readonly number[];
  /**
   * Rows that an earlier read showed and this read should also show. They are missing because of a lagging replica or
   * removed history.
   */
  readonly gone: readonly number[];
  /** Rows were missing in more consecutive reads than replica lag explains. */
  readonly isCut: boolean;
  /** Gaps that lasted for `PATIENCE` reads, each reported once. */
  readonly stayed: readonly Break[];
  /** The check was just switched off. */
  readonly isGivenUp: boolean;
  /** Currencies in which this read cannot prove absence: `all`, or those with a gap. */
  readonly doubtful: 'all' | ReadonlySet<string>;
}

/** Two consecutive rows of one currency whose balances do not follow from one another. */
export interface Break {
  readonly currency: string;
  readonly after: number;
  readonly id: number;
  /** The unexplained amount. */
  readonly missing: string;
}

/** Maximum number of rows kept for comparison: a month of a busy account. */
const ROWS_MAX = 50_000;
/** Consecutive reads after which replica lag no longer explains a gap. */
const PATIENCE = 3;

export interface AuditedRead {
  /** In the order of the responses; overlapping pages may repeat a row. */
  readonly rows: readonly Transaction[];
  /** The read covers everything after this. */
  readonly from: Instant;
  /** Whether any order is in doubt. A new break may then hide that order. */
  readonly hasDoubts: boolean;
}

/** Compares a whole read with earlier ones. Pure: the caller stores `books` and passes them in with the next read. */
export function audit(books: Books, { rows, from, hasDoubts }: AuditedRead): Audit {
  const { now, changed } = contents(books, rows);
  const gone = [...books.rows].flatMap(([id, { at }]) => (at > from && !now.has(id) ? [id] : []));
  const shrunk = gone.length === 0 ? 0 : books.shrunk + 1;
  const found = breaksOf(rows);
  const calibrated = calibrate(books, found);
  const breaks = new Map<string, number>();
  const accepted = new Set(calibrated.accepted);
  const stayed: Break[] = [];
  const holes = new Set<string>();
  if (calibrated.check === 'on') {
    for (const one of found.breaks) {
      const key = keyOf(one);
      if (accepted.has(key)) continue;
      const seen = (books.breaks.get(key) ?? 0) + 1;
      if (seen === PATIENCE) stayed.push(one);
      if (seen >= PATIENCE && !hasDoubts) accepted.add(key);
      else {
        breaks.set(key, seen);
        holes.add(one.currency);
      }
    }
  }
  return {
    // A read that lacks rows proves nothing about them, so the known rows are kept.
    books: {
      ...calibrated,
      rows: bounded(gone.length === 0 ? now : new Map([...books.rows, ...now])),
      shrunk,
      breaks,
      accepted,
    },
    changed,
    gone,
    isCut: shrunk === PATIENCE,
    stayed,
    isGivenUp: calibrated.check === 'off' && books.check !== 'off',
    doubtful: gone.length > 0 || changed.length > 0 ? 'all' : holes,
  };
}

const keyOf = ({ currency, after, id }: Break): string => `${currency} ${after} ${id}`;

function contents(
  books: Books,
  rows: readonly Transaction[],
): {
  readonly now: Map<number, { readonly at: Instant; readonly content: string }>;
  readonly changed: readonly number[];
} {
  const now = new Map<number, { readonly at: Instant; readonly content: string }>();
  const changed = new Set<number>();
  for (const row of rows) {
    // A pending row may still become another row, or disappear.
    if (!isDone(row)) continue;
    const content = contentOf(row);
    const before = now.get(row.id) ?? books.rows.get(row.id);
    if (before !== undefined && before.content !== content) changed.add(row.id);
    now.set(row.id, { at: row.at, content });
  }
  return { now, changed: [...changed] };
}

/** The parts of a completed row that may never change. */
const contentOf = (row: Transaction): string =>
  [
    row.orderId ?? '',
    row.clientId ?? '',
    row.tradeId ?? '',
    row.action,
    row.currency,
    text(row.amount),
    text(row.fees),
    text(row.balance),
    row.pair ?? '',
  ].join('|');

const isDone = ({ status }: Transaction): boolean => status.toLowerCase() === 'done';

function bounded<T>(rows: ReadonlyMap<number, T>): ReadonlyMap<number, T> {
  if (rows.size <= ROWS_MAX) return rows;
  return new Map([...rows].toSorted(([a], [b]) => b - a).slice(0, ROWS_MAX));
}

interface Found {
  readonly breaks: readonly Break[];
  /** Number of row pairs that were compared. */
  readonly joints: number;
}

/** Follows the balance of each currency through its completed rows, by id. */
function breaksOf(rows: readonly Transaction[]): Found {
  const last = new Map<string, Transaction>();
  const breaks: Break[] = [];
  let joints = 0;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [, row] of [...byId].toSorted(([a], [b]) => a - b)) {
    if (!isDone(row)) continue;
    const before = last.get(row.currency);
    last.set(row.currency, row);
    if (before === undefined) continue;
    joints++;
    const missing = unexplained(subtract(row.balance, before.balance), row);
    if (!missing.isZero())
      breaks.push({ currency: row.currency, after: before.id, id: row.id, missing: text(missing) });
  }
  return { breaks, joints };
}

/** A row explains a balance step by its amount, with or without fees, because the samples do not show which actions include fees. */
function unexplained(step: Quantity, { amount, fees }: Transaction): Quantity {
  const withFees = subtract(step, subtract(amount, fees));
  return withFees.isZero() || step.eq(amount) ? NO_QUANTITY : withFees;
}

/**
 * Determines whether this venue's balances follow from its rows at all. The first read in which most balances follow
 * switches the check on and accepts the breaks in that read. Two reads in which most balances do not follow switch the
 * check off.
 */
function calibrate(books: Books, { breaks, joints }: Found): Books {
  if (books.check !== undefined || joints === 0) return books;
  if (breaks.length * 2 <= joints) return { ...books, check: 'on', accepted: new Set(breaks.map(keyOf)) };
  const strikes = books.strikes + 1;
  return { ...books, strikes, check: strikes >= 2 ? 'off' : undefined };
}

/**
 * Appends the next page. Pages overlap: the new page must contain the last known row unchanged. Otherwise, rows moved
 * between the two requests, and one may have been skipped; the result is then `undefined`.
 */
export function joinPages(
  before: readonly Transaction[],
  page: readonly Transaction[],
): readonly Transaction[] | undefined {
  const last = before.at(-1);
  if (last === undefined) return page;
  const at = page.findIndex(({ id }) => id === last.id);
  const same = page[at];
  if (same === undefined || contentOf(same) !== contentOf(last)) return undefined;
  return [...before, ...page.slice(at + 1)];
}
