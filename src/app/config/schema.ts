import { z } from 'zod';
import { reportSchema } from '../../report/json/schema.ts';
import { venueOptionsSchema } from '../../simulator/options/options.ts';
import type { AnyStrategy } from '../../strategy/kernel.ts';
import { strategies as registry } from '../../strategy/registry.ts';
import { configSchema } from './config-schema.ts';
import { commonKeys } from '../strategies/strategies.ts';

/**
 * A JSON Schema of a YAML file, for completion and validation in editors, or of `report.json`, for programs that read it. This module
 * generates it from the schema that this program validates with.
 */
type JsonSchema = Record<string, unknown>;

export const schemaNames = ['config', 'strategy', 'venue', 'report'] as const;
export type SchemaName = (typeof schemaNames)[number];

export const isSchemaName = (name: string): name is SchemaName =>
  (schemaNames as readonly string[]).includes(name);

export const jsonSchema = (
  name: SchemaName,
  kinds: ReadonlyMap<string, AnyStrategy> = registry,
): JsonSchema => makers[name](kinds);

const makers: Readonly<Record<SchemaName, (kinds: ReadonlyMap<string, AnyStrategy>) => JsonSchema>> = {
  config: () => titled(configSchema, 'Tranche config', 'One desk: its venue, limits and strategies'),
  strategy: strategyJsonSchema,
  venue: () => titled(venueOptionsSchema, 'Tranche simulated venue', 'Options of "tranche venue --config"'),
  report: () =>
    titled(reportSchema, 'Tranche report', 'report.json of "tranche report" and "tranche backtest"'),
};

/** Returns the text of `config/schema/<name>.schema.json`. */
export const schemaText = (name: SchemaName): string => `${JSON.stringify(jsonSchema(name), undefined, 2)}\n`;

function titled(schema: z.ZodType, title: string, description: string): JsonSchema {
  const { $schema, ...rest } = inputOf(schema);
  return { $schema, title, description, ...rest };
}

/** Returns a schema with one branch for each kind, discriminated by `kind`. */
function strategyJsonSchema(kinds: ReadonlyMap<string, AnyStrategy>): JsonSchema {
  const { id, enabled } = commonKeys;
  const [, head] = withoutDialect(inputOf(z.object({ id, enabled })));
  const branches: JsonSchema[] = [];
  for (const { kind, summary, params } of kinds.values()) {
    const [, rest] = withoutDialect(inputOf(params));
    branches.push({
      ...rest,
      title: kind,
      description: summary,
      properties: {
        ...propertiesOf(head),
        kind: { const: kind, description: summary },
        ...propertiesOf(rest),
      },
      required: ['id', 'kind', ...requiredOf(rest)],
    });
  }
  const { $schema } = inputOf(z.string());
  return {
    $schema,
    title: 'Tranche strategy',
    description: 'What to trade, when, and within which limits; a file may hold several documents',
    anyOf: branches,
  };
}

/** `io: input` describes the file as written, not the parsed value. */
const inputOf = (schema: z.ZodType): JsonSchema => ({ ...z.toJSONSchema(schema, { io: 'input' }) });

function withoutDialect({ $schema, ...rest }: JsonSchema): readonly [unknown, JsonSchema] {
  return [$schema, rest];
}

const propertiesOf = ({ properties }: JsonSchema): JsonSchema =>
  typeof properties === 'object' && properties !== null ? { ...properties } : {};
const requiredOf = ({ required }: JsonSchema): readonly unknown[] =>
  Array.isArray(required) ? required : [];
