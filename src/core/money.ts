import { Decimal as DecimalJs } from 'decimal.js';

/**
 * Amounts with units that the compiler knows. Only this file imports `decimal.js`.
 *
 * An amount read from text has at most 40 digits, and a result keeps 80, so a sum or a product of two such amounts is
 * exact. Quotients are cut to 80 digits, towards zero. All other rounding happens in functions whose names state the
 * direction.
 */
const Decimal = DecimalJs.clone({
  precision: 80,
  rounding: DecimalJs.ROUND_DOWN,
  toExpNeg: -100,
  toExpPos: 100,
});
// A strategy module can reach the class through an amount, but must not be able to change the desk's
// arithmetic.
Object.freeze(Decimal);

declare const unit: unique symbol;
type Amount<Unit extends string> = DecimalJs & { readonly [unit]: Unit };

/** Quote currency per one unit of base currency. */
export type Price = Amount<'quote/base'>;
/** An amount of the base currency of a pair, or of any single currency when it is held. */
export type Quantity = Amount<'base'>;
/** An amount of the quote currency of a pair. */
export type Money = Amount<'quote'>;
/** A pure number: a weight, a rate, a fraction. */
export type Ratio = Amount<'1'>;
export type AnyAmount = Price | Quantity | Money | Ratio;

const EXPONENT = /[eE]/u;
const PLAIN = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/u;
/** Maximum number of digits of an amount, in total and after the point. The journal and the wire preserve that many. */
export const DIGITS_MAX = 40;

/**
 * Whether `text` is a number that this module accepts: digits, one point, an optional short exponent; at most 40
 * digits.
 */
export function isAmountText(text: string): boolean {
  if (text.length > 64 || !PLAIN.test(text)) return false;
  return (text.length <= DIGITS_MAX && !EXPONENT.test(text)) || isShortEnough(new Decimal(text));
}

const isShortEnough = (value: DecimalJs): boolean =>
  value.precision() <= DIGITS_MAX && Math.abs(value.e) <= DIGITS_MAX;

/**
 * Cache of recently read and written amounts by text, because the fields of one order are written into a record and
 * read from it many times. Amounts are immutable, so they can be shared.
 */
const recent = new Map<string, DecimalJs>();
const RECENT_MAX = 256;

function remember(text: string, amount: DecimalJs): void {
  if (recent.size >= RECENT_MAX) recent.clear();
  recent.set(text, amount);
}

function read(what: string, text: string): DecimalJs {
  const known = recent.get(text);
  if (known !== undefined) return known;
  if (typeof text !== 'string' || !isAmountText(text)) {
    throw new RangeError(`${what}: expected a plain decimal such as "0.25", got ${JSON.stringify(text)}`);
  }
  const amount = new Decimal(text);
  remember(text, amount);
  return amount;
}

/** Accepts only text, because a JSON number has already lost digits. */
export const price = (text: string): Price => read('price', text) as Price;
export const quantity = (text: string): Quantity => read('quantity', text) as Quantity;
export const money = (text: string): Money => read('money', text) as Money;
export const ratio = (text: string): Ratio => read('ratio', text) as Ratio;

export const NO_QUANTITY = quantity('0');
export const NO_MONEY = money('0');
export const ONE = ratio('1');
export const NOTHING = ratio('0');
const BASIS_POINT = ratio('0.0001');
const POINTS = ratio('10000');
const HALF = ratio('0.5');

/** The canonical text of an amount: no exponent, no leading plus, no trailing zeros. */
export const text = (amount: AnyAmount): string => (amount.isZero() ? '0' : written(amount));

function written(amount: AnyAmount): string {
  const digits = amount.toFixed();
  if (digits.length <= DIGITS_MAX) remember(digits, amount);
  return digits;
}

/** What `of` units cost at `each`. Exact. */
export const cost = (each: Price, of: Quantity): Money => each.times(of) as Money;

/** Converts an amount of a pair's quote currency to a holding of that currency, for uses where the pair no longer matters. */
export const holding = (amount: Money): Quantity => amount as DecimalJs as Quantity;

/** A holding as money, if its currency is the unit of account. */
export const counted = (held: Quantity): Money => held as DecimalJs as Money;

/** A separate, immutable copy of the amount, for code outside the product. */
export function apart<A extends AnyAmount>(amount: A): A {
  const own = new Decimal(amount);
  Object.freeze(own.d);
  Object.freeze(own);
  return own as A;
}

/**
 * The common case: half of all added or subtracted amounts are zero (no fees, no other attempt, nothing filled yet).
 */
export function add<A extends AnyAmount>(a: A, b: A): A {
  if (b.isZero()) return a;
  return a.isZero() ? b : (a.plus(b) as A);
}

export const subtract = <A extends AnyAmount>(a: A, b: A): A => (b.isZero() ? a : (a.minus(b) as A));
/** Whether it is above zero, by its sign, because a comparison with 0 would first create an amount. */
export const isAboveZero = (amount: AnyAmount): boolean => amount.isPositive() && !amount.isZero();
/** Whether it is below zero. */
export const isBelowZero = (amount: AnyAmount): boolean => amount.isNegative() && !amount.isZero();
export const negate = <A extends AnyAmount>(a: A): A => a.negated() as A;
export const size = <A extends AnyAmount>(a: A): A => a.abs() as A;
export const scale = <A extends AnyAmount>(a: A, by: Ratio): A => a.times(by) as A;

export function least<A extends AnyAmount>(a: A, ...more: readonly A[]): A {
  let found = a;
  for (const each of more) if (each.lt(found)) found = each;
  return found;
}

export function greatest<A extends AnyAmount>(a: A, ...more: readonly A[]): A {
  let found = a;
  for (const each of more) if (each.gt(found)) found = each;
  return found;
}

/** `part / whole`, 80 digits, towards zero. `whole` must not be zero. */
export const fraction = <A extends AnyAmount>(part: A, whole: A): Ratio => {
  if (whole.isZero()) throw new RangeError('fraction: the whole is zero');
  return part.div(whole) as Ratio;
};

/**
 * The base quantity that `amount` buys at `each`, truncated to `precision` decimals, so that it is never more than
 * intended. Computed in whole units of the last decimal, because a quotient of 80 digits is much slower.
 */
export const quantityDown = (amount: Money, each: Price, precision: number): Quantity =>
  amount
    .times(ratio(`1e${precision}`))
    .divToInt(each)
    .times(ratio(`1e-${precision}`)) as Quantity;

/** The base quantity to sell for `amount` at `each`; at most one unit of `precision` too much. */
export const quantityUp = (amount: Money, each: Price, precision: number): Quantity =>
  roundUp(amount.div(each) as Quantity, precision);

/** The price at which `of` costs `amount`, with 80 digits. */
export const priceOf = (amount: Money, of: Quantity): Price => amount.div(of) as Price;

/** The same price, rounded to `precision` decimals, halves to even. */
export const priceEven = (amount: Money, of: Quantity, precision: number): Price =>
  roundEven(priceOf(amount, of), precision);

/** The price of a base currency in the quote currency of `onward`, whose base is the quote currency of `first`. Exact. */
export const through = (first: Price, onward: Price): Price => first.times(onward) as Price;

/** The middle of two prices. Exact. */
export const middle = (a: Price, b: Price): Price => a.plus(b).times(HALF) as Price;

/** Rounds towards zero, for a size to send or a balance to rely on. */
export const roundDown = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, DecimalJs.ROUND_DOWN) as A;

/** Rounds away from zero, for a cost that must be affordable. */
export const roundUp = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, DecimalJs.ROUND_UP) as A;

/** Rounds to the nearest, halves to even, for figures and for money that a venue books. */
export const roundEven = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, DecimalJs.ROUND_HALF_EVEN) as A;

/**
 * The share of `value` that belongs to `part` of `whole`, to the nearest, halves to even. Multiplies first, because a
 * quotient with endless digits would move a half to one side.
 */
export const shareEven = <A extends AnyAmount, B extends AnyAmount>(
  value: A,
  part: B,
  whole: B,
  precision: number,
): A => roundEven(value.times(part).div(whole) as A, precision);

/** Rounds to the nearest, halves to even, and writes all decimals. */
export const fixedEven = (amount: AnyAmount, decimals: number): string =>
  amount.toFixed(decimals, DecimalJs.ROUND_HALF_EVEN);

/** Rounds towards zero, to this number of significant digits. */
export const significant = <A extends AnyAmount>(amount: A, digits: number): A =>
  amount.toSignificantDigits(digits) as A;

/** One of `parts` equal parts of `total`, truncated to `precision` decimals; the last part takes the remainder. */
export const share = <A extends AnyAmount>(total: A, parts: number, precision: number): A =>
  roundDown(total.div(parts) as A, precision);

/** Number of decimals that `amount` uses. */
export const decimalsOf = (amount: AnyAmount): number => amount.decimalPlaces();

/** How much worse for us a price is than `reference`, in basis points. Positive is bad on either side. */
export function slippageBps(side: 'buy' | 'sell', paid: Price, reference: Price): Ratio {
  const away = paid.minus(reference).div(reference).times(POINTS);
  return (side === 'buy' ? away : away.negated()) as Ratio;
}

/** Whether a price is within `bps` of `reference` on either side. Multiplied out, because a quotient is much slower. */
export const isNear = (each: Price, reference: Price, bps: Ratio): boolean =>
  isAboveZero(reference) &&
  (each === reference || each.minus(reference).abs().times(POINTS).lte(reference.times(bps)));

/** `reference` moved by `bps` against us: higher for a buy, lower for a sell. */
export const worsen = (side: 'buy' | 'sell', reference: Price, bps: Ratio): Price =>
  scale(reference, worse(side, bps));

/** The factor of `worsen`. */
export function worse(side: 'buy' | 'sell', bps: Ratio): Ratio {
  if (lastWorse[side].bps !== bps)
    lastWorse[side] = {
      bps,
      factor: ONE.plus((side === 'buy' ? bps : bps.negated()).times(BASIS_POINT)) as Ratio,
    };
  return lastWorse[side].factor;
}

/** Cached, because the collar is the same for every order. */
const lastWorse = { buy: { bps: NOTHING, factor: ONE }, sell: { bps: NOTHING, factor: ONE } };

/** For figures that are never converted back to money: metrics, charts, progress. */
export const approximate = (amount: AnyAmount): number => amount.toNumber();

/** A ratio from a count or from a setting that is not money (a percentage, a number of steps). */
export const ratioOf = (count: number): Ratio => new Decimal(count) as Ratio;

/** Whether this is an amount, in any unit. */
export const isAmount = (value: unknown): value is AnyAmount => value instanceof Decimal;

/** All digits of an amount, for `amountOf` only: never for people, the wire or the journal. */
export const wordOf = (amount: AnyAmount): string => amount.valueOf();

/** Restores an amount from `wordOf`. The place where it is stored determines its unit. */
export function amountOf(word: string): AnyAmount {
  if (word.length > 1_000 || !PLAIN.test(word)) throw new RangeError('not an amount that was kept');
  return new Decimal(word) as AnyAmount;
}
