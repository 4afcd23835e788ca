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
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) break;
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(canonicalValue).join(',')}]`;
      if (!isPlain(value)) break;
      return `{${membersOf(value)}}`;
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
  }
  throw new TypeError(`not plain JSON, so it would not come back from the journal: a ${nameOf(value)}`);
}

const nameOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.getPrototypeOf(value) === null ? 'bare object' : value.constructor.name;
};

/** Sorted by code units, as `sort` does without a comparison: a locale would make the hash depend on the machine. */
function membersOf(value: object): string {
  let text = '';
  for (const key of Object.keys(value).toSorted()) {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalValue(member)}`;
  }
  return text;
}

/** Names of fields come again with every record. */
const names = new Map<string, string>();
const NAMES_MAX = 1_000;

function quoted(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (names.size < NAMES_MAX) names.set(name, text);
  return text;
}

/** Only what `JSON.parse` makes. An object without a prototype may be a raw JSON number, which would come back rounded. */
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;
