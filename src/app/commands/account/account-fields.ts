import type { z } from 'zod';
import { OperatorError } from '../../../core/errors.ts';
import { isAmountText, quantity } from '../../../core/money.ts';
import { exact } from '../../../core/text/json.ts';
import { parseIso } from '../../../core/time.ts';
import type { AccountRequest } from '../../../venue/account.ts';
import { branchesOf, propertiesOf, requiredOf, wireJsonSchema } from '../../../wire/documents/json-schema.ts';
import type { JsonSchema } from '../../../wire/documents/json-schema.ts';
import type { VenueRoute } from '../../../wire/routes.ts';

/** A field of a request: a parameter of the path, a query parameter or a field of the body. */
export interface RouteField {
  /** As the venue writes it. */
  readonly name: string;
  readonly place: 'path' | 'query' | 'body';
  readonly kind: 'id' | 'text' | 'time' | 'amount' | 'number' | 'flag' | 'list';
  readonly description: string;
  readonly isRequired: boolean;
  /** Permitted values; empty: any value. */
  readonly choices: readonly string[];
}

export interface GivenField {
  readonly field: RouteField;
  /** As the operator wrote it. */
  readonly text: string;
}

/** `client_order_id`, `ptsRates` and `isWire` as words of the command line: `client-order-id`, `pts-rates`, `is-wire`. */
export const inKebab = (name: string): string =>
  name.replaceAll('_', '-').replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** The fields of a route, from its path and schemas. */
export const fieldsOf = ({ path, query, body }: VenueRoute): readonly RouteField[] => [
  ...[...path.matchAll(/:(?<name>\w+)/gu)].map(
    ({ groups }): RouteField => ({ name: groups?.['name'] ?? '', place: 'path', kind: 'id', description: '', isRequired: true, choices: [] }), // prettier-ignore
  ),
  ...fieldsIn(query, 'query'),
  ...fieldsIn(body, 'body'),
];

/** Of a union, the fields of all branches; those that every branch requires are required. */
function fieldsIn(schema: z.ZodType | undefined, place: 'query' | 'body'): readonly RouteField[] {
  if (schema === undefined) return [];
  const whole = wireJsonSchema(schema);
  const branches = branchesOf(whole).length > 0 ? branchesOf(whole) : [whole];
  const fields = branches.flatMap(propertiesOf).map(([name, each]): RouteField => ({
    name,
    place,
    kind: kindOf(each),
    description: typeof each['description'] === 'string' ? each['description'] : '',
    isRequired: branches.every((branch) => requiredOf(branch).includes(name)),
    choices: choicesOf(each),
  }));
  return fields.filter(({ name }, at) => fields.findIndex((first) => first.name === name) === at);
}

function choicesOf(schema: JsonSchema): readonly string[] {
  if (schema['type'] === 'boolean') return ['true', 'false'];
  if (Array.isArray(schema['enum'])) return schema['enum'].map(String);
  return branchesOf(schema).flatMap((branch) => ('const' in branch ? [String(branch['const'])] : []));
}

function kindOf(schema: JsonSchema): RouteField['kind'] {
  const types = new Set([schema, ...branchesOf(schema)].map(({ type }) => type));
  if (schema['format'] === 'unix-ms') return 'time';
  if (types.has('integer') || (types.has('number') && choicesOf(schema).length > 0)) return 'number';
  if (types.has('number')) return 'amount';
  if (types.has('boolean')) return 'flag';
  return types.has('array') ? 'list' : 'text';
}

/** Returns the request with these fields. @throws OperatorError `usage` naming every option that is not usable. */
export function requestOf(route: VenueRoute, given: readonly GivenField[]): AccountRequest {
  const values = given.map((each) => ({ ...each, value: valueOf(each) }));
  const at = (place: RouteField['place']): typeof values =>
    values.filter(({ field }) => field.place === place);
  const named = (of: typeof values): Record<string, unknown> => Object.fromEntries(of.map(({ field, value }) => [field.name, value])); // prettier-ignore
  const query = Object.fromEntries(at('query').map(({ field, value }) => [field.name, String(value)]));
  check(route.query, query);
  check(route.body, named(at('body')));
  // The schemas read amounts as text; the venue gets numbers with all their digits.
  const sent = at('body').map((each) => (each.field.kind === 'amount' ? { ...each, value: exact(each.text) } : each)); // prettier-ignore
  return {
    parameters: at('path').map(({ text }) => text),
    query,
    body: route.body === undefined ? undefined : JSON.stringify(named(sent)),
  };
}

/** @throws OperatorError `usage` */
function valueOf({ field: { name, kind }, text }: GivenField): unknown {
  const must = (isMet: boolean, problem: string): void => {
    if (!isMet) throw new OperatorError('usage', `--${inKebab(name)}: ${problem}`);
  };
  must(!name.startsWith('client_') || !text.startsWith('tr-'), 'ids that start with "tr-" are reserved for desks of this program'); // prettier-ignore
  switch (kind) {
    case 'id':
      must(/^[\w-]{1,64}$/u.test(text), 'expected letters, digits, - and _');
      return text;
    case 'amount':
      must(isAmountText(text) && /^\d+(?:\.\d+)?$/u.test(text) && quantity(text).gt(0), 'expected an amount above zero, such as 0.25'); // prettier-ignore
      return text;
    case 'number':
      must(/^\d{1,15}$/u.test(text), 'expected a whole number');
      return Number(text);
    case 'flag':
      return text === 'true';
    case 'list':
      return text.split(',');
    case 'time': {
      const at = /^\d+$/u.test(text) ? Number(text) : parseIso(text);
      must(at !== undefined, 'expected a time such as 2026-12-01T09:00:00Z, or Unix ms');
      return at;
    }
    case 'text':
      return text;
  }
}

function check(schema: z.ZodType | undefined, values: object): void {
  const result = schema?.safeParse(values);
  if (result?.success === false) throw new OperatorError('usage', problemsOf(result.error.issues).join('\n'));
}

const problemsOf = (issues: readonly z.core.$ZodIssue[]): readonly string[] =>
  issues.map((issue) => {
    if (issue.code === 'invalid_union' && issue.errors.length > 0)
      return issue.errors.map((branch) => problemsOf(branch).join('; ')).join(', or ');
    const option = issue.path.length === 0 ? '' : `--${inKebab(String(issue.path[0]))}: `;
    return option + issue.message;
  });
