import { add, holding, money, NO_MONEY, NO_QUANTITY, quantity, subtract } from '../../core/money.ts';
import type { Money, Price, Quantity } from '../../core/money.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  FillRecord,
  IntentRecord,
  IntentText,
  QuoteRecord,
  RecordBody,
  WakeRecord,
  ProofRecord,
  UsedToken,
} from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { SliceOutcome, Wait } from '../../core/wake.ts';

/** One run of a strategy: from its first wake to its end. */
export interface StrategyRun {
  readonly strategy: string;
  readonly hash: string;
  readonly type: string;
  readonly begunAt: Instant;
  /** The person who started the run, or last triggered an occurrence; `undefined`: not known. */
  begunBy?: UsedToken | undefined;
  readonly document: unknown;
  /** State of the kernel after its last step; `undefined` before the first. */
  state: unknown;
  waits: readonly Wait[];
  finished: Reason | undefined;
  /** Outcomes that no step has consumed yet. */
  readonly outcomes: SliceOutcome[];
  /** Trades found after their slices had ended. */
  readonly late: SliceOutcome[];
  /** Slices that ended, and slots that passed without an attempt. */
  slicesDone: number;
  /** Number of slices that traded. */
  slicesFilled: number;
  lastReason: Reason | undefined;
}

/** Progress of a slice. */
export interface SliceProgress {
  /** Number of attempts so far, which is also the number of the next attempt. */
  attempts: number;
  /** Number of orders that filled. */
  filledOrders: number;
  filled: Quantity;
  filledAmount: Money;
  /** The part of traded orders that the account does not show. It counts as filled. */
  missing: Quantity;
  missingAmount: Money;
}

export const NOTHING_TRADED: SliceProgress = {
  attempts: 0,
  filledOrders: 0,
  filled: NO_QUANTITY,
  filledAmount: NO_MONEY,
  missing: NO_QUANTITY,
  missingAmount: NO_MONEY,
};

/** The totals of one fill. */
export const tradedBy = ({ attempt, quantity: filled, amount, missing }: FillRecord): SliceProgress => ({
  attempts: attempt + 1,
  filledOrders: 1,
  filled: quantity(filled),
  filledAmount: money(amount),
  ...missingIn({ missing }),
});

/** The traded part of a slice, and the missing part of its fills. */
type Parts = Pick<SliceProgress, 'filled' | 'filledAmount' | 'missing' | 'missingAmount'>;

/** Whether the account will show the fill. A dry run's fills appear in no account. */
export const isRealFill = (body: RecordBody): boolean => body.kind === 'fill' && body.source !== 'dry_run';

/** What a fill and its missing part come to. */
export const wholeOf = (fill: FillRecord): Pick<SliceOutcome, 'filled' | 'filledAmount'> => ({
  filled: add(quantity(fill.quantity), missingIn(fill).missing),
  filledAmount: add(money(fill.amount), missingIn(fill).missingAmount),
});

/** The missing part of a fill in the currency that the order pays. */
export const missingOut = (fill: FillRecord): Quantity => {
  const { missing, missingAmount } = missingIn(fill);
  return fill.side === 'buy' ? holding(missingAmount) : missing;
};

export function addTo(slice: SliceProgress, more: Parts): void {
  slice.filled = add(slice.filled, more.filled);
  slice.filledAmount = add(slice.filledAmount, more.filledAmount);
  slice.missing = add(slice.missing, more.missing);
  slice.missingAmount = add(slice.missingAmount, more.missingAmount);
}

/** What a correction adds to a fill; below zero where it takes away. */
export function changeOf(before: FillRecord, now: FillRecord): Parts {
  const [was, is] = [missingIn(before), missingIn(now)];
  return {
    filled: subtract(quantity(now.quantity), quantity(before.quantity)),
    filledAmount: subtract(money(now.amount), money(before.amount)),
    missing: subtract(is.missing, was.missing),
    missingAmount: subtract(is.missingAmount, was.missingAmount),
  };
}

/** The missing part of a fill's order. */
export const missingIn = ({
  missing,
}: Pick<FillRecord, 'missing'>): Pick<SliceProgress, 'missing' | 'missingAmount'> => ({
  missing: missing === undefined ? NO_QUANTITY : quantity(missing.quantity),
  missingAmount: missing === undefined ? NO_MONEY : money(missing.amount),
});

/** A decided slice that has not ended. Each slice has one object, which always shows its current state. */
export interface OpenSlice extends SliceProgress {
  readonly strategy: string;
  readonly hash: string;
  readonly intent: IntentText;
  readonly decidedAt: Instant;
  /** Client id of the attempt in progress or in doubt. */
  openAttempt: string | undefined;
}

/** A slice that was just decided. */
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
  filledOrders: traded.filledOrders,
  filled: traded.filled,
  filledAmount: traded.filledAmount,
  missing: traded.missing,
  missingAmount: traded.missingAmount,
  openAttempt: undefined,
});

/** An attempt whose order may leave, or may have left. */
export interface OpenAttempt {
  readonly intent: IntentRecord;
  /** Number of the intent's record. */
  readonly seq: number;
  readonly since: Instant;
  /** The newest row that whole reads had shown before the intent: a read of everything after it shows the whole trade. */
  readonly rowBefore: string;
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

/** An attempt whose order was sent and did not trade, with its slice. */
export interface Closed {
  readonly at: Instant;
  readonly strategy: string;
  readonly slice: number;
  /** When the run that decided the slice started; `undefined` if it had ended by then. */
  readonly begunAt: Instant | undefined;
  readonly leg: string | undefined;
}

/** A fill with its current figures, and its slice; later rows of the account may still correct it. */
export interface Booked {
  readonly at: Instant;
  /** Including its last correction. */
  readonly fill: FillRecord;
  /** As in `OpenAttempt`; empty: unknown. */
  readonly rowBefore: string;
  /** Leg of the slice, and start of the run that decided it; `undefined` if the journal does not contain the decision. */
  readonly leg: string | undefined;
  readonly begunAt: Instant | undefined;
}

/** A fill that no read of the account has shown completely, and the start of its attempt. No row of the fill is older. */
export interface Unshown {
  readonly fill: FillRecord;
  readonly since: Instant;
  /** The longest that its quote could live after its arrival, milliseconds; `undefined`: unknown. */
  readonly lifeMs: number | undefined;
}

/** The venue's largest quote of a pair in USD, and its source. */
export interface Maximum {
  readonly usd: Money;
  /** USD per unit of the quote currency, from the venue's figures. */
  readonly quoteUsd?: Price | undefined;
  readonly at: Instant;
  readonly why: 'told' | 'raised';
  /** Whether the venue stated it twice in a row, or fills raised it. */
  readonly isRepeated: boolean;
}

export function sliceKey(parent: string, slice: number): string {
  if (lastKey.slice !== slice || lastKey.parent !== parent)
    lastKey = { parent, slice, key: `${parent}/${slice}` };
  return lastKey.key;
}

/** Consecutive records concern the same slice, so the last key is cached. */
let lastKey = { parent: '', slice: 0, key: '/0' };

/** Removes the first outcome of this kind from the list; returns whether there was one. */
export function removed(outcomes: SliceOutcome[], isTold: (one: SliceOutcome) => boolean): boolean {
  const which = outcomes.findIndex(isTold);
  if (which < 0) return false;
  // Common case: the only outcome.
  if (which === 0) outcomes.shift();
  else outcomes.splice(which, 1);
  return true;
}

/** Filled quantities include missing parts. */
export const counted = <A extends Quantity | Money>(
  filled: string,
  missing: string | undefined,
  read: (text: string) => A,
): A => (missing === undefined ? read(filled) : add(read(filled), read(missing)));
