import { nextPhase } from '../cycle/cycle.ts';
import type { Doubt, Phase } from '../cycle/cycle.ts';
import { READ_GAP_MS, certain } from '../cycle/proof.ts';
import { extentOf, largestOf, missingOf } from '../cycle/order-extent.ts';
import type { Asked } from '../cycle/order-extent.ts';
import { size } from '../money.ts';
import type { IntentRecord, Missing } from '../record.ts';
import type { Monotonic } from '../time.ts';
import type { Transaction } from '../venue.ts';
import { hasBothLegs, tradeOf } from './rows.ts';
import type { Attributed, KnownRows, Trade } from './rows.ts';

/**
 * The rule about orders with an unknown outcome, as pure functions. An order traded if the account shows rows that
 * belong to it, by an exact id. It did not trade if whole reads after the end of its quote and the booking margin show no
 * row that could be its trade: no row that belongs to nobody, except those that cannot be its own because a whole read
 * had shown them before the order could leave, because they are larger than the whole order, or because a person says so.
 */

/** One whole read of the account. It reaches back to before the oldest open attempt. */
export interface WholeRead extends Attributed {
  /** When its first request left. */
  readonly startedAt: Monotonic;
  /** Currencies in which this read cannot prove absence because of a gap: see `audit`. Default: none. */
  readonly doubtful?: 'all' | ReadonlySet<string> | undefined;
}

/** An attempt in doubt. */
export interface Doubted extends Asked {
  readonly intent: IntentRecord;
  /** Number of the record that made the intent durable. */
  readonly intentSeq: number;
}

/** Conclusion of a whole read about one doubt. */
export type Judgement =
  /** It traded. `differs`: how the trade differs from the order. `isMore`: the venue executed more than was ordered. */
  | {
      readonly is: 'filled';
      readonly trade: Trade;
      readonly differs?: string | undefined;
      readonly isMore?: boolean | undefined;
      readonly missing?: Missing | undefined;
    }
  /**
   * The doubt continues, in `phase`. `unattributed`: `rows` that belong to nobody could be its trade. `booking`: it traded,
   * and its figures are incomplete. `unseen`: it is absent, which is not proof yet. `hole`: the read has a gap.
   */
  | {
      readonly is: 'open';
      readonly phase: Doubt;
      readonly why: 'unattributed' | 'booking' | 'unseen' | 'hole';
      readonly rows: readonly Transaction[];
      /** What its rows show so far. */
      readonly trade?: Trade | undefined;
    }
  /** It certainly did not trade. */
  | { readonly is: 'closed'; readonly phase: Phase & { readonly state: 'ended' } };

/**
 * Judges a doubt by one whole read. The trade is the sum of all rows of the order. It is whole at once if it equals the
 * quote, and otherwise once the booking margin after the end of the quote is over; without a quote never earlier.
 */
export function judge(order: Doubted, phase: Doubt, read: WholeRead, known: KnownRows): Judgement {
  const { intent } = order;
  const rows = read.ours.get(intent.client_order_id);
  const trade = rows === undefined ? undefined : tradeOf(intent, rows);
  const isComplete = trade !== undefined && hasBothLegs(trade);
  const extent = isComplete ? extentOf(order, trade) : 'other';
  if (trade !== undefined && extent === 'more')
    return { is: 'filled', trade, differs: 'booked for more than the order', isMore: true };
  if (trade !== undefined && extent === 'whole' && order.quoted !== undefined) return { is: 'filled', trade };
  const open = trade === undefined ? phase : certain(phase);
  const strange = candidates(order, read, known);
  if (strange.length > 0) return { is: 'open', phase: open, why: 'unattributed', rows: strange, trade };
  if (hasHole(intent, read)) return { is: 'open', phase: open, why: 'hole', rows: [], trade };
  const next = nextPhase(open, { on: 'clean_read', startedAt: read.startedAt, gapMs: READ_GAP_MS });
  if (next.state === 'ended') return { is: 'closed', phase: next };
  if (next.state !== 'doubt') throw new Error(`invariant broken: a read made a doubt ${next.state}`);
  if (trade === undefined) {
    const why = next.proof.proves === 'nothing' ? 'booking' : 'unseen';
    return { is: 'open', phase: next, why, rows: [] };
  }
  // Every row must be booked by now.
  if (!isComplete || next.proof.readsLeft > 0)
    return { is: 'open', phase: next, why: 'booking', rows: [], trade };
  const missing = missingOf(order, trade);
  if (extent === 'whole') return { is: 'filled', trade };
  const differs = `booked for ${missing === undefined ? 'another price' : 'less'} than the order`;
  return { is: 'filled', trade, differs, missing };
}

/**
 * The rows that could be the order's trade although no id says so. Only three things make a row of a trade harmless: a
 * whole read had shown it before the intent was durable; it is larger than the whole order; a person says that it is not
 * ours (such a row is not among the unattributed).
 */
export function candidates(
  order: Doubted,
  { unattributed }: Pick<Attributed, 'unattributed'>,
  known: KnownRows,
): readonly Transaction[] {
  if (unattributed.length === 0) return [];
  const { intent, intentSeq } = order;
  const most = new Map([
    [intent.base, largestOf(order, 'quantity')],
    [intent.quote, largestOf(order, 'amount')],
  ]);
  return unattributed.filter((row) => {
    const { currency, amount, spoiled } = row;
    if (currency !== '' && !most.has(currency)) return false;
    const limit = most.get(currency);
    if (limit !== undefined && spoiled === undefined && size(amount).gt(limit)) return false;
    const seen = known.seenAt(row);
    return seen === undefined || seen > intentSeq;
  });
}

/** The order moves two currencies, and a gap in either may hide its trade. */
const hasHole = ({ base, quote }: IntentRecord, { doubtful }: WholeRead): boolean =>
  doubtful === 'all' || doubtful?.has(base) === true || doubtful?.has(quote) === true;
