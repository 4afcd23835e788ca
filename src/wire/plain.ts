import { isAmountText } from '../core/money.ts';

/** A member of a plain body: its source text without quotation marks. */
export interface PlainField {
  readonly type: 'string' | 'number';
  readonly text: string;
}

export type PlainBody = ReadonlyMap<string, PlainField>;

/**
 * Reads a plain body in one pass: a flat JSON object whose values are strings without escapes or ordinary decimal
 * numbers, and whose names are unique. Nearly every request is plain. Returns `undefined` for anything else, valid or not;
 * the caller then uses the full reader. A property test checks that both readers agree.
 */
export function readPlain(body: string): PlainBody | undefined {
  if (body.charCodeAt(0) !== OPEN || body.charCodeAt(1) !== QUOTE) return undefined;
  const fields = new Map<string, PlainField>();
  let at = 1;
  for (;;) {
    const nameEnd = textEnd(body, at);
    if (nameEnd === -1 || body.charCodeAt(nameEnd + 1) !== COLON) return undefined;
    const name = body.slice(at + 1, nameEnd);
    const from = skipSpaces(body, nameEnd + 2);
    const isText = body.charCodeAt(from) === QUOTE;
    const end = isText ? textEnd(body, from) : numberEnd(body, from);
    if (end === -1 || fields.has(name) || fields.size === FIELDS_MAX) return undefined;
    fields.set(
      name,
      isText
        ? { type: 'string', text: body.slice(from + 1, end) }
        : { type: 'number', text: body.slice(from, end) },
    );
    const next = isText ? end + 1 : end;
    const code = body.charCodeAt(next);
    if (code === CLOSE) return next + 1 === body.length ? fields : undefined;
    if (code !== COMMA) return undefined;
    at = skipSpaces(body, next + 1);
  }
}

/** Returns the text of a field if it has at most `most` characters. */
export function plainText(field: PlainField | undefined, most: number): string | undefined {
  return field?.type === 'string' && field.text.length <= most ? field.text : undefined;
}

/** Returns the text of an amount that was sent as a number or as text. */
export function plainAmount(field: PlainField | undefined): string | undefined {
  return field !== undefined && isAmountText(field.text) ? field.text : undefined;
}

const FIELDS_MAX = 16;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;

/** Returns the index of the closing quotation mark of the string that opens at `from`; -1 when the string is not plain. */
function textEnd(body: string, from: number): number {
  if (body.charCodeAt(from) !== QUOTE) return -1;
  for (let at = from + 1; at < body.length; at++) {
    const code = body.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < SPACE || code === BACKSLASH) return -1;
  }
  return -1;
}

/** Returns the index after the decimal number that starts at `from`; -1 when there is no number. */
function numberEnd(body: string, from: number): number {
  const whole = body.charCodeAt(from) === MINUS ? from + 1 : from;
  const point = skipDigits(body, whole);
  if (point === whole || (body.charCodeAt(whole) === ZERO && point > whole + 1)) return -1;
  if (body.charCodeAt(point) !== POINT) return point;
  const end = skipDigits(body, point + 1);
  return end === point + 1 ? -1 : end;
}

function skipDigits(body: string, from: number): number {
  let at = from;
  while (body.charCodeAt(at) >= ZERO && body.charCodeAt(at) <= NINE) at++;
  return at;
}

function skipSpaces(body: string, from: number): number {
  let at = from;
  while (body.charCodeAt(at) === SPACE) at++;
  return at;
}
