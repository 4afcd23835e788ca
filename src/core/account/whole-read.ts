import { NO_QUANTITY, add, negate, quantity, size, subtract, text } from '../money.ts';
import type { Quantity } from '../money.ts';
import { instant } from '../time.ts';
import type { Instant, Monotonic } from '../time.ts';
import type { Transaction } from '../venue.ts';
import { compareRowIds, isNumericId } from '../ids.ts';
import { isTrade } from './rows.ts';
import type { Tails } from '../record.ts';
import type { Replaced } from './rows.ts';

/**
 * Decides whether a read of the account is whole: it shows every row that an earlier read showed, the balance after each
 * row follows from the row before, and the balances of a route of their own equal those of the newest rows. Where a
 * balance does not follow, a row may be missing, so that the read proves no absence in that currency; if it stays so, money
 * moved without a row.
 */

/** Data of earlier reads. Starts as `NO_BOOKS`, or as `booksOf` the journal. */
export interface Books {
  /** The rows of the last read and the newest of each currency from before it, by id. */
  readonly rows: ReadonlyMap<string, Transaction>;
  /** Consecutive reads that lacked rows shown by an earlier read. */
  readonly shrunk: number;
  /** Breaks that are explained, reported, or older than the check. */
  readonly accepted: ReadonlySet<string>;
  /** Other breaks. */
  readonly open: ReadonlyMap<string, Lasting>;
  /** `undefined` until the rows decide; `off`: this venue's balances do not follow from its rows. */
  readonly check: 'on' | 'off' | undefined;
  /** Number of reads in which most balances did not follow from the rows. */
  readonly strikes: number;
  /** Moves that rows will show: the route has, or a pending transfer that has may be canceled. */
  readonly awaited: ReadonlySet<string>;
  /** How far each balance of the route is from that of the newest row, by currency. */
  readonly offsets: ReadonlyMap<string, Quantity>;
  /** The rows are those of the journal: only what follows directly on them is new. */
  readonly isInherited: boolean;
}

/** A balance that does not follow from the row before it. */
export interface Break {
  readonly currency: string;
  /** The row before it. */
  readonly after: string;
  /** The row that shows the balance, or `ROUTE`. */
  readonly id: string;
  readonly told: Quantity;
  /** What no row explains. */
  readonly missing: Quantity;
}

interface Lasting extends Break {
  readonly since: Monotonic;
  /** Consecutive reads with this figure, and with any figure. */
  readonly same: number;
  readonly reads: number;
  readonly isTold: boolean;
}

export const NO_BOOKS: Books = {
  rows: new Map(),
  shrunk: 0,
  accepted: new Set(),
  open: new Map(),
  check: undefined,
  strikes: 0,
  awaited: new Set(),
  offsets: new Map(),
  isInherited: false,
};

/** The result of the audit of a read. */
export interface Audit {
  readonly books: Books;
  /** Rows that an earlier read showed and that this read should show, under this id or another: the read lags, or history was removed. */
  readonly gone: readonly string[];
  /** Rows were missing in more consecutive reads than lag explains. */
  readonly isCut: boolean;
  /** Currencies in which this read cannot prove absence: `all`, or those with a break. */
  readonly doubtful: 'all' | ReadonlySet<string>;
}

/**
 * A break to report. `isSteady`: it has lasted, and neither an order in flight nor `row` may explain it, a deposit or
 * withdrawal of exactly this amount that reads of the account have not shown.
 */
export type Difference = Break & { readonly isSteady: boolean; readonly row: string | undefined };

/** Consecutive reads after which lag no longer explains that rows are missing. */
const PATIENCE = 3;
/** A break must last this long, because rows may become visible after newer ones. */
const LASTS_MS = 60_000;
/** Reads without two that agree after which a break counts. */
const READS_MAX = 10;
/** In place of a row: the balances route. */
const ROUTE = 'balances';

/** Where a read begins: after a row, or without one, after a time on the venue's clock. */
export type Reach = { readonly after: string } | { readonly from: Instant };

/** Whether a read that begins there shows this row. */
export const reaches = (reach: Reach, row: Pick<Transaction, 'id' | 'at'>): boolean =>
  'after' in reach ? compareRowIds(row.id, reach.after) > 0 : row.at > reach.from;

export interface AuditedRead {
  readonly rows: readonly Transaction[];
  readonly reach: Reach;
  readonly startedAt: Monotonic;
  /** Rows of our fills that earlier reads of this process showed in place of others. */
  readonly replaced: readonly Replaced[];
  /** Whether the journal has this row as one of a fill. */
  readonly isBooked: (id: string) => boolean;
}

/** Compares a whole read with earlier ones. Pure: the caller stores `books` and passes them in with the next read. */
export function audit(books: Books, read: AuditedRead): Audit {
  const { rows, reach, startedAt, replaced } = read;
  // A pending row may still become another row, or disappear.
  const now = new Map(rows.filter(isDone).map((row) => [row.id, row]));
  const fresh = [...now.values()].filter(({ id }) => !books.rows.has(id));
  // A row of an earlier process may have come under another id since.
  const gone = [...(books.isInherited ? [] : books.rows.values())]
    .filter((row) => !now.has(row.id) && reaches(reach, row) && !hasMoved(row, fresh))
    .map(({ id }) => id);
  const shrunk = gone.length === 0 ? 0 : books.shrunk + 1;
  const tails = lastOf(books.rows.values().filter((row) => !reaches(reach, row)));
  const found = breaksOf([...new Map([...tails, ...now]).values()], tails);
  const calibrated = calibrate(books, found, read);
  const [accepted, awaited] = [new Set(calibrated.accepted), new Set(books.awaited)];
  const open = new Map([...books.open].filter(([, { id }]) => id === ROUTE));
  for (const one of calibrated.check === 'on' ? found.breaks : []) {
    const isOfAnAmendment = replaced.some(({ was, now: { id } }) => was.id === id && id === one.id);
    if (awaited.delete(moveOf(one)) || isOfAnAmendment) accepted.add(keyOf(one));
    if (!accepted.has(keyOf(one))) open.set(keyOf(one), lasting(books.open.get(keyOf(one)), one, startedAt));
  }
  // A read that lacks rows proves nothing about them, so the known rows are kept.
  const kept = new Map([...(gone.length === 0 ? tails : books.rows), ...now]);
  const holes = [...open.values()].filter(({ id }) => id !== ROUTE);
  return {
    books: { ...calibrated, rows: kept, shrunk, open, accepted, awaited, isInherited: false },
    gone,
    isCut: shrunk === PATIENCE,
    doubtful: gone.length > 0 ? 'all' : new Set(holes.map(({ currency }) => currency)),
  };
}

/** Books of a new process, which continue where a record of the journal ends. */
export const booksOf = (tails: Tails): Books => ({
  ...NO_BOOKS,
  rows: new Map(Object.entries(tails).map(([currency, tail]) => [tail.id, asRow(currency, tail)])),
  check: 'on',
  isInherited: true,
});

const asRow = (currency: string, { id, balance }: Tails[string]): Transaction => ({
  id,
  currency,
  balance: quantity(balance),
  orderId: undefined,
  clientId: undefined,
  tradeId: undefined,
  at: instant(0),
  action: 'other',
  amount: NO_QUANTITY,
  price: undefined,
  fees: NO_QUANTITY,
  status: 'done',
});

/** Where the next process continues; `undefined` if balances do not follow from rows. */
export const tailsOf = ({ rows, check }: Books): Tails | undefined =>
  check !== 'on'
    ? undefined
    : Object.fromEntries(
        lastOf(rows.values().filter(({ balance }) => balance !== undefined))
          .values()
          .map(({ currency, id, balance }) => [currency, { id, balance: text(balance ?? NO_QUANTITY) }]),
      );

export interface ToldBalances {
  readonly told: ReadonlyMap<string, Quantity>;
  readonly startedAt: Monotonic;
  /** The smallest unit of a currency: smaller differences are rounding. */
  readonly unit: (currency: string) => Quantity;
}

/**
 * Compares the balances of a route of their own with those after the newest rows. How far they are apart at first is the
 * venue's practice. A balance that a row of this read shows had only come before its row.
 */
export function atRoute(books: Books, { told, startedAt, unit }: ToldBalances): Books {
  const [open, offsets] = [new Map(books.open), new Map(books.offsets)];
  const newest = new Map([...lastOf(books.rows.values()).values()].map((row) => [row.currency, row]));
  for (const [currency, is] of told) {
    const away = subtract(is, newest.get(currency)?.balance ?? NO_QUANTITY);
    const usual = offsets.get(currency) ?? away;
    const missing = subtract(away, usual);
    const [key, isNone] = [`${currency} ${ROUTE}`, (of: Quantity): boolean => size(of).lt(unit(currency))];
    if (isNone(missing) || isNone(away)) {
      open.delete(key);
      offsets.set(currency, isNone(missing) ? usual : NO_QUANTITY);
      continue;
    }
    const was = open.get(key);
    const isLate = was !== undefined && [...books.rows.values()].some((row) => row.currency === currency && compareRowIds(row.id, was.after) > 0 && row.balance !== undefined && add(row.balance, usual).eq(was.told));
    const one = { currency, after: newest.get(currency)?.id ?? '', id: ROUTE, told: is, missing };
    open.set(key, lasting(isLate ? undefined : was, one, startedAt));
  } // prettier-ignore
  return { ...books, open, offsets };
}

function lasting(was: Lasting | undefined, one: Break, startedAt: Monotonic): Lasting {
  const isSame = was?.missing.eq(one.missing) === true;
  return {
    ...one,
    since: isSame ? was.since : startedAt,
    same: isSame ? was.same + 1 : 1,
    reads: (was?.reads ?? 0) + 1,
    isTold: isSame && was.isTold,
  };
}

const isSteady = ({ same, since }: Lasting, startedAt: Monotonic): boolean =>
  same >= 2 && startedAt - since >= LASTS_MS;

/** The breaks that count by now, unless a deposit or a withdrawal explains them. */
export const dueBreaks = ({ open }: Books, startedAt: Monotonic): readonly Lasting[] =>
  [...open.values()].filter((one) => isSteady(one, startedAt) || one.reads >= READS_MAX);

/** The rows after which reads must begin, so that they show the row that explains a break, if there is one by now. */
export const gapsIn = ({ open }: Books): readonly string[] =>
  [...open.values()].flatMap(({ after, id, isTold }) => (isTold && id !== ROUTE ? [after] : []));

export interface Settling {
  readonly startedAt: Monotonic;
  /** Deposits and withdrawals that a read may omit, because they are pending or began long ago. */
  readonly slow: readonly Transaction[];
  /** An order in flight may have moved the currency. */
  readonly isUnderWay: (currency: string) => boolean;
}

/** Reports the breaks that count, and accepts them unless an order in flight may explain them. */
export function settle(
  books: Books,
  { startedAt, slow, isUnderWay }: Settling,
): { readonly books: Books; readonly differences: readonly Difference[] } {
  const [open, accepted] = [new Map(books.open), new Set(books.accepted)];
  const [awaited, offsets] = [new Set(books.awaited), new Map(books.offsets)];
  const differences: Difference[] = [];
  for (const one of dueBreaks(books, startedAt)) {
    const { currency, missing } = one;
    const key = one.id === ROUTE ? `${currency} ${ROUTE}` : keyOf(one);
    const row = slow.find(
      (each) =>
        each.currency === currency &&
        !books.rows.has(each.id) &&
        !each.status.toLowerCase().startsWith('cancel') &&
        effectsOf(each).some((effect) => effect.eq(missing)),
    );
    // A transfer may move the balance before it is done, and back if it is canceled.
    const isPending = row !== undefined && !isDone(row);
    const isWaiting = !isPending && isUnderWay(currency);
    const isCertain = isSteady(one, startedAt) && !isWaiting && row === undefined;
    if (!isPending && (!isWaiting || !one.isTold))
      differences.push({ ...one, isSteady: isCertain, row: row?.id });
    if (isWaiting) {
      open.set(key, { ...one, isTold: true });
      continue;
    }
    open.delete(key);
    if (isPending) awaited.add(moveOf({ currency, missing: negate(missing) }));
    if (one.id === ROUTE) {
      offsets.set(currency, add(offsets.get(currency) ?? NO_QUANTITY, missing));
      awaited.add(moveOf(one));
    } else accepted.add(key);
  }
  return { books: { ...books, open, accepted, awaited, offsets }, differences };
}

const moveOf = ({ currency, missing }: Pick<Break, 'currency' | 'missing'>): string =>
  `${currency} ${text(missing)}`;
const keyOf = (one: Break): string => `${moveOf(one)} ${one.after} ${one.id}`;
/** A completed row; a pending one may still change or disappear. */
export const isDone = ({ status }: Transaction): boolean => status === '' || status.toLowerCase() === 'done';

/** The last row of each currency: the newest by id that no other row follows, because rows may come under new ids. */
function lastOf(rows: Iterable<Transaction>): ReadonlyMap<string, Transaction> {
  const last = new Map<string, Transaction>();
  for (const group of Map.groupBy(rows, ({ currency }) => currency).values()) {
    const newest = group.toSorted((x, y) => compareRowIds(y.id, x.id));
    const end = newest.find((row) => !group.some((other) => follows(other, row))) ?? newest[0];
    if (end !== undefined) last.set(end.id, end);
  }
  return last;
}

/** Whether the balance of one row leads to that of another. */
const follows = (row: Transaction, { id, balance }: Transaction): boolean =>
  row.id !== id &&
  row.balance !== undefined &&
  balance !== undefined &&
  effectsOf(row).some((effect) => effect.eq(subtract(row.balance ?? balance, balance)));

/** Whether a row came under another id: a new row has its currency, its trade, and its amount or its order. */
const hasMoved = (row: Transaction, fresh: readonly Transaction[]): boolean =>
  fresh.some(
    (other) =>
      other.currency === row.currency &&
      other.tradeId === row.tradeId &&
      (other.amount.eq(row.amount) || (row.tradeId !== undefined && other.orderId === row.orderId)),
  );

/**
 * Follows the balance of each currency through its completed rows, by id; a row that lies elsewhere than by its id follows
 * another, or is the last known one, or begins the chain of a currency without one. `joints`: how many pairs of rows were
 * compared.
 */
function breaksOf(rows: readonly Transaction[], tails: ReadonlyMap<string, Transaction>) {
  const breaks: Break[] = [];
  let joints = 0;
  const sorted = rows.toSorted((a, b) => compareRowIds(a.id, b.id));
  for (const [currency, group] of Map.groupBy(sorted, (row) => row.currency)) {
    const lowest = group[0]?.id ?? '';
    let last: Transaction | undefined;
    for (const row of group) {
      const before = last;
      if (isNumericId(row.id)) last = row;
      // A row of which a figure cannot be read is followed by nothing that could be checked.
      if (before?.balance === undefined || row.balance === undefined || row.spoiled !== undefined) continue;
      joints++;
      const step = subtract(row.balance, before.balance);
      const [effect = NO_QUANTITY, ...others] = effectsOf(row);
      // A transfer may have moved the balance before its row was completed.
      if ([effect, ...others].some((each) => each.eq(step)) || (isTransfer(row) && step.isZero())) continue;
      const told = row.balance;
      const isElsewhere = group.some((one) =>
        follows(row, one)
          ? !group.some((other) => other.id !== row.id && follows(other, one))
          : tails.has(one.id) && one.balance?.eq(told) === true,
      );
      if (isElsewhere || (!tails.has(lowest) && isHead(row, group))) continue;
      breaks.push({ currency, after: before.id, id: row.id, told, missing: subtract(step, effect) });
    }
  }
  return { breaks, joints };
}

/**
 * Whether the chain of a currency begins with this row: it follows no row, and the balance of the lowest row by id follows
 * from its own, over any number of rows.
 */
function isHead(head: Transaction, group: readonly Transaction[]): boolean {
  const chain = new Set(group.slice(0, 1));
  for (const row of chain) for (const one of group) if (follows(row, one)) chain.add(one);
  return chain.has(head) && !group.some((one) => follows(head, one));
}

const isTransfer = ({ action }: Transaction): boolean => action === 'deposit' || action === 'withdraw';

/**
 * What a row may do to the balance. The samples leave open whether an amount includes the fees, and for what is not a trade,
 * whether outgoing amounts are negative and a fee of the transfer comes on top.
 */
function effectsOf(row: Transaction): readonly Quantity[] {
  const { amount, fees, action, transferFee = NO_QUANTITY } = row;
  if (isTrade(row)) return [subtract(amount, fees), amount];
  const plain = size(amount);
  const directed = action === 'withdraw' || action === 'charge' ? negate(plain) : plain;
  return [amount, directed]
    .flatMap((each) => [subtract(each, fees), each])
    .flatMap((each) => [each, subtract(each, transferFee)]);
}

/**
 * Determines whether this venue's balances follow from its rows at all. The first read in which most balances follow
 * switches the check on, and its breaks are the venue's practice; so are those of the first read after a restart, but for
 * new rows that follow on the journal's. Two reads in which most balances do not follow switch the check off.
 */
function calibrate(books: Books, found: ReturnType<typeof breaksOf>, { isBooked }: AuditedRead): Books {
  const { breaks, joints } = found;
  const isOld = ({ after, id }: Break): boolean => !books.rows.has(after) || isBooked(id);
  if (books.isInherited) return { ...books, accepted: new Set(breaks.filter(isOld).map(keyOf)) };
  if (books.check !== undefined || joints === 0) return books;
  if (breaks.length * 2 <= joints) return { ...books, check: 'on', accepted: new Set(breaks.map(keyOf)) };
  const strikes = books.strikes + 1;
  return { ...books, strikes, check: strikes >= 2 ? 'off' : undefined };
}
