import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../src/simulator/http/routes.ts';
import { branchesOf, isSchema, propertiesOf } from '../../src/wire/documents/json-schema.ts';
import type { JsonSchema } from '../../src/wire/documents/json-schema.ts';
import { readBody, wireMoney } from '../../src/wire/message.ts';

/** Names of the fields that hold an amount that the venue may write as a number, at any depth. */
function amountNames(schema: z.ZodType): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: JsonSchema, name?: string): void => {
    if (name !== undefined && node['wire'] === 'amount') names.add(name);
    for (const branch of branchesOf(node)) visit(branch, name);
    for (const [field, child] of propertiesOf(node)) visit(child, field);
    for (const within of [node['items'], node['additionalProperties']]) if (isSchema(within)) visit(within);
  };
  const made: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  if (isSchema(made)) visit(made);
  return names;
}

/** The amount fields of a schema whose digits `readBody` would lose. */
const unlisted = (schema: z.ZodType): readonly string[] =>
  [...amountNames(schema)]
    .filter((name) => JSON.stringify(readBody(`{"${name}":1.10}`)) !== JSON.stringify({ [name]: '1.10' }))
    .map((name) => `name ${name} in AMOUNT_FIELDS of src/wire/message.ts`);

describe('AMOUNT_FIELDS of src/wire/message.ts', () => {
  it.each(routes.map(({ method, path, body, reply }) => [`${method} ${path}`, body, reply] as const))(
    'lists every amount field of %s',
    (_, body, reply) => {
      const schemas = [body, reply?.schema].filter((schema) => schema !== undefined);
      expect(schemas.flatMap(unlisted)).toEqual([]);
    },
  );

  it('is checked also for fields inside lists and unions', () => {
    const row = z.object({ price: wireMoney, trial_amount: wireMoney.optional() });
    const schema = z.object({ rows: z.union([z.array(row), z.object({ other_amount: wireMoney })]) });
    expect(unlisted(schema)).toEqual([
      'name trial_amount in AMOUNT_FIELDS of src/wire/message.ts',
      'name other_amount in AMOUNT_FIELDS of src/wire/message.ts',
    ]);
  });

  it('is named in the error for an amount that was read as a number', () => {
    const read = z.object({ trial_amount: wireMoney }).safeParse(readBody('{"trial_amount":1.10}'));
    expect(read.error?.issues[0]?.message).toContain('name this field in AMOUNT_FIELDS');
  });
});
