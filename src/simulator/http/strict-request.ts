import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../wire/message.ts';
import type { PlainBody } from '../../wire/plain.ts';
import { wireFields } from '../../wire/documents/json-schema.ts';
import type { WireField } from '../../wire/documents/json-schema.ts';
import type { Route } from './routes.ts';
import { refused } from '../exchange/refuse.ts';
import type { Refusal } from './reply.ts';

/** A request in the form that its route receives. */
export interface Asked {
  readonly headers: IncomingHttpHeaders;
  /** Query parameters. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Body as received. */
  readonly body: string;
  /** The parsed body; `undefined` if it is not plain. */
  readonly plain?: PlainBody | undefined;
}

/**
 * Why the venue rejects the request before it reaches the route; `undefined` if it is acceptable. The venue accepts only
 * JSON, only the fields that the interface defines, and numbers only as JSON numbers, except in orders (`orderAmount`).
 */
export function strictProblem(route: Route, { headers, query, body, plain }: Asked): Refusal | undefined {
  if (!acceptsJson(headers.accept)) return refused.accept();
  for (const name of Object.keys(query)) {
    if (route.query === undefined || !wireFields(route.query).has(name))
      return refused.malformed(`unknown parameter ${shown(name)}`);
  }
  if (body === '') return undefined;
  if (route.method === 'GET') return refused.malformed('a GET request takes no body');
  if (!isJsonType(headers['content-type'])) return refused.type();
  if (route.body === undefined) return undefined;
  const fields = wireFields(route.body);
  return plain !== undefined && isStrict(fields, plain) ? undefined : bodyProblem(fields, body);
}

/** Whether a plain body is acceptable. If it is not, or if that is uncertain, `bodyProblem` decides and gives the reason. */
function isStrict(fields: ReadonlyMap<string, WireField>, plain: PlainBody): boolean {
  for (const [name, { type }] of plain) {
    const types = fields.get(name)?.types;
    if (types === undefined || !(types.size === 0 || types.has(type))) return false;
  }
  return true;
}

function bodyProblem(fields: ReadonlyMap<string, WireField>, body: string): Refusal | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refused.malformed('the body is not JSON');
  }
  if (!isObject(value) || Array.isArray(value)) return refused.malformed('the body is not a JSON object');
  for (const [name, each] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined) return refused.malformed(`unknown field ${shown(name)}`);
    if (!fits(each, field.types)) return refused.malformed(`${name} must be ${worded(field.types)}`);
  }
  return undefined;
}

function fits(value: unknown, types: ReadonlySet<string>): boolean {
  if (types.size === 0) return true;
  if (value === null) return types.has('null');
  if (Array.isArray(value)) return types.has('array');
  if (typeof value === 'number') return types.has('number') || (types.has('integer') && Number.isSafeInteger(value));
  return types.has(typeof value);
} // prettier-ignore

const worded = (types: ReadonlySet<string>): string =>
  [...types].map((type) => `a JSON ${type}`).join(' or ');

const isJsonType = (type: string | undefined): boolean =>
  /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/iu.test(type ?? '');
const acceptsJson = (accept: string | undefined): boolean =>
  accept === undefined || accept === '' || /json|\*\/\*|application\/\*/iu.test(accept);

/** A client-supplied name for display, shortened and without control characters or markup. */
const shown = (name: string): string => JSON.stringify(name.slice(0, 40).replaceAll(/[^\w.-]/gu, '?'));
