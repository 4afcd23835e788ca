import type { ClosedHours } from '../hours.ts';
import type { Money, Price, Quantity, Ratio } from '../money.ts';
import type { Instant } from '../time.ts';
import type { Side } from '../venue.ts';

/** The limits of a desk. `undefined` means no limit; in live mode the config leaves no important limit undefined. */
export interface Limits {
  /** Currency of the notional limits. */
  readonly currency: string;
  readonly orderNotionalMax: Money | undefined;
  readonly dayNotionalMax: Money | undefined;
  /** In the currency of the limits, by pair. */
  readonly pairDayNotionalMax?: ReadonlyMap<string, Money> | undefined;
  /** Base quantity by pair. */
  readonly orderQuantityMax: ReadonlyMap<string, Quantity>;
  /** Largest distance of a quote from the reference price. */
  readonly collarBps: Ratio;
  /** Largest adverse distance of a quote from the reference price at the decision. */
  readonly driftBpsMax: Ratio | undefined;
  readonly openDoubtsMax: number;
  /** `undefined`: every pair. */
  readonly pairs: ReadonlySet<string> | undefined;
  readonly sides: ReadonlySet<Side>;
  /** Largest number of slices of one pair with an order in any minute. */
  readonly minuteExecutionsMax?: number | undefined;
  /** Slices of one parent with an order; `undefined`: as many as it plans, or 50 when it has no plan. */
  readonly parentExecutionsMax?: number | undefined;
  /** Shortest time between identical orders of two parents, milliseconds. */
  readonly duplicateMs?: number | undefined;
  /** Smallest balance that an order may leave, by currency. */
  readonly positionMin?: ReadonlyMap<string, Quantity> | undefined;
  /** Largest balance that an order may produce, by currency. */
  readonly positionMax?: ReadonlyMap<string, Quantity> | undefined;
  /** Cost of a parent, compared with its arrival price, that pauses it. */
  readonly shortfallBpsMax?: Ratio | undefined;
  /** Cost of all fills in one UTC day, compared with their decision prices and including fees, that halts the desk. */
  readonly dayCostMax?: Money | undefined;
  /** When nothing trades. */
  readonly closedHours?: readonly ClosedHours[] | undefined;
}

/** What an attempt would do, at its worst case or as quoted. */
export interface Proposal {
  readonly pair: string;
  readonly side: Side;
  /** Base currency. */
  readonly quantity: Quantity;
  readonly price: Price;
  /** In the currency of the limits; `undefined` while no rate converts it. */
  readonly notional: Money | undefined;
  /** Why it could not be converted, in words. */
  readonly notionalWhy?: string | undefined;
  readonly limit: Price | undefined;
  readonly reference: Price;
  readonly decisionPrice: Price | undefined;
}

/** Worst-case balance of a currency after the order and all orders in flight; `undefined` if it is unknown. */
export interface Position {
  readonly currency: string;
  readonly after: Quantity | undefined;
}

/**
 * Input of the gate in addition to the proposal. Totals are folds of the journal, with doubts counted as filled at
 * their worst case.
 */
export interface RiskContext {
  readonly control: 'active' | 'paused' | 'reducing' | 'halted';
  readonly isStopping: boolean;
  readonly at: Instant;
  /** Why the parent or the pair is paused. */
  readonly pausedWhy: string | undefined;
  /** How long ago the account was last read, if that is too long ago: `limit` and `value` as text. */
  readonly blind: { readonly limit: string; readonly value: string } | undefined;
  readonly openDoubts: number;
  /** Doubts of this pair. */
  readonly pairDoubts: number;
  /** Doubts at their worst case, in the currency of the limits. */
  readonly doubtNotional: Money;
  /** Traded today and in flight, without this attempt, in the currency of the limits. */
  readonly dayNotional: Money;
  /** The same for this pair. */
  readonly pairDayNotional: Money;
  /** Distance between two fresh sources of the reference price; `undefined` with a single source. */
  readonly referenceGapBps: Ratio | undefined;
  /** Largest such distance at which the desk trades; `undefined`: no limit. */
  readonly referenceGapBpsMax: Ratio | undefined;
  /** Whether the order moves a negative balance towards zero, but not beyond it. */
  readonly isReducing: boolean;
  /** The currency that the order pays with, and the currency that it increases. */
  readonly gives: Position;
  readonly gets: Position;
  readonly repeats: Repeats;
  readonly caps: Caps;
}

/** Earlier orders as the throttles count them. The pieces of one slice are one execution. */
export interface Repeats {
  /** Whether the client id of this attempt was used before. */
  readonly isReused: boolean;
  /** Client id of an identical order of another parent. */
  readonly duplicate: string | undefined;
  /** Other slices of the pair with an order in the last minute; counted only when a limit reads it. */
  readonly inMinute: number;
  /** Other slices of the parent with an order, since a person last re-armed the desk. */
  readonly ofParent: number;
  /** Slices that the parent plans; `undefined` when it has no plan. */
  readonly planned: number | undefined;
  /** End of the gap that must follow the parent's latest earlier slice with an order. */
  readonly gapUntil: Instant | undefined;
}

/** Sizes in the unit of the intent: base quantity, or amount of quote currency. */
export interface Caps {
  /** Size of this order. */
  readonly asked: Quantity;
  /** Traded and in flight for the parent, without this order. */
  readonly parentDone: Quantity;
  /** The total that the parent may trade; `undefined` if unknown. */
  readonly parentMax: Quantity | undefined;
  /** Decided size of the slice, and its planned size; `undefined` without a plan. */
  readonly slice: Quantity;
  readonly slicePlanned: Quantity | undefined;
}
