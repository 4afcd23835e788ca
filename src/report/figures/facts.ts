import type { FillAmounts } from '../../core/cycle/balance-changes.ts';
import type { Reason } from '../../core/reasons.ts';
import type {
  BalancesRecord,
  FillRecord,
  IntentRecord,
  IntentText,
  MissedSlice,
  QuoteRecord,
  SliceRecord,
  StartedRecord,
  StrategyRecord,
} from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';

/** Parents, slices and attempts from a journal's records, before any computation. `foldJournal` fills them. */
export interface Facts {
  readonly starts: readonly { readonly at: Instant; readonly body: StartedRecord }[];
  /** In the order of their start. */
  readonly lives: readonly LifeFacts[];
  /** In the order of their start. */
  readonly parents: ReadonlyMap<string, ParentFacts>;
  readonly attempts: ReadonlyMap<string, AttemptFacts>;
  readonly untraded: readonly UntradedFacts[];
  /** Changes of the account's holdings: reads of the account, and fills in between. Oldest first. */
  readonly holdings: readonly HoldingFacts[];
  readonly corrections: number;
  readonly records: number;
  readonly first: Instant | undefined;
  readonly last: Instant | undefined;
  /** Hash of the newest record, which covers the whole journal up to it. */
  readonly head: string | undefined;
}

/** One run of a strategy, with one content of its document. The same content, restored later, starts another run. */
export interface LifeFacts {
  readonly record: StrategyRecord;
  finished?: { readonly at: Instant; readonly reason: Reason };
  /** When it finished, or another run replaced it. */
  overAt?: Instant;
  /** Last state of its kernel. */
  state?: unknown;
}

export interface ParentFacts {
  readonly parent: string;
  readonly strategy: string;
  /** `undefined` if this journal does not contain its start. */
  readonly life: LifeFacts | undefined;
  readonly leg: string;
  readonly pair: string;
  readonly side: 'buy' | 'sell';
  readonly by: 'quantity' | 'amount';
  /** When it was due, or when its trigger occurred. */
  readonly decidedAt: Instant;
  /** When its first slice was decided. */
  readonly begunAt: Instant;
  /** Reference price at that time, if one was known. */
  readonly arrival: string | undefined;
  /** Planned total of the strategy; omitted if unknown. */
  readonly told: string | undefined;
  /** By number, in the order of their decision. */
  readonly slices: Map<number, SliceFacts>;
  /** Slots that passed without an attempt. */
  readonly missed: MissedFacts[];
  /** Set if it never started; `overAt`: when this became certain, omitted while it may still start. */
  readonly unbegun?: { readonly overAt: Instant | undefined } | undefined;
  fills: FillFacts[];
}

export interface SliceFacts {
  readonly slice: number;
  /** When it was due: its slot, or the trigger that started it. */
  readonly slot: Instant;
  /** When it was decided. */
  readonly at: Instant;
  readonly intent: IntentText;
  attempts: number;
  /** `undefined` while it is open. */
  end: { readonly at: Instant; readonly body: SliceRecord } | undefined;
}

export interface MissedFacts extends MissedSlice {
  /** When the desk noticed that its time was over. */
  readonly at: Instant;
}

export interface FillFacts {
  /** The current figures: the figures of the newest correction, if there is one. */
  record: FillRecord;
  /** The same figures as parsed amounts. */
  readonly figures: FillAmounts;
  /** When it was booked. */
  readonly at: Instant;
  readonly attempt: AttemptFacts | undefined;
}

export interface AttemptFacts {
  readonly intent: IntentRecord;
  readonly at: Instant;
  quote: QuoteRecord | undefined;
  /** `undefined` while nothing is known. */
  result: 'discarded' | 'doubt' | 'rejected' | 'absent' | 'filled' | undefined;
  reason: Reason | undefined;
  wasDoubt: boolean;
}

export interface UntradedFacts {
  readonly at: Instant;
  readonly strategy: string;
  readonly reason: Reason;
  readonly slices: number;
  readonly note: string | undefined;
}

export type HoldingFacts =
  | { readonly at: Instant; readonly read: BalancesRecord['balances'] }
  | { readonly at: Instant; readonly fill: FillFacts };
