import { NO_QUANTITY, add, subtract, text } from './money.ts';
import type { Quantity } from './money.ts';
import type { Instant, Monotonic } from './time.ts';
import type { Transaction } from './venue.ts';

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
  readonly since: Monotonic;
  /** Reads in a row that showed the same, and all reads that showed any. */
  readonly same: number;
  readonly reads: number;
}

/** What earlier reads showed, by currency. Begins as `NO_LEDGER`. */
export interface Ledger {
  readonly anchors: ReadonlyMap<string, Anchor>;
  readonly pending: ReadonlyMap<string, Pending>;
  /** Rows that turned up behind newer ones, and that no balance has shown yet. */
  readonly late: ReadonlyMap<string, readonly Transaction[]>;
  /** Currencies that did not add up while something was under way that may explain it. */
  readonly excused: ReadonlySet<string>;
}

export const NO_LEDGER: Ledger = {
  anchors: new Map(),
  pending: new Map(),
  late: new Map(),
  excused: new Set(),
};

/** A balance that no row explains. */
export interface Difference {
  readonly currency: string;
  readonly expected: string;
  readonly told: string;
  /** Two reads a minute apart agree on it. Otherwise no two reads did, for so long that it is not waited for any more. */
  readonly isSteady: boolean;
}

export interface ToldAccount {
  /** Balance of each currency as the venue tells it now. */
  readonly told: ReadonlyMap<string, Quantity>;
  readonly rows: readonly Transaction[];
  readonly at: Instant;
  readonly startedAt: Monotonic;
  /** An earlier read of this process showed the row. */
  wasShown(id: number): boolean;
  /** Something is under way that may explain a difference: an order in doubt, a fill that is not booked yet. */
  isExcused(currency: string): boolean;
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
    const before = ledger.anchors.get(currency);
    const told = read.told.get(currency) ?? before?.balance ?? NO_QUANTITY;
    const newestId = rows.reduce((newest, { id }) => Math.max(newest, id), before?.newestId ?? 0);
    const now: Anchor = { balance: told, newestId, at: read.at };
    if (before === undefined) {
      anchors.set(currency, now);
      continue;
    }
    const found = explain(before, told, { rows, late: ledger.late.get(currency) ?? [], read });
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
    const waiting = wait(ledger.pending.get(currency), text(found.missing), read.startedAt);
    const isSteady = waiting.same >= 2 && read.startedAt - waiting.since >= LASTS_MS;
    if (!isSteady && waiting.reads < READS_MAX) {
      anchors.set(currency, before);
      pending.set(currency, waiting);
      continue;
    }
    anchors.set(currency, now);
    const expected = text(subtract(told, found.missing));
    differences.push({ currency, expected, told: text(told), isSteady });
  }
  return { ledger: { anchors, pending, late, excused }, differences };
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

/** Balance of each currency after its newest row that is done. */
export function bookedBalances(rows: readonly Transaction[]): ReadonlyMap<string, Quantity> {
  const balances = new Map<string, Quantity>();
  for (const [currency, list] of doneRows(rows)) {
    const newest = list.at(-1);
    if (newest !== undefined) balances.set(currency, newest.balance);
  }
  return balances;
}

function wait(before: Pending | undefined, missing: string, at: Monotonic): Pending {
  if (before?.missing === missing) return { ...before, same: before.same + 1, reads: before.reads + 1 };
  return { missing, since: at, same: 1, reads: (before?.reads ?? 0) + 1 };
}

/** Rows that are done, by currency, each once, oldest first. What is announced moves nothing yet. */
function doneRows(rows: readonly Transaction[]): ReadonlyMap<string, readonly Transaction[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const byCurrency = new Map<string, Transaction[]>();
  for (const [, row] of [...byId].toSorted(([a], [b]) => a - b)) {
    if (row.status.toLowerCase() !== 'done') continue;
    const list = byCurrency.get(row.currency);
    if (list === undefined) byCurrency.set(row.currency, [row]);
    else list.push(row);
  }
  return byCurrency;
}

interface Shown {
  readonly rows: readonly Transaction[];
  readonly late: readonly Transaction[];
  readonly read: ToldAccount;
}

/** What of a step no row explains, and the late rows that are still to be seen in a balance. */
function explain(
  before: Anchor,
  told: Quantity,
  { rows, late: known, read }: Shown,
): { readonly missing: Quantity; readonly late: readonly Transaction[] } {
  const { certain, possible } = sorted(before, rows, read);
  const late = [...known.filter((row) => !possible.some(({ id }) => id === row.id)), ...possible].slice(
    -LATE_MAX,
  );
  const step = subtract(told, before.balance);
  for (const effect of conventions) {
    const rest = certain.reduce((sum, row) => subtract(sum, effect(row)), step);
    const used = subsetOf(late, rest, effect);
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
  read: ToldAccount,
): { readonly certain: readonly Transaction[]; readonly possible: readonly Transaction[] } {
  const certain: Transaction[] = [];
  const possible: Transaction[] = [];
  for (const row of rows) {
    const wasBooked = row.clientId !== undefined && booked?.has(row.clientId) === true;
    if (row.id > newestId) (wasBooked ? possible : certain).push(row);
    else if (booked === undefined ? !read.wasShown(row.id) : !wasBooked && row.at > at - NEAR_MS)
      possible.push(row);
  }
  return { certain, possible };
}

type Effect = (row: Transaction) => Quantity;
const withFees: Effect = ({ amount, fees }) => subtract(amount, fees);
const without: Effect = ({ amount }) => amount;
const isTrade = ({ action }: Transaction): boolean => action === 'buy' || action === 'sell';

/** Samples leave open for which actions the amount has its fees in it. */
const conventions: readonly Effect[] = [
  withFees,
  without,
  (row) => (isTrade(row) ? withFees(row) : without(row)),
  (row) => (isTrade(row) ? without(row) : withFees(row)),
];

/** Which of the rows sum to `rest`, as bits; `undefined` when no choice does. The fewest rows first, by number. */
function subsetOf(rows: readonly Transaction[], rest: Quantity, effect: Effect): number | undefined {
  if (rest.isZero()) return 0;
  for (let bits = 1; bits < 1 << rows.length; bits++) {
    const sum = rows.reduce(
      (all, row, n) => ((bits & (1 << n)) === 0 ? all : add(all, effect(row))),
      NO_QUANTITY,
    );
    if (sum.eq(rest)) return bits;
  }
  return undefined;
}
