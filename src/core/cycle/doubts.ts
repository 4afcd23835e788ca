import { nextPhase } from './cycle.ts';
import type { QuoteLife, Phase, Proof, Trust } from './cycle.ts';
import type { TradeEvidence } from './evidence.ts';
import { NO_QUANTITY, add, size } from '../money.ts';
import type { Quantity } from '../money.ts';
import { extentOf, missingOf } from './order-extent.ts';
import type { Asked } from './order-extent.ts';
import type { Reason } from '../reasons.ts';
import type { IntentRecord, Missing, ProofRecord } from '../record.ts';
import { after, passedSince } from '../time.ts';
import type { BootTime, Instant, Monotonic } from '../time.ts';
import type { Transaction } from '../venue.ts';

/**
 * All decisions about orders with an unknown outcome, as pure functions: how a new process continues an open attempt,
 * which conclusions a whole read of the account allows, which trades are unknown, and until when an order may be
 * sent. The caller stores the phase of each doubt and passes it in again.
 */

export type Doubt = Phase & { readonly state: 'doubt' };

/** Minimum interval between two reads that prove an absence, because the same lagging replica may serve both. */
export const READ_GAP_MS = 10_000;

export interface Inheritance {
  /** Current time on the monotonic clock of this process, before its first request. */
  readonly startedAt: Monotonic;
  /** Life of the quote if the journal has it, otherwise the longest life of a quote that the desk executes. */
  readonly lifeMs: number;
  readonly bookingMarginMs: number;
  /** The journal shows that it traded; only its figures are missing. */
  readonly isTraded?: boolean | undefined;
  /**
   * Current time on the boot clock. If a record of the dead process has a time of the same boot, the time since then
   * counts.
   */
  readonly boot?: BootTime | undefined;
  /** Time by which the quote had certainly been requested. */
  readonly asked?: BootTime | undefined;
  /** Largest difference between the two clocks for one attempt, milliseconds. */
  readonly clockSlackMs?: number | undefined;
  /** Progress of the proof that the dead process recorded. */
  readonly known?:
    { readonly reason?: Reason | undefined; readonly proof?: ProofRecord | undefined } | undefined;
}

/**
 * The phase of an attempt that a dead process left open. If the journal contains the progress of its proof, the proof
 * continues from there, and the time since then counts. Otherwise, the quote may have arrived just before this process
 * started. It was requested before the intent was written, and an order leaves only within the certain life of its
 * quote. The quote is therefore over twice its life after the start at the latest.
 */
export function inherited(from: Inheritance): Doubt {
  const { startedAt, lifeMs, bookingMarginMs, isTraded, boot, asked, clockSlackMs = 0, known } = from;
  const { proof } = known ?? {};
  const sinceAskedMs = passedSince(asked, boot);
  const freshMs = Math.min(lifeMs, Math.max(0, 2 * lifeMs + clockSlackMs - sinceAskedMs)) + bookingMarginMs;
  const waitMs = proof === undefined ? freshMs : Math.max(0, proof.wait_ms - passedSince(proof.boot, boot));
  const proves = isTraded === true ? 'nothing' : (proof?.proves ?? 'absent');
  return {
    state: 'doubt',
    proof: { readsLeft: proof?.reads_left ?? 2, notBefore: after(startedAt, waitMs), proves },
    reason: proves === 'nothing' ? 'certainly_traded' : (known?.reason ?? 'outcome_unknown'),
    detail: 'left open by an earlier process',
    halt: false,
  };
}

/** Progress of the proof of a doubt, for the journal. */
export const proofRecord = (
  { readsLeft, notBefore, proves }: Proof,
  now: Monotonic,
  boot: BootTime | undefined,
): ProofRecord => ({
  reads_left: readsLeft,
  wait_ms: Math.max(0, Math.ceil(notBefore - now)),
  proves,
  ...(boot === undefined ? {} : { boot }),
});

/** One whole read of the account, reaching back at least to an hour before the oldest open intent. */
export interface WholeRead {
  /** When its first request left. */
  readonly startedAt: Monotonic;
  readonly rows: readonly Transaction[];
  /** `tradesOf(rows, …)`. */
  readonly trades: ReadonlyMap<string, TradeEvidence>;
  /** Currencies in which this read cannot prove absence because of a gap: see `audit`. Default: none. */
  readonly doubtful?: 'all' | ReadonlySet<string> | undefined;
  /**
   * For each row: the attempts that were open when a read of this process first showed it. Omitted: any row may be
   * new.
   */
  readonly openAtFirst?: ReadonlyMap<number, ReadonlySet<string>> | undefined;
}

/** Conclusion of a whole read about one doubt. */
export type Judgement =
  /** It traded. `differs`: how the trade differs from the order. */
  | {
      readonly is: 'filled';
      readonly trade: TradeEvidence;
      readonly differs?: string | undefined;
      /** The venue executed more than was ordered. */
      readonly isMore?: boolean | undefined;
      readonly missing?: Missing | undefined;
    }
  /** The doubt continues, in `phase`. */
  | {
      readonly is: 'open';
      readonly phase: Doubt;
      /**
       * `lookalike`: a row without our id could be its trade. `booking`: it traded, and its figures are still missing.
       * `unseen`: it is absent, which is not proof yet. `hole`: the read has a gap, and proves no absence.
       */
      readonly why: 'lookalike' | 'booking' | 'unseen' | 'hole';
      /** The row that could be its trade. */
      readonly row?: Transaction | undefined;
    }
  /** It certainly did not trade. */
  | { readonly is: 'closed'; readonly phase: Phase & { readonly state: 'ended' } };

/**
 * Judges a doubt by one whole read. Rows with its id that match the quote end it immediately. Incomplete rows prove a
 * trade whose booking may continue; they are final once the booking margin is over. Without any row, the read counts
 * towards the proof of absence, unless rows without an id could be its trade.
 */
export function judge(open: Doubted, phase: Doubt, read: WholeRead, trust: Trust): Judgement {
  const { intent } = open;
  const trade = read.trades.get(intent.client_order_id);
  const extent = trade?.isWhole === true ? extentOf(open, { ...trade, trades: tradesIn(trade) }) : 'other';
  if (trade !== undefined && extent === 'whole') return { is: 'filled', trade };
  if (trade !== undefined && extent === 'more')
    return { is: 'filled', trade, differs: 'booked for more than the order', isMore: true };
  const row = trade === undefined ? lookalike(open, read) : undefined;
  if (row !== undefined) return { is: 'open', phase, why: 'lookalike', row };
  // One leg or a part appears, so the order certainly traded, regardless of later reads.
  const before = trade === undefined ? phase : certain(phase);
  if (hasHole(intent, read)) return { is: 'open', phase: before, why: 'hole' };
  const event = { on: 'clean_read', startedAt: read.startedAt, gapMs: READ_GAP_MS } as const;
  const next = nextPhase(before, event, trust);
  if (next.state === 'ended') return { is: 'closed', phase: next };
  if (next.state !== 'doubt') throw new Error(`invariant broken: a read made a doubt ${next.state}`);
  // The whole trade must be booked by now, so the venue filled less than the whole order.
  if (trade?.isWhole === true && next.proof.readsLeft === 0) {
    const missing = missingOf(open, trade);
    const differs = `booked for ${missing === undefined ? 'another price' : 'less'} than the order`;
    return { is: 'filled', trade, differs, missing };
  }
  return { is: 'open', phase: next, why: next.proof.proves === 'nothing' ? 'booking' : 'unseen' };
}

/** The order moves two currencies, and a gap in either may hide its trade. */
const hasHole = ({ base, quote }: IntentRecord, { doubtful }: WholeRead): boolean =>
  doubtful === 'all' || doubtful?.has(base) === true || doubtful?.has(quote) === true;

/** A doubt whose order certainly traded. Only the trade's figures end it. */
export const certain = (phase: Doubt): Doubt => ({
  ...phase,
  proof: { ...phase.proof, proves: 'nothing' },
  reason: 'certainly_traded',
});

/** The earliest time at which the absence of a trade can end a doubt. The account decides whether it does. */
export const earliestProof = ({ proof: { notBefore, readsLeft } }: Doubt): Monotonic =>
  after(notBefore, Math.max(0, readsLeft - 1) * READ_GAP_MS);

/** Number of trades that the rows of the order form. */
const tradesIn = ({ rows }: TradeEvidence): number => new Set(rows.map(({ tradeId }) => tradeId)).size;

/** An order whose outcome is unknown. */
export interface Doubted extends Asked {
  /** The earliest timestamp that a trade of the order can have, in the venue's time. Omitted: any row may be its trade. */
  readonly earliest?: Instant | undefined;
}

/** Maximum number of rows without an id for which all combinations are tested. */
const ROWS_MAX = 12;

/**
 * Finds a row without a client id that could be the trade of this order, alone or with others: rows with one order id,
 * or without an order id, that sum to exactly its size. Such a row never ends a doubt; it only prevents the doubt from
 * ending. Excludes rows that a read showed before the attempt started, or that are older than its quote.
 */
function lookalike(
  { intent, earliest }: Doubted,
  { rows, trades, openAtFirst }: WholeRead,
): Transaction | undefined {
  const currency = intent.by === 'quantity' ? intent.base : intent.quote;
  const ours = new Set([...trades.values()].flatMap((trade) => trade.rows.map(({ id }) => id)));
  const groups = new Map<string | undefined, Map<number, Transaction>>();
  for (const row of rows) {
    if (row.clientId !== undefined || row.action !== intent.side || row.currency !== currency) continue;
    if (row.pair !== undefined && row.pair !== intent.pair) continue;
    if (earliest !== undefined && row.at < earliest) continue;
    if (openAtFirst?.get(row.id)?.has(intent.client_order_id) === false || ours.has(row.id)) continue;
    const group = groups.get(row.orderId) ?? new Map<number, Transaction>();
    groups.set(row.orderId, group.set(row.id, row));
  }
  for (const [orderId, group] of groups) {
    const list = [...group.values()];
    const one = list.find(({ amount }) => size(amount).eq(intent.size));
    if (one !== undefined) return one;
    if (orderId === undefined ? comesTo(list, intent.size) : sumOf(list).eq(intent.size)) return list[0];
  }
  return undefined;
}

const sumOf = (rows: readonly Transaction[]): Quantity =>
  rows.reduce((sum, { amount }) => add(sum, size(amount)), NO_QUANTITY);

/** Whether some of the rows sum to this size. Also `true` for too many rows to test. */
function comesTo(rows: readonly Transaction[], wanted: string): boolean {
  if (rows.length > ROWS_MAX) return true;
  for (let bits = 1; bits < 1 << rows.length; bits++)
    if (sumOf(rows.filter((_, n) => (bits & (1 << n)) !== 0)).eq(wanted)) return true;
  return false;
}

/**
 * Records which attempts were open when a read first showed a row without our id. Pure: the caller stores `before`, which holds the
 * rows of the newest reads.
 */
export function notedRows(
  before: ReadonlyMap<number, ReadonlySet<string>>,
  rows: readonly Transaction[],
  open: ReadonlySet<string>,
): ReadonlyMap<number, ReadonlySet<string>> {
  const fresh = rows.filter(
    ({ id, clientId, action }) =>
      clientId === undefined && (action === 'buy' || action === 'sell') && !before.has(id),
  );
  if (fresh.length === 0) return before;
  const all = new Map([...before, ...fresh.map(({ id }) => [id, open] as const)]);
  return all.size <= NOTED_MAX ? all : new Map([...all].slice(-NOTED_MAX / 2));
}

const NOTED_MAX = 50_000;

/** The client ids that the journal knows; implemented by `EngineState`. */
export interface KnownIds {
  /** Traded and booked. */
  readonly filledIds: { has(clientId: string): boolean };
  /** Open: in progress, or in doubt. */
  readonly attempts: { has(clientId: string): boolean };
  /** Closed without a trade after an order had left. */
  readonly closedIds: { has(clientId: string): boolean };
  /** Older ids have been dropped. */
  readonly rememberedSince: Instant | number;
}

/** Trades with our ids that the journal does not know. */
export interface Adoption {
  readonly unknown: readonly TradeEvidence[];
  /** Trades with one leg so far. Nothing may trade in their place before their figures are known. */
  readonly waiting: readonly TradeEvidence[];
  /** One of the orders was proven not to have traded. The venue contradicted itself, so the desk halts whatever its config states. */
  readonly isBreach: boolean;
}

/** Finds the trades in a whole read that the journal does not know. They are booked as soon as both legs are present. */
export function adoptable(trades: ReadonlyMap<string, TradeEvidence>, known: KnownIds): Adoption {
  const strange = [...trades.values()].filter(
    ({ clientId, at }) =>
      !known.filledIds.has(clientId) && !known.attempts.has(clientId) && at > known.rememberedSince,
  );
  return {
    unknown: strange.filter(({ isWhole }) => isWhole),
    waiting: strange.filter(({ isWhole }) => !isWhole),
    isBreach: strange.some(({ clientId }) => known.closedIds.has(clientId)),
  };
}

/**
 * Last instant at which an order may be sent, so that it reaches the venue within the certain life of its quote. After
 * this instant, the attempt ends without an order. The response may arrive after the quote has expired, because the
 * venue refuses an order that arrives too late.
 */
export const lastOrderStart = (quoteLife: QuoteLife, orderMarginMs: number): Monotonic =>
  after(quoteLife.lower, -orderMarginMs);

/**
 * How long to wait for the response to an order sent at `sentAt`, milliseconds. A late response is still evidence, so
 * the wait does not end with the quote. It ends when the account can first prove the outcome, because waiting longer
 * would only delay that proof.
 */
export const answerWaitMs = (
  quoteLife: QuoteLife,
  wait: { readonly sentAt: Monotonic; readonly orderTimeoutMs: number; readonly bookingMarginMs: number },
): number =>
  Math.max(0, Math.min(wait.orderTimeoutMs, after(quoteLife.upper, wait.bookingMarginMs) - wait.sentAt));
