import { powerOf, shortScale, TENS } from './exact-digits.ts';
import { Exact } from './exact.ts';

/**
 * Amounts with units that the compiler knows.
 *
 * Every amount is exact: precision is far above what any wire message holds (30 digits), so sums and products never
 * round by themselves. Rounding happens only in the functions whose names say which way.
 */
declare const unit: unique symbol;
type Amount<Unit extends string> = Exact & { readonly [unit]: Unit };

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
  // Nearly all amounts: too short to break the bounds below, so no number is made just to count digits.
  if (text.length <= DIGITS_MAX && SHORT.test(text)) return true;
  if (text.length > 64 || !PLAIN.test(text)) return false;
  const value = Exact.of(text);
  return value.precision() <= DIGITS_MAX && Math.abs(value.exponent()) <= DIGITS_MAX;
}

function read(what: string, text: string): Exact {
  // Nearly all amounts: what is read so is spelled as one, and short enough.
  const short = typeof text === 'string' ? Exact.short(text) : undefined;
  if (short !== undefined) return short;
  if (typeof text !== 'string' || !isAmountText(text)) {
    throw new RangeError(`${what}: expected a plain decimal such as "0.25", got ${JSON.stringify(text)}`);
  }
  return Exact.of(text);
}

/** Takes text only: a JSON number has already lost digits. */
export const price = (text: string): Price => read('price', text) as Price;
export const quantity = (text: string): Quantity => read('quantity', text) as Quantity;
export const money = (text: string): Money => read('money', text) as Money;
export const ratio = (text: string): Ratio => read('ratio', text) as Ratio;

/** The price whose text is the shortest of a double, where that is a short one; `undefined` otherwise. */
export function shortPrice(value: number): Price | undefined {
  const scale = shortScale(value);
  if (scale === undefined) return undefined;
  return priceFrom(Math.round(value * powerOf(scale)), scale);
}

/** `coefficient / 10 ** scale`, where the coefficient is a safe integer. */
export const priceFrom = (coefficient: number, scale: number): Price =>
  Exact.narrow(coefficient, scale) as Price;
export const quantityFrom = (coefficient: number, scale: number): Quantity =>
  Exact.narrow(coefficient, scale) as Quantity;

export const NO_QUANTITY = quantity('0');
export const NO_MONEY = money('0');
export const ONE = ratio('1');
export const NOTHING = ratio('0');
const BASIS_POINT = ratio('0.0001');
const POINTS = ratio('10000');
const HALF = ratio('0.5');

/** The one spelling of an amount: no exponent, no leading plus, no trailing zeros. */
export const text = (amount: AnyAmount): string => (amount.isZero() ? '0' : amount.toFixed());

/** What `of` units cost at `each`. Exact. */
export const cost = (each: Price, of: Quantity): Money => each.times(of) as Money;

/** An amount of the quote currency of a pair as a holding of that currency: where the pair no longer matters. */
export const holding = (amount: Money): Quantity => amount as Exact as Quantity;

/** A holding as money, where its currency is the one that everything is counted in. */
export const counted = (held: Quantity): Money => held as Exact as Money;

/** The same amount as an object that nobody else has and nobody can change: for code that is not ours. */
export function apart<A extends AnyAmount>(amount: A): A {
  // Each is made anew.
  const own = amount.negated().negated();
  Object.freeze(own);
  return own as A;
}

export const add = <A extends AnyAmount>(a: A, b: A): A => a.plus(b) as A;
export const subtract = <A extends AnyAmount>(a: A, b: A): A => a.minus(b) as A;
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

/** The base quantity that `amount` buys at `each`, cut down to `precision` decimals: never more than was meant. */
export const quantityDown = (amount: Money, each: Price, precision: number): Quantity =>
  amount.divDown(each, precision) as Quantity;

/** The base quantity that it takes to be paid `amount` at `each`, at most one unit of `precision` too much. */
export const quantityUp = (amount: Money, each: Price, precision: number): Quantity =>
  amount.div(each).toDecimalPlaces(precision, 'up') as Quantity;

/** The price that makes `of` cost `amount`. 80 digits. */
export const priceOf = (amount: Money, of: Quantity): Price => amount.div(of) as Price;

/** The same to the nearest of `precision` decimals, halves to even. One decimal more decides, unless it is a five: then all that follow it. */
export function priceEven(amount: Money, of: Quantity, precision: number): Price {
  const cut = amount.divDown(of, precision + 1);
  const digit = cut.wide === undefined ? cut.n % 10 : Number(cut.wide % 10n);
  const isFive = cut.decimalPlaces() > precision && Math.abs(digit) === 5;
  return (isFive ? amount.div(of) : cut).toDecimalPlaces(precision, 'even') as Price;
}

/** The price of a base currency in the quote currency of `onward`, whose base is the quote currency of `first`. Exact. */
export const through = (first: Price, onward: Price): Price => first.times(onward) as Price;

/** The middle of two prices. Exact. */
export const middle = (a: Price, b: Price): Price => a.plus(b).times(HALF) as Price;

/** Towards zero: a size we send, a balance we count on. */
export const roundDown = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, 'down') as A;

/** Away from zero: a cost we must be able to bear. */
export const roundUp = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, 'up') as A;

/** To the nearest, halves to even: figures for people, and money a venue books. */
export const roundEven = <A extends AnyAmount>(amount: A, precision: number): A =>
  amount.toDecimalPlaces(precision, 'even') as A;

/** Towards zero: so many digits from the first that is none. */
export const significant = <A extends AnyAmount>(amount: A, digits: number): A =>
  amount.toSignificantDigits(digits) as A;

/** One of `parts` equal parts of `total`, cut down to `precision` decimals; the last part takes what is left. */
export const share = <A extends AnyAmount>(total: A, parts: number, precision: number): A =>
  total.divDown(parts, precision) as A;

/** Decimals after the point that `amount` really uses. */
export const decimalsOf = (amount: AnyAmount): number => amount.decimalPlaces();

/** How much worse than `reference` a price is for us, in basis points: positive is bad on either side. */
export function slippageBps(side: 'buy' | 'sell', paid: Price, reference: Price): Ratio {
  const away = paid.minus(reference).div(reference).times(POINTS);
  return (side === 'buy' ? away : away.negated()) as Ratio;
}

/**
 * Whether a price is certainly within `bps` of `reference` on either side: multiplied out, where a slippage takes a long
 * division. Only a price within a hair of the bound, or beyond it, is not. Doubles tell it of nearly all.
 */
export function isNear(each: Price, reference: Price, bps: Ratio): boolean {
  const from = near(reference);
  if (from > 0 && (Math.abs(near(each) - from) + from * DOUBT) * 10_000 < from * near(bps)) return true;
  return reference.gt(0) && each.minus(reference).abs().times(POINTS).lte(reference.times(bps));
}

/** Whether `each` times `of` is certainly nearer to `amount` than `most`, by doubles; `false` where they cannot tell. */
export function isCostNear(each: Price, of: Quantity, amount: Money, most: AnyAmount): boolean {
  const paid = near(amount);
  return Math.abs(near(each) * near(of) - paid) + Math.abs(paid) * DOUBT < near(most) * (1 - DOUBT);
}

/** More than what a few roundings of doubles make wrong. */
const DOUBT = 1e-12;

/** `reference` moved by `bps` against us: higher for a buy, lower for a sell. */
export const worsen = (side: 'buy' | 'sell', reference: Price, bps: Ratio): Price =>
  scale(reference, worse(side, bps));

/** What `worsen` multiplies with. */
export const worse = (side: 'buy' | 'sell', bps: Ratio): Ratio =>
  ONE.plus((side === 'buy' ? bps : bps.negated()).times(BASIS_POINT)) as Ratio;

/** For figures that never become money again: metrics, charts, progress. */
export const approximate = (amount: AnyAmount): number => amount.toNumber();

/** The same but for a few roundings: for a first look, where amounts decide what it cannot tell. */
export const near = ({ n, scale: places }: AnyAmount): number => n / (TENS[places] ?? 10 ** places);

/** A ratio from a counting number or a setting that is not money (a percentage, a number of steps). */
export const ratioOf = (count: number): Ratio => Exact.of(count) as Ratio;

/** Whether this is an amount, of whatever unit. */
export const isAmount = (value: unknown): value is AnyAmount => value instanceof Exact;

/** All digits of an amount, as many as there are: for `amountOf` alone, never for people, the wire or the journal. */
export const wordOf = (amount: AnyAmount): string => amount.valueOf();

/** The amount that `wordOf` told. Its unit is known by where it was kept. */
export function amountOf(word: string): AnyAmount {
  if (word.length > 1_000 || !PLAIN.test(word)) throw new RangeError('not an amount that was kept');
  return Exact.of(word) as AnyAmount;
}
