import type { ApprovalPolicy } from '../core/approvals/approval-policy.ts';
import type { Limits } from '../core/risk/limits.ts';
import type { Trust } from '../core/cycle/cycle.ts';
import type { Minimum } from '../core/instrument.ts';
import type { Money, Quantity, Ratio } from '../core/money.ts';
import type { StatedRates } from '../core/rates.ts';
import type { FootprintOptions } from './market/footprint.ts';
import type { PaceOptions } from './rate-limit/rate-limiter.ts';

/** Bounds on how far our clock and the venue's may differ. No decision to trade rests on it, records and days do. */
export interface SkewOptions {
  /** Raises an alert from this value on. */
  readonly warnMs: number;
  /** From here on a desk does not start. */
  readonly refuseMs: number;
}

/** When time counts as broken. All in milliseconds. */
export interface ContinuityOptions {
  /** Between two looks. */
  readonly everyMs: number;
  /** Allowed drift of the wall clock against the monotonic clock. */
  readonly divergenceMs: number;
  /** Allowed delay of a check. */
  readonly lateMs: number;
}

/**
 * How a desk behaves: the config, checked and with its units. All times in milliseconds. What is done every so often is
 * never done again with Infinity, on a virtual clock alone: Node fires such a timer at once.
 */
export interface Policy {
  /** Name of the desk: part of every client id. */
  readonly desk: string;
  readonly mode: string;
  readonly version: string;
  readonly configHash: string;
  /** Hash of origin and token: identifies the account of a journal. */
  readonly account: string;
  readonly limits: Limits;
  /** To lift a halt, and to end a doubt with figures, takes two people; so does an override, here or not. */
  readonly fourEyes?: boolean | undefined;
  /** Who must agree to what; left out: what `fourEyes` says. */
  readonly approvals?: ApprovalPolicy | undefined;
  /** The journal keeps the limits of each start, and a start with higher ones is noticed. */
  readonly areLimitsKept?: boolean | undefined;
  /** Currencies whose value in USD the config states. */
  readonly rates?: StatedRates | undefined;
  /** The venue's route that sells is known. */
  readonly isSellingOn: boolean;
  minimumOf(pair: string): Minimum;
  /** Reserves by currency, which no order is paid from. */
  readonly keep?: ReadonlyMap<string, Quantity> | undefined;
  readonly pts: {
    readonly use: 'never' | 'when_enabled';
    /** Older risk modes and rates count as unknown. */
    readonly maxAgeMs: number;
    readonly pollMs: number;
    readonly creditMax: { readonly amount: Money; readonly currency: string } | undefined;
    readonly carryBpsMax: Ratio | undefined;
    /** How long borrowed money is expected to be held. */
    readonly holdingMs: number;
  };
  readonly reference: {
    /** Least time between two probes of a pair that something watches. */
    readonly intervalMs: number;
    readonly maxAgeMs: number;
    /** Size of a probe, in the quote currency of its pair. */
    readonly probe: { readonly amount: Money; readonly currency: string };
    /** Largest share of the quote limit for watching prices. */
    readonly share: number;
    /** How long a wake or a slice waits for a price. */
    readonly waitMs: number;
  };
  readonly retry: {
    readonly baseMs: number;
    readonly capMs: number;
    /** A pair without quotes for longer ends its slices. */
    readonly budgetMs: number;
    /** Between two quotes of a slice whose price did not suit. */
    readonly requoteMs: number;
  };
  /** Quotes allowed for each fill of a pair; default: unlimited. */
  readonly footprint?: FootprintOptions | undefined;
  readonly inDoubt: {
    readonly bookingMarginMs: number;
    readonly pollMs: number;
    readonly trustFirstCanceled: boolean;
    readonly trustRefusals: boolean;
    /** Longest life of a quote that is executed, and of one whose own life is not known any more. */
    readonly lifeMaxMs: number;
    /** `same_quote`: an order that was met with silence may leave again, byte for byte, while its quote lives. */
    readonly resend: 'same_quote' | 'never';
  };
  /** Longest wait for the answer to an order. */
  readonly orderTimeoutMs: number;
  /** Life that must be left on a quote when its order leaves. */
  readonly orderMarginMs: number;
  /** Attempts under way at once. */
  readonly cyclesMax: number;
  /** How far back the first read of the account goes. */
  readonly historyMs: number;
  /** Between two reads of the account when nothing is in doubt. */
  readonly accountPollMs: number;
  readonly pace: PaceOptions;
  /** How far our clock and the venue's may differ. */
  readonly skew: SkewOptions;
  /** When time counts as broken. */
  readonly continuity: ContinuityOptions;
  /** Number of starts after died processes, within this time, that make the desk start halted. */
  readonly crashLoop: { readonly startsMax: number; readonly withinMs: number };
  /** Nothing starts when the account was not read whole for longer; `undefined`: however old the last read is. */
  readonly accountAgeMaxMs?: number | undefined;
  /** A request that waits longer for the limits of the venue pauses the desk; default: a minute. */
  readonly messageWaitMaxMs?: number | undefined;
  /** What follows when a balance is not the one that the rows of the account add up to. */
  readonly onDifference: 'halt' | 'alert' | 'ignore';
  /** Fills of the desk that the journal does not know are booked without halting. */
  readonly adoptFills: boolean;
}

export const trustOf = ({ inDoubt }: Policy): Trust => ({
  firstCanceled: inDoubt.trustFirstCanceled,
  refusals: inDoubt.trustRefusals,
  bookingMarginMs: inDoubt.bookingMarginMs,
  resend: inDoubt.resend === 'same_quote',
});
