import type { OrderMeaning, QuoteMeaning } from './answer.ts';
import type { Reason } from '../reasons.ts';
import { after } from '../time.ts';
import type { Monotonic } from '../time.ts';
import { longestLifeMs } from '../venue.ts';
import type { Order, Quote } from '../venue.ts';

/**
 * The state machine of one attempt: quote, check, execute. Only the transitions in `nextPhase` are possible. Neither a
 * timer nor a count ends a doubt. Only a fill ends it, or account reads that prove that there was no fill.
 */
export type Phase = Readonly<
  | { state: 'quoting' }
  | { state: 'quoted'; quote: Quote; quoteLife: QuoteLife }
  | { state: 'ordering'; quote: Quote; quoteLife: QuoteLife }
  | { state: 'filled'; order: Order; quote: Quote; differs: string | undefined }
  | { state: 'doubt'; proof: Proof; reason: Reason; detail: string; halt: boolean }
  | {
      state: 'ended';
      result: 'discarded' | 'rejected' | 'absent';
      reason: Reason;
      detail: string;
      next: Next;
    }
>;

/** An attempt whose order may have traded. */
export type Doubt = Phase & { readonly state: 'doubt' };

/** The life of a quote on our monotonic clock. At the venue it began between `askedAt` and `receivedAt`. */
export interface QuoteLife {
  readonly askedAt: Monotonic;
  readonly receivedAt: Monotonic;
  /** The quote is certainly valid until `askedAt + L`. */
  readonly lower: Monotonic;
  /** The quote is certainly over after this: the latest end that its stamps and the venue's `Date` header allow. */
  readonly upper: Monotonic;
}

/** The remaining steps of the proof that an order did not trade. */
export interface Proof {
  /** Clean reads of the account that are still needed. */
  readonly readsLeft: number;
  /** Only reads that start at or after this instant count. */
  readonly notBefore: Monotonic;
  /** The attempt's end once the reads are complete. `nothing`: it certainly traded, and only its figures can end the doubt. */
  readonly proves: 'rejected' | 'absent' | 'nothing';
}

/** What may follow an attempt that did not trade. */
export type Next =
  /** Retry the same size, after a wait that suits the reason. */
  | { readonly do: 'again'; readonly waitMs?: number | undefined }
  /** Request less: the venue stated its maximum and its value of the request, in USD. */
  | { readonly do: 'smaller'; readonly usdMax: string; readonly usdAsked: string }
  /** The slice ends. */
  | { readonly do: 'stop' }
  /** The desk halts. */
  | { readonly do: 'halt' };

export type CycleEvent = Readonly<
  | { on: 'quote_answer'; meaning: QuoteMeaning; askedAt: Monotonic; at: Monotonic }
  | { on: 'approved' }
  | { on: 'stopped'; reason: Reason; detail: string; next: Next }
  | { on: 'order_answer'; meaning: OrderMeaning; at: Monotonic }
  | { on: 'fill'; order: Order; quote: Quote }
  /** One whole read of the account that does not show the attempt. */
  | { on: 'clean_read'; startedAt: Monotonic; gapMs: number }
>;

const AGAIN = { do: 'again' } as const;

/**
 * The phase after `event`. An event that does not belong to the phase changes nothing. `bookingMarginMs`: how long the
 * venue may take to book a trade after the end of its quote.
 */
export function nextPhase(from: Phase, event: CycleEvent, bookingMarginMs = 0): Phase {
  switch (from.state) {
    case 'quoting':
      return event.on === 'quote_answer' ? quoted(event) : stoppedOr(from, event);
    case 'quoted':
      return event.on === 'approved'
        ? { state: 'ordering', quote: from.quote, quoteLife: from.quoteLife }
        : stoppedOr(from, event);
    case 'ordering':
      return event.on === 'order_answer' ? ordered(from, event, bookingMarginMs) : from;
    case 'doubt':
      return doubted(from, event);
    case 'filled':
    case 'ended':
      return from;
  }
}

const stoppedOr = (from: Phase, event: CycleEvent): Phase =>
  event.on === 'stopped' ? discarded(event.reason, event.detail, event.next) : from;

const discarded = (reason: Reason, detail: string, next: Next): Phase => ({
  state: 'ended',
  result: 'discarded',
  reason,
  detail,
  next,
});

function quoted({ meaning, askedAt, at }: CycleEvent & { on: 'quote_answer' }): Phase {
  switch (meaning.means) {
    case 'quote': {
      const { lifeMs } = meaning.quote;
      const upper = after(at, longestLifeMs(meaning.quote));
      const quoteLife = { askedAt, receivedAt: at, lower: after(askedAt, lifeMs), upper };
      return { state: 'quoted', quote: meaning.quote, quoteLife };
    }
    case 'later':
      return discarded(meaning.reason, meaning.detail, { do: 'again', waitMs: meaning.waitMs });
    case 'smaller':
      return discarded('too_large', meaning.detail, {
        do: 'smaller',
        usdMax: meaning.usdMax,
        usdAsked: meaning.usdAsked,
      });
    case 'never':
      return discarded(meaning.reason, meaning.detail, { do: 'stop' });
    case 'halt':
      return discarded(meaning.reason, meaning.detail, { do: 'halt' });
  }
}

/**
 * Handles the response to an order. Only `filled` and `not_sent` are final. After every other response the order may have
 * traded, or may still trade until its quote ends, because an intermediary may have delivered another copy. After a
 * refusal one read of the account suffices, since the venue shows every row of a trade within the booking margin; after
 * silence a second one guards against a read that was served late.
 */
function ordered(
  { quote, quoteLife }: Phase & { state: 'ordering' },
  { meaning }: CycleEvent & { on: 'order_answer' },
  bookingMarginMs: number,
): Phase {
  const notBefore = after(quoteLife.upper, bookingMarginMs);
  switch (meaning.means) {
    case 'filled':
      return { state: 'filled', order: meaning.order, quote, differs: meaning.differs };
    case 'not_sent':
      return discarded('never_sent', meaning.detail, AGAIN);
    case 'refused': {
      const { reason, detail } = meaning;
      const proof: Proof = { readsLeft: 1, notBefore, proves: 'rejected' };
      return { state: 'doubt', proof, reason, detail, halt: false };
    }
    case 'doubt': {
      const { detail, halt } = meaning;
      const proof: Proof = { readsLeft: 2, notBefore, proves: 'absent' };
      return { state: 'doubt', proof, reason: 'outcome_unknown', detail, halt };
    }
  }
}

function doubted(from: Phase & { state: 'doubt' }, event: CycleEvent): Phase {
  if (event.on === 'fill')
    return { state: 'filled', order: event.order, quote: event.quote, differs: undefined };
  if (event.on !== 'clean_read' || event.startedAt < from.proof.notBefore) return from;
  const { readsLeft, proves } = from.proof;
  if (readsLeft > 1) {
    return {
      ...from,
      proof: { readsLeft: readsLeft - 1, notBefore: after(event.startedAt, event.gapMs), proves },
    };
  }
  if (proves === 'nothing') return { ...from, proof: { ...from.proof, readsLeft: 0 } };
  const reason = proves === 'absent' ? 'proven_absent' : from.reason;
  return { state: 'ended', result: proves, reason, detail: from.detail, next: AGAIN };
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
