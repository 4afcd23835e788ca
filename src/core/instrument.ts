import { decimalsOf, price } from './money.ts';
import type { AnyAmount, Money, Quantity } from './money.ts';

/** What can be traded, with its precisions and the venue's minimum. */
export interface Instrument {
  readonly pair: string;
  readonly base: string;
  readonly quote: string;
  /** Decimals of base quantities. */
  readonly basePrecision: number;
  /** Decimals of quote amounts. */
  readonly quotePrecision: number;
  readonly minimum: Minimum;
}

/** The smallest order of a pair. If both bounds are given, both apply. */
export interface Minimum {
  readonly quantity?: Quantity | undefined;
  readonly notional?: Money | undefined;
  /** Quantities are multiples of this power of ten, which is at most 1. Default: the decimals of the currency. */
  readonly lot?: Quantity | undefined;
}

/** Decimals of the sizes of a pair. `undefined` while they are unknown. */
export interface Precisions {
  readonly basePrecision: number | undefined;
  readonly quotePrecision: number | undefined;
}

/**
 * Number of decimals of the sizes in a pair: the precision of its currencies, or of its lot if the lot is coarser. `validate`,
 * `plan` and the desk all round by this rule.
 */
export function precisionsOf<D extends number | undefined>(
  { base, quote }: Pick<Instrument, 'base' | 'quote'>,
  precision: (currency: string) => D,
  { lot }: Minimum,
): { readonly basePrecision: D | number; readonly quotePrecision: D } {
  const [ofBase, quotePrecision] = [precision(base), precision(quote)];
  if (lot === undefined) return { basePrecision: ofBase, quotePrecision };
  const ofLot = decimalsOf(lot);
  return { basePrecision: ofBase === undefined ? ofLot : Math.min(ofBase, ofLot), quotePrecision };
}

const UNITS: readonly AnyAmount[] = Array.from({ length: 31 }, (_, decimals) => price(`1e-${decimals}`));

/** One unit of a currency with that many decimals. */
export const unitOf = (decimals: number): AnyAmount => UNITS[decimals] ?? price(`1e-${decimals}`);
