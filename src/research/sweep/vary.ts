import { OperatorError } from '../../core/errors.ts';
import {
  add,
  approximate,
  fraction,
  isAmountText,
  ratio,
  ratioOf,
  roundDown,
  scale,
  subtract,
  text,
} from '../../core/money.ts';
import type { Ratio } from '../../core/money.ts';
import { uniform } from '../../core/uniform.ts';
import { hash32 } from '../../simulator/market/random.ts';

/** Values as written in YAML, in order. Ranges are not expanded, because they may be long. */
export interface Values {
  readonly count: number;
  /** Returns the value at `index`, from 0, below `count`. */
  at(index: number): string;
}

/** One field that a sweep varies, or several that change together. */
export interface Vary {
  /** The left side of the equals sign: `slices`, `target_weights.btc`, `hour.slices`, `target_weights.btc+target_weights.usd`. */
  readonly field: string;
  /** `each`: every value, one after the other. `random`: the requested number of draws. */
  readonly how: 'each' | 'random';
  readonly values: Values;
}

/** One value for each field that is varied, in the order of the fields. */
export type Setting = readonly string[];

export interface Settings {
  readonly settings: readonly Setting[];
  /** Number of draws that repeated an earlier draw and are not run again. */
  readonly repeated: number;
}

export interface Sampling {
  /** Number of draws of each `random(…)`. */
  readonly samples?: number | undefined;
  readonly seed: string;
}

/** More settings would take days, and show no more than a smaller sample. */
export const SETTINGS_MAX = 10_000;
const FIELDS_MAX = 16;
const LIST_MAX = 1_000;
/** Largest number of values of a range that random draws can still distinguish. */
const RANGE_MAX = 1_000_000_000;
const FIELD = /^[a-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64}){0,15}$/u;
/** Separator of fields that change together, and of their values. */
const TOGETHER = '+';
const TOGETHER_HELP = "write 'target_weights.btc+target_weights.usd=0.6+0.4,0.5+0.5'";
const HELP = 'write 0.01..0.10/0.01, or 12,24,48, or random(58000..62000)';

/** Parses every `--vary`. @throws OperatorError `usage`. */
export function readVaries(texts: readonly string[]): readonly Vary[] {
  if (texts.length === 0)
    throw new OperatorError('usage', "no field varies: add --vary 'slices=12,24,48' for each field");
  if (texts.length > FIELDS_MAX)
    throw new OperatorError('usage', `--vary: at most ${FIELDS_MAX} fields, got ${texts.length}`);
  const varies = texts.map(readVary);
  const seen = new Set<string>();
  for (const field of varies.flatMap(fieldsOf)) {
    if (seen.has(field)) throw new OperatorError('usage', `--vary: ${field} is given twice`);
    seen.add(field);
  }
  return varies;
}

/** Returns the fields that change together; usually one. */
export const fieldsOf = ({ field }: Pick<Vary, 'field'>): readonly string[] => field.split(TOGETHER);

/** Returns one value for each of the fields that change together. */
export const valuesOf = (vary: Pick<Vary, 'field'>, value: string): readonly string[] =>
  fieldsOf(vary).length === 1 ? [value] : value.split(TOGETHER).map((one) => one.trim());

function readVary(written: string): Vary {
  const groups = /^(?<field>[^=]*)=(?<values>.*)$/su.exec(written)?.groups;
  const fields = (groups?.['field'] ?? '').split(TOGETHER).map((one) => one.trim());
  const field = fields.join(TOGETHER);
  if (groups === undefined || !fields.every((one) => FIELD.test(one)))
    throw new OperatorError(
      'usage',
      `--vary: expected a field of a strategy and its values, such as slices=12,24,48, got "${written}"`,
    );
  const values = groups['values']?.trim() ?? '';
  const inside = /^random\((?<values>.*)\)$/su.exec(values)?.groups?.['values'];
  return inside === undefined
    ? { field, how: 'each', values: readValues(field, values, 'each') }
    : { field, how: 'random', values: readValues(field, inside.trim(), 'random') };
}

function readValues(field: string, written: string, how: Vary['how']): Values {
  const refuse = (why: string): never => {
    throw new OperatorError('usage', `--vary ${field}: ${why}`);
  };
  const together = field.split(TOGETHER).length;
  if (written.includes('..')) {
    if (together > 1) refuse(`fields that change together need a list, not a range: ${TOGETHER_HELP}`);
    return readRange(written, how, refuse);
  }
  const listed = written.split(',').map((value) => value.trim());
  const odd = together === 1 ? undefined : listed.find((value) => value.split(TOGETHER).length !== together);
  if (odd !== undefined)
    refuse(`"${odd}" is not a value for each of the ${together} fields: ${TOGETHER_HELP}`);
  if (listed.some((value) => value === '')) refuse(`a value is empty in "${written}": ${HELP}`);
  if (listed.length > LIST_MAX) refuse(`${listed.length} values are listed, at most ${LIST_MAX}`);
  if (how === 'each' && new Set(listed).size < listed.length)
    refuse(`a value is listed twice in "${written}"`);
  return { count: listed.length, at: (index) => listed[index] ?? '' };
}

type Refuse = (why: string) => never;

/** Reads a range. Values are exact: the third value of 0.01..0.10/0.01 is 0.03, and there are ten. */
function readRange(written: string, how: Vary['how'], refuse: Refuse): Values {
  const groups = /^(?<from>[^./]*(?:\.[^./]+)?)\.\.(?<to>[^/]*)(?:\/(?<step>.*))?$/su.exec(written)?.groups;
  const [from, to, step] = ['from', 'to', 'step'].map((name) => groups?.[name]?.trim());
  const parts = [from ?? '', to ?? '', ...(step === undefined ? [] : [step])];
  if (groups === undefined || !parts.every(isAmountText)) refuse(`"${written}" is not a range: ${HELP}`);
  if (step === undefined && how === 'each')
    refuse(`the range ${written} has no step: write ${written}/STEP, or random(${written})`);
  const [low, high] = [ratio(from ?? ''), ratio(to ?? '')];
  const by = step === undefined ? lastDigit(from ?? '', to ?? '') : ratio(step);
  if (!by.gt(0)) refuse(`the step of ${written} must be above zero`);
  if (high.lt(low)) refuse(`the range ${written} ends below its start`);
  const count = approximate(roundDown(fraction(subtract(high, low), by), 0)) + 1;
  const most = how === 'each' ? SETTINGS_MAX : RANGE_MAX;
  if (count > most) refuse(`the range ${written} has more than ${most} values: use a larger step`);
  return { count, at: (index) => text(add(low, scale(by, ratioOf(index)))) };
}

/** Returns the step of random draws, which have as many decimals as the bounds. */
function lastDigit(...written: readonly string[]): Ratio {
  const decimals = written.map((value) => /\.(?<digits>\d+)/u.exec(value)?.groups?.['digits']?.length ?? 0);
  return ratio(`1e-${Math.max(...decimals)}`);
}

/**
 * Returns every setting of a sweep, in a fixed order: the product of the listed values, in which the last field varies
 * fastest. If a field is random, each combination has as many draws as requested. Without a random field, `samples`
 * draws that many distinct settings of the product.
 *
 * @throws OperatorError `usage` if there are too many settings, or if the number of draws is missing or too large.
 */
export function settingsOf(varies: readonly Vary[], { samples, seed }: Sampling): Settings {
  const isRandom = varies.some(({ how }) => how === 'random');
  if (isRandom && samples === undefined)
    throw new OperatorError('usage', 'a field is random: add --samples N, the number of draws');
  const product = varies.reduce((all, { how, values }) => (how === 'each' ? all * values.count : all), 1);
  const wanted = samples === undefined ? product : isRandom ? product * samples : samples;
  if (wanted > SETTINGS_MAX)
    throw new OperatorError(
      'usage',
      `${wanted} settings exceed the limit of ${SETTINGS_MAX}: use larger steps, or a random sample with --samples`,
    );
  if (samples === undefined) return { settings: productOf(varies), repeated: 0 };
  return isRandom ? drawn(varies, samples, seed) : chosen(varies, { samples, seed, product });
}

function productOf(varies: readonly Vary[]): readonly Setting[] {
  let settings: readonly Setting[] = [[]];
  for (const { values } of varies)
    settings = settings.flatMap((before) =>
      Array.from({ length: values.count }, (_, i) => [...before, values.at(i)]),
    );
  return settings;
}

/** Returns the value of a draw, which is a function of only the field, the seed and the number. */
const draw = ({ field, values }: Vary, seed: string, sample: number): string =>
  values.at(Math.floor(uniform(hash32(`sweep ${seed} ${field}`), sample) * values.count));

function drawn(varies: readonly Vary[], samples: number, seed: string): Settings {
  const grid = productOf(varies.filter(({ how }) => how === 'each'));
  const all = grid.flatMap((point) =>
    Array.from({ length: samples }, (_, sample) => {
      let next = 0;
      return varies.map((vary) => (vary.how === 'each' ? (point[next++] ?? '') : draw(vary, seed, sample)));
    }),
  );
  const settings = [...new Map(all.map((setting) => [setting.join('\n'), setting])).values()];
  return { settings, repeated: all.length - settings.length };
}

function chosen(
  varies: readonly Vary[],
  { samples, seed, product }: { readonly samples: number; readonly seed: string; readonly product: number },
): Settings {
  if (samples > product)
    throw new OperatorError('usage', `--samples ${samples}: the grid has only ${product} settings`);
  const settings = new Map<string, Setting>();
  for (let sample = 0; settings.size < samples && sample < 100 * SETTINGS_MAX; sample++) {
    const setting = varies.map((vary) => draw(vary, seed, sample));
    settings.set(setting.join('\n'), setting);
  }
  return { settings: [...settings.values()], repeated: 0 };
}

/** Names that would change the prototype of an object instead of its content. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Returns a copy of a document with one value set. Parts that are not on the path are shared. Missing groups are
 * created.
 *
 * @throws OperatorError `usage` when the path leads through a plain value or beyond a list.
 */
export function withValue(document: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const refuse = (why: string): never => {
    throw new OperatorError('usage', `--vary ${path.join('.')}: ${why}`);
  };
  if (FORBIDDEN.has(name)) refuse(`"${name}" cannot be the name of a setting`);
  if (Array.isArray(document)) {
    const list: readonly unknown[] = document;
    const index = /^\d{1,4}$/u.test(name) ? Number(name) : Number.NaN;
    if (!(index < list.length)) refuse(`the list there has ${list.length} values, counted from 0`);
    return list.with(index, withValue(list[index], rest, value));
  }
  if (document !== undefined && (typeof document !== 'object' || document === null))
    refuse('it is a single value without settings of its own');
  const group: object = document ?? {};
  const inside: unknown = Object.hasOwn(group, name) ? Reflect.get(group, name) : undefined;
  return { ...group, [name]: withValue(inside, rest, value) };
}

/** Returns the value at `path`; `undefined` if there is none. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
