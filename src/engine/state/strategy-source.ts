import type { Limits } from '../../core/risk/limits.ts';
import type { BoundStrategy } from '../../strategy/kernel.ts';

/** A strategy as its document says it. */
export interface StrategySource {
  readonly id: string;
  readonly kind: string;
  /** Of the content of the document: another content is another strategy. */
  readonly hash: string;
  readonly document: unknown;
  readonly bound: BoundStrategy;
}

/** Channels to people that were read again. */
export interface ReloadedChannels {
  /** What differs from those in use, by name: `ops changed`. */
  readonly changes: readonly string[];
  /** Another one for each other content, of which it tells nothing: addresses of webhooks are secrets. */
  readonly subject: string;
  /** Puts them in the place of those in use. */
  readonly use: () => void;
}

/** All strategies from their current files, or the problems with their places. */
export type StrategiesRead =
  | {
      readonly sources: readonly StrategySource[];
      /** Ids of strategies that are there and switched off. */
      readonly off: readonly string[];
      /** The limits of the config as it is now; omitted: they are not read again. */
      readonly limits?: Limits | undefined;
      /** The channels to people as the config has them now; omitted: they are not read again. */
      readonly channels?: ReloadedChannels | undefined;
      /** What else the operator should know, such as a config that counts only from the next start. */
      readonly notes: readonly string[];
    }
  | { readonly problems: string };

/** What a journal knows of the document with which a life began. */
export interface BegunDocument {
  readonly strategy: string;
  readonly hash: string;
  readonly type: string;
  readonly document: unknown;
}
