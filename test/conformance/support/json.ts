/**
 * JSON as it was written: a number keeps its source text, so that a test sees whether `1e-7`, `"1"` or `1.000000001` was
 * sent where the specification has a plain number. Written for this suite: it uses no code of the client under test.
 */
export class NumberText {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as unknown as (text: string, reviver: Reviver) => unknown;

/** Throws `SyntaxError` as `JSON.parse`. */
export const readJson = (text: string): unknown =>
  parse(text, (_key, value, { source }) =>
    typeof value === 'number' ? new NumberText(source ?? String(value)) : value,
  );

export type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);

export function fieldsOf(value: unknown): Fields {
  if (!isFields(value)) throw new TypeError(`expected a JSON object, got ${shown(value)}`);
  return value;
}

export function listOf(value: unknown): readonly Fields[] {
  if (!Array.isArray(value)) throw new TypeError(`expected a JSON array, got ${shown(value)}`);
  return value.map(fieldsOf);
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`expected a JSON string, got ${shown(value)}`);
  return value;
}

/** Source text of a JSON number. */
export function numberOf(value: unknown): string {
  if (!(value instanceof NumberText)) throw new TypeError(`expected a JSON number, got ${shown(value)}`);
  return value.source;
}

/** A plain decimal number with at most 8 decimals, in hundred-millionths: sums and comparisons are exact. */
export function unitsOf(value: unknown): bigint {
  const source = numberOf(value);
  const [, sign, whole, decimals = ''] = /^(-?)(\d+)(?:\.(\d{1,8}))?$/u.exec(source) ?? [];
  if (whole === undefined) throw new TypeError(`expected a number of up to 8 decimals, got ${source}`);
  const size = BigInt(whole + decimals.padEnd(8, '0'));
  return sign === '-' ? -size : size;
}

/** The value as it was written in the message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return JSON.stringify(value, (_key, each: unknown) =>
    each instanceof NumberText ? `number ${each.source}` : each,
  );
}
