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

  private constructor(n: number, wide: bigint | undefined, scale: number) {
    this.n = n;
    this.wide = wide;
    this.scale = scale;
  }

  /** @throws RangeError for a text that is no plain decimal: digits, at most one point, an optional exponent. */
  static of(value: string | number): Exact {
    if (typeof value === 'string') return Exact.#read(value);
    if (Number.isSafeInteger(value)) return Exact.#narrow(value, 0);
    return Number.isFinite(value) ? Exact.#read(String(value)) : new Exact(value, undefined, 0);
  }

  static #read(text: string): Exact {
    const short = Exact.short(text);
    if (short !== undefined) return short;
    // The units of currencies: an exponent and nothing else, and few of them.
    const unit = units.get(text);
    if (unit !== undefined) return unit;
    const read = Exact.#readLong(text);
    if (text.length <= UNIT_LENGTH_MAX && units.size < UNITS_MAX) units.set(text, read);
    return read;
  }

  static #readLong(text: string): Exact {
    const found = LONG.exec(text)?.groups;
    if (found === undefined) throw new RangeError(`no decimal number: ${JSON.stringify(text)}`);
    const { sign = '', whole = '', part = '', exponent = '0' } = found;
    const digits = BigInt(whole + part);
    if (digits === 0n) return sign === '-' ? new Exact(-0, undefined, 0) : ZERO;
    return Exact.#widen(sign === '-' ? -digits : digits, part.length - Number(exponent));
  }

  /** Reads digits with at most one point between them, where the coefficient is a safe integer; `undefined` otherwise. */
  static short(text: string): Exact | undefined {
    const { length } = text;
    if (length > SHORT_MAX) return undefined;
    const begin = text.charCodeAt(0) === MINUS ? 1 : 0;
    let point = -1;
    let n = 0;
    for (let at = begin; at < length; at++) {
      const digit = text.charCodeAt(at) - NOUGHT;
      if (digit >= 0 && digit <= 9) n = n * 10 + digit;
      else if (digit === POINT - NOUGHT && point < 0 && at > begin) point = at;
      else return undefined;
    }
    // One that is not safe is not exact, but on the right side of those that are.
    if (length === begin || point === length - 1 || !isSafe(n)) return undefined;
    return Exact.#narrow(begin === 0 ? n : -n, point < 0 ? 0 : length - 1 - point);
  }

  /** `n / 10 ** scale`, where `n` is a safe integer. */
  static #narrow(n: number, scale: number): Exact {
    if (n === 0) return new Exact(n, undefined, 0);
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

  #coefficient(): bigint {
    return this.wide ?? BigInt(this.n);
  }

  plus(value: Operand): Exact {
    const other = operand(value);
    if (this.wide === undefined && other.wide === undefined) {
      const more = this.scale - other.scale;
      const a = more < 0 ? this.n * powerOf(-more) : this.n;
      const b = more > 0 ? other.n * powerOf(more) : other.n;
      const sum = a + b;
      if (isSafe(a) && isSafe(b) && isSafe(sum)) return Exact.#narrow(sum, Math.max(this.scale, other.scale));
    }
    return Exact.#sum(this, other, 1n);
  }

  minus(value: Operand): Exact {
    const other = operand(value);
    if (this.wide === undefined && other.wide === undefined) {
      const more = this.scale - other.scale;
      const a = more < 0 ? this.n * powerOf(-more) : this.n;
      const b = more > 0 ? other.n * powerOf(more) : other.n;
      const difference = a - b;
      if (isSafe(a) && isSafe(b) && isSafe(difference))
        return Exact.#narrow(difference, Math.max(this.scale, other.scale));
    }
    return Exact.#sum(this, other, -1n);
  }

  static #sum(one: Exact, other: Exact, sign: 1n | -1n): Exact {
    if (one.#isSpecial || other.#isSpecial) return new Exact(one.n + Number(sign) * other.n, undefined, 0);
    if (other.n === 0) return one.#kept();
    const scale = Math.max(one.scale, other.scale);
    const sum =
      one.#coefficient() * ten(scale - one.scale) + sign * other.#coefficient() * ten(scale - other.scale);
    return Exact.#cut(sum, scale);
  }

  times(value: Operand): Exact {
    const other = operand(value);
    const product = this.n * other.n;
    const scale = this.scale + other.scale;
    if (isSafe(product) && this.wide === undefined && other.wide === undefined)
      return Exact.#narrow(product, scale);
    if (this.#isSpecial || other.#isSpecial) return new Exact(product, undefined, 0);
    if (product === 0) return new Exact(product, undefined, 0);
    return Exact.#cut(this.#coefficient() * other.#coefficient(), scale);
  }

  /** To 80 digits, towards zero. */
  div(value: Operand): Exact {
    const other = operand(value);
    const quotient = this.n / other.n;
    if (this.n === 0 || other.n === 0 || this.#isSpecial || other.#isSpecial)
      return new Exact(quotient, undefined, 0);
    const scale = this.scale - other.scale;
    if (
      Number.isSafeInteger(quotient) &&
      scale >= 0 &&
      this.wide === undefined &&
      other.wide === undefined &&
      quotient * other.n === this.n
    )
      return Exact.#narrow(quotient, scale);
    // One digit more than is kept, and one for lengths that are near a power of ten.
    const more = DIGITS + 2 - (this.#length() - other.#length());
    return more >= 0
      ? Exact.#cut((this.#coefficient() * ten(more)) / other.#coefficient(), scale + more)
      : Exact.#cut(this.#coefficient() / (other.#coefficient() * ten(-more)), scale + more);
  }

  /** `this / value` cut to `places` decimals, as `div` and `toDecimalPlaces` would, without the digits between. */
  divDown(value: Operand, places: number): Exact {
    const other = operand(value);
    const more = places + other.scale - this.scale;
    const isShort = this.#length() - other.#length() + 3 + more <= DIGITS;
    if (this.n === 0 || other.n === 0 || more < 0 || !isShort || this.#isSpecial || other.#isSpecial)
      return this.div(other).toDecimalPlaces(places);
    const quotient = (this.#coefficient() * ten(more)) / other.#coefficient();
    if (quotient === 0n) return new Exact(this.n < 0 === other.n < 0 ? 0 : -0, undefined, 0);
    return Exact.#widen(quotient, places);
  }

  /** Digits of the coefficient; one too many or too few near a power of ten. */
  #length(): number {
    return this.wide === undefined ? Math.ceil(Math.log10(Math.abs(this.n) + 1)) : lengthOf(this.wide);
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
      // A coefficient that grows beyond the safe integers on the way is still on the right side of one that did not.
      const more = this.scale - other.scale;
      const a = more < 0 ? this.n * powerOf(-more) : this.n;
      const b = more > 0 ? other.n * powerOf(more) : other.n;
      if (isSafe(a) || isSafe(b) || this.#isSpecial || other.#isSpecial) return sideOf(a, b);
    } else if (this.#isSpecial || other.#isSpecial) return sideOf(this.n, other.n);
    const scale = Math.max(this.scale, other.scale);
    const a = this.#coefficient() * ten(scale - this.scale);
    const b = other.#coefficient() * ten(scale - other.scale);
    return a === b ? 0 : a > b ? 1 : -1;
  }

  gt(value: Operand): boolean {
    if (value === 0) return this.n > 0;
    return this.comparedTo(value) > 0;
  }
  gte(value: Operand): boolean {
    if (value === 0) return this.n >= 0;
    return this.comparedTo(value) >= 0;
  }
  lt(value: Operand): boolean {
    if (value === 0) return this.n < 0;
    return this.comparedTo(value) < 0;
  }
  lte(value: Operand): boolean {
    if (value === 0) return this.n <= 0;
    return this.comparedTo(value) <= 0;
  }
  eq(value: Operand): boolean {
    if (value === 0) return this.n === 0;
    return this.comparedTo(value) === 0;
  }

  isZero(): boolean {
    return this.n === 0;
  }

  /** Of zero too, whose sign is that of what it came from. */
  isNegative(): boolean {
    return this.n < 0 || Object.is(this.n, -0);
  }

  /** Decimals after the point that are used. */
  decimalPlaces(): number {
    return this.scale;
  }

  /** Significant digits, without the zeros at either end. */
  precision(): number {
    return this.#digits().replace(/0+$/u, '').length || 1;
  }

  /** Power of ten of the first digit; 0 for zero. */
  exponent(): number {
    return this.n === 0 ? 0 : this.#digits().length - this.scale - 1;
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
      return Exact.#narrow(isUp ? kept + (this.n < 0 ? -1 : 1) : kept, places);
    }
    const whole = ten(drop);
    const all = this.#coefficient();
    const kept = all / whole;
    const left = all < 0n ? kept * whole - all : all - kept * whole;
    const isUp =
      rounding === 'up' ? left > 0n : rounding === 'even' && isOver(2n * left, whole, kept % 2n !== 0n);
    const rounded = isUp ? kept + (all < 0n ? -1n : 1n) : kept;
    return rounded === 0n && all < 0n ? new Exact(-0, undefined, 0) : Exact.#widen(rounded, places);
  }

  /** Cut to so many significant digits. */
  toSignificantDigits(digits: number): Exact {
    const drop = this.#digits().length - digits;
    return drop <= 0 || this.#isSpecial
      ? this
      : Exact.#widen(this.#coefficient() / ten(drop), this.scale - drop);
  }

  /** All digits, without an exponent; or as many decimals as told. */
  toFixed(places?: number, rounding: Rounding = 'down'): string {
    if (this.#isSpecial) return String(this.n);
    const rounded = places === undefined ? this : this.toDecimalPlaces(places, rounding);
    const decimals = places ?? rounded.scale;
    const digits = rounded.#digits() + '0'.repeat(decimals - rounded.scale);
    const sign = this.n < 0 ? '-' : '';
    if (decimals === 0) return sign + digits;
    const padded = digits.length > decimals ? digits : digits.padStart(decimals + 1, '0');
    return `${sign}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
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
    const digits = this.#digits().replace(/0+$/u, '');
    const mantissa = digits.length === 1 ? digits : `${digits[0] ?? ''}.${digits.slice(1)}`;
    return `${this.n < 0 ? '-' : ''}${mantissa}e${exponent < 0 ? '' : '+'}${exponent}`;
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
export type Rounding = 'down' | 'up' | 'even';

const DIGITS = 80;
const units = new Map<string, Exact>();
const UNITS_MAX = 100;
const UNIT_LENGTH_MAX = 6;
/** Sixteen digits, a sign and a point. */
const SHORT_MAX = 18;
const [MINUS, POINT, NOUGHT] = [45, 46, 48];
const LONG = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<part>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/u;

/** Powers of ten that a double holds exactly. */
const TENS: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const WIDE_TENS: bigint[] = [];
const WIDE_TENS_MAX = 400;
/** The first number with more digits than are kept. */
const CUT = 10n ** BigInt(DIGITS);
const ZERO = Exact.of(0);

function ten(power: number): bigint {
  const known = WIDE_TENS[power];
  if (known !== undefined) return known;
  const made = 10n ** BigInt(power);
  if (power <= WIDE_TENS_MAX) {
    while (WIDE_TENS.length < power) ten(WIDE_TENS.length);
    WIDE_TENS[power] = made;
  }
  return made;
}

/** How many digits a number has beyond those that are kept. Mostly few: those of a quotient. */
function overOf(wide: bigint): number {
  for (let over = 1; over <= 8; over++) if (wide < ten(DIGITS + over)) return over;
  return lengthOf(wide) - DIGITS;
}

const lengthOf = (wide: bigint): number => String(wide < 0n ? -wide : wide).length;
const isSafe = (n: number): boolean => n <= Number.MAX_SAFE_INTEGER && n >= -Number.MAX_SAFE_INTEGER;
const operand = (value: Operand): Exact => (value instanceof Exact ? value : Exact.of(value));
const sideOf = (a: number, b: number): number => (a === b ? 0 : a > b ? 1 : a < b ? -1 : Number.NaN);

/** Beyond the powers that a double holds exactly every product is beyond the safe integers, save that of zero. */
const powerOf = (more: number): number => TENS[more] ?? 1e23;

/** Whether `twice` what is left rounds up, to even where it is a half. */
const isOver = <N extends number | bigint>(twice: N, whole: N, isOdd: boolean): boolean =>
  twice > whole || (twice === whole && isOdd);
