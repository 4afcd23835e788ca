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
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) break;
      // As JSON has it: zero has no sign in either.
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${Array.from(value, canonicalValue).join(',')}]`;
      if (!isPlain(value)) break;
      return `{${membersOf(value)}}`;
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

function membersOf(value: object): string {
  const members = value as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- read by its own keys
  let text = '';
  // By code units, as `sort` does without a comparison: a locale would make the hash depend on the machine.
  for (const key of Object.keys(value).toSorted()) {
    const member = members[key];
    if (member !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalValue(member)}`;
  }
  return text;
}

/** Only what `JSON.parse` makes. An object without a prototype may be a raw JSON number, which would come back rounded. */
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;
