import { z } from 'zod';
import { nearest } from './problems.ts';
import type { FileProblem } from './problems.ts';
import type { YamlDocument } from './yaml.ts';

/** Translates schema errors into problems for the operator, each with its location in the document. */
export function explain(
  error: z.ZodError,
  schema: z.ZodType,
  document: YamlDocument,
  /** Keys of the document that `schema` does not describe. */
  otherKeys: readonly string[] = [],
): readonly FileProblem[] {
  return error.issues.flatMap(innermost).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') {
      const message = messageOf(issue, schemasAt(schema, issue.path), document);
      return [document.problem(issue.path, message)];
    }
    const known = [
      ...(issue.path.length === 0 ? otherKeys : []),
      ...schemasAt(schema, issue.path).flatMap(keysOf),
    ];
    return issue.keys.map((key) => {
      const problem = document.problem([...issue.path, key], unknownKey(key, known), 'key');
      return issue.path[0] === 'venue' ? hideValue(problem, key) : problem;
    });
  });
}

/** Hides the value of an unknown key, because the key may be a misspelt `token`, which nothing recognises as a secret. */
function hideValue(problem: FileProblem, key: string): FileProblem {
  const end = problem.excerpt.indexOf(key) + key.length;
  return { ...problem, excerpt: `${problem.excerpt.slice(0, end)}: …` };
}

/** Picks, of several allowed shapes, the shape that the document matches best: the first that fails only below its top level. */
function innermost(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const closest = issue.errors.find((errors) => errors.some(({ path }) => path.length > 0));
  if (closest === undefined) return [issue];
  // Paths of branches are relative to the union.
  return closest.flatMap((inner) =>
    innermost(Object.assign(inner, { path: [...issue.path, ...inner.path] })),
  );
}

/** Reports an unknown key and suggests the nearest known one. */
export function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  if (meant !== undefined) return `unknown setting "${key}": did you mean "${meant}"?`;
  return `unknown setting "${key}"; expected one of ${known.join(', ')}`;
}

function messageOf(issue: z.core.$ZodIssue, schemas: readonly z.ZodType[], document: YamlDocument): string {
  const value = valueAt(document.value, issue.path);
  if (value === undefined && issue.code !== 'custom') return missing(issue, schemas);
  if (issue.code === 'invalid_type' && issue.expected === 'string' && typeof value === 'number') {
    const written = document.numberAt(issue.path) ?? String(value);
    return `write this value in quotation marks: "${written}"; a bare YAML number may lose digits`;
  }
  const isNumberWanted =
    issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int');
  if (isNumberWanted && typeof value === 'string' && /^-?\d+(?:\.\d+)?$/u.test(value)) {
    return `expected a number: write it without quotation marks, ${value}`;
  }
  if (issue.path.at(-1) === 'schedule' && typeof value === 'string')
    return "expected a group of settings, such as schedule: { cron: '0 9 * * 1', time_zone: Europe/London }";
  // Replaces only zod's default messages, not those of our own schemas.
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return `expected ${kindName(issue.expected)}, got ${shownValue(value)}`;
  }
  if (issue.code === 'invalid_value') {
    const options = issue.values.map(String);
    const meant = typeof value === 'string' ? nearest(value, options) : undefined;
    return `expected ${listOf(options)}${meant === undefined ? '' : `: did you mean ${meant}?`}`;
  }
  if (issue.code === 'too_small' && issue.message.startsWith('Too small')) {
    return `expected ${bound(issue.origin, 'at least', issue.minimum)}`;
  }
  if (issue.code === 'too_big' && issue.message.startsWith('Too big')) {
    return `expected ${bound(issue.origin, 'at most', issue.maximum)}`;
  }
  return issue.message;
}

function missing(issue: z.core.$ZodIssue, schemas: readonly z.ZodType[]): string {
  const name = String(issue.path.at(-1) ?? 'the document');
  const what = schemas.map(({ description }) => description).find((text) => text !== undefined);
  const options = issue.code === 'invalid_value' ? `expected ${listOf(issue.values.map(String))}` : undefined;
  return `"${name}" is missing: ${what ?? options ?? issue.message}`;
}

const bound = (origin: string, how: string, limit: number | bigint): string => {
  const unit = origin === 'string' ? ' characters' : origin === 'array' || origin === 'set' ? ' entries' : '';
  return `${how} ${limit}${unit}`;
};

const listOf = (options: readonly string[]): string =>
  options.length < 2 ? options.join('') : `${options.slice(0, -1).join(', ')} or ${options.at(-1) ?? ''}`;

const kindNames: Readonly<Record<string, string>> = {
  string: 'a quoted string',
  number: 'a number without quotation marks',
  int: 'a whole number without quotation marks',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of settings',
};
const kindName = (expected: string): string => kindNames[expected] ?? expected;

/** Returns a short description of the value. Omits text, which may be secret; the report shows the line anyway. */
function shownValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'another text';
  return Array.isArray(value) ? 'a list' : 'a group of settings';
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Readonly<Record<PropertyKey, unknown>>)[step]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- walks plain data
  }
  return at;
}

/** Returns the schemas that may apply at `path`; several if it crosses a union. */
function schemasAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly z.ZodType[] {
  let at: readonly z.ZodType[] = [schema];
  for (const step of path) at = at.flatMap(bare).flatMap((each) => childOf(each, step));
  return at;
}

function childOf(schema: z.ZodType, step: PropertyKey): readonly z.ZodType[] {
  if (schema instanceof z.ZodObject) {
    const child = (schema.shape as Readonly<Record<PropertyKey, z.ZodType | undefined>>)[step]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- zod's shape, read by name
    return child === undefined ? [] : [child];
  }
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- core type
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- core type
  return [];
}

/** Removes wrappers that do not change the shape: optional, default, transform, lazy. */
function bare(schema: z.ZodType): readonly z.ZodType[] {
  let inner: z.core.$ZodType | undefined;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    inner = schema.unwrap();
  } else if (schema instanceof z.ZodLazy) {
    inner = schema.unwrap();
  } else if (schema instanceof z.ZodPipe) {
    inner = schema.in;
  } else if (schema instanceof z.ZodUnion) {
    return schema.options.flatMap((option) => bare(option as z.ZodType)); // oxlint-disable-line typescript/no-unsafe-type-assertion -- core type
  }
  return inner === undefined ? [schema] : bare(inner as z.ZodType); // oxlint-disable-line typescript/no-unsafe-type-assertion -- core type
}

const keysOf = (schema: z.ZodType): readonly string[] =>
  bare(schema).flatMap((each) => (each instanceof z.ZodObject ? Object.keys(each.shape) : []));
