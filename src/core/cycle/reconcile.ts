import { NO_QUANTITY, add, negate, size, subtract, text } from '../money.ts';
import type { Quantity } from '../money.ts';
import type { Instant, Monotonic } from '../time.ts';
import type { Transaction } from '../venue.ts';

/**
 * Compares our records with the venue exactly: every balance must equal the last known one plus the rows that the
 * account has shown since. Rows count regardless of who caused them; any remainder is a difference.
 */

/** A balance at the time when it last agreed. */
export interface Anchor {
  readonly balance: Quantity;
  /** Newest row of the currency included in it. */
  readonly newestId: number;
  readonly at: Instant;
  /** Set for balances of an earlier process: the own trades that they include, whether a row shows them or not. */
  readonly booked?: ReadonlySet<string> | undefined;
}

/** A difference that a later read may still explain. */
export interface Pending {
  readonly missing: string;
  /** The reported balance and its time, because later rows may explain exactly this balance. */
  readonly told: Quantity;
  readonly at: Instant;
  readonly since: Monotonic;
  /** Numbers of consecutive reads with the same difference, and with any difference. */
  readonly same: number;
  readonly reads: number;
}

/** Data of earlier reads, by currency. Starts as `NO_LEDGER`. */
export interface Ledger {
  readonly anchors: ReadonlyMap<string, Anchor>;
  readonly pending: ReadonlyMap<string, Pending>;
  /** Rows that appeared after newer rows had been shown, and that no balance includes yet. */
  readonly late: ReadonlyMap<string, readonly Transaction[]>;
  /** Currencies that did not agree while an order in flight could explain it. */
  readonly excused: ReadonlySet<string>;
  /** Ids of the newest rows of past reads. A longer read shows these rows again, but a row may explain at most one difference. */
  readonly seen: ReadonlySet<number>;
}

export const NO_LEDGER: Ledger = {
  anchors: new Map(),
  pending: new Map(),
  late: new Map(),
  excused: new Set(),
  seen: new Set(),
};

/** A balance that no row explains. */
export interface Difference {
  readonly currency: string;
  readonly expected: string;
  readonly told: string;
  /**
   * Whether the difference counts: because two reads a minute apart agree on it, because no two reads have agreed for
   * too long, or because `row` may explain it.
   */
  readonly isSteady: boolean;
  /** A deposit or withdrawal of exactly this amount that reads of the account have not shown. */
  readonly row?: number;
}

export interface ToldAccount {
  /** Current balance of each currency at the venue. */
  readonly told: ReadonlyMap<string, Quantity>;
  readonly rows: readonly Transaction[];
  readonly at: Instant;
  readonly startedAt: Monotonic;
  /** An order in flight may explain a difference: an order in doubt, or a fill that is not booked yet. */
  isExcused(currency: string): boolean;
  /** The smallest unit of the currency. Balances and rows may differ by less than this through rounding. */
  unit(currency: string): Quantity;
  /**
   * Deposits and withdrawals that a read may omit: pending ones, and those that began long ago. Requested when
   * `isDue` returns true.
   */
  readonly slow?: readonly Transaction[] | undefined;
}

/** A difference must last this long, because the venue may book rows after the balance that includes them. */
const LASTS_MS = 60_000;
/** Number of reads without two that agree after which the difference counts. */
const READS_MAX = 10;
/** Maximum number of late rows for which all combinations are tested. */
const LATE_MAX = 8;
/** Rows this close to the anchor of an earlier process may have become visible after it. */
const NEAR_MS = 60_000;

/** Compares a whole read with the known balances. Pure: the caller stores `ledger`. */
export function reconcile(
  ledger: Ledger,
  read: ToldAccount,
): { readonly ledger: Ledger; readonly differences: readonly Difference[] } {
  const anchors = new Map<string, Anchor>();
  const pending = new Map<string, Pending>();
  const late = new Map<string, readonly Transaction[]>();
  const excused = new Set<string>();
  const differences: Difference[] = [];
  const byCurrency = doneRows(read.rows);
  for (const currency of new Set([...ledger.anchors.keys(), ...read.told.keys()])) {
    const rows = byCurrency.get(currency) ?? [];
    const known = ledger.anchors.get(currency);
    const unit = read.unit(currency);
    const moved = caughtUp(known, ledger.pending.get(currency), { rows, seen: ledger.seen, unit });
    const before = moved ?? known;
    const told = read.told.get(currency) ?? before?.balance ?? NO_QUANTITY;
    const newestId = rows.reduce((newest, { id }) => Math.max(newest, id), before?.newestId ?? 0);
    const now: Anchor = { balance: told, newestId, at: read.at };
    if (before === undefined) {
      anchors.set(currency, now);
      continue;
    }
    const shown: Shown = { rows, late: ledger.late.get(currency) ?? [], seen: ledger.seen, unit };
    const found = explain(before, told, shown);
    if (found.late.length > 0) late.set(currency, found.late);
    if (found.missing.isZero()) {
      anchors.set(currency, now);
      continue;
    }
    if (read.isExcused(currency)) {
      anchors.set(currency, before);
      excused.add(currency);
      continue;
    }
    const waited = moved === undefined ? ledger.pending.get(currency) : undefined;
    const waiting = wait(waited, { missing: text(found.missing), told, at: read.at }, read.startedAt);
    const isSteady = waiting.same >= 2 && read.startedAt - waiting.since >= LASTS_MS;
    if (!isSteady && waiting.reads < READS_MAX) {
      anchors.set(currency, before);
      pending.set(currency, waiting);
      continue;
    }
    const slow = isSteady ? slowRow(currency, found.missing, read) : undefined;
    if (slow !== undefined && !isDone(slow)) {
      // A pending row moved the balance. Once the row is completed, it explains the change.
      anchors.set(currency, before);
      excused.add(currency);
      continue;
    }
    anchors.set(currency, now);
    const figures = { currency, expected: text(subtract(told, found.missing)), told: text(told) };
    differences.push(
      slow === undefined ? { ...figures, isSteady } : { ...figures, isSteady: false, row: slow.id },
    );
  }
  return {
    ledger: { anchors, pending, late, excused, seen: remembered(ledger.seen, read.rows) },
    differences,
  };
}

/** How far back reads must go while a balance disagrees; `undefined` if all agree. */
export function heldSince({ anchors, pending, excused }: Ledger): Instant | undefined {
  let oldest: Instant | undefined;
  for (const currency of [...pending.keys(), ...excused]) {
    const at = anchors.get(currency)?.at;
    if (at !== undefined && (oldest === undefined || at < oldest)) oldest = at;
  }
  return oldest;
}

/** Whether the next read may find a difference that counts, in which case it needs the `slow` rows. */
export const isDue = ({ pending }: Ledger, startedAt: Monotonic): boolean =>
  [...pending.values()].some(({ since }) => startedAt - since >= LASTS_MS);

/** Balance of each currency after its newest completed row. */
export function bookedBalances(rows: readonly Transaction[]): ReadonlyMap<string, Quantity> {
  const balances = new Map<string, Quantity>();
  for (const [currency, list] of doneRows(rows)) {
    const newest = list.at(-1);
    if (newest !== undefined) balances.set(currency, newest.balance);
  }
  return balances;
}

function wait(
  before: Pending | undefined,
  now: Pick<Pending, 'missing' | 'told' | 'at'>,
  startedAt: Monotonic,
): Pending {
  const reads = (before?.reads ?? 0) + 1;
  if (before?.missing === now.missing) return { ...before, ...now, same: before.same + 1, reads };
  return { ...now, since: startedAt, same: 1, reads };
}

/**
 * Moves the anchor if later rows explain the previous difference. A new difference then counts separately, even if it
 * is equal. On a busy account, rows always lag slightly behind the balances.
 */
function caughtUp(
  anchor: Anchor | undefined,
  was: Pending | undefined,
  { rows, seen, unit }: Omit<Shown, 'late'>,
): Anchor | undefined {
  if (anchor === undefined || was === undefined || anchor.booked !== undefined) return undefined;
  const { certain } = sorted(anchor, rows, seen);
  for (const effect of conventions) {
    let rest = subtract(was.told, anchor.balance);
    for (const row of certain) {
      rest = subtract(rest, effect(row));
      if (size(rest).lt(unit)) return { balance: was.told, newestId: row.id, at: was.at };
    }
  }
  return undefined;
}

/** Finds a slow row that equals the difference. */
const slowRow = (
  currency: string,
  missing: Quantity,
  { rows, slow = [] }: Pick<ToldAccount, 'rows' | 'slow'>,
): Transaction | undefined =>
  slow.find(
    (row) =>
      row.currency === currency &&
      (row.action === 'deposit' || row.action === 'withdraw') &&
      !row.status.toLowerCase().startsWith('cancel') &&
      !rows.some(({ id }) => id === row.id) &&
      conventions.some((effect) => effect(row).eq(missing)),
  );

const SEEN_MAX = 50_000;

function remembered(seen: ReadonlySet<number>, rows: readonly Transaction[]): ReadonlySet<number> {
  const all = seen.union(new Set(rows.filter(isDone).map(({ id }) => id)));
  if (all.size <= SEEN_MAX) return all;
  return new Set([...all].toSorted((a, b) => b - a).slice(0, SEEN_MAX / 2));
}

const isDone = ({ status }: Transaction): boolean => status.toLowerCase() === 'done';

/** Completed rows by currency, each once, oldest first. Pending rows do not count yet. */
function doneRows(rows: readonly Transaction[]): ReadonlyMap<string, readonly Transaction[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const byCurrency = new Map<string, Transaction[]>();
  for (const [, row] of [...byId].toSorted(([a], [b]) => a - b)) {
    if (!isDone(row)) continue;
    const list = byCurrency.get(row.currency);
    if (list === undefined) byCurrency.set(row.currency, [row]);
    else list.push(row);
  }
  return byCurrency;
}

interface Shown {
  readonly rows: readonly Transaction[];
  readonly late: readonly Transaction[];
  readonly seen: ReadonlySet<number>;
  readonly unit: Quantity;
}

/** The part of a balance step that no row explains, and the late rows that no balance includes yet. */
function explain(
  before: Anchor,
  told: Quantity,
  { rows, late: known, seen, unit }: Shown,
): { readonly missing: Quantity; readonly late: readonly Transaction[] } {
  const { certain, possible } = sorted(before, rows, seen);
  const late = [...known.filter((row) => !possible.some(({ id }) => id === row.id)), ...possible].slice(
    -LATE_MAX,
  );
  const step = subtract(told, before.balance);
  for (const effect of conventions) {
    const rest = certain.reduce((sum, row) => subtract(sum, effect(row)), step);
    const used = size(rest).lt(unit) ? 0 : subsetOf(late, rest, effect);
    if (used !== undefined)
      return {
        missing: NO_QUANTITY,
        // An earlier process's balances are settled once they agree.
        late: before.booked === undefined ? late.filter((_, n) => (used & (1 << n)) === 0) : [],
      };
  }
  const missing = certain.reduce((sum, row) => subtract(sum, withFees(row)), step);
  return { missing, late: before.booked === undefined ? late : [] };
}

/** Rows that the step must include, and rows that it may include. */
function sorted(
  { newestId, at, booked }: Anchor,
  rows: readonly Transaction[],
  seen: ReadonlySet<number>,
): { readonly certain: readonly Transaction[]; readonly possible: readonly Transaction[] } {
  const certain: Transaction[] = [];
  const possible: Transaction[] = [];
  for (const row of rows) {
    const wasBooked = row.clientId !== undefined && booked?.has(row.clientId) === true;
    if (row.id > newestId) (wasBooked ? possible : certain).push(row);
    else if (booked === undefined ? !seen.has(row.id) : !wasBooked && row.at > at - NEAR_MS)
      possible.push(row);
  }
  return { certain, possible };
}

type Effect = (row: Transaction) => Quantity;
const withFees: Effect = ({ amount, fees }) => subtract(amount, fees);
const without: Effect = ({ amount }) => amount;
const isTrade = ({ action }: Transaction): boolean => action === 'buy' || action === 'sell';
const transferFee = (row: Transaction): Quantity => row.transferFee ?? NO_QUANTITY;

/** Positive or negative, depending on the action. The samples leave open whether outgoing amounts are negative. */
const directed =
  (effect: Effect): Effect =>
  (row) => {
    const amount = size(row.amount);
    const leaves = row.action === 'withdraw' || row.action === 'charge';
    return effect({ ...row, amount: leaves ? negate(amount) : amount });
  };

/** Possible balance changes of a row that is not a trade. */
const plain: readonly Effect[] = [
  withFees,
  without,
  (row) => subtract(row.amount, transferFee(row)),
  (row) => subtract(withFees(row), transferFee(row)),
];
const ofOthers: readonly Effect[] = plain.flatMap((effect) => [effect, directed(effect)]);

/** The samples leave open for which actions the amount includes which fees. */
const conventions: readonly Effect[] = ofOthers.flatMap((other) =>
  [withFees, without].map(
    (trade): Effect =>
      (row) =>
        isTrade(row) ? trade(row) : other(row),
  ),
);

/** Finds rows that sum to `rest`, as a bit mask; `undefined` if there are none. Tries the fewest rows first. */
function subsetOf(rows: readonly Transaction[], rest: Quantity, effect: Effect): number | undefined {
  for (let bits = 1; bits < 1 << rows.length; bits++) {
    const sum = rows.reduce(
      (all, row, n) => ((bits & (1 << n)) === 0 ? all : add(all, effect(row))),
      NO_QUANTITY,
    );
    if (sum.eq(rest)) return bits;
  }
  return undefined;
}
