import { z } from 'zod';

/** A JSON Schema of the 2020-12 dialect, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Version of the interface, which is part of its paths. */
export const INTERFACE_VERSION = '1';

const AMOUNT_TEXT = '^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$';

/**
 * Returns the input of a wire schema as JSON Schema: the form on the wire, not the parsed value. The parser reads
 * amounts as text to keep every digit, and marks them with `wire`: `either` if they may be strings. `either` allows both, because the feeds write amounts as
 * strings that REST writes as numbers.
 */
export function wireJsonSchema(schema: z.ZodType, amounts: 'number' | 'either' = 'number'): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { wire } = jsonSchema;
      delete jsonSchema['wire'];
      if (wire === undefined) return;
      if (wire === 'amount' && amounts === 'number') jsonSchema.type = 'number';
      else {
        delete jsonSchema.type;
        jsonSchema.anyOf = [{ type: 'number' }, { type: 'string', pattern: AMOUNT_TEXT }];
      }
    },
  });
  const { $schema: _, '~standard': __, ...rest } = made as Record<string, unknown>;
  return rest;
}

/** A field of an object on the wire. */
export interface WireField {
  /** Allowed JSON types; empty: any type. */
  readonly types: ReadonlySet<string>;
}

const known = new WeakMap<z.ZodType, ReadonlyMap<string, WireField>>();

/** Returns the fields of an object, or of all branches of a union. Computed once for each schema. */
export function wireFields(schema: z.ZodType): ReadonlyMap<string, WireField> {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const fields = new Map<string, WireField>();
  collect(wireJsonSchema(schema), fields);
  known.set(schema, fields);
  return fields;
}

function collect(schema: JsonSchema, into: Map<string, WireField>): void {
  for (const branch of branchesOf(schema)) collect(branch, into);
  for (const [name, field] of propertiesOf(schema)) {
    const types = new Set(into.get(name)?.types ?? []);
    addTypes(field, types);
    into.set(name, { types });
  }
}

function addTypes(schema: JsonSchema, into: Set<string>): void {
  for (const branch of branchesOf(schema)) addTypes(branch, into);
  const { type, const: constant, enum: values } = schema;
  if (typeof type === 'string') into.add(type);
  else if (Array.isArray(type)) type.forEach((each) => into.add(String(each)));
  else if (constant !== undefined) into.add(typeof constant);
  else if (Array.isArray(values)) values.forEach((each) => into.add(each === null ? 'null' : typeof each));
}

/** Returns the branches of a union schema. */
export const branchesOf = ({ anyOf, oneOf, allOf }: JsonSchema): readonly JsonSchema[] =>
  [anyOf, oneOf, allOf].flatMap(listOf);

/** Returns the properties of an object, by name. */
export const propertiesOf = ({ properties }: JsonSchema): readonly (readonly [string, JsonSchema])[] =>
  isSchema(properties)
    ? Object.entries(properties).flatMap(([name, each]) => (isSchema(each) ? [[name, each] as const] : []))
    : [];

/** Returns the names of the required properties. */
export const requiredOf = ({ required }: JsonSchema): readonly string[] =>
  Array.isArray(required) ? required.filter((each) => typeof each === 'string') : [];

/** Returns the object at this path of a document; an empty one if there is none. */
export function partOf(document: JsonSchema, ...steps: readonly string[]): JsonSchema {
  let part: JsonSchema = document;
  for (const step of steps) {
    const next = part[step];
    if (!isSchema(next)) return {};
    part = next;
  }
  return part;
}

/** Returns the schemas in a list. */
export const listOf = (value: unknown): readonly JsonSchema[] =>
  Array.isArray(value) ? value.filter(isSchema) : [];

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
