import type { Instrument } from './instrument.ts';
import {
  cost,
  fraction,
  greatest,
  least,
  money,
  negate,
  NO_QUANTITY,
  ONE,
  quantity,
  quantityDown,
  quantityUp,
  roundDown,
  roundUp,
  scale,
  subtract,
} from './money.ts';
import type { Money, Price, Quantity, Ratio } from './money.ts';
import { sizeForPts } from './pts.ts';
import type { Reason } from './reasons.ts';
import type { RiskMode, Side, Size } from './venue.ts';

/** Everything that sizing looks at. Pure data: nothing is asked while it runs. */
export interface SizingQuestion {
  readonly instrument: Instrument;
  readonly side: Side;
  /** What is left of the slice. */
  readonly wanted: Size;
  /** Worst price at which the order may leave. */
  readonly worst: Price;
  /** Reference price, for minimum and maximum. */
  readonly mid: Price;
  /** Balances less what attempts under way may take. */
  readonly availableBase: Quantity;
  readonly availableQuote: Quantity;
  /** Largest amount, in quote currency, that the venue quotes in one piece, when it told one. */
  readonly maximum: Money | undefined;
  readonly pts: {
    readonly use: 'never' | 'when_enabled';
    readonly mode: RiskMode | undefined;
    /** In the currency that the order pays with. */
    readonly creditLeft: Quantity | undefined;
    readonly carryBps: Ratio | undefined;
    readonly carryBpsMax: Ratio | undefined;
  };
}

/** A size that may be asked for, and why it is smaller than wanted. */
export interface Sized {
  readonly size: Size;
  readonly cuts: readonly Reason[];
  /** Whether the rest of the slice may follow in further pieces. */
  readonly isPiece: boolean;
}
export interface Unsized {
  readonly reason: Reason;
  readonly note: string;
}

/** Cuts what is wanted to the venue's maximum, to funds and credit, to precision, and checks the minimum at last. */
export function sizeSlice(question: SizingQuestion): Sized | Unsized {
  const { instrument, side, mid } = question;
  const capped = capToMaximum(question);
  const paid = outgoing(capped.size, question);
  const sized = sizeForPts({
    ...question.pts,
    side,
    outgoing: paid,
    available: side === 'buy' ? question.availableQuote : question.availableBase,
    reducing: reducing(question),
  });
  const size = sized.allowed.lt(paid)
    ? sizeOf(sized.allowed, question, capped.size)
    : rounded(capped.size, instrument);
  const base =
    size.by === 'quantity' ? size.quantity : quantityDown(size.amount, mid, instrument.basePrecision);
  const notional = size.by === 'amount' ? size.amount : cost(mid, size.quantity);
  if (base.lte(0)) {
    return {
      reason: sized.cuts.length > 0 ? 'no_funds' : 'below_minimum',
      note: sized.cuts.join(', ') || 'nothing is left after rounding',
    };
  }
  const { minimum } = instrument;
  if (minimum.quantity !== undefined && base.lt(minimum.quantity)) {
    return {
      reason: 'below_minimum',
      note: `${base.toFixed()} ${instrument.base} of at least ${minimum.quantity.toFixed()}; ${sized.cuts.join(', ')}`,
    };
  }
  if (minimum.notional !== undefined && notional.lt(minimum.notional)) {
    return {
      reason: 'below_minimum',
      note: `${notional.toFixed(2)} ${instrument.quote} of at least ${minimum.notional.toFixed()}; ${sized.cuts.join(', ')}`,
    };
  }
  const isPiece = capped.isPiece && sized.cuts.length === 0;
  return { size, cuts: [...(capped.isPiece ? (['venue_maximum'] as const) : []), ...sized.cuts], isPiece };
}

/** Stays below what the venue quotes in one piece. What would be left must not fall below the minimum by itself. */
function capToMaximum({ wanted, maximum, mid, instrument }: SizingQuestion): {
  size: Size;
  isPiece: boolean;
} {
  if (maximum === undefined) return { size: wanted, isPiece: false };
  if (wanted.by === 'amount') {
    if (wanted.amount.lte(maximum)) return { size: wanted, isPiece: false };
    const largest = roundDown(maximum, instrument.quotePrecision);
    return {
      size: { by: 'amount', amount: evenPiece(wanted.amount, largest, instrument.quotePrecision) },
      isPiece: true,
    };
  }
  const largest = quantityDown(maximum, mid, instrument.basePrecision);
  if (wanted.quantity.lte(largest)) return { size: wanted, isPiece: false };
  return {
    size: { by: 'quantity', quantity: evenPiece(wanted.quantity, largest, instrument.basePrecision) },
    isPiece: true,
  };
}

/** Equal pieces no larger than `largest`, so that the last is no crumb. Rounded up: the last piece is the smaller one. */
function evenPiece<A extends Quantity | Money>(whole: A, largest: A, precision: number): A {
  if (!largest.gt(0)) return largest;
  const pieces = roundUp(fraction(whole, largest), 0);
  return least(roundUp(scale(whole, fraction(ONE, pieces)), precision), largest);
}

/** What the order pays at worst: quote currency for a buy, base for a sell. */
function outgoing(size: Size, { side, worst, instrument }: SizingQuestion): Quantity {
  if (side === 'buy')
    return asHeld(
      size.by === 'amount' ? size.amount : roundUp(cost(worst, size.quantity), instrument.quotePrecision),
    );
  if (size.by === 'quantity') return size.quantity;
  return quantityUp(size.amount, worst, instrument.basePrecision);
}

/** The part of the order that reduces an open position, in the currency it pays with. A sell of what is held is own funds. */
export function reducing({
  side,
  availableBase,
  worst,
}: Pick<SizingQuestion, 'side' | 'availableBase' | 'worst'>): Quantity {
  if (side === 'sell' || !availableBase.lt(0)) return NO_QUANTITY;
  return asHeld(cost(worst, negate(availableBase)));
}

/** The size that pays `allowed`. Cut down: never more than is there. */
function sizeOf(allowed: Quantity, { side, worst, instrument }: SizingQuestion, wanted: Size): Size {
  const paid = money(allowed.toFixed());
  if (wanted.by === 'amount') {
    const amount = side === 'buy' ? paid : cost(worst, allowed);
    return { by: 'amount', amount: roundDown(least(amount, wanted.amount), instrument.quotePrecision) };
  }
  const cut =
    side === 'buy'
      ? quantityDown(paid, worst, instrument.basePrecision)
      : roundDown(allowed, instrument.basePrecision);
  return { by: 'quantity', quantity: least(cut, wanted.quantity) };
}

const rounded = (size: Size, { basePrecision, quotePrecision }: Instrument): Size =>
  size.by === 'quantity'
    ? { by: 'quantity', quantity: roundDown(size.quantity, basePrecision) }
    : { by: 'amount', amount: roundDown(size.amount, quotePrecision) };

/** A quote amount seen as a holding of the quote currency. */
const asHeld = (amount: Money): Quantity => quantity(amount.toFixed());

/** What is left of a size after `filled` base for `filledAmount` quote. Never below zero. */
export function leftOf(size: Size, filled: Quantity, filledAmount: Money): Size {
  return size.by === 'quantity'
    ? { by: 'quantity', quantity: greatest(subtract(size.quantity, filled), NO_QUANTITY) }
    : { by: 'amount', amount: greatest(subtract(size.amount, filledAmount), money('0')) };
}

export const isNothing = (size: Size): boolean =>
  !(size.by === 'quantity' ? size.quantity : size.amount).gt(0);
