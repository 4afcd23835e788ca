import { cut } from './cuts.ts';
import type { Cut } from './cuts.ts';
import type { Instrument } from '../instrument.ts';
import {
  cost,
  counted,
  fraction,
  greatest,
  holding,
  isAboveZero,
  isBelowZero,
  least,
  negate,
  NO_MONEY,
  NO_QUANTITY,
  ONE,
  quantityDown,
  quantityUp,
  ratioOf,
  roundDown,
  roundUp,
  scale,
  subtract,
  text,
} from '../money.ts';
import type { Money, Price, Quantity, Ratio } from '../money.ts';
import { sizeForPts } from './pts.ts';
import type { Reason } from '../reasons.ts';
import type { RiskMode, Side, Size } from '../venue.ts';

/** Input of sizing. Pure data, because sizing makes no requests. */
export interface SizingQuestion {
  readonly instrument: Instrument;
  readonly side: Side;
  /** Remainder of the slice. */
  readonly wanted: Size;
  /** Worst price at which the order may be sent. */
  readonly worst: Price;
  /** Reference price, for minimum and maximum. */
  readonly mid: Price;
  /** Balances minus what attempts in progress may take. */
  readonly availableBase: Quantity;
  readonly availableQuote: Quantity;
  /** Largest amount, in quote currency, that the venue quotes in one piece, if known. */
  readonly maximum: Money | undefined;
  /** Largest amount, in quote currency, that the strategy's tactics allow in one piece. */
  readonly piece?: Money | undefined;
  /** Orders of the slice that have filled; pieces count towards `PIECES_MAX`. */
  readonly filledOrders?: number;
  /** The per-order limits, if the slice is traded in pieces within them; omitted: the controls refuse a slice above them. */
  readonly orderMax?: Quantity | undefined;
  /** Minimum balance of the currency that the order pays with; zero means that nothing is bought on credit. */
  readonly keep?: Quantity | undefined;
  /** Floor of the balance that an order pays from; a negative floor permits that much debt. */
  readonly floor?: Quantity | undefined;
  /** Smallest order that the strategy wants, in quote currency. */
  readonly ownMinimum?: Money | undefined;
  readonly pts: {
    readonly use: 'never' | 'when_enabled';
    readonly mode: RiskMode | undefined;
    /** In the currency that the order pays with. */
    readonly creditLeft: Quantity | 'unknown' | undefined;
    readonly carryBps: Ratio | undefined;
    readonly carryBpsMax: Ratio | undefined;
  };
}

/** A size that may be requested, and why it is smaller than wanted. */
export interface Sized {
  readonly size: Size;
  /** Base quantity, at the reference price when the size is an amount. */
  readonly quantity: Quantity;
  readonly cuts: readonly Reason[];
  /** The figures of each cut, `limit=… value=…`. */
  readonly notes: readonly string[];
  /** Whether the venue's maximum allows too few pieces, so that a part of the slice will not trade. */
  readonly isShort: boolean;
}
export interface Unsized {
  readonly reason: Reason;
  readonly note: string;
  /** The slice has traded as many pieces as it may. */
  readonly isFinal?: true;
  /** The reasons that cut it to nothing, or below the smallest order. */
  readonly cuts?: readonly Reason[];
}

/** Largest number of pieces of a slice. If more would be needed, the rest of the slice does not trade. */
export const PIECES_MAX = 40;

/** Cuts after which the rest of the slice follows in another piece. */
const PIECES: ReadonlySet<Reason> = new Set<Reason>(['venue_maximum', 'size_impact', 'order_size']);
export const isPieceCut = (reason: Reason): boolean => PIECES.has(reason);

/**
 * Cuts the wanted size to the venue's maximum, to the tactics' largest piece, to the funds above the reserve, to
 * funds and credit, and to precision; then checks the minimums.
 */
export function sizeSlice(question: SizingQuestion): Sized | Unsized {
  const { instrument, mid } = question;
  const capped = capToPiece(question);
  if ('reason' in capped) return capped;
  const paid = outgoing(capped.size, question);
  const { allowed, cuts: funds } = fundsFor(paid, question);
  const size = allowed.lt(paid) ? sizeOf(allowed, question, capped.size) : rounded(capped.size, instrument);
  const base =
    size.by === 'quantity' ? size.quantity : quantityDown(size.amount, mid, instrument.basePrecision);
  if (!isAboveZero(base)) {
    const floored = funds.find(({ reason }) => reason === 'position_limit');
    if (floored !== undefined) return floored;
    // If the reserve covers the whole balance, the reason should name the reserve.
    const isKept =
      question.keep?.gt(0) === true &&
      funds.length > 0 &&
      funds.every(({ reason }) => reason === 'kept_back');
    return {
      reason: isKept ? 'kept_back' : funds.length > 0 ? 'no_funds' : 'below_minimum',
      note: wordsOf(funds) || 'nothing is left after rounding',
      cuts: funds.map(({ reason }) => reason),
    };
  }
  const notional = size.by === 'amount' ? size.amount : cost(mid, size.quantity);
  const small = tooSmall(question, base, notional);
  if (small !== undefined)
    return {
      ...small,
      note: [small.note, wordsOf(funds)].filter(Boolean).join('; '),
      cuts: funds.map(({ reason }) => reason),
    };
  if (capped.cuts.length + funds.length === 0)
    return { size, quantity: base, cuts: NONE, notes: NONE, isShort: false };
  const all = [...capped.cuts, ...funds];
  return {
    size,
    quantity: base,
    cuts: all.map(({ reason }) => reason),
    notes: all.map(({ note }) => note),
    isShort: capped.isShort ?? false,
  };
}

const NONE: readonly never[] = [];

const wordsOf = (cuts: readonly Cut[]): string =>
  cuts.map(({ reason, note }) => `${reason} ${note}`).join(', ');
const availableOf = ({ side, availableBase, availableQuote }: SizingQuestion): Quantity =>
  side === 'buy' ? availableQuote : availableBase;

/** The minimum that the order would fall below, if any. */
function tooSmall(
  { instrument: { base: currency, quote, minimum }, ownMinimum }: SizingQuestion,
  base: Quantity,
  notional: Money,
): Unsized | undefined {
  if (minimum.quantity !== undefined && base.lt(minimum.quantity))
    return {
      reason: 'below_minimum',
      note: `${base.toFixed()} ${currency} of at least ${minimum.quantity.toFixed()}`,
    };
  const worth = (): string => `${notional.toFixed(2)} ${quote} of at least`;
  if (minimum.notional !== undefined && notional.lt(minimum.notional))
    return { reason: 'below_minimum', note: `${worth()} ${minimum.notional.toFixed()}` };
  return ownMinimum !== undefined && notional.lt(ownMinimum)
    ? { reason: 'below_min_trade', note: `${worth()} ${ownMinimum.toFixed()}` }
    : undefined;
}

/** How much of the order's payment is allowed, and why no more is allowed. */
interface Funds {
  readonly allowed: Quantity;
  readonly cuts: readonly Cut[];
}

/** Funds and credit for the order, cut so that credit does not take the balance below its floor. */
function fundsFor(paid: Quantity, question: SizingQuestion): Funds {
  const funds = fundsAndCredit(paid, question);
  const { floor, side, instrument } = question;
  if (floor === undefined) return funds;
  const available = availableOf(question);
  const room = greatest(subtract(available, floor), NO_QUANTITY);
  if (funds.allowed.lte(room)) return funds;
  const pays = side === 'buy' ? instrument.quote : instrument.base;
  const why = cut(
    'position_limit',
    `min_position ${text(floor)} ${pays}`,
    text(subtract(available, funds.allowed)),
  );
  return { allowed: room, cuts: [...funds.cuts, why] };
}

/** Own funds minus the reserve, and credit. */
function fundsAndCredit(paid: Quantity, question: SizingQuestion): Funds {
  const kept = keptBack(question, paid);
  const available = availableOf(question);
  // The common case: own funds pay for the whole order.
  if (isAboveZero(kept.allowed) && available.gte(kept.allowed)) return kept;
  const { side, instrument, pts } = question;
  const pays = side === 'buy' ? instrument.quote : instrument.base;
  const asked = { ...pts, side, pays, outgoing: kept.allowed, available, reducing: reducing(question) };
  const { allowed, cuts } = sizeForPts(asked);
  return { allowed, cuts: [...kept.cuts, ...cuts] };
}

/** An order must leave the reserve in the account. Neither own funds nor credit may use it. */
function keptBack(question: SizingQuestion, paid: Quantity): Funds {
  const { keep, side, instrument } = question;
  if (keep === undefined) return { allowed: paid, cuts: NONE };
  const available = availableOf(question);
  const free = greatest(subtract(available, keep), NO_QUANTITY);
  if (paid.lte(free)) return { allowed: paid, cuts: NONE };
  const pays = side === 'buy' ? instrument.quote : instrument.base;
  const limit = `${text(available)} less ${text(keep)} ${pays}`;
  return { allowed: free, cuts: [cut('kept_back', limit, `${text(paid)} ${pays}`)] };
}

/**
 * Keeps the piece within the venue's maximum, the tactics' largest piece and the per-order limits. The remainder must
 * not fall below the minimum. Refuses the slice if the venue quotes less than can be traded, or after the last piece
 * that it may have.
 */
function capToPiece(
  question: SizingQuestion,
): { readonly size: Size; readonly cuts: readonly Cut[]; readonly isShort?: boolean } | Unsized {
  const { wanted, maximum, piece, orderMax, mid, instrument, filledOrders = 0 } = question;
  // Most orders are sent whole.
  if (maximum === undefined && piece === undefined && orderMax === undefined)
    return { size: wanted, cuts: NONE };
  const isBase = wanted.by === 'quantity';
  const precision = isBase ? instrument.basePrecision : instrument.quotePrecision;
  const whole = isBase ? wanted.quantity : holding(wanted.amount);
  const inUnit = (amount: Money): Quantity =>
    isBase ? quantityDown(amount, mid, precision) : roundDown(holding(amount), precision);
  const smallest = leastPiece(question);
  const left = ratioOf(Math.max(0, PIECES_MAX - filledOrders));
  const crumb = left.isZero() ? whole : roundUp(scale(whole, fraction(ONE, left)), precision);
  const stated = maximum && inUnit(maximum);
  const wished = piece && greatest(inUnit(piece), smallest, crumb);
  const orderable = orderMax && (isBase ? orderMax : roundDown(holding(cost(mid, orderMax)), precision));
  // If the limit is below the minimum, the slice stays whole, and the controls refuse it.
  const limited = orderable?.gte(smallest) === true ? orderable : undefined;
  const bounds = [stated, wished, limited].filter((bound) => bound !== undefined);
  const [first, ...more] = bounds;
  // The whole slice is too small, so no piece of it can be traded.
  if (first === undefined || whole.lt(smallest)) return { size: wanted, cuts: NONE };
  const largest = least(first, ...more);
  if (whole.lte(largest)) return { size: wanted, cuts: NONE };
  const unit = isBase ? instrument.base : instrument.quote;
  const reason =
    stated?.lte(largest) === true
      ? 'venue_maximum'
      : limited?.lte(largest) === true
        ? 'order_size'
        : 'size_impact';
  const why = cut(reason, `${text(largest)} ${unit}`, `${text(whole)} ${unit}`);
  if (largest.lt(smallest) || largest.isZero()) return why;
  const limit = `${PIECES_MAX} pieces of at most ${text(largest)} ${unit}`;
  if (left.isZero()) return { ...cut(reason, limit, `${text(whole)} ${unit} left`), isFinal: true };
  const isShort = largest.lt(crumb);
  const each = isShort ? largest : evenPiece(whole, largest, precision);
  const part = each.lt(smallest) ? largest : each;
  const size: Size = isBase ? { by: 'quantity', quantity: part } : { by: 'amount', amount: counted(part) };
  return { size, cuts: [why], isShort: isShort && reason === 'venue_maximum' };
}

/** The smallest piece that can be traded, in the unit of the wanted size. */
function leastPiece({ instrument: { minimum, basePrecision }, wanted, mid }: SizingQuestion): Quantity {
  const { quantity: base, notional } = minimum;
  if (wanted.by === 'amount')
    return holding(greatest(notional ?? NO_MONEY, base === undefined ? NO_MONEY : cost(mid, base)));
  return greatest(
    base ?? NO_QUANTITY,
    notional === undefined ? NO_QUANTITY : quantityUp(notional, mid, basePrecision),
  );
}

/**
 * Equal pieces no larger than `largest`, so that the last is not tiny. Rounded up, so the last piece is the smallest.
 */
function evenPiece(whole: Quantity, largest: Quantity, precision: number): Quantity {
  const pieces = roundUp(fraction(whole, largest), 0);
  return least(roundUp(scale(whole, fraction(ONE, pieces)), precision), largest);
}

/** What the order pays in the worst case: quote currency for a buy, base for a sell. */
function outgoing(size: Size, { side, worst, instrument }: SizingQuestion): Quantity {
  if (side === 'buy')
    return holding(
      size.by === 'amount' ? size.amount : roundUp(cost(worst, size.quantity), instrument.quotePrecision),
    );
  if (size.by === 'quantity') return size.quantity;
  return quantityUp(size.amount, worst, instrument.basePrecision);
}

/**
 * The part of the order that reduces an open position, in the currency that the order pays with. Selling a held balance
 * uses the desk's own funds.
 */
export function reducing({
  side,
  availableBase,
  worst,
}: Pick<SizingQuestion, 'side' | 'availableBase' | 'worst'>): Quantity {
  if (side === 'sell' || !availableBase.lt(0)) return NO_QUANTITY;
  return holding(cost(worst, negate(availableBase)));
}

/** The size that costs `allowed`. Truncated, so that it never costs more than is available. */
function sizeOf(allowed: Quantity, { side, worst, instrument }: SizingQuestion, wanted: Size): Size {
  const paid = counted(allowed);
  if (wanted.by === 'amount') {
    const amount = side === 'buy' ? paid : cost(worst, allowed);
    return { by: 'amount', amount: roundDown(least(amount, wanted.amount), instrument.quotePrecision) };
  }
  const affordable =
    side === 'buy'
      ? quantityDown(paid, worst, instrument.basePrecision)
      : roundDown(allowed, instrument.basePrecision);
  return { by: 'quantity', quantity: least(affordable, wanted.quantity) };
}

const rounded = (size: Size, { basePrecision, quotePrecision }: Instrument): Size =>
  size.by === 'quantity'
    ? { by: 'quantity', quantity: roundDown(size.quantity, basePrecision) }
    : { by: 'amount', amount: roundDown(size.amount, quotePrecision) };

/** The amount, or none if it is negative. */
const orNone = <A extends Quantity | Money>(amount: A, none: A): A => (isBelowZero(amount) ? none : amount);

/** The remainder of a size after `filled` units of base were traded for `filledAmount` of quote. Never below zero. */
export function leftOf(size: Size, filled: Quantity, filledAmount: Money): Size {
  return size.by === 'quantity'
    ? { by: 'quantity', quantity: orNone(subtract(size.quantity, filled), NO_QUANTITY) }
    : { by: 'amount', amount: orNone(subtract(size.amount, filledAmount), NO_MONEY) };
}

export const isNothing = (size: Size): boolean =>
  !isAboveZero(size.by === 'quantity' ? size.quantity : size.amount);
