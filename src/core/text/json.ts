/**
 * JSON whose numbers keep every digit. Reading: the reader quotes the numbers of the named fields before
 * `JSON.parse`, so that they become text. The scan skips strings, so that text inside a string is never mistaken for
 * a field. Numbers of other fields become ordinary numbers. Writing: `exact` creates a literal with all its digits.
 */
export type JsonReader = (source: string) => unknown;

/**
 * A reader that returns the numbers of `fields` as written. Throws `SyntaxError` like `JSON.parse`, and also for
 * input that parsers treat differently: a repeated name in one object, or nesting beyond 32 levels.
 */
export function jsonReader(fields: readonly string[]): JsonReader {
  for (const field of fields) {
    if (!/^\w+$/u.test(field)) throw new RangeError(`jsonReader: ${field} is not a plain field name`);
  }
  const named = new Set(fields);
  return (source) => {
    const { text, names } = quoteNumbers(source, named);
    const value = JSON.parse(text) as unknown;
    // The parser keeps one of two members with the same name, so a repeated name leaves fewer members than were written.
    const members = typeof value === 'object' && value !== null ? membersOf(value, 1) : 0;
    if (members !== names) throw new SyntaxError('a name is written twice');
    return value;
  };
}

const DEPTH_MAX = 32;

/** Total number of members of all objects in a value. `value` is an object or a list. */
function membersOf(value: object, depth: number): number {
  if (depth > DEPTH_MAX) throw new SyntaxError(`nested more than ${DEPTH_MAX} deep`);
  const isList = Array.isArray(value);
  const items: readonly unknown[] = isList ? value : Object.values(value);
  let count = isList ? 0 : items.length;
  for (const item of items)
    if (typeof item === 'object' && item !== null) count += membersOf(item, depth + 1);
  return count;
}

const rawJson = (JSON as unknown as { rawJSON: (literal: string) => object }).rawJSON;

/** A number literal for `JSON.stringify` with all digits. `literal` is the text of an amount. */
export const exact = (literal: string): object => rawJson(literal);

const BACKSLASH = 92;
const COLON = 58;
const MINUS = 45;
const PLUS = 43;
const POINT = 46;
const ZERO = 48;
const NINE = 57;

/** A field name with escapes is not recognized: its value becomes a number, which amounts reject. */
function quoteNumbers(
  source: string,
  named: ReadonlySet<string>,
): { readonly text: string; readonly names: number } {
  let out = '';
  let copied = 0;
  let names = 0;
  let open = source.indexOf('"');
  while (open !== -1) {
    const close = stringEnd(source, open + 1);
    if (close === -1) break; // not JSON; `JSON.parse` reports it
    let at = skipSpace(source, close + 1);
    if (source.charCodeAt(at) === COLON) {
      names += 1;
      at = skipSpace(source, at + 1);
      const code = source.charCodeAt(at);
      if ((code === MINUS || isDigit(code)) && named.has(source.slice(open + 1, close))) {
        const end = numberEnd(source, at);
        // Everything but a complete JSON number is left unchanged, so that `JSON.parse` refuses it.
        if (end !== -1) {
          out += `${source.slice(copied, at)}"${source.slice(at, end)}"`;
          copied = end;
        }
      }
    }
    // No string begins between the name and the value after the colon.
    open = source.indexOf('"', at);
  }
  return { text: copied === 0 ? source : out + source.slice(copied), names };
}

/** Index of the quotation mark that ends the string whose content begins at `from`; -1 when there is none. */
function stringEnd(source: string, from: number): number {
  let at = source.indexOf('"', from);
  while (at !== -1) {
    let slashes = 0;
    while (at - slashes > from && source.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
    at = source.indexOf('"', at + 1);
  }
  return -1;
}

/** End of the JSON number that begins at `from`, if a value may end there; otherwise -1. */
function numberEnd(source: string, from: number): number {
  let at = source.charCodeAt(from) === MINUS ? from + 1 : from;
  const whole = at;
  at = skipDigits(source, at);
  if (at === whole || (source.charCodeAt(whole) === ZERO && at > whole + 1)) return -1;
  if (source.charCodeAt(at) === POINT) {
    const fraction = at + 1;
    at = skipDigits(source, fraction);
    if (at === fraction) return -1;
  }
  if (source[at] === 'e' || source[at] === 'E') {
    const sign = source.charCodeAt(at + 1);
    const exponent = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
    at = skipDigits(source, exponent);
    if (at === exponent) return -1;
  }
  const next = source[skipSpace(source, at)];
  return next === ',' || next === '}' ? at : -1;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

function skipDigits(source: string, from: number): number {
  let at = from;
  while (isDigit(source.charCodeAt(at))) at++;
  return at;
}

/** JSON's white space: space, tab, line feed, carriage return. */
function skipSpace(source: string, from: number): number {
  let at = from;
  for (;;) {
    const code = source.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/**
 * The canonical text of a plain value: JSON without white space, with the keys of every object sorted by their UTF-16 code
 * units, and without `undefined` members. Hashes are computed over it, so that they agree in every process.
 * @throws TypeError on anything that is not plain JSON, because it would not survive a round trip.
 */
export function canonicalValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) break;
      // As in JSON, zero has no sign.
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${Array.from(value, canonicalValue).join(',')}]`;
      if (!isPlain(value)) break;
      return `{${canonicalMembers(value)}}`;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
  }
  throw new TypeError(`not plain JSON, so the journal cannot store it: a ${nameOf(value)}`);
}

const nameOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.getPrototypeOf(value) === null ? 'bare object' : value.constructor.name;
};

/** The members of an object in canonical form, without the braces. */
export function canonicalMembers(value: object): string {
  const members = value as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- read by its own keys
  let text = '';
  // By code units, as `sort` does without a comparison, because a locale would make the hash depend on the machine.
  for (const key of Object.keys(value).toSorted()) {
    const member = members[key];
    if (member !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalValue(member)}`;
  }
  return text;
}

/**
 * Whether `JSON.parse` can produce the object. An object without a prototype may be a raw JSON number, which a round trip
 * would round.
 */
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;
