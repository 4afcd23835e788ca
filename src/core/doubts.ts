import { follow } from './cycle.ts';
import type { Life, Phase, Trust } from './cycle.ts';
import type { TradeEvidence } from './evidence.ts';
import { quantity, size } from './money.ts';
import type { Money, Quantity } from './money.ts';
import type { IntentRecord } from './record.ts';
import { after } from './time.ts';
import type { Instant, Monotonic } from './time.ts';
import type { Transaction } from './venue.ts';

/**
 * Everything that is decided about an order whose outcome is unknown, as functions of plain data: what a dead process left
 * behind, what one whole read of the account means, which trades nobody knows, and until when an order may leave. Whoever
 * calls them keeps the phase of each doubt and passes it in again.
 */

export type Doubt = Phase & { readonly state: 'doubt' };

/** Two reads that prove an absence are at least this far apart: a lagging replica may serve both. */
export const READ_GAP_MS = 10_000;

export interface Inheritance {
  /** Now, on the monotonic clock of this process: before its first request. */
  readonly startedAt: Monotonic;
  /** Life of the quote when the journal holds it, else the longest life that is ever executed. */
  readonly lifeMs: number;
  readonly bookingMarginMs: number;
  /** The journal says that it traded: only its figures are missing. */
  readonly isTraded?: boolean | undefined;
}

/**
 * What an attempt becomes that a dead process left open. The time base of that process is lost: the quote may have been
 * received a moment before this one began.
 */
export const inherited = ({ startedAt, lifeMs, bookingMarginMs, isTraded }: Inheritance): Doubt => ({
  state: 'doubt',
  proof: {
    readsLeft: 2,
    notBefore: after(startedAt, lifeMs + bookingMarginMs),
    proves: isTraded === true ? 'nothing' : 'absent',
  },
  reason: isTraded === true ? 'certainly_traded' : 'outcome_unknown',
  detail: 'left open by an earlier process',
  halt: false,
});

/** One whole read of the account: every page came, from an hour before the oldest open intent at least. */
export interface WholeRead {
  /** When its first request left. */
  readonly startedAt: Monotonic;
  readonly rows: readonly Transaction[];
  /** `tradesOf(rows, …)`. */
  readonly trades: ReadonlyMap<string, TradeEvidence>;
  /** Absence in these cannot be proven by this read, which has a hole: see `audit`. Left out: in none. */
  readonly doubtful?: 'all' | ReadonlySet<string> | undefined;
}

/** What a whole read says about one doubt. */
export type Judgement =
  /** It traded. `differs`: in what the trade is not what was ordered. */
  | { readonly is: 'filled'; readonly trade: TradeEvidence; readonly differs?: string | undefined }
  /** It goes on, and needs what `phase` says. */
  | {
      readonly is: 'open';
      readonly phase: Doubt;
      /**
       * `twin`: a row without any id of ours could be it. `booking`: it did
       * trade, and its figures are to come. `unseen`: it is not there, and
       * that is not proof
       * yet. `hole`: the read does not add up, and proves no absence.
       */
      readonly why: 'twin' | 'booking' | 'unseen' | 'hole';
      /** The row that could be it. */
      readonly row?: Transaction | undefined;
    }
  /** It certainly did not trade. */
  | { readonly is: 'closed'; readonly phase: Phase & { readonly state: 'ended' } };

/**
 * Judges a doubt by one whole read. A trade with its id and all of its figures ends it at once; anything less is counted
 * towards the proof of its absence, unless some row could be its trade.
 */
export function judge(intent: IntentRecord, phase: Doubt, read: WholeRead, trust: Trust): Judgement {
  const trade = read.trades.get(intent.client_order_id);
  if (trade?.isWhole === true && coversIntent(intent, trade)) return { is: 'filled', trade };
  const row = trade === undefined ? read.rows.find((one) => isTwin(intent, one)) : undefined;
  if (row !== undefined) return { is: 'open', phase, why: 'twin', row };
  // One leg, or a part: it did trade, whatever later reads show or do not show.
  const before = trade === undefined ? phase : certain(phase);
  if (hasHole(intent, read)) return { is: 'open', phase: before, why: 'hole' };
  const event = { on: 'clean_read', startedAt: read.startedAt, gapMs: READ_GAP_MS } as const;
  const next = follow(before, event, trust);
  if (next.state === 'ended') return { is: 'closed', phase: next };
  if (next.state !== 'doubt') throw new Error(`invariant broken: a read made a doubt ${next.state}`);
  // All of it must have been booked by now: the venue filled less than all, against its word.
  if (trade?.isWhole === true && next.proof.readsLeft === 0)
    return { is: 'filled', trade, differs: 'booked for less than the order' };
  return { is: 'open', phase: next, why: next.proof.proves === 'nothing' ? 'booking' : 'unseen' };
}

/** The order moves two currencies: a hole in either may be the row of its trade. */
const hasHole = ({ base, quote }: IntentRecord, { doubtful }: WholeRead): boolean =>
  doubtful === 'all' || doubtful?.has(base) === true || doubtful?.has(quote) === true;

/** A doubt of which something shows that it traded: nothing but its figures ends it. */
export const certain = (phase: Doubt): Doubt => ({
  ...phase,
  proof: { ...phase.proof, proves: 'nothing' },
  reason: 'certainly_traded',
});

/** When a doubt can end by absence at the earliest. The account decides whether it does. */
export const earliestProof = ({ proof: { notBefore, readsLeft } }: Doubt): Monotonic =>
  after(notBefore, Math.max(0, readsLeft - 1) * READ_GAP_MS);

/** Orders are filled whole or not at all: less than the intent means that the venue has not booked all of it yet. */
export function coversIntent(
  intent: Pick<IntentRecord, 'by' | 'size'>,
  traded: { readonly quantity: Quantity; readonly amount: Money },
): boolean {
  const [done, wanted] = [intent.by === 'quantity' ? traded.quantity : traded.amount, quantity(intent.size)];
  return done.gte(wanted.times('0.999'));
}

/** A row without a client id that could be the trade of this intent. Never guessed: it only keeps the doubt open. */
const isTwin = (intent: IntentRecord, row: Transaction): boolean =>
  row.clientId === undefined &&
  row.action === intent.side &&
  (row.pair === undefined || row.pair === intent.pair) &&
  row.currency === (intent.by === 'quantity' ? intent.base : intent.quote) &&
  size(row.amount).eq(intent.size);

/** What the journal knows of client ids; `DeskState` is one. */
export interface KnownIds {
  /** Traded and booked. */
  readonly filledIds: { has(clientId: string): boolean };
  /** Open: under way, or in doubt. */
  readonly attempts: { has(clientId: string): boolean };
  /** Closed without a trade after an order had left. */
  readonly closedIds: { has(clientId: string): boolean };
  /** Ids of before are forgotten. */
  readonly rememberedSince: Instant | number;
}

/** Trades of ours that the journal does not know. */
export interface Adoption {
  readonly unknown: readonly TradeEvidence[];
  /** Those that show one leg only: they have traded, and nothing may trade in their place before their figures are there. */
  readonly waiting: readonly TradeEvidence[];
  /** One of them was proven not to have traded: the venue did not keep its word, and the desk halts whatever its config says. */
  readonly isBreach: boolean;
}

/** Which trades of a whole read nobody knows of: they are booked all the same, as soon as both legs are there. */
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
 * Last instant at which an order may start: it must reach the venue while its quote certainly lives. After it the attempt ends
 * without an order. The answer may come later than the quote's end: an order that arrives too late is refused.
 */
export const lastOrderStart = (life: Life, orderMarginMs: number): Monotonic =>
  after(life.lower, -orderMarginMs);

/**
 * How long to wait for the answer to an order that leaves at `sentAt`, milliseconds. An answer is evidence whenever it comes,
 * so the end of the quote does not end the wait. From the first instant at which the account can prove the outcome, it does:
 * waiting on would only delay that proof.
 */
export const answerWaitMs = (
  life: Life,
  wait: { readonly sentAt: Monotonic; readonly orderTimeoutMs: number; readonly bookingMarginMs: number },
): number =>
  Math.max(0, Math.min(wait.orderTimeoutMs, after(life.upper, wait.bookingMarginMs) - wait.sentAt));
