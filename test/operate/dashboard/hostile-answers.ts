import { z } from 'zod';
import { apiRoutes } from '../../../src/operate/api/routes.ts';
import type { ApiPath } from '../../../src/operate/api/routes.ts';
import { amount, time } from '../../../src/operate/api/schema-parts.ts';
import { signInRoutes } from '../../../src/operate/sign-in/sign-in-schemas.ts';
import { everyKind } from '../../journal/records.ts';

type Schema = Readonly<{
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  prefixItems?: readonly Schema[];
  pattern?: string;
  format?: string;
  description?: string;
  $defs?: Readonly<Record<string, Schema>>;
}>;

export interface HostileAnswers {
  /** By their name below `/api/v1/`, as in `syntheticAnswers`. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Fields that contain the text: the route and the path of the field. */
  readonly fields: readonly string[];
}

/**
 * An answer of every route that reads, with every field of its schema in use, and `text` in each field that is text of any kind: a field
 * that is added to the API is in here without anybody having to think of it. Amounts and times keep their form: no venue, strategy
 * or person writes those.
 */
export function hostileAnswers(text: string): HostileAnswers {
  const fields: string[] = [];
  const reads = (Object.keys(apiRoutes) as ApiPath[]).filter(
    (path) => apiRoutes[path].method === 'GET' && !('isStream' in apiRoutes[path]),
  );
  const schemas: readonly (readonly [string, z.ZodType])[] = [
    ...reads.map((path) => [path, apiRoutes[path].answer] as const),
    ...Object.entries(signInRoutes).flatMap(([path, { method, answer }]) =>
      method === 'GET' ? [[path, answer] as const] : [],
    ),
  ];
  const answers = new Map<string, unknown>();
  for (const [path, schema] of schemas) {
    const name = path.slice('/api/v1/'.length);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON Schema, as far as it is read here
    const whole = z.toJSONSchema(schema, { reused: 'inline' }) as Schema;
    answers.set(name, valueOf(whole, { text, fields, defs: whole.$defs ?? {}, way: name }));
  }
  return { answers, fields };
}

interface Filling {
  readonly text: string;
  readonly fields: string[];
  readonly defs: Readonly<Record<string, Schema>>;
  readonly way: string;
}

function valueOf(schema: Schema, filling: Filling): unknown {
  const { text, fields, defs, way } = filling;
  const inner = (step: string, one: Schema): unknown => valueOf(one, { ...filling, way: `${way}${step}` });
  if (schema.$ref !== undefined) return valueOf(defs[schema.$ref.replace('#/$defs/', '')] ?? {}, filling);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice !== undefined) return inner('', choice.find(({ type }) => type === 'string') ?? choice[0] ?? {});
  switch (schema.type) {
    case 'string':
      if (schema.description === time.description) return '2026-12-01T09:15:00.000Z';
      if (schema.description === amount.description) return '12.5';
      fields.push(way);
      return text;
    case 'number':
    case 'integer':
      return 3;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return (schema.prefixItems ?? [schema.items ?? {}]).map((one) => inner('[]', one));
    case 'object': {
      const known = Object.entries(schema.properties ?? {}).map(
        ([name, one]) => [name, inner(`.${name}`, one)] as const,
      );
      const { additionalProperties: more } = schema;
      if (more === undefined || more === false || (more === true && known.length > 0))
        return Object.fromEntries(known);
      fields.push(`${way}.*`);
      return Object.fromEntries([...known, [text, inner('.*', more === true ? {} : more)]]);
    }
    default:
      fields.push(way);
      return text;
  }
}

/** A record of every kind, with `text` in every text field except the kind. */
export const hostileRecords = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  everyKind().map((body) => ({ ...(hostile(body, text) as object), kind: body.kind }));

function hostile(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((one) => hostile(one, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, text)]));
}
