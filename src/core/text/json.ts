/**
 * JSON whose numbers keep every digit. The reader quotes the numbers of the named fields before `JSON.parse`, so that
 * they become text. Its scan skips strings, so that text inside a string is never mistaken for a field. Numbers of
 * other fields become ordinary numbers. For writing, `exact` creates a literal with all its digits.
 */
export type JsonReader = (source: string) => unknown;

export interface ExactFields {
  /** Fields whose numbers are returned as written. */
  readonly amounts: readonly string[];
  /** Fields whose numbers are returned as written if they are not safe integers. */
  readonly ids?: readonly string[] | undefined;
}

/**
 * A reader that returns the numbers of `amounts`, and large numbers of `ids`, as written. Ignores a byte order mark. Throws
 * `SyntaxError` like `JSON.parse`, and also for input that parsers treat differently: a repeated name in one object, or
 * nesting beyond 32 levels. In a list, however, one odd row must not hide the other rows: there, a repeated name has the list
 * of its values, which no field accepts, and values that are nested deeper are empty lists.
 */
export function jsonReader({ amounts, ids = [] }: ExactFields): JsonReader {
  for (const field of [...amounts, ...ids]) {
    if (!/^\w+$/u.test(field)) throw new RangeError(`jsonReader: ${field} is not a plain field name`);
  }
  const named: Named = new Map([
    ...amounts.map((name) => [name, 'amount'] as const),
    ...ids.map((name) => [name, 'id'] as const),
  ]);
  return (source) => {
    const { text, names } = quoteNumbers(source.startsWith(MARK) ? source.slice(1) : source, named);
    const value = JSON.parse(text) as unknown;
    const fault = faultOf(value, names);
    if (fault === undefined) return value;
    if (Array.isArray(value)) return keepAll(text);
    throw new SyntaxError(fault);
  };
}

/** A byte order mark, which a parser may ignore (RFC 8259, section 8.1). */
const MARK = '\uFEFF';

type Named = ReadonlyMap<string, 'amount' | 'id'>;

/** The parser keeps one of two members with the same name, so a repeated name leaves fewer members than were written. */
function faultOf(value: unknown, names: number): string | undefined {
  const members = typeof value === 'object' && value !== null ? membersOf(value, 1) : 0;
  if (members === undefined) return `nested more than ${DEPTH_MAX} deep`;
  return members === names ? undefined : 'a name is written twice';
}

const DEPTH_MAX = 32;

/** Total number of members of all objects in a value; `undefined` if it is nested too deep. `value` is an object or a list. */
function membersOf(value: object, depth: number): number | undefined {
  if (depth > DEPTH_MAX) return undefined;
  const isList = Array.isArray(value);
  const items: readonly unknown[] = isList ? value : Object.values(value);
  let count = isList ? 0 : items.length;
  for (const item of items) {
    if (typeof item !== 'object' || item === null) continue;
    const within = membersOf(item, depth + 1);
    if (within === undefined) return undefined;
    count += within;
  }
  return count;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}]|[^\s[\]{},:"]+/gu;

/** Parses valid JSON whose repeated names have the list of their values. Slower than `JSON.parse`, and rarely needed. */
function keepAll(source: string): unknown {
  const tokens = source.match(TOKENS) ?? [];
  let at = 0;
  const next = (): string => tokens[at++] ?? '';
  const value = (depth: number): unknown => {
    const token = next();
    if (token !== '[' && token !== '{') return JSON.parse(token);
    if (depth > DEPTH_MAX) {
      for (let open = 1; open > 0;) {
        const each = next();
        if (each === '[' || each === '{') open += 1;
        else if (each === ']' || each === '}') open -= 1;
      }
      return [];
    }
    return token === '[' ? list(depth) : object(depth);
  };
  const list = (depth: number): unknown => {
    const items: unknown[] = [];
    while (tokens[at] !== ']') items.push(value(depth + 1));
    at += 1;
    return items;
  };
  const object = (depth: number): unknown => {
    const members = new Map<string, unknown[]>();
    while (tokens[at] !== '}') {
      const name = JSON.parse(next()) as string; // oxlint-disable-line typescript/no-unsafe-type-assertion -- a name is a string
      const each = value(depth + 1);
      const before = members.get(name);
      if (before === undefined) members.set(name, [each]);
      else before.push(each);
    }
    at += 1;
    return Object.fromEntries(
      [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
    );
  };
  return value(1);
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

/** A field name with escapes is not recognized, so its value becomes a number, which amounts reject. */
function quoteNumbers(source: string, named: Named): { readonly text: string; readonly names: number } {
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
      if (code === MINUS || isDigit(code)) {
        const kind = named.get(source.slice(open + 1, close));
        const end = kind === undefined ? -1 : numberEnd(source, at);
        // Everything but a complete JSON number is left unchanged, so that `JSON.parse` refuses it.
        if (end !== -1 && (kind === 'amount' || !Number.isSafeInteger(Number(source.slice(at, end))))) {
          out += `${source.slice(copied, at)}"${source.slice(at, end)}"`;
          copied = end;
        }
      }
    }
    // No string can begin between the field name and the value after the colon.
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
  // Sorted by code units, as `sort` does without a comparison function, because a locale would make the hash depend on
  // the machine.
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

/** Whether a value is an object that is not a list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
