import { expect } from 'vitest';
import { NumberText, shown } from './json.ts';
import type { Fields } from './json.ts';

/** The form of a value in the text of a message. */
export interface Shape {
  /** Completes "is …". */
  readonly name: string;
  fits(value: unknown): boolean;
}

const numeric = (name: string, pattern: RegExp): Shape => ({
  name,
  fits: (value) => value instanceof NumberText && pattern.test(value.source),
});
const textual = (name: string, pattern: RegExp): Shape => ({
  name,
  fits: (value) => typeof value === 'string' && pattern.test(value),
});

/** Up to 8 decimals, no exponent, no quotes, no sign before zero. */
export const aNumber = numeric(
  'a number of up to 8 decimals without exponent',
  /^(?!-0(?:\.0*)?$)-?(?:0|[1-9]\d*)(?:\.\d{1,8})?$/u,
);
export const anInteger = numeric('an integer', /^-?(?:0|[1-9]\d*)$/u);
export const aFlag = numeric('0 or 1', /^[01]$/u);
/** Milliseconds since 1970, within this century. */
export const aTimestamp = numeric('a Unix timestamp in milliseconds', /^[1-4]\d{12}$/u);
export const aText = textual('a string', /^/u);
export const aName = textual('a string that is not empty', /^[^]+$/u);
export const anEmptyText = textual('an empty string', /^$/u);
export const aLowerCaseName = textual('a string in lower case', /^[a-z0-9]+$/u);
export const aTime = textual(
  'an ISO 8601 string',
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/u,
);
export const aUuid = textual('shaped like a UUID', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu);
export const aBoolean: Shape = { name: 'a boolean', fits: (value) => typeof value === 'boolean' };
export const aNull: Shape = { name: 'null', fits: (value) => value === null };
export const anObject: Shape = {
  name: 'an object',
  fits: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText),
};
export const exactly = (text: string): Shape => ({ name: `"${text}"`, fits: (value) => value === text });
export const oneOf = (...texts: readonly string[]): Shape => ({
  name: `one of ${texts.join(', ')}`,
  fits: (value) => typeof value === 'string' && texts.includes(value),
});
export const either = (...shapes: readonly Shape[]): Shape => ({
  name: shapes.map(({ name }) => name).join(' or '),
  fits: (value) => shapes.some((shape) => shape.fits(value)),
});

/** Fails with the received value if it does not have the shape. */
export function expectShape(of: Fields, field: string, shape: Shape): void {
  expect(Object.keys(of)).toContain(field);
  expect(shape.fits(of[field]), `${field} is ${shape.name}, got ${shown(of[field])}`).toBe(true);
}
