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
 * What may make a live desk differ from its model, in the order in which a twin takes it over from live. Each is measured on top of
 * those before it: latency before the quote, because a quote that comes later has another price.
 */
export const causes = ['text', 'people', 'sizing', 'latency', 'quote', 'last_look', 'doubt'] as const;
export type Cause = (typeof causes)[number];

export interface TwinSetup {
  readonly recorded: Recorded;
  /** Of the desk, as its config makes it. */
  readonly policy: DeskSettings;
  /** For all that live has no answer to. */
  readonly model: ExecutionModel;
  /** Prices by pair. Pairs without: between the reference prices that live recorded, the earlier holds. */
  readonly tapes?: readonly Tape[] | undefined;
  /** The end; default: that of the journal. */
  readonly until?: Instant | undefined;
  readonly currencies?: Readonly<Record<string, CurrencyOptions>> | undefined;
  /** Another text of a strategy, in place of that of live: the nearest answers of live replace those that it never requested. */
  readonly candidate?: StrategySource | undefined;
  /** A strategy from its text; `undefined` when this version cannot read it. */
  revive(begun: BegunDocument): StrategySource | undefined;
  /** An empty journal in memory. */
  journal(): JournalPort & { read(): Iterable<StoredRecord> };
}

/** The prices of a twin: the same for each of its runs. */
export interface TwinMarket {
  readonly tapes: readonly Tape[];
  readonly nextPossible: NextPossible;
}
