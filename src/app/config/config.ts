import { hash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { canonicalValue } from '../../core/text/json.ts';
import {
  checkConfig,
  checkApprovals,
  checkCurrencies,
  checkListen,
  checkLiveLimits,
  checkQuoteLife,
  modeOf,
} from './config-checks.ts';
import type { ConfigOptions } from './config-checks.ts';
import { readNotify } from '../notify/notify-config.ts';
import type { NotifyConfig } from '../notify/notify-config.ts';
import { configSchema } from './config-schema.ts';
import type { RawConfig } from './config-schema.ts';
import { configOf, controlsOf } from './config-values.ts';
import type { Config, ControlsConfig, Mode } from './config-values.ts';
import { explain } from './explain.ts';
import { findStrategyFiles, problemAt, readFile, shownPath } from './files.ts';
import { formatProblems } from './problems.ts';
import type { FileProblem } from './problems.ts';
import { readYaml } from './yaml.ts';
import type { YamlDocument } from './yaml.ts';

export type { ConfigOptions } from './config-checks.ts';
export type { Config, ControlsConfig, Mode, OperateConfig } from './config-values.ts';

export interface LoadedConfig {
  readonly config: Config;
  /** SHA-256 of the document, hex; the token is not part of it. */
  readonly hash: string;
  /** Hashes of the settings of the document, from `sectionsOf`. */
  readonly sections: ReadonlyMap<string, string>;
}

/** The readable part of a config file, with all its problems. */
export interface ReadConfig {
  /** Set if there are no problems. */
  readonly loaded: LoadedConfig | undefined;
  readonly problems: readonly FileProblem[];
  /** Known even when other settings are wrong, so that a command can check the strategies in the same run. */
  readonly strategyFiles: readonly string[];
  /** The folder of the strategies, if the config names a folder instead of files. */
  readonly strategiesFolder?: string | undefined;
}

/** Loads a config. @throws OperatorError `config`, with every problem of the file. */
export function loadConfig(file: string, options: ConfigOptions): LoadedConfig {
  const { loaded, problems } = readConfig(file, options);
  if (loaded === undefined) throw unusable(problems);
  return loaded;
}

/** Returns the error that ends a command when its files have problems. */
export const unusable = (problems: readonly FileProblem[]): OperatorError =>
  new OperatorError('config', formatProblems(problems, { colour: false }).trimEnd());

export function readConfig(file: string, options: ConfigOptions): ReadConfig {
  const path = resolve(options.cwd, file);
  const { documents, problems } =
    options.text === undefined
      ? readFile(path, options)
      : readYaml(Buffer.from(options.text), file, options.env);
  const [document, second] = documents;
  if (document === undefined || problems.length > 0) {
    const nothing = problemAt(
      shownPath(path, options.cwd),
      'the file is empty; create an example with "tranche init"',
    );
    const refused = problems.length > 0 ? problems.map(withWayOut) : [nothing];
    return { loaded: undefined, problems: refused, strategyFiles: [] };
  }
  const extra =
    second === undefined
      ? []
      : [second.problem([], 'the file must contain one YAML document: remove --- and everything after it')];
  const found = findStrategyFiles(document, dirname(path));
  const parsed = configSchema.safeParse(document.value);
  const wrong = [
    ...extra,
    ...(parsed.success ? [] : explain(parsed.error, configSchema, document)),
    ...found.problems,
  ];
  const mode = options.mode ?? modeOf(document);
  const checked = mode && checkConfig(document, { ...options, mode, folder: dirname(path) });
  wrong.push(...(checked?.problems ?? []));
  if (parsed.success) wrong.push(...crossChecks(parsed.data, document, mode));
  const notify = parsed.success
    ? notifyOf(parsed.data, document, { ...options, folder: dirname(path) })
    : undefined;
  wrong.push(...(notify?.problems ?? []));
  if (!parsed.success || mode === undefined || wrong.length > 0) {
    return { loaded: undefined, problems: wrong, strategyFiles: found.files };
  }
  const context = {
    file: path,
    mode,
    token: checked?.token,
    ca: checked?.ca,
    proxy: checked?.proxy,
    strategyFiles: found.files,
    now: options.now,
    limitsAt: limitsPlace(document),
    notify: notify?.notify,
  };
  return {
    loaded: {
      config: configOf(parsed.data, context),
      hash: hashOf(document),
      sections: sectionsOf(document),
    },
    problems: [],
    strategyFiles: found.files,
    strategiesFolder: found.folder,
  };
}

function notifyOf(
  { operate }: RawConfig,
  document: YamlDocument,
  { folder, env }: { readonly folder: string } & ConfigOptions,
): ReturnType<typeof readNotify> | undefined {
  if (operate === false || operate.notify === undefined) return undefined;
  return readNotify(operate.notify, { document, path: ['operate', 'notify'], folder, env });
}

/** Returns the location of the setting that determines the currency of the limits. */
function limitsPlace(document: YamlDocument): string {
  const { file, line } = document.problem(['controls', 'max_order_notional', 'currency'], '');
  return `${file}:${line}`;
}

/** Adds a hint if the config is missing, perhaps because the command runs in another folder. */
const withWayOut = (problem: FileProblem): FileProblem => ({
  ...problem,
  message: problem.message.replace(/^the file cannot be read: there is no such file$/u, NO_CONFIG),
});
const NO_CONFIG = 'no such file; create an example with "tranche init", or name another file with --config';

/** The part of the config that a running desk reloads. */
export interface RereadConfig extends Omit<ReadConfig, 'loaded'> {
  /** The settings under `controls`; `undefined` if there are problems. */
  readonly controls: ControlsConfig | undefined;
  /** `operate.notify` with its secrets; `undefined` if it is not set or there are problems. */
  readonly notify: NotifyConfig | undefined;
  readonly sections: ReadonlyMap<string, string>;
}

/**
 * Reads the file again for a running desk, in the mode of that desk. Does not read the token again, because its source may no
 * longer exist.
 */
export function rereadConfig(file: string, options: ConfigOptions & { readonly mode: Mode }): RereadConfig {
  const path = resolve(options.cwd, file);
  const { documents, problems } = readFile(path, options);
  const [document] = documents;
  const nothing = {
    controls: undefined,
    notify: undefined,
    sections: new Map<string, string>(),
    strategyFiles: [],
  };
  if (document === undefined || problems.length > 0) {
    const empty = problemAt(shownPath(path, options.cwd), 'the file is empty');
    return { ...nothing, problems: problems.length > 0 ? problems : [empty] };
  }
  const found = findStrategyFiles(document, dirname(path));
  const parsed = configSchema.safeParse(document.value);
  const wrong = parsed.success
    ? [
        ...crossChecks(parsed.data, document, options.mode),
        ...(options.mode === 'live' ? checkLiveLimits(document) : []),
      ]
    : explain(parsed.error, configSchema, document);
  const notify = parsed.success
    ? notifyOf(parsed.data, document, { ...options, folder: dirname(path) })
    : undefined;
  const all = [...wrong, ...(notify?.problems ?? []), ...found.problems];
  return {
    notify: notify?.notify,
    controls: parsed.success && all.length === 0 ? controlsOf(parsed.data.controls, options.mode) : undefined,
    sections: sectionsOf(document),
    problems: all,
    strategyFiles: found.files,
  };
}

/** Checks that involve several settings. */
const crossChecks = (
  raw: z.output<typeof configSchema>,
  document: YamlDocument,
  mode: Mode | undefined,
): readonly FileProblem[] => [
  ...checkCurrencies(raw, document),
  ...checkListen(raw, document),
  ...checkApprovals(raw, document),
  ...checkQuoteLife(raw, document, mode),
];

/** Hashes each top-level setting except `strategies`, and each setting under `venue`, `controls` and `operate` except the token. */
function sectionsOf(document: YamlDocument): ReadonlyMap<string, string> {
  const value = document.value as Readonly<Record<string, unknown>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- a document is a group of settings
  const sections = new Map<string, string>();
  for (const [name, section] of Object.entries(value)) {
    if (name === 'strategies') continue;
    if (typeof section !== 'object' || section === null || !IN_PARTS.has(name))
      sections.set(name, contentHash(section));
    else
      for (const [part, own] of Object.entries(section)) {
        if (name === 'operate' && part === 'notify') addNotify(own, sections);
        else if (name !== 'venue' || part !== 'token') sections.set(`${name}.${part}`, contentHash(own));
      }
  }
  return sections;
}
/** Adds one section for each setting of `notify`, and one for each channel, by name. */
function addNotify(notify: unknown, sections: Map<string, string>): void {
  if (typeof notify !== 'object' || notify === null) return;
  for (const [part, own] of Object.entries(notify)) {
    if (!Array.isArray(own)) sections.set(`${NOTIFY}${part}`, contentHash(own));
    else
      for (const channel of own as readonly Readonly<Record<string, unknown>>[])
        sections.set(`${NOTIFY}${String(channel['name'])}`, contentHash(channel));
  }
}
/** Prefix of the names of `operate.notify` sections. */
export const NOTIFY = 'operate.notify.';

const IN_PARTS: ReadonlySet<string> = new Set(['venue', 'controls', 'operate']);

/** Returns the hash of the settings, with variables substituted and without the token, because a new token is not a new config. */
function hashOf(document: YamlDocument): string {
  const value = document.value as z.input<typeof configSchema>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- has just passed the schema
  const { token: _, ...venue } = value.venue ?? {};
  const { operate } = value;
  const withoutSecrets =
    typeof operate === 'object' && operate.notify !== undefined
      ? {
          ...value,
          operate: { ...operate, notify: JSON.parse(JSON.stringify(operate.notify, hidden)) as unknown },
        }
      : value;
  return contentHash({ ...withoutSecrets, venue });
}

/** Names of the secrets in `operate.notify`. The hash excludes them, so that nobody can use it to guess passwords. */
const SECRETS: ReadonlySet<string> = new Set(['url', 'key', 'password']);
const hidden = (name: string, value: unknown): unknown => (SECRETS.has(name) ? undefined : value);

/** Returns the SHA-256 of the canonical JSON of plain data, hex. */
export const contentHash = (value: unknown): string => hash('sha256', canonicalValue(value));
