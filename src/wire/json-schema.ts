import { z } from 'zod';

/** A JSON Schema of the 2020-12 dialect, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What a zod schema of the wire takes, as JSON Schema: the form on the wire, not what we make of it. Amounts are text to
 * our readers, so that no digit is lost; their `wire` mark says whether the venue writes a JSON number there.
 */
export function wireJsonSchema(schema: z.ZodType): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { wire } = jsonSchema;
      delete jsonSchema['wire'];
      if (wire === 'number') jsonSchema.type = 'number';
      if (wire === 'text') jsonSchema['pattern'] = '^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$';
    },
  });
  const { $schema: _, '~standard': __, ...rest } = made as Record<string, unknown>;
  return rest;
}

/** A field of an object on the wire. */
export interface WireField {
  /** JSON types it may have; empty: any. */
  readonly types: ReadonlySet<string>;
}

const known = new WeakMap<z.ZodType, ReadonlyMap<string, WireField>>();

/** The fields of an object, of all branches where there are several. Made once for each schema. */
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
  const { properties } = schema;
  if (!isSchema(properties)) return;
  for (const [name, field] of Object.entries(properties)) {
    const types = new Set(into.get(name)?.types ?? []);
    if (isSchema(field)) addTypes(field, types);
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

const branchesOf = ({ anyOf, oneOf, allOf }: JsonSchema): readonly JsonSchema[] =>
  [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isSchema) : []));

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
