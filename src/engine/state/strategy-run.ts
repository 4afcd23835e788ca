import { add, money, NO_MONEY, NO_QUANTITY, quantity } from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  FillRecord,
  IntentRecord,
  IntentText,
  QuoteRecord,
  WakeRecord,
  ProofRecord,
  UsedToken,
} from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { SliceOutcome, Wait } from '../../core/wake.ts';

/** One life of a strategy: from its first wake to its end. */
export interface StrategyRun {
  readonly strategy: string;
  readonly hash: string;
  readonly type: string;
  readonly begunAt: Instant;
  /** The person who had it begin, or ran it now; `undefined`: nobody that the desk knows. */
  begunBy?: UsedToken | undefined;
  readonly document: unknown;
  /** State of the kernel after its last step; `undefined` before the first. */
  state: unknown;
  waits: readonly Wait[];
  finished: Reason | undefined;
  /** Outcomes that no step has seen yet. */
  readonly outcomes: SliceOutcome[];
  /** Trades of slices that had ended without them. */
  readonly late: SliceOutcome[];
  /** Slices that ended, and those that passed without a try. */
  slicesDone: number;
  /** Those of them that traded. */
  slicesFilled: number;
  lastReason: Reason | undefined;
}

/** What was done for a slice so far. */
export interface SliceProgress {
  /** Number of attempts so far: the number of the next one. */
  attempts: number;
  /** Attempts up to the last that traded, that one counted. */
  settled: number;
  filled: Quantity;
  filledAmount: Money;
  /** What the account does not show of orders that traded: it counts as filled. */
  missing: Quantity;
  missingAmount: Money;
}

export const NOTHING_TRADED: SliceProgress = {
  attempts: 0,
  settled: 0,
  filled: NO_QUANTITY,
  filledAmount: NO_MONEY,
  missing: NO_QUANTITY,
  missingAmount: NO_MONEY,
};

/** What one fill alone comes to. */
export const tradedBy = ({ attempt, quantity: filled, amount, missing }: FillRecord): SliceProgress => ({
  attempts: attempt + 1,
  settled: attempt + 1,
  filled: quantity(filled),
  filledAmount: money(amount),
  ...missingIn({ missing }),
});

/** What a fill lacks of its order. */
export const missingIn = ({
  missing,
}: Pick<FillRecord, 'missing'>): Pick<SliceProgress, 'missing' | 'missingAmount'> => ({
  missing: missing === undefined ? NO_QUANTITY : quantity(missing.quantity),
  missingAmount: missing === undefined ? NO_MONEY : money(missing.amount),
});

/** A decided slice that has not ended. There is one object for each slice, which always shows the current state. */
export interface OpenSlice extends SliceProgress {
  readonly strategy: string;
  readonly hash: string;
  readonly intent: IntentText;
  readonly decidedAt: Instant;
  /** Client id of the attempt under way, or in doubt. */
  openAttempt: string | undefined;
}

/** A slice that has just been decided. */
export const decided = (
  { strategy, hash }: WakeRecord,
  intent: IntentText,
  { at, traded }: { readonly at: Instant; readonly traded: Readonly<SliceProgress> },
): OpenSlice => ({
  strategy,
  hash,
  intent,
  decidedAt: at,
  attempts: traded.attempts,
  settled: traded.settled,
  filled: traded.filled,
  filledAmount: traded.filledAmount,
  missing: traded.missing,
  missingAmount: traded.missingAmount,
  openAttempt: undefined,
});

/** An attempt whose order may leave, or may have left. */
export interface OpenAttempt {
  readonly intent: IntentRecord;
  readonly since: Instant;
  quote: QuoteRecord | undefined;
  /** Set once the outcome is unknown. */
  doubt:
    | {
        readonly since: Instant;
        readonly reason: Reason | undefined;
        readonly proof?: ProofRecord | undefined;
      }
    | undefined;
}

/** An attempt whose order left and did not trade, and the slice that it was for. */
export interface Closed {
  readonly at: Instant;
  readonly strategy: string;
  readonly slice: number;
  /** When the life began that decided the slice; `undefined` when it was over by then. */
  readonly begunAt: Instant | undefined;
  readonly leg: string | undefined;
}

/** A fill as it counts now, and the slice that it was for: later rows of the account may still correct it. */
export interface Booked {
  readonly at: Instant;
  /** With the figures of its last correction. */
  readonly fill: FillRecord;
  /** Leg of the slice and beginning of the life that decided it; `undefined` when this journal did not know it. */
  readonly leg: string | undefined;
  readonly begunAt: Instant | undefined;
}

/** A fill that no read of the account has shown whole, and when its attempt began: no row of it is older. */
export interface Unshown {
  readonly fill: FillRecord;
  readonly since: Instant;
}

/** The largest quote of a pair in USD, and how it is known. */
export interface Maximum {
  readonly usd: Money;
  /** USD for one of the quote currency, by the figures of the venue. */
  readonly quoteUsd?: Price | undefined;
  readonly at: Instant;
  readonly why: 'told' | 'raised';
}

export function sliceKey(parent: string, slice: number): string {
  if (lastKey.slice !== slice || lastKey.parent !== parent)
    lastKey = { parent, slice, key: `${parent}/${slice}` };
  return lastKey.key;
}

/** One record after another is about the same slice: a text that is looked for again is found the faster. */
let lastKey = { parent: '', slice: 0, key: '/0' };

/** Takes the first outcome of this kind out of the list; whether there was one. */
export function removed(outcomes: SliceOutcome[], isTold: (one: SliceOutcome) => boolean): boolean {
  const which = outcomes.findIndex(isTold);
  if (which < 0) return false;
  // Nearly always the only one.
  if (which === 0) outcomes.shift();
  else outcomes.splice(which, 1);
  return true;
}

/** What was filled counts with what is missing. */
export const counted = <A extends Quantity | Money>(
  filled: string,
  missing: string | undefined,
  read: (text: string) => A,
): A => (missing === undefined ? read(filled) : add(read(filled), read(missing)));
