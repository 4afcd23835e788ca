/**
 * The one spelling of a record's body: the text that is hashed and stored.
 *
 * JSON without white space. At the top `kind` comes first, all other keys, at every depth, are sorted by their UTF-16
 * code units. Members that are `undefined` are left out. Strings are escaped as `JSON.stringify` does (so lone
 * surrogates and control characters are ASCII escapes), numbers are spelled as ECMAScript does. The text of one body is
 * therefore the same in every process, whatever order its fields were set in.
 *
 * @throws TypeError on anything that is not plain JSON: it would not come back as it went in.
 */
export function canonical(body: { readonly kind: string }): string {
  const { kind, ...rest } = body;
  const members = membersOf(rest);
  return `{"kind":${JSON.stringify(kind)}${members === '' ? '' : `,${members}`}}`;
}

/** How the text of every body of `kind` begins: kinds can be compared without parsing. */
export const startOf = (kind: string): string => `{"kind":${JSON.stringify(kind)}`;

/** Canonical text of any plain value: `canonical` without the rule about `kind`. */
export function canonicalValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) break;
      // As JSON has it: zero has no sign in either.
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${elementsOf(value)}]`;
      if (!isPlain(value)) break;
      return `{${membersOf(value)}}`;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
  }
  throw new TypeError(`not plain JSON, so it would not come back from the journal: a ${nameOf(value)}`);
}

/** A text in quotes. Nearly all of them hold nothing that is escaped. */
export const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
const PLAIN = /^[ !#-[\]-~]*$/u;

const nameOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.getPrototypeOf(value) === null ? 'bare object' : value.constructor.name;
};

function elementsOf(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += text === '' ? canonicalValue(value) : `,${canonicalValue(value)}`;
  return text;
}

function membersOf(value: object): string {
  const members = value as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- read by its own keys
  let text = '';
  for (const { key, name } of orderOf(Object.keys(value))) {
    const member = members[key];
    if (member === undefined) continue;
    const spelled = canonicalValue(member);
    text += text === '' ? name + spelled : `,${name}${spelled}`;
  }
  return text;
}

interface Name {
  readonly key: string;
  /** As it stands before the value. */
  readonly name: string;
}

interface Order {
  readonly keys: readonly string[];
  readonly names: readonly Name[];
}

/** Members come again and again in the same few orders: each is sorted once. By the first member, newest last. */
const orders = new Map<string, Order[]>();
const ORDERS_MAX = 1_000;
const ORDERS_EACH_MAX = 8;

/** The members in the order of the text. */
export function orderOf(keys: readonly string[]): readonly Name[] {
  const [first] = keys;
  if (first === undefined) return [];
  const some = orders.get(first) ?? [];
  for (const known of some) if (isSame(known.keys, keys)) return known.names;
  // By code units, as `sort` does without a comparison: a locale would make the hash depend on the machine.
  const names = keys.toSorted().map((key) => ({ key, name: `${JSON.stringify(key)}:` }));
  if (orders.size >= ORDERS_MAX) orders.clear();
  orders.set(first, [...some.slice(1 - ORDERS_EACH_MAX), { keys, names }]);
  return names;
}

export function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}

/** Only what `JSON.parse` makes. An object without a prototype may be a raw JSON number, which would come back rounded. */
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;
