import type { z } from 'zod';
import { errorSchema } from '../account.ts';
import { INTERFACE_VERSION, listOf, propertiesOf, requiredOf, wireJsonSchema } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { venueRoutes } from '../routes.ts';
import type { VenueRoute } from '../routes.ts';

const TAGS = { spec: 'interface specification', extra: 'beyond the specification' } as const;

/** Returns the REST interface as an OpenAPI 3.1 document, generated from the schemas that parse and validate its messages. */
export function openApi(): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of Object.values<VenueRoute>(venueRoutes)) {
    const path = operation.path.replaceAll(/:(\w+)/gu, '{$1}');
    (paths[path] ??= {})[operation.method.toLowerCase()] = described(operation, path);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trading and account service (simulated)',
      version: INTERFACE_VERSION,
      description:
        'REST interface of the venue as Tranche uses and simulates it. Amounts are JSON numbers with all their digits: parse them from the source text, not as floats.',
    },
    tags: [
      { name: TAGS.spec, description: 'Part of the interface specification.' },
      { name: TAGS.extra, description: 'Taken from public documentation; a venue may lack it.' },
    ],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: wireJsonSchema(errorSchema) },
      responses: {
        Error: {
          description: 'Rejected; the message gives the reason',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

function described(operation: VenueRoute, path: string): JsonSchema {
  const { method, kind, summary, body, reply } = operation;
  const error = { $ref: '#/components/responses/Error' };
  return {
    operationId: `${method.toLowerCase()}_${path.replaceAll(/\W+/gu, '_').replaceAll(/^_|_$/gu, '')}`,
    summary,
    tags: [TAGS[kind]],
    security: [{ token: [] }],
    parameters: [...pathParameters(path), ...queryParameters(operation.query)],
    ...(body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: requestSchema(body) } } },
        }),
    responses: {
      [reply.status]: {
        description: 'Done',
        content: { 'application/json': { schema: wireJsonSchema(reply.schema) } },
      },
      '4XX': error,
      '5XX': error,
    },
  };
}

const pathParameters = (path: string): readonly JsonSchema[] =>
  [...path.matchAll(/\{(?<name>\w+)\}/gu)].map(({ groups }) => ({
    name: groups?.['name'] ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }));

function queryParameters(query: z.ZodType | undefined): readonly JsonSchema[] {
  if (query === undefined) return [];
  const schema = wireJsonSchema(query);
  return propertiesOf(schema).map(([name, each]) => {
    const { description, ...type } = each;
    const required = requiredOf(schema).includes(name);
    return {
      name,
      in: 'query',
      required,
      description,
      schema: queryType(type),
    };
  });
}

/** Returns the type of a query parameter: integers in a query are strings of digits alone. */
const queryType = (type: JsonSchema): JsonSchema =>
  typeof type['pattern'] === 'string' && DIGITS_ALONE.test(type['pattern'])
    ? { type: 'integer', minimum: 0 }
    : type;
const DIGITS_ALONE = /^\^\\d(?:\{[\d,]+\}|\+)\$$/u;

/** Returns the schema of a strict venue: no additional fields, and exactly one of the two sizes. */
function requestSchema(body: z.ZodType): JsonSchema {
  return closed(wireJsonSchema(body));
}

function closed(schema: JsonSchema): JsonSchema {
  for (const branches of ['anyOf', 'oneOf'] as const) {
    const list = listOf(schema[branches]);
    if (list.length > 0) return { ...schema, [branches]: list.map(closed) };
  }
  if (schema['properties'] === undefined) return schema;
  const names = new Set(propertiesOf(schema).map(([name]) => name));
  const isOptional = (name: string): boolean => names.has(name) && !requiredOf(schema).includes(name);
  const sizes =
    isOptional('quantity') && isOptional('amount')
      ? { oneOf: [{ required: ['quantity'] }, { required: ['amount'] }] }
      : {};
  return { ...schema, ...sizes, additionalProperties: false };
}
