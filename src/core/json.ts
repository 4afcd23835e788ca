/**
 * JSON whose numbers keep every digit.
 *
 * Reading: the values of the named fields are put in quotes before `JSON.parse`, so that they arrive as text. This is
 * sound because a JSON string cannot hold an unescaped `"name":`. Numbers of other fields become ordinary numbers.
 * Writing: `exact` makes a literal with all its digits.
 */
export type JsonReader = (source: string) => unknown;

/** A reader that delivers the numbers of `fields` as the text they were written with. */
export function jsonReader(fields: readonly string[]): JsonReader {
  for (const field of fields) {
    if (!/^\w+$/u.test(field)) throw new RangeError(`jsonReader: ${field} is not a plain field name`);
  }
  const number = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
  const pattern = new RegExp(
    String.raw`(?<!\\)("(?:${fields.join('|')})"[ \t\r\n]*:[ \t\r\n]*)(${number})(?=[ \t\r\n]*[,}])`,
    'gu',
  );
  return (source) => JSON.parse(source.replace(pattern, '$1"$2"')) as unknown;
}

const rawJson = (JSON as unknown as { rawJSON: (literal: string) => object }).rawJSON;

/** A number literal for `JSON.stringify`, digit for digit. `literal` is the text of an amount. */
export const exact = (literal: string): object => rawJson(literal);
