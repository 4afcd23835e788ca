import { z } from 'zod';
import { apiRoutes } from './routes.ts';
import type { ApiRoute } from './routes.ts';
import { signInRoutes } from '../sign-in/sign-in-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** The API as an OpenAPI 3.1 document, generated from the table of routes and the schemas of their responses. */
export function openApi(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tranche',
      version,
      description:
        'The API of a running desk. Amounts are decimal text, times are ISO 8601 in UTC, and unknown values are omitted.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    paths: Object.fromEntries(
      Object.entries<ApiRoute>({ ...apiRoutes, ...signInRoutes }).map(([path, route]) => [
        path,
        { [route.method.toLowerCase()]: operation(path, route) },
      ]),
    ),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of `operate.tokens`' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-tranche',
          description:
            'A person who signed in; with a port in the URL `__Host-tranche-PORT`, over plain HTTP on loopback `tranche-PORT`',
        },
      },
      schemas: {
        error: schemaOf(z.strictObject({ error: z.string().describe('The reason in words') })),
        ...Object.fromEntries(
          Object.values(apiRoutes).flatMap(({ answer }) => Object.entries(namedParts(answer))),
        ),
      },
      responses: {
        refused: { description: 'Refused', content: json({ $ref: '#/components/schemas/error' }) },
      },
    },
  };
}

function operation(path: string, route: ApiRoute): Json {
  const { method, role, summary, query, body, answer, isStream } = route;
  const content = isStream === true ? { 'text/event-stream': { schema: schemaOf(answer) } } : json(schemaOf(answer)); // prettier-ignore
  const refused = { $ref: '#/components/responses/refused' };
  return {
    operationId: path
      .replace('/api/v1/', '')
      .replace('.json', '')
      .replaceAll(/[/_-](?<next>[a-z])/gu, (_, next: string) => next.toUpperCase()),
    summary,
    description: role === undefined ? 'Needs no sign-in.' : `Requires the \`${role}\` role.`,
    ...(role === undefined ? { security: [] } : {}),
    ...(query === undefined ? {} : { parameters: parametersOf(query) }),
    ...(method === 'POST'
      ? {
          parameters: [
            { name: 'X-Tranche', in: 'header', required: true, schema: { type: 'string' } },
            {
              name: 'X-Tranche-CSRF',
              in: 'header',
              description: 'With a session: `csrf` of /api/v1/me',
              schema: { type: 'string' },
            },
          ],
        }
      : {}),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: json(schemaOf(body, 'input')) } }),
    responses: {
      200: { description: summary, content },
      ...(method === 'POST' ? { 409: { description: 'The desk refuses', content } } : {}),
      default: refused,
    },
  };
}

const json = (schema: Json): Json => ({ 'application/json': { schema } });

function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, $defs: _named, ...rest } = jsonSchemaOf(schema, io);
  return rest;
}

/** The named parts that schemas refer to. */
const namedParts = (schema: z.ZodType): Json => (jsonSchemaOf(schema, 'output')['$defs'] ?? {}) as Json; // oxlint-disable-line typescript/no-unsafe-type-assertion -- JSON Schema has it so

/** Names are unique in the whole document. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const made = z.toJSONSchema(schema, { target: 'draft-2020-12', io, reused: 'inline' });
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text) as Json; // oxlint-disable-line typescript/no-unsafe-type-assertion -- it was an object
}

function parametersOf(query: z.ZodObject): readonly Json[] {
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}
