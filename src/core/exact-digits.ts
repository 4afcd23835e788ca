/** What `exact.ts` knows about digits: powers of ten, lengths, and quotients of whole numbers. */

/** Significant digits that are kept. */
export const DIGITS = 80;
/** The first number with more digits than are kept. */
export const CUT = 10n ** BigInt(DIGITS);
/** The first number with all digits that are kept. */
export const FULL = 10n ** BigInt(DIGITS - 1);

/** Powers of ten that a double holds exactly. */
export const TENS: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** Their exponents. */
export const POWERS: ReadonlyMap<number, number> = new Map(TENS.map((number, power) => [number, power]));

/** Beyond the powers that a double holds exactly every product is beyond the safe integers, save that of zero. */
export const powerOf = (more: number): number => TENS[more] ?? 1e23;

export type Rounding = 'down' | 'up' | 'even';

const WIDE_TENS: bigint[] = [];
const WIDE_TENS_MAX = 400;

export function ten(power: number): bigint {
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
export function overOf(wide: bigint): number {
  for (let over = 1; over <= 8; over++) if (wide < ten(DIGITS + over)) return over;
  return lengthOf(wide) - DIGITS;
}

export const lengthOf = (wide: bigint): number => String(wide < 0n ? -wide : wide).length;
export const isSafe = (n: number): boolean => n <= Number.MAX_SAFE_INTEGER && n >= -Number.MAX_SAFE_INTEGER;
export const sideOf = (a: number, b: number): number => (a === b ? 0 : a > b ? 1 : a < b ? -1 : Number.NaN);

/** Whether `twice` what is left rounds up, to even where it is a half. */
export const isOver = <N extends number | bigint>(twice: N, whole: N, isOdd: boolean): boolean =>
  twice > whole || (twice === whole && isOdd);

/** `all` without its last `drop` digits. */
export function roundedOff(all: bigint, drop: number, rounding: Rounding): bigint {
  const whole = ten(drop);
  const kept = all / whole;
  const left = all < 0n ? kept * whole - all : all - kept * whole;
  const isUp =
    rounding === 'up' ? left > 0n : rounding === 'even' && isOver(2n * left, whole, kept % 2n !== 0n);
  return isUp ? kept + (all < 0n ? -1n : 1n) : kept;
}

/**
 * How many decimals the shortest text of a double has, where it has at most 15 digits in all; `undefined` otherwise. No double
 * stands for two decimals of so few digits, so that the first whose quotient it is, rounded once, is that of its text.
 */
export function shortScale(value: number): number | undefined {
  for (let scale = 0; scale < SHORT_SCALES; scale++) {
    const power = powerOf(scale);
    const n = Math.round(value * power);
    if (!(n < 1e15 && n > -1e15)) return undefined;
    if (n / power === value) return scale;
  }
  return undefined;
}

export const SHORT_SCALES = 16;

/** How many digits a safe integer has. */
export function digitsIn(n: number): number {
  const size = Math.abs(n);
  let digits = 1;
  while (size >= powerOf(digits) && digits < SAFE_DIGITS) digits++;
  return digits;
}

const SAFE_DIGITS = 16;

/** How many zeros a safe integer takes at its end and stays one. */
export function zerosAfter(n: number): number {
  const size = Math.abs(n);
  let zeros = 0;
  while (zeros < ZEROS_MAX && size * powerOf(zeros + 1) <= Number.MAX_SAFE_INTEGER) zeros++;
  return zeros;
}

const ZEROS_MAX = 15;

/**
 * `n * 10 ** more / by` without its fraction, for safe integers above or below zero; `undefined` where doubles cannot tell
 * it for certain.
 */
export function wholeQuotient(n: number, more: number, by: number): number | undefined {
  const power = TENS[more];
  if (power === undefined) return undefined;
  const [size, divisor] = [Math.abs(n), Math.abs(by)];
  const grown = size * power;
  const whole = Math.floor(grown / divisor);
  // Of safe integers the quotient is not so near to a whole number that it would be rounded to it.
  if (!isSafe(grown) && !isCertain(size, power, whole, divisor)) return undefined;
  return n < 0 === by < 0 ? whole : -whole;
}

/** `quotient * 10 ** more` without its fraction; `undefined` where a few roundings of doubles could make it another. */
export function wholeNear(quotient: number, more: number): number | undefined {
  const size = Math.abs(quotient) * 10 ** more;
  const whole = Math.floor(size);
  const [part, doubt] = [size - whole, size * NEAR_DOUBT];
  if (!(whole >= 1 && part > doubt && part < 1 - doubt)) return undefined;
  return quotient < 0 ? -whole : whole;
}

const NEAR_DOUBT = 1e-14;

/** Whether `whole * divisor` is surely not above `size * power`, and by less than `divisor` below it. */
function isCertain(size: number, power: number, whole: number, divisor: number): boolean {
  if (whole > WHOLE_MAX) return false;
  const [all, taken] = [size * power, whole * divisor];
  const left = all - taken + (errorOf(size, power, all) - errorOf(whole, divisor, taken));
  // The two differences are exact as long as they are safe integers, and their sum is off by less than this.
  return left > DOUBT && left < divisor - DOUBT;
}

const WHOLE_MAX = 2 ** 51;
const DOUBT = 64;

/** `a * b` less `product`, its nearest double: exactly, by halves of the digits (Dekker). */
function errorOf(a: number, b: number, product: number): number {
  const [c, d] = [SPLITTER * a, SPLITTER * b];
  const [aHigh, bHigh] = [c - (c - a), d - (d - b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

const SPLITTER = 2 ** 27 + 1;

/** All digits of a number, without an exponent. */
export function spell({ n, wide, scale }: Coefficient): string {
  const power = TENS[scale];
  if (wide !== undefined || power === undefined) return withPoint(String(wide ?? n), scale);
  const size = Math.abs(n);
  const whole = Math.trunc(size / power);
  let spelt = wholeText(whole);
  if (scale > 0) {
    const part = wholeText(size - whole * power);
    spelt += (LEADS[scale - part.length] ?? '') + part;
  }
  return n < 0 ? `-${spelt}` : spelt;
}

/**
 * The digits of a whole number from zero on, three at a time. The engine of JavaScript keeps what it wrote of a number, and
 * looks there first: of numbers that are written once it finds none, and keeps them all.
 */
export function wholeText(n: number): string {
  if (n < 1000) return THREE[n] ?? String(n);
  if (!(n < WHOLE_TEXT_MAX)) return String(n);
  const over = Math.trunc(n / 1000);
  return wholeText(over) + (PADDED[n - over * 1000] ?? '');
}

/** Below it a thousandth, cut, is never that of the next number. */
const WHOLE_TEXT_MAX = 1e12;
const THREE: readonly string[] = Array.from({ length: 1000 }, (_, n) => String(n));
const PADDED: readonly string[] = THREE.map((digits) => digits.padStart(3, '0'));

/** A point and the zeros after it. */
const LEADS: readonly string[] = TENS.map((_, zeros) => `.${'0'.repeat(zeros)}`);

/** Where a short text is looked for among so many: by a few of its characters. */
export const placeOf = (text: string): number =>
  (text.length * 61 + text.charCodeAt(text.length - 1) * 31 + text.charCodeAt(text.length >> 1) * 7) &
  (PLACES - 1);
export const PLACES = 256;

interface Coefficient {
  readonly n: number;
  readonly wide: bigint | undefined;
  readonly scale: number;
}

function withPoint(digits: string, scale: number): string {
  if (scale === 0) return digits;
  if (digits.startsWith('-')) return `-${withPoint(digits.slice(1), scale)}`;
  const padded = digits.padStart(scale + 1, '0');
  return `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** All digits of a number, the first of them before the point. */
export function withExponent(all: string, exponent: number): string {
  const digits = all.replace(/0+$/u, '');
  const mantissa = digits.length === 1 ? digits : `${digits[0] ?? ''}.${digits.slice(1)}`;
  return `${mantissa}e${exponent < 0 ? '' : '+'}${exponent}`;
}

/** The digits of a text from `begin` on, with at most one point between them, as one number; none where it is no such text. */
export function digitsOf(text: string, begin: number): number {
  const { length } = text;
  let point = -1;
  let n = 0;
  for (let at = begin; at < length; at++) {
    const digit = text.charCodeAt(at) - NOUGHT;
    if (digit >= 0 && digit <= 9) n = n * 10 + digit;
    else if (digit === POINT - NOUGHT && point < 0 && at > begin) point = at;
    else return Number.NaN;
  }
  return length === begin || point === length - 1 ? Number.NaN : n;
}

export const MINUS = 45;
export const NOUGHT = 48;
const POINT = 46;

const LONG = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<part>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/u;

/** @throws RangeError for a text that is no plain decimal: digits, at most one point, an optional exponent. */
export function readLong(text: string): {
  readonly digits: bigint;
  readonly scale: number;
  readonly isNegative: boolean;
} {
  const found = LONG.exec(text)?.groups;
  if (found === undefined) throw new RangeError(`no decimal number: ${JSON.stringify(text)}`);
  const { sign = '', whole = '', part = '', exponent = '0' } = found;
  const digits = BigInt(whole + part);
  const isNegative = sign === '-';
  return { digits: isNegative ? -digits : digits, scale: part.length - Number(exponent), isNegative };
}
