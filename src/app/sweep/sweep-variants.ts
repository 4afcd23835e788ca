import { fieldsOf, valueAt, valuesOf, withValue } from '../../research/sweep/vary.ts';
import type { Setting, Vary } from '../../research/sweep/vary.ts';
import { OperatorError } from '../../core/errors.ts';
import type { BegunDocument } from '../../engine/state/strategy-source.ts';
import type { BacktestInput } from '../research/backtest-input.ts';
import type { Config } from '../config/config.ts';
import type { ReadOptions } from '../config/files.ts';
import { nearest, pathText } from '../config/problems.ts';
import type { FileProblem } from '../config/problems.ts';
import { checkDocuments, readDocuments } from '../strategies/strategies.ts';
import type { LoadedStrategy } from '../strategies/strategies.ts';
import type { YamlDocument } from '../config/yaml.ts';

/** One setting with its strategies, checked like those of any desk. */
export interface Variant {
  readonly values: Setting;
  /** All enabled strategies, in the form that a journal stores. */
  readonly strategies: readonly BegunDocument[];
}

/** A setting that would prevent a desk from starting. */
export interface Invalid {
  readonly values: Setting;
  readonly problem: FileProblem;
}

export interface Variants {
  readonly variants: readonly Variant[];
  readonly invalid: readonly Invalid[];
}

type Checked = Pick<BacktestInput, 'config' | 'strategyFiles' | 'strategies'>;

/**
 * Returns the strategies of every setting. Reads the files again, because the check covers each document with its new values.
 *
 * @throws OperatorError `usage` for a field that cannot be varied.
 */
export function readVariants(
  { config, strategyFiles, strategies }: Checked,
  { varies, settings }: { readonly varies: readonly Vary[]; readonly settings: readonly Setting[] },
  options: ReadOptions,
): Variants {
  const { documents } = readDocuments(strategyFiles, options);
  const byId = new Map(documents.map((document) => [String(valueAt(document.value, ['id'])), document]));
  const targets = varies.flatMap((vary, index) =>
    targetsOf(vary, index, { strategies, byId, config, options }),
  );
  const variants: Variant[] = [];
  const invalid: Invalid[] = [];
  for (const values of settings) {
    const { changed, problem } = changedBy(values, targets, config, options);
    if (problem !== undefined) invalid.push({ values, problem });
    else variants.push({ values, strategies: strategies.map((one) => begunOf(changed.get(one.id) ?? one)) });
  }
  return { variants, invalid };
}

/** Applies a setting. Checks only the documents that it changes, because the others were checked before. */
function changedBy(
  values: Setting,
  targets: readonly Target[],
  config: Config,
  options: ReadOptions,
): { readonly changed: ReadonlyMap<string, LoadedStrategy>; readonly problem: FileProblem | undefined } {
  const changes = new Map<string, YamlDocument>();
  for (const { id, document, path, valueIn } of targets) {
    const before = changes.get(id) ?? document;
    changes.set(id, { ...before, value: withValue(before.value, path, valueIn(values)) });
  }
  const { strategies, problems } = checkDocuments([...changes.values()], config, options);
  return { changed: new Map(strategies.map((one) => [one.id, one])), problem: problems[0] };
}

/** Returns a strategy in the form that a journal stores and a worker restores. */
export const begunOf = ({ id, kind, hash, document }: LoadedStrategy): BegunDocument => ({
  strategy: id,
  type: kind,
  hash,
  document,
});

/** Path of a field, and its value in YAML for a setting. */
interface Target {
  readonly id: string;
  readonly document: YamlDocument;
  readonly path: readonly string[];
  readonly valueIn: (values: Setting) => unknown;
}

interface Scene {
  readonly strategies: readonly LoadedStrategy[];
  readonly byId: ReadonlyMap<string, YamlDocument>;
  readonly config: Config;
  readonly options: ReadOptions;
}

/** Fields that identify a strategy or decide whether it runs. */
const FIXED: ReadonlySet<string> = new Set(['id', 'kind', 'enabled']);

const targetsOf = (vary: Vary, index: number, scene: Scene): readonly Target[] =>
  fieldsOf(vary).map((field, part) => {
    const written = (value: string): string => valuesOf(vary, value)[part] ?? '';
    const { read, ...place } = targetOf(field, triedOf(vary).map(written), scene);
    return { ...place, valueIn: (values) => read(written(values[index] ?? '')) };
  });

/** Number of values from which a field's type is inferred. If one of them is invalid, another may be valid. */
const TRIED = 8;
function triedOf({ values }: Vary): readonly string[] {
  const tried = Math.min(TRIED, values.count);
  const step = (values.count - 1) / Math.max(1, tried - 1);
  return Array.from({ length: tried }, (_, i) => values.at(Math.round(i * step)));
}

type Place = Omit<Target, 'valueIn'> & { readonly read: (value: string) => unknown };

/** Returns the target of a field. @param tried some of its values, which show the type of a field that the file does not set. */
function targetOf(field: string, tried: readonly string[], scene: Scene): Place {
  const { id, path } = placeOf(field, scene);
  const document = scene.byId.get(id);
  const [top = ''] = path;
  if (document === undefined) throw new OperatorError('usage', `--vary ${field}: there is no strategy ${id}`);
  if (FIXED.has(top))
    throw new OperatorError('usage', `--vary ${field}: ${top} identifies a strategy and cannot be varied`);
  const now = valueAt(document.value, path);
  if (typeof now === 'object')
    throw new OperatorError(
      'usage',
      `--vary ${field}: this is a group of settings: name one of ${Object.keys(now ?? {}).join(', ')} in it, such as ${field}.${Object.keys(now ?? {})[0] ?? ''}`,
    );
  const target = { id, document, path };
  if (typeof now === 'string') return { ...target, read: asText };
  if (now !== undefined) return { ...target, read: asPlain };
  // The file does not set the field. Amounts are text in YAML and counts are numbers, and the checks show which type
  // the field has.
  const says = (read: Place['read'], written: string): boolean => {
    const value = withValue(document.value, path, read(written));
    const { problems } = checkDocuments([{ ...document, value }], scene.config, scene.options);
    return problems.some((problem) => problem.path === pathText(path));
  };
  const isPlain = tried.some((written) => says(asText, written) && !says(asPlain, written));
  return { ...target, read: isPlain ? asPlain : asText };
}

const asText = (value: string): string => value;

/** Parses a value as YAML parses a plain scalar. */
const asPlain = (value: string): unknown => {
  if (value === 'true' || value === 'false') return value === 'true';
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/u.test(value) ? Number(value) : value;
};

/** Parses `id.path`, or only the path if one strategy runs. */
function placeOf(
  field: string,
  { strategies }: Pick<Scene, 'strategies'>,
): { readonly id: string; readonly path: readonly string[] } {
  const [first = '', ...rest] = field.split('.');
  const ids = strategies.map(({ id }) => id);
  if (rest.length > 0 && ids.includes(first)) return { id: first, path: rest };
  const [only, second] = ids;
  if (only !== undefined && second === undefined) return { id: only, path: [first, ...rest] };
  const meant = nearest(first, ids);
  throw new OperatorError(
    'usage',
    `--vary ${field}: several strategies run (${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}): write ${meant ?? only ?? 'ID'}.${rest.length > 0 ? rest.join('.') : first}`,
  );
}
