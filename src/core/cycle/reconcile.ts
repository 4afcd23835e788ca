import { NO_QUANTITY, add, negate, size, subtract, text } from '../money.ts';
import type { Quantity } from '../money.ts';
import type { Instant, Monotonic } from '../time.ts';
import type { Transaction } from '../venue.ts';

/**
 * Own records against the venue, exactly: every balance must be the one that was known before, moved by the rows that the
 * account has shown since. Rows explain themselves, whoever caused them; what none explains is a difference.
 */

/** What a balance was when it last added up. */
export interface Anchor {
  readonly balance: Quantity;
  /** Newest row of the currency that was in it. */
  readonly newestId: number;
  readonly at: Instant;
  /** From the journal of an earlier process: own trades that its balances had in them, shown by a row or not. */
  readonly booked?: ReadonlySet<string> | undefined;
}

/** A difference that a later read may still explain. */
export interface Pending {
  readonly missing: string;
  /** The balance reported with it, and when: later rows may explain exactly that. */
  readonly told: Quantity;
  readonly at: Instant;
  readonly since: Monotonic;
  /** Reads in a row that showed the same, and all reads that showed any. */
  readonly same: number;
  readonly reads: number;
}

/** What earlier reads showed, by currency. Begins as `NO_LEDGER`. */
export interface Ledger {
  readonly anchors: ReadonlyMap<string, Anchor>;
  readonly pending: ReadonlyMap<string, Pending>;
  /** Rows that appeared behind newer ones and are in no balance yet. */
  readonly late: ReadonlyMap<string, readonly Transaction[]>;
  /** Currencies that did not add up while something was under way that may explain it. */
  readonly excused: ReadonlySet<string>;
  /** Rows that were in a read: a longer read shows them once more, and they explain nothing again. The newest. */
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
   * Two reads a minute apart agree on it. Otherwise no two reads did, for so long that it is not waited for any more; or `row`
   * may be what it is.
   */
  readonly isSteady: boolean;
  /** A deposit or withdrawal of just this amount that reads of the account have not shown. */
  readonly row?: number;
}

export interface ToldAccount {
  /** Current balance of each currency at the venue. */
  readonly told: ReadonlyMap<string, Quantity>;
  readonly rows: readonly Transaction[];
  readonly at: Instant;
  readonly startedAt: Monotonic;
  /** Something is under way that may explain a difference: an order in doubt, a fill that is not booked yet. */
  isExcused(currency: string): boolean;
  /** The smallest amount of the currency: less than that is how balances and rows are rounded. */
  unit(currency: string): Quantity;
  /**
   * Deposits and withdrawals that no read has to show: such as are not done, and such as began long ago. Asked for when
   * `isDue` says so.
   */
  readonly slow?: readonly Transaction[] | undefined;
}

/** A difference must last this long: rows may be booked after the balance that has them in it. */
const LASTS_MS = 60_000;
/** Reads of which no two agree. */
const READS_MAX = 10;
/** Late rows that are tried in every combination. */
const LATE_MAX = 8;
/** Rows so close to the anchor of an earlier process may have become visible after it. */
const NEAR_MS = 60_000;

/** Compares a whole read with what was known. Pure: the caller keeps `ledger`. */
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
      // It moved the balance before it was done; its row explains the balance once it is done.
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

/** Reads must go back to here for as long as something does not add up; `undefined` when all does. */
export function heldSince({ anchors, pending, excused }: Ledger): Instant | undefined {
  let oldest: Instant | undefined;
  for (const currency of [...pending.keys(), ...excused]) {
    const at = anchors.get(currency)?.at;
    if (at !== undefined && (oldest === undefined || at < oldest)) oldest = at;
  }
  return oldest;
}

/** Whether the next read may find a difference that counts: then it needs the rows that are `slow`. */
export const isDue = ({ pending }: Ledger, startedAt: Monotonic): boolean =>
  [...pending.values()].some(({ since }) => startedAt - since >= LASTS_MS);

/** Balance of each currency after its newest row that is done. */
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
 * The anchor as it is after all, when rows that turned up since explain what was missing at the read before: what is missing now
 * is something else then, though it may be as much. On a busy account rows are always a little behind the balances.
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

/** A slow row that is just what is missing. */
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

/** Rows that are done, by currency, each once, oldest first. What is announced moves nothing yet. */
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

/** What of a step no row explains, and the late rows that are still to be seen in a balance. */
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
        // What an earlier process had in its balances is settled once they add up.
        late: before.booked === undefined ? late.filter((_, n) => (used & (1 << n)) === 0) : [],
      };
  }
  const missing = certain.reduce((sum, row) => subtract(sum, withFees(row)), step);
  return { missing, late: before.booked === undefined ? late : [] };
}

/** Rows that must be in the step, and those that may be. */
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

/** What comes in or leaves, by its action: samples leave open whether the amount of what leaves is below zero. */
const directed =
  (effect: Effect): Effect =>
  (row) => {
    const amount = size(row.amount);
    const leaves = row.action === 'withdraw' || row.action === 'charge';
    return effect({ ...row, amount: leaves ? negate(amount) : amount });
  };

/** How a row that is no trade may move its balance. */
const plain: readonly Effect[] = [
  withFees,
  without,
  (row) => subtract(row.amount, transferFee(row)),
  (row) => subtract(withFees(row), transferFee(row)),
];
const ofOthers: readonly Effect[] = plain.flatMap((effect) => [effect, directed(effect)]);

/** Samples leave open for which actions the amount has its fees in it, and which of them. */
const conventions: readonly Effect[] = ofOthers.flatMap((other) =>
  [withFees, without].map(
    (trade): Effect =>
      (row) =>
        isTrade(row) ? trade(row) : other(row),
  ),
);

/** Which of the rows sum to `rest`, as bits; `undefined` when no choice does. The fewest rows first, by number. */
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
