import type { OrderMeaning, QuoteMeaning } from './answer.ts';
import type { Reason } from '../reasons.ts';
import { after } from '../time.ts';
import type { Monotonic } from '../time.ts';
import type { Order, Quote } from '../venue.ts';

/**
 * The state machine of one attempt: quote, check, execute. Only the transitions in `nextPhase` are possible. Neither a
 * timer nor a count ends a doubt. Only a fill ends it, or account reads that prove that there was no fill.
 */
export type Phase = Readonly<
  | { state: 'quoting' }
  | { state: 'quoted'; quote: Quote; quoteLife: QuoteLife }
  /** `copies`: number of times the order has left, including this one. */
  | { state: 'ordering'; quote: Quote; quoteLife: QuoteLife; copies: number }
  /** No response; the same order leaves again, not before `notBefore`. */
  | {
      state: 'resending';
      quote: Quote;
      quoteLife: QuoteLife;
      copies: number;
      notBefore: Monotonic;
      detail: string;
    }
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

/** The life of a quote on our monotonic clock. At the venue it began between `askedAt` and `receivedAt`. */
export interface QuoteLife {
  readonly askedAt: Monotonic;
  readonly receivedAt: Monotonic;
  /** The quote is certainly valid until `askedAt + L`. */
  readonly lower: Monotonic;
  /** The quote is certainly over after `receivedAt + L`. */
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
  /** The gate approved another copy. The exchange for the previous copy is closed. */
  | { on: 'resend'; at: Monotonic }
  /** The gate refused. */
  | { on: 'hold'; why: string }
  | { on: 'fill'; order: Order; quote: Quote }
  /** One whole read of the account that does not show the attempt. */
  | { on: 'clean_read'; startedAt: Monotonic; gapMs: number }
>;

export interface Trust {
  /** Whether a first `Canceled` is final without a read of the account. */
  readonly firstCanceled: boolean;
  /** Whether a well-formed 4xx is final without a read of the account. */
  readonly refusals: boolean;
  /** How long the venue may take to book a trade, milliseconds. */
  readonly bookingMarginMs: number;
  /** Whether an order without a response is sent again on the same quote. */
  readonly resend: boolean;
}

const AGAIN = { do: 'again' } as const;

/** The phase after `event`. An event that does not belong to the phase changes nothing. */
export function nextPhase(from: Phase, event: CycleEvent, trust: Trust): Phase {
  switch (from.state) {
    case 'quoting':
      return event.on === 'quote_answer' ? quoted(event) : stoppedOr(from, event);
    case 'quoted':
      return event.on === 'approved'
        ? { state: 'ordering', quote: from.quote, quoteLife: from.quoteLife, copies: 1 }
        : stoppedOr(from, event);
    case 'ordering':
      return event.on === 'order_answer' ? ordered(from, event, trust) : from;
    case 'resending':
      return resent(from, event, trust);
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
      const quoteLife = { askedAt, receivedAt: at, lower: after(askedAt, lifeMs), upper: after(at, lifeMs) };
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

/** Waits before the second and the third copy. There is never a fourth. */
const RESEND_GAPS_MS = [300, 600] as const;
/** A copy must reach the venue within the certain life of its quote. */
const RESEND_MARGIN_MS = 1_500;

/** Last instant at which another copy of an order may leave. */
export const lastResendStart = (quoteLife: QuoteLife): Monotonic => after(quoteLife.lower, -RESEND_MARGIN_MS);

/**
 * Handles the response to one copy of an order. A refusal of the only copy ends the attempt after a read of the
 * account; a refusal of a later copy proves nothing about earlier copies, which may have traded or may still be on
 * their way.
 */
function ordered(
  from: Phase & { state: 'ordering' },
  { meaning, at }: CycleEvent & { on: 'order_answer' },
  trust: Trust,
): Phase {
  const { quote, quoteLife, copies } = from;
  if (meaning.means === 'filled')
    return { state: 'filled', order: meaning.order, quote, differs: meaning.differs };
  const doubt = (detail: string, halt = false): Phase =>
    unknown(quoteLife, trust, detailOf(detail, copies), halt);
  switch (meaning.means) {
    case 'not_sent':
      if (copies > 1) return doubt(meaning.detail);
      return {
        state: 'ended',
        result: 'discarded',
        reason: 'never_sent',
        detail: meaning.detail,
        next: AGAIN,
      };
    case 'refused': {
      const { reason, detail } = meaning;
      if (copies > 1) return doubt(detail);
      if (meaning.isCanceled ? trust.firstCanceled : trust.refusals) {
        return { state: 'ended', result: 'rejected', reason, detail, next: AGAIN };
      }
      // A canceled order has used its quote. After any other refusal a second copy may still use the quote, for as long
      // as it can live.
      const settled = meaning.isCanceled || at > quoteLife.upper ? at : quoteLife.upper;
      const notBefore = after(settled, trust.bookingMarginMs);
      const proof: Proof = { readsLeft: 1, notBefore, proves: 'rejected' };
      return { state: 'doubt', proof, reason, detail, halt: false };
    }
    case 'doubt': {
      const gapMs = RESEND_GAPS_MS[copies - 1];
      const mayResend = trust.resend && meaning.isUnanswered && !meaning.halt && gapMs !== undefined;
      if (!mayResend || after(at, gapMs) > lastResendStart(quoteLife))
        return doubt(meaning.detail, meaning.halt);
      return {
        state: 'resending',
        quote,
        quoteLife,
        copies,
        notBefore: after(at, gapMs),
        detail: meaning.detail,
      };
    }
  }
}

/** The order may have traded, or may still trade for as long as its quote can live. */
const unknown = (quoteLife: QuoteLife, trust: Trust, detail: string, halt = false): Phase => ({
  state: 'doubt',
  proof: { readsLeft: 2, notBefore: after(quoteLife.upper, trust.bookingMarginMs), proves: 'absent' },
  reason: 'outcome_unknown',
  detail,
  halt,
});

const detailOf = (detail: string, copies: number): string =>
  copies === 1 ? detail : `${detail} (${copies} copies sent)`;

function resent(from: Phase & { state: 'resending' }, event: CycleEvent, trust: Trust): Phase {
  const { quote, quoteLife, copies, notBefore, detail } = from;
  if (event.on === 'hold') return unknown(quoteLife, trust, detailOf(`${detail}; ${event.why}`, copies));
  if (event.on !== 'resend' || event.at < notBefore) return from;
  if (event.at > lastResendStart(quoteLife))
    return unknown(quoteLife, trust, detailOf(`${detail}; too late for another copy`, copies));
  return { state: 'ordering', quote, quoteLife, copies: copies + 1 };
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
