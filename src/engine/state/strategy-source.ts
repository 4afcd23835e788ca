import type { Limits } from '../../core/risk/limits.ts';
import type { SettingTexts } from '../../core/risk/setting-changes.ts';
import type { BoundStrategy } from '../../strategy/kernel.ts';

/** Id of the strategy that `pts.min_headroom` adds. It never ends, and no desk waits for its end. */
export const GUARD = 'min-headroom';

/** A strategy as its document defines it. */
export interface StrategySource {
  readonly id: string;
  readonly kind: string;
  /** Hash of the document's content. Different content means a different strategy. */
  readonly hash: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly bound: BoundStrategy;
}

/** Settings that a reload replaces: all settings whose paths begin with one of the prefixes. */
export interface ReloadedSettings {
  readonly prefixes: readonly string[];
  readonly texts: SettingTexts;
}

/** Notification channels that were reloaded. */
export interface ReloadedChannels {
  /** Differences from the channels in use, by name: `ops changed`. */
  readonly changes: readonly string[];
  /** The channels as the journal records them, without secrets. */
  readonly settings?: ReloadedSettings | undefined;
  /** Replaces the channels in use. */
  readonly use: () => void;
}

/** All strategies from their current files, or the problems with their places. */
export type StrategiesRead =
  | {
      readonly sources: readonly StrategySource[];
      /** Ids of disabled strategies. */
      readonly off: readonly string[];
      /** The limits of the current config; omitted: not reloaded. */
      readonly limits?: Limits | undefined;
      /** The notification channels of the current config; omitted: not reloaded. */
      readonly channels?: ReloadedChannels | undefined;
      /** Additional notes for the operator, such as settings that apply only from the next start. */
      readonly notes: readonly string[];
    }
  | { readonly problems: string };

/** Why a strategy could not trade as written with any balances. */
export interface StrategyFault {
  /** Omitted: all strategies together. */
  readonly strategy?: string | undefined;
  /** With the way to fix it. */
  readonly says: string;
}

/** The journal's data about the document of a run. */
export interface BegunDocument {
  readonly strategy: string;
  readonly hash: string;
  readonly type: string;
  readonly document: unknown;
}
