import { Decimal } from 'decimal.js';

/**
 * Amounts with units that the compiler knows. This file is the one home of `decimal.js`.
 *
 * Every amount is exact: precision is far above what any wire message holds (30 digits), so sums and products never
 * round by themselves. Rounding happens only in the functions whose names say which way.
 */
const Exact = Decimal.clone({ precision: 80, rounding: Decimal.ROUND_DOWN, toExpNeg: -100, toExpPos: 100 });

declare const unit: unique symbol;
type Amount<Unit extends string> = Decimal & { readonly [unit]: Unit };

/** Quote currency per one unit of base currency. */
export type Price = Amount<'quote/base'>;
/** An amount of the base currency of a pair, or of any single currency when it is held. */
export type Quantity = Amount<'base'>;
/** An amount of the quote currency of a pair. */
export type Money = Amount<'quote'>;
/** A pure number: a weight, a rate, a fraction. */
export type Ratio = Amount<'1'>;
export type AnyAmount = Price | Quantity | Money | Ratio;

const PLAIN = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/u;
const SHORT = /^-?\d+(?:\.\d+)?$/u;
/** Most digits an amount may have in all, and after the point: what the journal and the wire promise to keep. */
export const DIGITS_MAX = 40;

/** Whether `text` is a number this module reads: digits, one point, an optional short exponent; at most 40 digits. */
export function isAmountText(text: string): boolean {
  // Nearly all amounts: too short to break the bounds below, so no Decimal is made just to count digits.
  if (text.length <= DIGITS_MAX && SHORT.test(text)) return true;
  if (text.length > 64 || !PLAIN.test(text)) return false;
  const value = new Exact(text);
  return value.precision(false) <= DIGITS_MAX && Math.abs(value.e) <= DIGITS_MAX;
}

/**
 * Amounts that were read lately. The same few texts come again and again (sizes, limits, figures of a replay), and an
 * amount never changes: what was read once need not be read again.
 */
const lately = new Map<string, Decimal>();
const LATELY_MAX = 256;
const LATELY_LENGTH_MAX = 24;

function read(what: string, text: string): Decimal {
  const known = lately.get(text);
  if (known !== undefined) return known;
  const amount = parse(what, text);
  if (text.length > LATELY_LENGTH_MAX) return amount;
  if (lately.size >= LATELY_MAX) lately.clear();
  lately.set(text, amount);
  return amount;
}

function parse(what: string, text: string): Decimal {
  if (typeof text !== 'string' || !isAmountText(text)) {
    throw new RangeError(`${what}: expected a plain decimal such as "0.25", got ${JSON.stringify(text)}`);
  }
  return new Exact(text);
}

/** Takes text only: a JSON number has already lost digits. */
export const price = (text: string): Price => read('price', text) as Price;
export const quantity = (text: string): Quantity => read('quantity', text) as Quantity;
export const money = (text: string): Money => read('money', text) as Money;
export const ratio = (text: string): Ratio => read('ratio', text) as Ratio;

export const NO_QUANTITY = quantity('0');
export const NO_MONEY = money('0');
export const ONE = ratio('1');
export const NOTHING = ratio('0');
const BASIS_POINT = ratio('0.0001');

/** The one spelling of an amount: no exponent, no leading plus, no trailing zeros. */
export const text = (amount: AnyAmount): string => (amount.isZero() ? '0' : amount.toFixed());

/** What `of` units cost at `each`. Exact. */
export const cost = (each: Price, of: Quantity): Money => each.times(of) as Money;

/** An amount of the quote currency of a pair as a holding of that currency: where the pair no longer matters. */
export const holding = (amount: Money): Quantity => amount as Decimal as Quantity;

/** A holding as money, where its currency is the one that everything is counted in. */
export const counted = (held: Quantity): Money => held as Decimal as Money;

export const add = <A extends AnyAmount>(a: A, b: A): A => a.plus(b) as A;
export const subtract = <A extends AnyAmount>(a: A, b: A): A => a.minus(b) as A;
export const negate = <A extends AnyAmount>(a: A): A => a.negated() as A;
export const size = <A extends AnyAmount>(a: A): A => a.abs() as A;
export const scale = <A extends AnyAmount>(a: A, by: Ratio): A => a.times(by) as A;
export const least = <A extends AnyAmount>(a: A, ...more: readonly A[]): A =>
  more.reduce((x, y) => (y.lt(x) ? y : x), a);
export const greatest = <A extends AnyAmount>(a: A, ...more: readonly A[]): A =>
  more.reduce((x, y) => (y.gt(x) ? y : x), a);

/** `part / whole`, 80 digits, towards zero. `whole` must not be zero. */
export const fraction = <A extends AnyAmount>(part: A, whole: A): Ratio => {
  if (whole.isZero()) throw new RangeError('fraction: the whole is zero');
  return part.div(whole) as Ratio;
};

/** The base quantity that `amount` buys at `each`, cut down to `precision` decimals: never more than was meant. */
export const quantityDown = (amount: Money, each: Price, precision: number): Quantity =>
  amount.div(each).toDecimalPlaces(precision, Decimal.ROUND_DOWN) as Quantity;

/** The base quantity that it takes to be paid `amount` at `each`, at most one unit of `precision` too much. */
export const quantityUp = (amount: Money, each: Price, precision: number): Quantity =>
  amount.div(each).toDecimalPlaces(precision, Decimal.ROUND_UP) as Quantity;

/** The price that makes `of` cost `amount`. 80 digits. */
export const priceOf = (amount: Money, of: Quantity): Price => amount.div(of) as Price;

/** The price of a base currency in the quote currency of `onward`, whose base is the quote currency of `first`. Exact. */
export const through = (first: Price, onward: Price): Price => first.times(onward) as Price;

/** The middle of two prices. Exact. */
export const middle = (a: Price, b: Price): Price => a.plus(b).div(2) as Price;

/** Towards zero: a size we send, a balance we count on. */
export const roundDown = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, Decimal.ROUND_DOWN) as A;

/** Away from zero: a cost we must be able to bear. */
export const roundUp = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, Decimal.ROUND_UP) as A;

/** To the nearest, halves to even: figures for people, and money a venue books. */
export const roundEven = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, Decimal.ROUND_HALF_EVEN) as A;

/** One of `parts` equal parts of `total`, cut down to `precision` decimals; the last part takes what is left. */
export const share = <A extends AnyAmount>(total: A, parts: number, precision: number): A =>
  total.div(parts).toDecimalPlaces(precision, Decimal.ROUND_DOWN) as A;

/** Decimals after the point that `amount` really uses. */
export const decimalsOf = (amount: AnyAmount): number => amount.decimalPlaces();

/** How much worse than `reference` a price is for us, in basis points: positive is bad on either side. */
export function slippageBps(side: 'buy' | 'sell', paid: Price, reference: Price): Ratio {
  const away = paid.minus(reference).div(reference).times(10_000);
  return (side === 'buy' ? away : away.negated()) as Ratio;
}

/** `reference` moved by `bps` against us: higher for a buy, lower for a sell. */
export const worsen = (side: 'buy' | 'sell', reference: Price, bps: Ratio): Price =>
  reference.times(ONE.plus((side === 'buy' ? bps : bps.negated()).times(BASIS_POINT))) as Price;

/** For figures that never become money again: metrics, charts, progress. */
export const approximate = (amount: AnyAmount): number => amount.toNumber();

/** A ratio from a counting number or a setting that is not money (a percentage, a number of steps). */
export const ratioOf = (count: number): Ratio => new Exact(count) as Ratio;

/** Whether this is an amount, of whatever unit. */
export const isAmount = (value: unknown): value is AnyAmount => value instanceof Exact;

/** All digits of an amount, as many as there are: for `amountOf` alone, never for people, the wire or the journal. */
export const wordOf = (amount: AnyAmount): string => amount.valueOf();

/** The amount that `wordOf` told. Its unit is known by where it was kept. */
export function amountOf(word: string): AnyAmount {
  if (word.length > 1_000 || !PLAIN.test(word)) throw new RangeError('not an amount that was kept');
  return new Exact(word) as AnyAmount;
}
