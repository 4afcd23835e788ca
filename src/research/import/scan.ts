import { decimalText } from '../tape/tape.ts';
import type { TimeUnit } from './plan.ts';

/** Cells of delimited text, read from its bytes: ten times as fast as cells that become strings first. */

const NEWLINE = 10;
const RETURN = 13;
const BLANK = 32;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
/** An integer below 10^15 divided by a power of ten up to 10^22 is the double nearest to the decimal. */
const DIGITS_MAX = 15;
const POWERS = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));
const NUMBER = /^\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,3})?$/u;
const EMPTY = /^(?:nan|null|none|)$/iu;

/** What `Cells.number` returns for a cell without a number. */
export const NO_NUMBER = -1;

/** A reader of one cell after another. `at` is where the next cell begins; after a cell, on what ended it. */
export class Cells {
  at = 0;
  /** Whether the last cell holds nothing (or NaN), after `NO_NUMBER`. */
  isEmpty = false;
  /** Whether the last number lost digits on its way into a double, or before. */
  wasRounded = false;
  /** Whether a rounded number lost them before: `6.73E+04`, as spreadsheets show it. */
  wasCutShort = false;
  readonly bytes: Uint8Array;
  readonly delimiter: number;

  constructor(bytes: Uint8Array, delimiter: number) {
    this.bytes = bytes;
    this.delimiter = delimiter;
  }

  /** Whether the cell that was just read is the last of its row. */
  isRowEnd(): boolean {
    const { bytes, at } = this;
    return at >= bytes.length || bytes[at] === NEWLINE || bytes[at] === RETURN;
  }

  /** Goes to the next row. `false`: there is none. */
  nextRow(): boolean {
    const { bytes } = this;
    if (bytes[this.at] === RETURN) this.at += 1;
    if (bytes[this.at] === NEWLINE) this.at += 1;
    return this.at < bytes.length;
  }

  skip(): void {
    const { bytes, delimiter } = this;
    let at = this.at;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === delimiter || byte === NEWLINE || byte === RETURN) break;
    }
    this.at = at;
  }

  text(): string {
    const from = this.at;
    this.skip();
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + from, this.at - from)
      .toString('utf8')
      .trim();
  }

  /** A number at or above zero; `NO_NUMBER` when the cell holds none. */
  number(): number {
    const { bytes, delimiter } = this;
    const from = this.at;
    let at = from;
    let digits = 0;
    let significant = 0;
    let scale = -1;
    // Zeros at the end of a fraction say nothing: they count when another digit follows.
    let zeros = 0;
    let byte = bytes[at] ?? NEWLINE;
    for (; ; byte = bytes[++at] ?? NEWLINE) {
      if (byte === ZERO && scale >= 0) zeros += 1;
      else if (byte >= ZERO && byte <= NINE) {
        if (zeros > 0) {
          if (significant > 0) significant += zeros;
          scale += zeros;
          if (significant < DIGITS_MAX) digits *= POWERS[zeros] ?? 0;
          zeros = 0;
        }
        if (significant > 0 || byte !== ZERO) significant += 1;
        if (scale >= 0) scale += 1;
        digits = digits * 10 + (byte - ZERO);
      } else if (byte === POINT && scale < 0 && at > from) scale = 0;
      else break;
    }
    const isEnd = byte === delimiter || byte === NEWLINE || byte === RETURN;
    if (!isEnd || at === from || significant > DIGITS_MAX || scale > 22) return this.#slow(from);
    this.at = at;
    this.wasRounded = false;
    return scale > 0 ? digits / (POWERS[scale] ?? 1) : digits;
  }

  /** A Unix time as whole ms; `NO_NUMBER` when the cell holds none. `wasRounded` when something finer was cut off. */
  unix(unit: TimeUnit | 'mixed'): number {
    const { bytes } = this;
    while (bytes[this.at] === BLANK) this.at += 1;
    const from = this.at;
    let end = from;
    while ((bytes[end] ?? 0) >= ZERO && (bytes[end] ?? 0) <= NINE) end += 1;
    const length = end - from;
    const part = fractionAt(bytes, end);
    this.at = part.end;
    while (bytes[this.at] === BLANK) this.at += 1;
    this.wasRounded = false;
    if (length === 0 || length > 19 || !(this.isRowEnd() || bytes[this.at] === this.delimiter)) {
      this.at = from;
      this.skip();
      return NO_NUMBER;
    }
    const of =
      unit === 'mixed' ? (length <= 11 ? 's' : length <= 14 ? 'ms' : length <= 17 ? 'us' : 'ns') : unit;
    const cut = Math.min(length, of === 'us' ? 3 : of === 'ns' ? 6 : 0);
    let value = 0;
    for (let at = from; at < end - cut; at++) value = value * 10 + ((bytes[at] ?? 0) - ZERO);
    for (let at = end - cut; at < end; at++) if (bytes[at] !== ZERO) this.wasRounded = true;
    if (of === 's') {
      value = value * 1000 + part.thousandths;
      if (part.isFiner) this.wasRounded = true;
    } else if (part.thousandths > 0 || part.isFiner) this.wasRounded = true;
    return value;
  }

  #slow(from: number): number {
    this.at = from;
    const text = this.text();
    this.isEmpty = EMPTY.test(text);
    this.wasRounded = false;
    if (!NUMBER.test(text)) return NO_NUMBER;
    const value = Number(text);
    if (value === Infinity) return NO_NUMBER;
    this.wasCutShort = isCutShort(text);
    this.wasRounded = this.wasCutShort || !survives(text, value);
    return value;
  }
}

/**
 * Whether a number ends before its last digit: `6.73E+04` may be 67345.12. Programs write numbers below 10^16 out, and only
 * spreadsheets shorten them.
 */
function isCutShort(text: string): boolean {
  const [, part = '', exponent = '0'] = /^\d+(?:\.(\d*))?[eE]\+?(\d+)$/u.exec(text) ?? [];
  return Number(exponent) > part.length && Number(exponent) < 16;
}

/** Whether the shortest text of a double says the same as the text that it was read from. */
export function survives(text: string, value: number): boolean {
  return canonical(text) === canonical(decimalText(value));
}

/** Digits without zeros around them, and the power of ten of the last: the same for texts of one decimal. */
function canonical(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', part = ''] = mantissa.split('.');
  const digits = (whole + part).replace(/^0+/u, '');
  const short = digits.replace(/0+$/u, '');
  return short === '' ? '0' : `${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

/** The fraction of a number that begins at `at`, if there is one: `.5` are 500 thousandths. */
function fractionAt(
  bytes: Uint8Array,
  at: number,
): { readonly end: number; readonly thousandths: number; readonly isFiner: boolean } {
  if (bytes[at] !== POINT) return { end: at, thousandths: 0, isFiner: false };
  let end = at + 1;
  let thousandths = 0;
  let isFiner = false;
  for (; (bytes[end] ?? 0) >= ZERO && (bytes[end] ?? 0) <= NINE; end++) {
    const digit = (bytes[end] ?? 0) - ZERO;
    if (end - at <= 3) thousandths += digit * (POWERS[3 - (end - at)] ?? 0);
    else if (digit > 0) isFiner = true;
  }
  return { end, thousandths, isFiner };
}
