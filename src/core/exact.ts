import {
  CUT,
  DIGITS,
  digitsIn,
  digitsOf,
  FULL,
  isOver,
  isSafe,
  lengthOf,
  MINUS,
  NOUGHT,
  overOf,
  placeOf,
  PLACES,
  POWERS,
  powerOf,
  readLong,
  roundedOff,
  sideOf,
  spell,
  ten,
  TENS,
  wholeNear,
  wholeQuotient,
  withExponent,
  zerosAfter,
} from './exact-digits.ts';
import type { Rounding } from './exact-digits.ts';

/**
 * Decimal numbers, exact: sums, differences and products to the last digit, cut to 80 significant digits where they would
 * have more; quotients to 80 digits, towards zero. Made for amounts of money: nearly all of them, and nearly all that is
 * done with them, fits into the whole numbers that a double holds exactly; what does not is a `bigint`.
 *
 * A value is `coefficient / 10 ** scale` and has one form only: no zeros at the end of a fraction, so that equal values are
 * equal in every field. Division by zero gives an infinity or none at all, as in floating point, and zero has a sign.
 */
export class Exact {
  /** The coefficient; near it where `wide` is the coefficient. Not finite: neither is the value. */
  readonly n: number;
  /** The coefficient where it is beyond the safe integers. */
  readonly wide: bigint | undefined;
  /** Decimals after the point that are used. */
  readonly scale: number;
  /** The spelling, once somebody asked for it. */
  #text: string | undefined = undefined;

  private constructor(n: number, wide: bigint | undefined, scale: number) {
    this.n = n;
    this.wide = wide;
    this.scale = scale;
  }

  static readonly #zero = new Exact(0, undefined, 0);

  /** @throws RangeError for a text that is no plain decimal: digits, at most one point, an optional exponent. */
  static of(value: string | number): Exact {
    if (typeof value === 'string') return Exact.#read(value);
    if (Number.isSafeInteger(value)) return Exact.narrow(value, 0);
    return Number.isFinite(value) ? Exact.#read(String(value)) : new Exact(value, undefined, 0);
  }

  static #read(text: string): Exact {
    return Exact.short(text) ?? units.get(text) ?? Exact.#readLong(text);
  }

  static #readLong(text: string): Exact {
    const { digits, scale, isNegative } = readLong(text);
    const read = digits === 0n && isNegative ? new Exact(-0, undefined, 0) : Exact.#widen(digits, scale);
    if (text.length <= UNIT_LENGTH_MAX && units.size < UNITS_MAX) units.set(text, read);
    return read;
  }

  /** Reads digits with at most one point between them, where the coefficient is a safe integer; `undefined` otherwise. */
  static short(text: string): Exact | undefined {
    if (text.length > SHORT_MAX) return undefined;
    const place = placeOf(text);
    const known = recent[place];
    if (known !== undefined && known.#text === text) return known;
    const begin = text.charCodeAt(0) === MINUS ? 1 : 0;
    const n = digitsOf(text, begin);
    // One that is not safe is not exact, but on the right side of those that are.
    if (!isSafe(n)) return undefined;
    const point = text.indexOf('.');
    const scale = point < 0 ? 0 : text.length - 1 - point;
    const read = Exact.narrow(begin === 0 ? n : -n, scale);
    // A text without zeros too many is the spelling of its number.
    const isPadded = text.charCodeAt(begin) === NOUGHT && point !== begin + 1 && text.length > 1;
    if (read.scale !== scale || isPadded) return read;
    read.#text = text;
    return (recent[place] = read);
  }

  /** `n / 10 ** scale`, where `n` is a safe integer. */
  static narrow(n: number, scale: number): Exact {
    if (n === 0) return Object.is(n, -0) ? new Exact(n, undefined, 0) : Exact.#zero;
    let coefficient = n;
    let left = scale;
    while (left > 0) {
      const tenth = Math.trunc(coefficient / 10);
      if (tenth * 10 !== coefficient) break;
      coefficient = tenth;
      left--;
    }
    return new Exact(coefficient, undefined, left);
  }

  /** `wide / 10 ** scale`, with all its digits; a scale below zero is a row of zeros. */
  static #widen(wide: bigint, scale: number): Exact {
    let coefficient = scale < 0 ? wide * ten(-scale) : wide;
    let left = Math.max(0, scale);
    for (let step = 64; step >= 1; step /= 2) {
      // One look tells that there is no zero at the end, as nearly always.
      if (left === 0 || coefficient % 10n !== 0n) break;
      while (left >= step && coefficient % ten(step) === 0n) {
        coefficient /= ten(step);
        left -= step;
      }
    }
    const n = Number(coefficient);
    return Number.isSafeInteger(n)
      ? new Exact(n, undefined, n === 0 ? 0 : left)
      : new Exact(n, coefficient, left);
  }

  /** As `#widen`, cut to 80 significant digits. */
  static #cut(wide: bigint, scale: number): Exact {
    if (wide < CUT && wide > -CUT) return Exact.#widen(wide, scale);
    const over = overOf(wide < 0n ? -wide : wide);
    return Exact.#widen(wide / ten(over), scale - over);
  }

  /** As `this`, cut to 80 significant digits. */
  #kept(): Exact {
    return this.wide === undefined ? this : Exact.#cut(this.wide, this.scale);
  }

  get #isSpecial(): boolean {
    return this.wide === undefined && !Number.isFinite(this.n);
  }

  /** The coefficient, with so many zeros more. */
  #coefficient(zeros = 0): bigint {
    const coefficient = this.wide ?? BigInt(this.n);
    return zeros === 0 ? coefficient : coefficient * ten(zeros);
  }

  /** `this * 10 ** power`. */
  #shifted(power: number): Exact {
    const scale = this.scale - power;
    if (scale >= 0 && this.scale > 0) return new Exact(this.n, this.wide, scale);
    return Exact.#widen(this.#coefficient(), scale);
  }

  plus(value: Operand): Exact {
    return this.#add(operand(value), 1);
  }

  minus(value: Operand): Exact {
    return this.#add(operand(value), -1);
  }

  #add(other: Exact, sign: 1 | -1): Exact {
    if (this.wide === undefined && other.wide === undefined) {
      if (other.n === 0 && this.n !== 0) return this;
      if (this.n === 0 && other.n !== 0 && sign === 1) return other;
      const more = this.scale - other.scale;
      const a = more < 0 ? this.n * powerOf(-more) : this.n;
      const b = more > 0 ? other.n * powerOf(more) : other.n;
      const sum = a + sign * b;
      if (isSafe(a) && isSafe(b) && isSafe(sum))
        return Exact.narrow(sum, more < 0 ? other.scale : this.scale);
    }
    return Exact.#sum(this, other, sign);
  }

  static #sum(one: Exact, other: Exact, sign: 1 | -1): Exact {
    if (one.#isSpecial || other.#isSpecial) return new Exact(one.n + sign * other.n, undefined, 0);
    if (other.n === 0) return one.#kept();
    const scale = Math.max(one.scale, other.scale);
    const [a, b] = [one.#coefficient(scale - one.scale), other.#coefficient(scale - other.scale)];
    return Exact.#cut(sign === 1 ? a + b : a - b, scale);
  }

  times(value: Operand): Exact {
    const other = operand(value);
    const product = this.n * other.n;
    const scale = this.scale + other.scale;
    if (isSafe(product) && this.wide === undefined && other.wide === undefined)
      return Exact.narrow(product, scale);
    if (product === 0 || this.#isSpecial || other.#isSpecial) return new Exact(product, undefined, 0);
    // Basis points come and go as powers of ten: only the point moves.
    const power = other.wide === undefined ? POWERS.get(other.n) : undefined;
    if (power !== undefined) return this.#kept().#shifted(power - other.scale);
    return Exact.#cut(this.#coefficient() * other.#coefficient(), scale);
  }

  /** To 80 digits, towards zero. */
  div(value: Operand): Exact {
    const other = operand(value);
    const quotient = this.n / other.n;
    if (this.n === 0 || other.n === 0 || this.#isSpecial || other.#isSpecial)
      return new Exact(quotient, undefined, 0);
    const scale = this.scale - other.scale;
    if (this.wide === undefined && other.wide === undefined) {
      // Where the quotient ends, it mostly ends within the digits of a double.
      const zeros = zerosAfter(this.n);
      const grown = this.n * powerOf(zeros);
      const ends = grown / other.n;
      if (scale + zeros >= 0 && Number.isInteger(ends) && ends * other.n === grown)
        return Exact.narrow(ends, scale + zeros);
    }
    // As many digits as are kept; one more or less where the quotient is next to a power of ten.
    const more = DIGITS - 1 - this.#magnitudeOver(other);
    const cut = this.#quotient(other, more);
    return cut < FULL && cut > -FULL
      ? Exact.#cut(this.#quotient(other, more + 1), scale + more + 1)
      : Exact.#cut(cut, scale + more);
  }

  /** Power of ten of the first digit of the quotient of the coefficients; next to a power of ten one more or less. */
  #magnitudeOver(other: Exact): number {
    const quotient = Math.abs(this.n / other.n);
    return quotient > 0 && quotient < Infinity
      ? Math.floor(Math.log10(quotient))
      : lengthOf(this.#coefficient()) - lengthOf(other.#coefficient()) - 1;
  }

  /** The quotient of the coefficients times `10 ** more`, towards zero. */
  #quotient(other: Exact, more: number): bigint {
    return more >= 0
      ? this.#coefficient(more) / other.#coefficient()
      : this.#coefficient() / other.#coefficient(-more);
  }

  /** `this / value` cut to `places` decimals, as `div` and `toDecimalPlaces` would, without the digits between. */
  divDown(value: Operand, places: number): Exact {
    const other = operand(value);
    const more = places + other.scale - this.scale;
    if (this.n === 0 || other.n === 0 || this.#isSpecial || other.#isSpecial)
      return this.div(other).toDecimalPlaces(places);
    const isNarrow = more >= 0 && this.wide === undefined && other.wide === undefined;
    const whole = isNarrow ? wholeQuotient(this.n, more, other.n) : wholeNear(this.n / other.n, more);
    if (whole !== undefined) return Exact.narrow(whole, places);
    // Within the digits that are kept there is nothing to be cut twice.
    if (this.#magnitudeOver(other) + more + 3 > DIGITS) return this.div(other).toDecimalPlaces(places);
    const quotient = this.#quotient(other, more);
    if (quotient === 0n) return new Exact(this.n < 0 === other.n < 0 ? 0 : -0, undefined, 0);
    return Exact.#widen(quotient, places);
  }

  negated(): Exact {
    return new Exact(-this.n, this.wide === undefined ? undefined : -this.wide, this.scale);
  }

  abs(): Exact {
    return this.n < 0 || Object.is(this.n, -0) ? this.negated() : this;
  }

  /** -1, 0 or 1; none when either is none. */
  comparedTo(value: Operand): number {
    const other = operand(value);
    if (this.wide === undefined && other.wide === undefined) {
      if (this.scale === other.scale) return sideOf(this.n, other.n);
      // A coefficient that grows beyond the safe integers on the way is still on the right side of one that did not.
      const more = this.scale - other.scale;
      const a = more < 0 ? this.n * powerOf(-more) : this.n;
      const b = more > 0 ? other.n * powerOf(more) : other.n;
      if (isSafe(a) || isSafe(b) || this.#isSpecial || other.#isSpecial) return sideOf(a, b);
    } else if (this.#isSpecial || other.#isSpecial) return sideOf(this.n, other.n);
    const scale = Math.max(this.scale, other.scale);
    const [a, b] = [this.#coefficient(scale - this.scale), other.#coefficient(scale - other.scale)];
    return a === b ? 0 : a > b ? 1 : -1;
  }

  gt(value: Operand): boolean {
    return value === 0 ? this.n > 0 : this.comparedTo(value) > 0;
  }
  gte(value: Operand): boolean {
    return value === 0 ? this.n >= 0 : this.comparedTo(value) >= 0;
  }
  lt(value: Operand): boolean {
    return value === 0 ? this.n < 0 : this.comparedTo(value) < 0;
  }
  lte(value: Operand): boolean {
    return value === 0 ? this.n <= 0 : this.comparedTo(value) <= 0;
  }
  eq(value: Operand): boolean {
    const other = operand(value);
    return this.n === other.n && this.scale === other.scale && this.wide === other.wide;
  }

  isZero(): boolean {
    return this.n === 0;
  }

  /** Of zero too, whose sign is that of what it came from. */
  isNegative(): boolean {
    return this.n < 0 || Object.is(this.n, -0);
  }

  decimalPlaces(): number {
    return this.scale;
  }

  /** Significant digits, without the zeros at either end. */
  precision(): number {
    return this.#digits().replace(/0+$/u, '').length || 1;
  }

  /** Power of ten of the first digit; 0 for zero. */
  exponent(): number {
    const digits = this.wide === undefined ? digitsIn(this.n) : this.#digits().length;
    return this.n === 0 ? 0 : digits - this.scale - 1;
  }

  /** Rounded to `places` decimals: `down` is towards zero, `up` away from it, `even` to the nearest with halves to even. */
  toDecimalPlaces(places: number, rounding: Rounding = 'down'): Exact {
    const drop = this.scale - places;
    if (drop <= 0) return this;
    const power = TENS[drop];
    if (this.wide === undefined && power !== undefined) {
      // Nearer to a whole number than the quotient can be wrong it is only when it is one.
      const kept = Math.trunc(this.n / power);
      const left = Math.abs(this.n - kept * power);
      const isUp =
        rounding === 'up' ? left > 0 : rounding === 'even' && isOver(2 * left, power, kept % 2 !== 0);
      return Exact.narrow(isUp ? kept + (this.n < 0 ? -1 : 1) : kept, places);
    }
    const rounded = roundedOff(this.#coefficient(), drop, rounding);
    return rounded === 0n && this.n < 0 ? new Exact(-0, undefined, 0) : Exact.#widen(rounded, places);
  }

  /** Cut to so many significant digits: a safe integer has sixteen at most. */
  toSignificantDigits(digits: number): Exact {
    const drop = digits > 15 && this.wide === undefined ? 0 : this.#digits().length - digits;
    return drop <= 0 || this.#isSpecial
      ? this
      : Exact.#widen(this.#coefficient() / ten(drop), this.scale - drop);
  }

  /** All digits, without an exponent; or as many decimals as told. */
  toFixed(places?: number, rounding: Rounding = 'down'): string {
    if (places === undefined) return this.#text ?? this.#spell();
    if (this.#isSpecial) return String(this.n);
    const rounded = this.toDecimalPlaces(places, rounding);
    const spelt = rounded.n === 0 ? (this.n < 0 ? '-0' : '0') : rounded.toFixed();
    if (rounded.scale === places) return spelt;
    return `${spelt}${rounded.scale === 0 ? '.' : ''}${'0'.repeat(places - rounded.scale)}`;
  }

  #spell(): string {
    const text = (this.#text = spell(this));
    // Where it would be read back as this very number.
    if (text.length <= SHORT_MAX && this.n !== 0 && isSafe(this.n)) recent[placeOf(text)] = this;
    return text;
  }

  /** Of the coefficient, without its sign. */
  #digits(): string {
    if (this.wide === undefined) return String(Math.abs(this.n));
    return String(this.wide < 0n ? -this.wide : this.wide);
  }

  /** The nearest double. */
  toNumber(): number {
    const power = TENS[this.scale];
    // Both exact, so that the quotient is rounded once.
    if (this.wide === undefined && power !== undefined) return this.n / power;
    return Number(this.toFixed());
  }

  /** All digits, with an exponent where the number is very long or very small. */
  toString(): string {
    const exponent = this.exponent();
    if (this.#isSpecial || Math.abs(exponent) < 100) return this.toFixed();
    return (this.n < 0 ? '-' : '') + withExponent(this.#digits(), exponent);
  }

  /** As `toString`, and zero with its sign. */
  valueOf(): string {
    return Object.is(this.n, -0) ? '-0' : this.toString();
  }

  toJSON(): string {
    return this.valueOf();
  }
}

export type Operand = Exact | string | number;

/** The units of currencies: an exponent and nothing else, and few of them. */
const units = new Map<string, Exact>();
const [UNITS_MAX, UNIT_LENGTH_MAX] = [100, 6];
/** What was read or spelled last: the same few amounts are read again and again, of an order, its fill and the settings. */
const recent: (Exact | undefined)[] = Array.from({ length: PLACES }, () => undefined);
/** Sixteen digits, a sign and a point. */
const SHORT_MAX = 18;

const operand = (value: Operand): Exact => (typeof value === 'object' ? value : Exact.of(value));
