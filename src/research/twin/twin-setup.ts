import type { StoredRecord } from '../../core/record.ts';
import type { Instant } from '../../core/time.ts';
import type { DeskSettings } from '../../engine/desk-settings.ts';
import type { JournalPort } from '../../engine/ports.ts';
import type { BegunDocument, StrategySource } from '../../engine/state/strategy-source.ts';
import type { CurrencyOptions } from '../../simulator/options/options.ts';
import type { ExecutionModel } from '../run/model.ts';
import type { NextPossible } from '../run/tape-market.ts';
import type { Tape } from '../tape/tape.ts';
import type { Recorded } from './recorded.ts';

/**
 * The causes of a difference between a live desk and its model, in the order in which a twin takes them over from live. Each is
 * measured on top of those before it: latency before the quote, because a later quote has another price.
 */
export const causes = ['text', 'people', 'sizing', 'latency', 'quote', 'last_look', 'doubt'] as const;
export type Cause = (typeof causes)[number];

export interface TwinSetup {
  readonly recorded: Recorded;
  /** Settings of the desk, from its config. */
  readonly policy: DeskSettings;
  /** Model for requests that live has no answer to. */
  readonly model: ExecutionModel;
  /** Prices by pair. For other pairs, the recorded reference prices of live apply, each until the next. */
  readonly tapes?: readonly Tape[] | undefined;
  /** The end. Default: the end of the journal. */
  readonly until?: Instant | undefined;
  readonly currencies?: Readonly<Record<string, CurrencyOptions>> | undefined;
  /**
   * A candidate text of a strategy, which replaces the text of live. For requests that live never made, the nearest answers of live
   * apply.
   */
  readonly candidate?: StrategySource | undefined;
  /** Returns a strategy from its text; `undefined` when this version cannot read it. */
  revive(begun: BegunDocument): StrategySource | undefined;
  /** Returns an empty journal in memory. */
  journal(): JournalPort & { read(): Iterable<StoredRecord> };
}

/** The prices of a twin: the same for each of its runs. */
export interface TwinMarket {
  readonly tapes: readonly Tape[];
  readonly nextPossible: NextPossible;
}
