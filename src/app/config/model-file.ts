import {
  isPreset,
  modelFileSchema,
  modelKeys,
  modelSchema,
  modelSettings,
  presetModel,
  presets,
} from '../../research/run/model.ts';
import type { ExecutionModel } from '../../research/run/model.ts';
import { OperatorError } from '../../core/errors.ts';
import { camelKeys } from '../../simulator/options/options-parts.ts';
import { shownPath } from './files.ts';
import type { ReadOptions } from './files.ts';
import { nearest } from './problems.ts';
import { loadDocument } from './venue-file.ts';

export interface ModelOptions {
  /** Name of a preset, or path of a file. */
  readonly model: string;
  /** Overrides of single settings of the model, such as `half_spread_bps=5`. */
  readonly assume: readonly string[];
}

export interface NamedModel {
  /** Name for display. */
  readonly name: string;
  readonly model: ExecutionModel;
}

/** Reads the execution model that the command line selects. @throws OperatorError (`usage`, `config`) with the correction. */
export function readModel({ model, assume }: ModelOptions, options: ReadOptions): NamedModel {
  const base = baseOf(model, options);
  if (assume.length === 0) return base;
  return {
    name: `${base.name}, ${assume.join(', ')}`,
    model: { ...base.model, ...assumed(assume) },
  };
}

function baseOf(model: string, options: ReadOptions): NamedModel {
  if (isPreset(model)) return { name: model, model: presetModel(model) };
  if (/[./\\]/u.test(model)) {
    const { path, value } = loadDocument(model, modelFileSchema, options);
    return { name: shownPath(path, options.cwd), model: value };
  }
  const meant = nearest(model, Object.keys(presets));
  const fix = meant === undefined ? '' : `: did you mean ${meant}?`;
  const names = Object.keys(presets).join(', ');
  throw new OperatorError('usage', `--model: expected ${names} or a YAML file, got "${model}"${fix}`);
}

/** Settings that are strings in YAML too. */
const TEXTS: ReadonlySet<string> = new Set(['max_usd', 'gap_max', 'impact_memory']);

/** Parses the given settings by the schema of the model, without adding defaults. */
function assumed(assume: readonly string[]): Partial<ExecutionModel> {
  const given = Object.fromEntries(assume.map(readAssumption));
  const parsed = modelSchema.safeParse({ ...presets.normal, ...given });
  if (!parsed.success) {
    const said = parsed.error.issues.map(({ path, message }) => {
      const key = String(path[0]);
      const meaning = modelSettings[key]?.description;
      return `--assume ${assume.findLast((one) => one.startsWith(`${key}=`)) ?? key}: ${message}${meaning === undefined ? '' : ` (${meaning})`}`;
    });
    throw new OperatorError('usage', said.join('\n'));
  }
  const names = new Set(Object.keys(camelKeys(given)));
  return Object.fromEntries(Object.entries(parsed.data).filter(([name]) => names.has(name)));
}

function readAssumption(text: string): readonly [string, unknown] {
  const groups = /^(?<key>[a-z_]{1,40})=(?<value>\S{1,80})$/u.exec(text)?.groups;
  const key = groups?.['key'] ?? '';
  const value = groups?.['value'] ?? '';
  if (modelKeys.includes(key)) return [key, TEXTS.has(key) ? value : Number(value)];
  const meant = nearest(key, modelKeys);
  const fix =
    meant === key
      ? ''
      : meant === undefined
        ? `; expected one of ${modelKeys.join(', ')}`
        : `: did you mean ${meant}?`;
  throw new OperatorError(
    'usage',
    `--assume: expected a setting of the model and its value, such as half_spread_bps=5, got "${text}"${fix}`,
  );
}
