import type { ApprovalSettings } from '../core/approvals/approval-settings.ts';
import type { Limits } from '../core/risk/limits.ts';
import type { SettingTexts } from '../core/risk/setting-changes.ts';
import type { Minimum } from '../core/instrument.ts';
import type { Money, Quantity, Ratio } from '../core/money.ts';
import type { StatedRates } from '../core/rates.ts';
import type { PaceOptions } from './rate-limit/rate-limiter.ts';

/**
 * Bounds on the difference between our clock and the venue's. No trading decision depends on it, but records and
 * days do.
 */
export interface SkewOptions {
  /** Raises an alert from this value on. */
  readonly warnMs: number;
  /** From this value on, a desk refuses to start. */
  readonly refuseMs: number;
}

/** When time counts as discontinuous. All fields are in milliseconds. */
export interface ContinuityOptions {
  /** Interval between checks. */
  readonly everyMs: number;
  /** Allowed drift of the wall clock from the monotonic clock. */
  readonly divergenceMs: number;
  /** Allowed delay of a check. */
  readonly lateMs: number;
}

/**
 * The settings that the engine runs with: the checked config as amounts and milliseconds. An interval of Infinity
 * disables a periodic task, and only works on a virtual clock: Node would fire such a timer immediately.
 */
export interface DeskSettings {
  /** Name of the desk, which is part of every client id. */
  readonly desk: string;
  readonly mode: string;
  readonly version: string;
  readonly configHash: string;
  /** Hash of origin and token, which identifies the account of a journal. */
  readonly account: string;
  readonly limits: Limits;
  /** What other people must approve. Omitted: nothing. */
  readonly approvals?: ApprovalSettings | undefined;
  /** Whether the journal stores the limits of each start, so that the next start detects higher ones. */
  readonly areLimitsKept?: boolean | undefined;
  /**
   * The settings of the config as the journal records them. The engine adds limits, `operate.approvals` and people.
   * Omitted: the journal records no settings.
   */
  readonly settings?: SettingTexts | undefined;
  /** Who started the process, such as `cli:ann`. */
  readonly startedBy?: string | undefined;
  /** Currencies whose value in USD the config states. */
  readonly rates?: StatedRates | undefined;
  /** Whether the path of the venue's sell route is configured. */
  readonly isSellingOn: boolean;
  minimumOf(pair: string): Minimum;
  /** Reserves by currency that no order may use. */
  readonly keep?: ReadonlyMap<string, Quantity> | undefined;
  readonly pts: {
    readonly use: 'never' | 'when_enabled';
    /** Older risk modes and rates count as unknown. */
    readonly maxAgeMs: number;
    readonly pollMs: number;
    readonly creditMax: { readonly amount: Money; readonly currency: string } | undefined;
    readonly carryBpsMax: Ratio | undefined;
    /** Expected holding time of borrowed money. */
    readonly holdingMs: number;
    /** Distance of equity / exposure from the liquidation level below which nothing more is borrowed. */
    readonly headroomMin?: Ratio | undefined;
  };
  readonly reference: {
    /** Shortest interval between two probes of a watched pair. */
    readonly intervalMs: number;
    readonly maxAgeMs: number;
    /** Size of a probe, in its pair's quote currency. */
    readonly probe: { readonly amount: Money; readonly currency: string };
    /** Largest distance between two sources of the price; `undefined`: no limit. */
    readonly gapBpsMax?: Ratio | undefined;
    /** How long a wake or a slice waits for a price. */
    readonly waitMs: number;
  };
  readonly retry: {
    readonly baseMs: number;
    readonly capMs: number;
    /** Longest time without quotes for a pair. After it, the pair's slices end. */
    readonly budgetMs: number;
    /** Interval between two quotes of a slice after an unacceptable price. */
    readonly requoteMs: number;
  };
  /** Quotes of a pair for each fill above which the desk requests quotes more slowly; default: unlimited. */
  readonly quotesPerFillMax?: number | undefined;
  readonly inDoubt: {
    readonly bookingMarginMs: number;
    readonly pollMs: number;
    /** Longest life of a quote that is executed; also assumed for quotes whose life is unknown. */
    readonly lifeMaxMs: number;
  };
  /** Longest wait for the response to an order. */
  readonly orderTimeoutMs: number;
  /** Remaining life that a quote must have when its order leaves. */
  readonly orderMarginMs: number;
  /** How far back the first read of the account goes. */
  readonly historyMs: number;
  /** Interval between reads of the account when nothing is in doubt. */
  readonly accountPollMs: number;
  readonly pace: PaceOptions;
  /** Bounds on the difference between our clock and the venue's. */
  readonly skew: SkewOptions;
  /** When time counts as discontinuous. */
  readonly continuity: ContinuityOptions;
  /** Number of starts after crashes, within this time, after which the desk starts halted. */
  readonly crashLoop: { readonly startsMax: number; readonly withinMs: number };
  /** Maximum age of the last whole read of the account. If it is older, nothing starts; `undefined`: no limit. */
  readonly accountAgeMaxMs?: number | undefined;
  /** Reaction when a balance differs from the sum of the account's rows. */
  readonly onDifference: 'halt' | 'alert' | 'ignore';
  /** Whether to book the desk's fills that the journal does not know without halting. */
  readonly adoptFills: boolean;
}
