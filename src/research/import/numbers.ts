import { decimalText } from '../tape/tape.ts';
import type { TimeUnit } from './plan.ts';

/** Parses numbers and Unix times from text. */

export interface ParsedNumber {
  readonly value: number;
  /** Whether digits were lost, through the double or earlier, as in `6.73E+04`, which spreadsheets show. */
  readonly loss: 'none' | 'rounded' | 'cut short';
}

const NUMBER = /^\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,3})?$/u;
const PLAIN = /^\d+(?:\.\d+)?$/u;
/** A double preserves up to 15 digits. */
const DIGITS_MAX = 15;

/** Whether `Number` reads the text without loss, as for most cells. */
export const isExact = (text: string): boolean => text.length <= DIGITS_MAX && PLAIN.test(text);

/** Parses a number at or above zero; `undefined` if the text is not one. */
export function parseNumber(text: string): ParsedNumber | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  if (value === Infinity) return undefined;
  const loss = isCutShort(text) ? 'cut short' : survives(text, value) ? 'none' : 'rounded';
  return { value, loss };
}

/**
 * Whether a number may have lost its last digits: `6.73E+04` may be 67345.12. Programs write numbers below 10^16 in
 * full, and only spreadsheets shorten them.
 */
function isCutShort(text: string): boolean {
  const [, part = '', exponent = '0'] = /^\d+(?:\.(\d*))?[eE]\+?(\d+)$/u.exec(text) ?? [];
  return Number(exponent) > part.length && Number(exponent) < 16;
}

/** Whether the shortest text of a double equals the text from which it was read. */
const survives = (text: string, value: number): boolean => canonical(text) === canonical(decimalText(value));

/**
 * Returns the digits without surrounding zeros, and the power of ten of the last digit. The result is equal for all
 * texts of one decimal.
 */
function canonical(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', part = ''] = mantissa.split('.');
  const digits = (whole + part).replace(/^0+/u, '');
  const short = digits.replace(/0+$/u, '');
  return short === '' ? '0' : `${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

interface ParsedTime {
  readonly ms: number;
  readonly wasCut: boolean;
}

const WHOLE = /^\d{1,15}$/u;
const UNIX = /^ *(\d{1,19})(?:\.(\d*))? *$/u;
/** Position of the milliseconds, counted from the decimal point. */
const PLACES = { s: 3, ms: 0, us: -3, ns: -6 } as const;

/**
 * Parses a Unix time to whole ms; `undefined` if the text is not one. `mixed`: the number of digits determines the unit.
 * `wasCut`: the text contained a finer time.
 */
export function parseUnixTime(text: string, unit: TimeUnit | 'mixed'): ParsedTime | undefined {
  if (unit === 'ms' && WHOLE.test(text)) return { ms: Number(text), wasCut: false };
  const [, whole, fraction = ''] = UNIX.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const end = Math.max(0, whole.length + PLACES[unit === 'mixed' ? unitByLength(whole.length) : unit]);
  const digits = whole + fraction.padEnd(3, '0');
  return { ms: Number(digits.slice(0, end)), wasCut: /[1-9]/u.test(digits.slice(end)) };
}

const unitByLength = (digits: number): TimeUnit =>
  digits <= 11 ? 's' : digits <= 14 ? 'ms' : digits <= 17 ? 'us' : 'ns';

/** Returns the shortest decimal of a 32-bit float: 60012.35, although its double is 60012.3515625. */
export function shortest32(value: number): number {
  for (let digits = 6; digits <= 9; digits++) {
    const decimal = Number(value.toPrecision(digits));
    if (Math.fround(decimal) === value) return decimal;
  }
  return value;
}
