import { canonicalMembers } from '../../core/text/json.ts';

/**
 * The only spelling of a record's body: the text that is hashed and stored.
 *
 * JSON without white space. At the top level `kind` comes first; all other keys, at every depth, are sorted by their
 * UTF-16 code units. Members that are `undefined` are omitted. Strings are escaped as by `JSON.stringify` (so lone
 * surrogates and control characters are ASCII escapes), numbers are spelled as in ECMAScript. The text of one body is
 * therefore the same in every process, regardless of the order in which its fields were set.
 *
 * @throws TypeError on anything that is not plain JSON, because it would not survive a round trip.
 */
export function canonical(body: { readonly kind: string }): string {
  const { kind, ...rest } = body;
  const members = canonicalMembers(rest);
  return `{"kind":${JSON.stringify(kind)}${members === '' ? '' : `,${members}`}}`;
}

/** The first characters of every body of `kind`: kinds can be compared without parsing. */
export const startOf = (kind: string): string => `{"kind":${JSON.stringify(kind)}`;
