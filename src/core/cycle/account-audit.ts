import { NO_QUANTITY, subtract, text } from '../money.ts';
import type { Quantity } from '../money.ts';
import type { Instant } from '../time.ts';
import type { Transaction } from '../venue.ts';

/**
 * Whether a read of the account can be believed when it does not show something. Rows are compared with those of earlier
 * reads of this process, and the balance after each row must follow from the row before: what does not add up has a hole,
 * and through a hole anything may have fallen.
 */

/** What earlier reads showed. Begins as `NO_BOOKS`. */
export interface Books {
  /** Content of the rows of the last read, by id: the newest `ROWS_MAX`. */
  readonly rows: ReadonlyMap<number, { readonly at: Instant; readonly content: string }>;
  /** Reads in a row that lacked rows which an earlier one had shown. */
  readonly shrunk: number;
  /** Breaks that were there before anything was at stake, or that the check began with. */
  readonly accepted: ReadonlySet<string>;
  /** Other breaks, with the number of reads in a row that showed them. */
  readonly breaks: ReadonlyMap<string, number>;
  /** `undefined` until the rows show it; `off`: balances of this venue do not follow from its rows. */
  readonly check: 'on' | 'off' | undefined;
  /** Reads whose balances mostly did not follow. */
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

/** What a read says of itself. */
export interface Audit {
  readonly books: Books;
  /** Rows that have another content than before, or two in one read: history was changed. */
  readonly changed: readonly number[];
  /** Rows that an earlier read showed and this one should: a replica that lags, or history that was cut. */
  readonly gone: readonly number[];
  /** Rows were missing in more consecutive reads than a lag explains. */
  readonly isCut: boolean;
  /** Gaps that lasted for `PATIENCE` reads, each reported once. */
  readonly stayed: readonly Break[];
  /** The check was just switched off. */
  readonly isGivenUp: boolean;
  /** Absence in these cannot be proven by this read: `all`, or the currencies with a hole. */
  readonly doubtful: 'all' | ReadonlySet<string>;
}

/** Two neighbours of one currency whose balances do not follow from one another. */
export interface Break {
  readonly currency: string;
  readonly after: number;
  readonly id: number;
  /** What no row explains. */
  readonly missing: string;
}

/** Rows kept for comparison: a month of a busy account. */
const ROWS_MAX = 50_000;
/** Consecutive reads after which a gap is not a replica lag. */
const PATIENCE = 3;

export interface AuditedRead {
  /** In the order of the answers; a row that pages repeat may be there more than once. */
  readonly rows: readonly Transaction[];
  /** The read covers everything after this. */
  readonly from: Instant;
  /** Something is in doubt: a break that appears now may be the order that it is about. */
  readonly hasDoubts: boolean;
}

/** Compares a whole read with those before it. Pure: the caller keeps `books` and passes them in with the next read. */
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
    // A read that lacks rows says nothing of what it lacks: what was known stays known.
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
    // What is announced may still become another row, or none.
    if (!isDone(row)) continue;
    const content = contentOf(row);
    const before = now.get(row.id) ?? books.rows.get(row.id);
    if (before !== undefined && before.content !== content) changed.add(row.id);
    now.set(row.id, { at: row.at, content });
  }
  return { now, changed: [...changed] };
}

/** What of a done row may never change: who moved what, for which order, and what was left. */
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
  /** Pairs of neighbours that were looked at. */
  readonly joints: number;
}

/** Follows the balance of each currency through its done rows, by id. */
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

/** A row explains a step by its amount, with or without its fees: samples leave open which it is for which action. */
function unexplained(step: Quantity, { amount, fees }: Transaction): Quantity {
  const withFees = subtract(step, subtract(amount, fees));
  return withFees.isZero() || step.eq(amount) ? NO_QUANTITY : withFees;
}

/**
 * Finds out whether the balances of this venue follow from its rows at all: the first read in which most of them do switches
 * the check on, with the breaks it has; two in which most do not switch it off.
 */
function calibrate(books: Books, { breaks, joints }: Found): Books {
  if (books.check !== undefined || joints === 0) return books;
  if (breaks.length * 2 <= joints) return { ...books, check: 'on', accepted: new Set(breaks.map(keyOf)) };
  const strikes = books.strikes + 1;
  return { ...books, strikes, check: strikes >= 2 ? 'off' : undefined };
}

/**
 * Puts the next page behind those before it. Pages overlap, and the last row of those before must be in the new one,
 * unchanged: otherwise rows have moved between the two requests, and one may have been skipped. `undefined` then.
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
