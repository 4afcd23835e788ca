import { z } from 'zod';
import { precisionsOf } from '../../core/instrument.ts';
import type { Minimum } from '../../core/instrument.ts';
import { COMMON_CURRENCIES, sidesOf, splitPair } from '../../core/pairs.ts';
import { GUARD } from '../../engine/state/strategy-source.ts';
import type { BegunDocument, StrategySource } from '../../engine/state/strategy-source.ts';
import type { AnyStrategy, BoundStrategy, CheckWorld } from '../../strategy/kernel.ts';
import { listCurrencies } from '../../simulator/exchange/listing.ts';
import type { VenueOptions } from '../../simulator/options/options.ts';
import { strategies as registry } from '../../strategy/registry.ts';
import { contentHash, readConfig, unusable } from '../config/config.ts';
import type { Config, ConfigOptions, LoadedConfig } from '../config/config.ts';
import { Calendars } from '../config/calendars.ts';
import { explain } from '../config/explain.ts';
import { problemAt, readFile, shownPath } from '../config/files.ts';
import { codeIn } from '../../strategy/kinds/module/module-code.ts';
import { codeInOwnProcess } from './module-process.ts';
import { loadModule, readModule } from './modules.ts';
import type { ModuleSource } from './modules.ts';
import type { ReadOptions } from '../config/files.ts';
import { nearest } from '../config/problems.ts';
import type { FileProblem } from '../config/problems.ts';
import { rateProblem } from '../config/rates.ts';
import { readYaml } from '../config/yaml.ts';
import type { YamlDocument, YamlFile } from '../config/yaml.ts';
import { isRecord } from '../../core/text/json.ts';

/** One strategy document, checked and bound to its kind. */
export interface LoadedStrategy {
  readonly id: string;
  readonly kind: string;
  readonly enabled: boolean;
  /** SHA-256 of the document without `enabled`, hex, so that disabling and enabling a strategy does not restart it. */
  readonly hash: string;
  /** The document as plain data, with variables replaced. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly bound: BoundStrategy;
  /** Path, as shown to the operator. */
  readonly file: string;
  /** Line of the document, from 1. */
  readonly line: number;
}

/** Keys common to documents of all kinds. */
export const commonKeys = {
  id: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/u, { error: 'expected 1 to 40 of a-z, 0-9 and -' })
    .describe('Name of the strategy, unique among all files: 1 to 40 of a-z, 0-9 and -'),
  kind: z.string().describe('What the strategy does, such as twap'),
  enabled: z
    .boolean()
    .default(true)
    .describe('Whether the strategy runs; if false, it is only checked. Default: true'),
};
const common = z.object(commonKeys);
const COMMON_KEYS = Object.keys(commonKeys);
const STRATEGIES_MAX = 10_000;

/** Reads the config and all its strategies. @throws OperatorError `config` with every problem of all files. */
export function loadAll(
  configFile: string,
  options: ConfigOptions,
): LoadedConfig & { readonly strategies: readonly LoadedStrategy[] } {
  const { loaded, problems, strategyFiles } = readConfig(configFile, options);
  const read = readStrategies(strategyFiles, loaded?.config, options);
  if (loaded === undefined || read.problems.length > 0) throw unusable([...problems, ...read.problems]);
  return { ...loaded, strategies: read.strategies };
}

/** Reads and checks strategy files. Without a config, skips the checks that need one. */
export function readStrategies(
  files: readonly string[],
  config: Config | undefined,
  options: ReadOptions,
  kinds: ReadonlyMap<string, AnyStrategy> = registry,
): { readonly strategies: readonly LoadedStrategy[]; readonly problems: readonly FileProblem[] } {
  const { documents, problems } = readDocuments(files, options);
  const { env, cwd } = options; // no further option: another one may be a getter that computes its value
  const world = { env, cwd, kinds };
  const checked = checkDocuments(documents, config, world);
  const guard = checkDocuments(guardOf(checked.strategies, config), config, world);
  return {
    strategies: [...checked.strategies, ...guard.strategies],
    problems: [...problems, ...checked.problems, ...guard.problems],
  };
}

/** The document by which `pts.min_headroom` reduces positions in the pairs of the strategies, unless a strategy has its id. */
function guardOf(strategies: readonly LoadedStrategy[], config: Config | undefined): readonly YamlDocument[] {
  const headroom = config?.pts.headroomMin;
  const pairs = [...new Set(strategies.flatMap(({ enabled, bound }) => (enabled ? bound.pairs : [])))];
  if (headroom === undefined || pairs.length === 0 || strategies.some(({ id }) => id === GUARD)) return [];
  const source = `{ id: ${GUARD}, kind: settle, pairs: [${pairs.slice(0, 50).join(', ')}], min_headroom: ${headroom.toFixed()}, interval: PT5S }`;
  return readYaml(Buffer.from(source), `${config?.file ?? ''} (pts.min_headroom)`, {}).documents;
}

/** Reads the documents of strategy files, without checks. */
export function readDocuments(files: readonly string[], options: ReadOptions): YamlFile {
  const read = files.map((file) => notEmpty(readFile(file, options), shownPath(file, options.cwd)));
  return {
    documents: read.flatMap((file) => file.documents),
    problems: read.flatMap((file) => file.problems),
  };
}

/** Checks documents against one another and the config, and binds each to its kind. */
export function checkDocuments(
  documents: readonly YamlDocument[],
  config: Config | undefined,
  { kinds = registry, ...options }: ReadOptions & { readonly kinds?: ReadonlyMap<string, AnyStrategy> },
): { readonly strategies: readonly LoadedStrategy[]; readonly problems: readonly FileProblem[] } {
  const problems: FileProblem[] = [];
  const strategies: LoadedStrategy[] = [];
  const calendars = new Calendars(options);
  const owners = new Map<string, YamlDocument>();
  for (const document of documents.slice(0, STRATEGIES_MAX)) {
    const id = isRecord(document.value) ? document.value['id'] : undefined;
    const owner = typeof id === 'string' ? owners.get(id) : undefined;
    if (owner !== undefined) {
      const first = `${owner.file}:${owner.line}`;
      problems.push(
        document.problem(
          ['id'],
          `the id "${String(id)}" is already used by ${first}: give each strategy its own`,
        ),
      );
    } else if (typeof id === 'string') {
      owners.set(id, document);
    }
    const { value, problems: unread } = calendars.fillIn(document);
    problems.push(...unread);
    const result = bind({ ...document, value }, { config, kinds, cwd: options.cwd });
    if ('problems' in result) problems.push(...result.problems);
    else if (unread.length === 0) strategies.push(result);
  }
  const beyond = documents[STRATEGIES_MAX];
  if (beyond !== undefined) problems.push(beyond.problem([], `more than ${STRATEGIES_MAX} strategies`));
  return { strategies, problems };
}

/** Refuses an empty file, because an editor that truncates a file before writing it must not end the file's strategies. */
function notEmpty(read: YamlFile, file: string): YamlFile {
  if (read.documents.length > 0 || read.problems.length > 0) return read;
  const message =
    'the file contains no strategy: add one, remove the file, or disable its strategy with enabled: false';
  return { ...read, problems: [problemAt(file, message)] };
}

interface Surroundings {
  readonly config: Config | undefined;
  readonly kinds: ReadonlyMap<string, AnyStrategy>;
  readonly cwd: string;
}

function bind(
  document: YamlDocument,
  { config, kinds, cwd }: Surroundings,
): LoadedStrategy | { readonly problems: readonly FileProblem[] } {
  const { value } = document;
  if (!isRecord(value))
    return { problems: [document.problem([], 'expected settings such as id: and kind:')] };
  const head = common.safeParse(value);
  const problems = head.success ? [] : [...explain(head.error, common, document)];
  const kind = typeof value['kind'] === 'string' ? kinds.get(value['kind']) : undefined;
  if (kind === undefined) {
    if (typeof value['kind'] === 'string')
      problems.push(document.problem(['kind'], unknownKind(value['kind'], kinds)));
    return { problems };
  }
  const params = Object.fromEntries(Object.entries(value).filter(([key]) => !COMMON_KEYS.includes(key)));
  const parsed = kind.params.safeParse(params);
  if (!parsed.success) problems.push(...explain(parsed.error, kind.params, document, COMMON_KEYS));
  if (!head.success || !parsed.success) return { problems };

  if (kind.withCode !== undefined && config?.modules === 'refused')
    return { problems: [document.problem(['kind'], MODULES_OFF)] };
  const coded = withCode(kind, params, document, { cwd, modules: config?.modules });
  if ('problem' in coded) return { problems: [document.problem(['module'], coded.problem)] };
  const bound = coded.kind.bind(params);
  problems.push(...checkPairs(bound, document, config));
  problems.push(...bound.check(worldOf(config)).map(({ path, message }) => document.problem(path, message)));
  if (problems.length > 0) return { problems };
  const { enabled, ...content } = { ...value, ...head.data, ...coded.content };
  const { id, file, line } = { id: head.data.id, file: document.file, line: document.line };
  return { id, kind: kind.kind, enabled, hash: contentHash(content), document: content, bound, file, line };
}

const MODULES_OFF =
  'live mode does not run modules by default: review its code, then set allow_modules: true';

/**
 * Restores a strategy as it was at the start of its life, from the document in the journal; `undefined` if this version
 * cannot read the document.
 */
export function reviveStrategy(
  { strategy: id, hash, type, document }: BegunDocument,
  {
    kinds = registry,
    modules,
  }: {
    readonly kinds?: ReadonlyMap<string, AnyStrategy>;
    readonly modules?: Config['modules'] | undefined;
  } = {},
): StrategySource | undefined {
  const kind = kinds.get(type);
  if (kind === undefined || !isRecord(document)) return undefined;
  if (kind.withCode !== undefined && modules === 'refused') return undefined;
  const { source, ...params } = Object.fromEntries(
    Object.entries(document).filter(([key]) => !COMMON_KEYS.includes(key)),
  );
  try {
    const coded = kind.withCode === undefined ? kind : codedKind(kind.withCode, sourceIn(source), modules);
    return 'problem' in coded ? undefined : { id, kind: type, hash, document, bound: coded.bind(params) };
  } catch {
    return undefined;
  }
}

/** Returns the code in a journaled document. @throws TypeError if there is none. */
function sourceIn(source: unknown): ModuleSource {
  if (!isRecord(source)) throw new TypeError('no source');
  const { file, sha256, text } = source;
  if (typeof file !== 'string' || typeof sha256 !== 'string' || typeof text !== 'string')
    throw new TypeError('no source');
  return { file, sha256, text };
}

/**
 * Adds the user's code to a kind that needs it. The code's text becomes part of the document, and thus of the hash and
 * the journal.
 */
function withCode(
  kind: AnyStrategy,
  { module: named }: Readonly<Record<string, unknown>>,
  { file }: YamlDocument,
  { cwd, modules }: { readonly cwd: string; readonly modules: Config['modules'] | undefined },
): { readonly kind: AnyStrategy; readonly content: object } | { readonly problem: string } {
  if (kind.withCode === undefined) return { kind, content: {} };
  try {
    const source = readModule(String(named), file, cwd);
    const coded = codedKind(kind.withCode, source, modules);
    return 'problem' in coded ? coded : { kind: coded, content: { source } };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : 'it cannot be loaded' };
  }
}

function codedKind(
  coded: NonNullable<AnyStrategy['withCode']>,
  source: ModuleSource,
  modules: Config['modules'] | undefined,
): AnyStrategy | { readonly problem: string } {
  const code = modules === 'own_process' ? codeInOwnProcess(source) : codeIn(loadModule(source));
  return typeof code === 'function' ? coded(code) : code;
}

function unknownKind(kind: string, kinds: ReadonlyMap<string, AnyStrategy>): string {
  const meant = nearest(kind, kinds.keys());
  const fix = meant === undefined ? `expected ${[...kinds.keys()].join(' or ')}` : `did you mean "${meant}"?`;
  return `unknown kind "${kind}": ${fix}`;
}

/** Checks pairs and sides against the config, and in paper mode against the simulated venue's pairs. */
function checkPairs(
  bound: BoundStrategy,
  document: YamlDocument,
  config: Config | undefined,
): readonly FileProblem[] {
  if (config === undefined) return [];
  const problems: FileProblem[] = [];
  const { pairs, sides } = config.controls;
  const traded = config.venue.simulated === undefined ? undefined : Object.keys(config.venue.simulated.pairs);
  for (const pair of bound.pairs) {
    const at = pathOfPair(document.value, pair);
    if (traded !== undefined && !traded.includes(pair)) {
      problems.push(document.problem(at, untraded(pair, traded, config)));
    } else if (pairs !== undefined && !pairs.has(pair)) {
      const meant = nearest(pair, pairs);
      const fix = meant === undefined ? `it lists ${[...pairs].join(', ')}` : `did you mean ${meant}?`;
      problems.push(document.problem(at, `controls.pairs in the config does not list ${pair}: ${fix}`));
    } else {
      const unknown = rateProblem(config, pair);
      if (unknown !== undefined) problems.push(document.problem(at, unknown));
    }
  }
  const side = isRecord(document.value) ? document.value['side'] : undefined;
  if ((side === 'buy' || side === 'sell') && !sides.has(side)) {
    problems.push(document.problem(['side'], `controls.sides in the config does not list ${side}`));
  }
  if (bound.maySell && config.venue.sellPath === undefined)
    problems.push(document.problem([side === undefined ? 'kind' : 'side'], SELLING_OFF));
  return problems;
}

/** Without a sell path, a strategy would buy while there is cash, and never sell. */
const SELLING_OFF =
  'it may have to sell, but selling is off: set venue.sell_path in the config to the path at which your venue accepts sell orders';

function untraded(pair: string, traded: readonly string[], { venue }: Config): string {
  const meant = nearest(pair, traded);
  if (venue.isTaped) {
    const other = meant === undefined ? '' : ` (there is one of ${meant})`;
    return `no tape for ${pair}${other}: add --data ${pair}=FILE`;
  }
  const fix = meant === undefined ? `it trades ${traded.join(', ')}` : `did you mean ${meant}?`;
  return `the simulated venue does not trade ${pair}: ${fix}`;
}

/** Returns the path at which a document names a pair: `pair`, or a currency among its target weights. */
function pathOfPair(value: unknown, pair: string): readonly string[] {
  if (!isRecord(value) || value['pair'] === pair) return ['pair'];
  const weights = value['target_weights'];
  const assets = isRecord(weights) ? Object.keys(weights) : [];
  const { base } = sidesOf(pair, assets);
  return base === undefined || !assets.includes(base) ? [] : ['target_weights', base];
}

/** Returns what is known about pairs without a request to the venue. */
export function worldOf(config: Config | undefined): CheckWorld {
  const currencies: CheckWorld['currencies'] = (pair) => {
    const listed = config?.venue.simulated?.pairs[pair];
    if (listed?.base !== undefined && listed.quote !== undefined)
      return { base: listed.base, quote: listed.quote };
    const split = splitPair(pair, COMMON_CURRENCIES);
    return 'problem' in split ? undefined : split;
  };
  const minimum: CheckWorld['minimum'] = (pair) => minimumFor(config, pair, currencies(pair)?.quote);
  return {
    currencies,
    minimum,
    hasVolume: config?.venue.isTaped === true ? undefined : config?.venue.capabilities.ticker,
    precisions(pair) {
      const names = currencies(pair);
      if (names === undefined) return { basePrecision: undefined, quotePrecision: undefined };
      const listed = listedBy(config?.venue.simulated);
      return precisionsOf(names, (currency) => listed?.get(currency)?.precision, minimum(pair));
    },
  };
}

/** Cache for `listedBy`, which runs for each document. */
const listings = new WeakMap<VenueOptions, ReturnType<typeof listCurrencies>>();

/** Returns the currencies of the simulated venue, or `undefined` for a real venue, which would need a request. */
function listedBy(options: VenueOptions | undefined): ReturnType<typeof listCurrencies> | undefined {
  if (options === undefined) return undefined;
  const known = listings.get(options) ?? listCurrencies(options);
  listings.set(options, known);
  return known;
}

/** Returns the venue's smallest order for a pair: the config's value for the pair, or the default if it is in the quote currency. */
export function minimumFor(config: Config | undefined, pair: string, quote: string | undefined): Minimum {
  if (config === undefined) return {};
  const { minimums } = config.venue;
  return (
    minimums.pairs.get(pair) ??
    (quote === minimums.default.currency ? { notional: minimums.default.amount } : {})
  );
}
