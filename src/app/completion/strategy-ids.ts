import { dirname, resolve } from 'node:path';
import type { CommandIo } from '../commands/io.ts';
import { findStrategyFiles, readFile } from '../config/files.ts';
import type { Environment, YamlFile } from '../config/yaml.ts';

/** Returns the ids of the strategies in the readable files that a config names. Checks nothing and reports nothing. */
export function strategyIds(config: string, { cwd, env }: Pick<CommandIo, 'cwd' | 'env'>): readonly string[] {
  const path = resolve(cwd, config);
  const read = (file: string): YamlFile['documents'] => readFile(file, { cwd, env: withAny(env) }).documents;
  const [document] = read(path);
  if (document === undefined) return [];
  const { files } = findStrategyFiles(document, dirname(path));
  const ids = files.flatMap((file) => read(file).flatMap(({ value }) => idOf(value)));
  return [...new Set(ids)].toSorted((a, b) => (a < b ? -1 : 1));
}

/** Gives every variable a value: ids do not depend on variables, and the token of a desk is not available during completion. */
const withAny = (env: Environment): Environment =>
  new Proxy(env, {
    get: (own, name) => (typeof name === 'string' ? (own[name] ?? 'any') : undefined),
    getOwnPropertyDescriptor: (_, name) => ({ value: env[String(name)] ?? 'any', configurable: true }),
  });

/** Returns the id if it matches the schema of strategies, because anything else must not reach a shell. */
const idOf = (value: unknown): readonly string[] => {
  const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'id') : undefined;
  return typeof id === 'string' && /^[a-z0-9-]{1,40}$/u.test(id) ? [id] : [];
};
