import { readProxy } from './venue-proxy.ts';
import type { VenueProxy } from './venue-proxy.ts';
import { resolve } from 'node:path';
import { z } from 'zod';
import { COMMON_CURRENCIES, sidesOf } from '../../core/pairs.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { beyondLoopback, isLoopbackName, parseListen } from '../../operate/listen.ts';
import { isPostgres, readPostgresUrl, withDesk } from '../../journal/postgres/postgres-url.ts';
import { addressProblem, isLoopback } from '../../venue/origin.ts';
import { readCertificates } from './authority.ts';
import { readCredential, readStdin, readSystemdToken, readTokenFile, strangerProblem } from './credential.ts';
import type { TokenSource } from './credential.ts';
import type { RawConfig } from './config-schema.ts';
import type { Mode } from './config-values.ts';
import type { ReadOptions } from './files.ts';
import type { FileProblem } from './problems.ts';
import type { YamlDocument } from './yaml.ts';
import type { GivenToken } from './credential.ts';

export interface ConfigOptions extends ReadOptions {
  /** Start time of the process, which replaces `{started_at}`. */
  readonly now: Instant;
  /** Overrides the `mode` in the file. */
  readonly mode?: Mode | undefined;
  /** The config's text, when it does not come from a file. */
  readonly text?: string | undefined;
}

export interface CheckContext extends ConfigOptions {
  readonly mode: Mode;
  /** Folder of the config file. */
  readonly folder: string;
}

/**
 * The settings that these checks need. They are read leniently, because other settings may be invalid and a command
 * reports all problems together.
 */
const facts = z.object({
  venue: z
    .object({
      base_url: z.string().optional().catch(undefined),
      ws_url: z.string().optional().catch(undefined),
      token: z.string().optional().catch(undefined),
      token_file: z.string().optional().catch(undefined),
      ca_file: z.string().min(1).optional().catch(undefined),
      proxy_url: z.string().optional().catch(undefined),
      proxy_credentials_file: z.string().min(1).optional().catch(undefined),
      sell_path: z.string().optional().catch(undefined),
      capabilities: z
        .object({
          ticker: z.boolean().default(false).catch(false),
          account_feed: z.boolean().default(false).catch(false),
        })
        .catch({ ticker: false, account_feed: false })
        .prefault({}),
    })
    .prefault({}),
  controls: z.record(z.string(), z.unknown()).default({}),
  pts: z.record(z.string(), z.unknown()).default({}).catch({}),
  journal: z.string().optional().catch(undefined),
});
type Facts = z.output<typeof facts>;

/** Returns the mode that the file selects; `undefined` if it is not a known mode. */
export function modeOf(document: YamlDocument): Mode | undefined {
  const asked = z
    .object({
      mode: z.enum(['paper', 'dry_run', 'live']).optional(),
      venue: z.object({ base_url: z.unknown().optional() }).catch({}).default({}),
    })
    .safeParse(document.value);
  if (!asked.success) return undefined;
  return asked.data.mode ?? (asked.data.venue.base_url === undefined ? 'paper' : 'dry_run');
}

export interface Checked {
  readonly problems: readonly FileProblem[];
  readonly token: GivenToken | undefined;
  /** Content of `venue.ca_file`, PEM. */
  readonly ca: string | undefined;
  /** `venue.proxy_url`, with the content of the file of its credentials. */
  readonly proxy: VenueProxy | undefined;
}

/** Checks that involve several settings: addresses, the token, and the limits that live mode requires. */
export function checkConfig(document: YamlDocument, context: CheckContext): Checked {
  const read = facts.safeParse(document.value);
  if (!read.success) return { problems: [], token: undefined, ca: undefined, proxy: undefined };
  const raw = read.data;
  const problems = [
    ...checkUrl(raw, document, 'base_url'),
    ...checkUrl(raw, document, 'ws_url'),
    ...checkJournal(raw, document),
    ...checkHeadroom(raw, document, context.mode),
  ];
  if (context.mode === 'paper') return { problems, token: undefined, ca: undefined, proxy: undefined };
  problems.push(...checkVenue(raw, document, context.mode));
  if (context.mode === 'live') problems.push(...checkLive(raw, document));
  const { ca_file: file } = raw.venue;
  const ca = file === undefined ? undefined : readCertificates(resolve(context.folder, file));
  if (ca !== undefined && 'problem' in ca) problems.push(document.problem(['venue', 'ca_file'], ca.problem));
  const proxy = readProxy(raw.venue, context.folder);
  if (proxy !== undefined && 'problem' in proxy)
    problems.push(document.problem(['venue', proxy.key], proxy.problem));
  const token = findToken(raw, document, context);
  if (!('token' in token)) problems.push(token);
  return {
    problems,
    token: 'token' in token ? token : undefined,
    ca: ca !== undefined && 'pem' in ca ? ca.pem : undefined,
    proxy: proxy !== undefined && 'url' in proxy ? proxy : undefined,
  };
}

/** Checks, at a reload, the limits that live mode requires. A reload does not read the token and the certificates again. */
export function checkLiveLimits(document: YamlDocument): readonly FileProblem[] {
  const read = facts.safeParse(document.value);
  return read.success ? checkLive(read.data, document) : [];
}

function checkUrl({ venue }: Facts, document: YamlDocument, key: 'base_url' | 'ws_url'): FileProblem[] {
  const address = venue[key];
  if (address === undefined) return [];
  const problem = addressProblem(address, key === 'base_url' ? 'http' : 'ws');
  return problem === undefined ? [] : [document.problem(['venue', key], problem)];
}

function checkVenue({ venue }: Facts, document: YamlDocument, mode: Mode): FileProblem[] {
  const problems: FileProblem[] = [];
  if (venue.base_url === undefined) {
    const message = `mode ${mode} needs the URL of the venue: write base_url: "https://…", or mode: paper`;
    problems.push(document.problem(['venue', 'base_url'], message));
  }
  if (venue.capabilities.ticker && venue.ws_url === undefined) {
    const message = 'prices come over the WebSocket: write venue.ws_url, or ticker: false';
    problems.push(document.problem(['venue', 'capabilities', 'ticker'], message));
  }
  if (venue.capabilities.account_feed && venue.ws_url === undefined) {
    const message = 'hints come over the WebSocket: write venue.ws_url, or account_feed: false';
    problems.push(document.problem(['venue', 'capabilities', 'account_feed'], message));
  }
  return problems;
}

/** Checks that the desk uses credit and can learn the liquidation level. A simulated venue in the same process states it. */
function checkHeadroom({ pts, venue }: Facts, document: YamlDocument, mode: Mode): FileProblem[] {
  const { min_headroom: room, use } = pts;
  const isTold = mode === 'paper' || venue.capabilities.account_feed;
  if (room === undefined || (use === 'when_enabled' && isTold)) return [];
  const message =
    use === 'when_enabled'
      ? 'only the account feed states the liquidation level: write venue.capabilities.account_feed: true'
      : 'without credit there is no headroom: write use: when_enabled, or remove min_headroom';
  return [document.problem(['pts', 'min_headroom'], message)];
}

/** Checks that the URL of a PostgreSQL journal is valid and that every start continues the same journal. */
function checkJournal({ journal = '' }: Facts, document: YamlDocument): FileProblem[] {
  if (!isPostgres(journal)) return [];
  try {
    readPostgresUrl(withDesk(journal.replaceAll('{mode}', 'mode'), 'main'));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [document.problem(['journal'], error.message)];
  }
  return journal.includes('{started_at}')
    ? [document.problem(['journal'], 'each start continues a journal in PostgreSQL: remove {started_at}')]
    : [];
}

const liveLimits = {
  max_order_notional: 'max_order_notional: { amount: "50000", currency: usd }',
  max_day_notional: 'max_day_notional: { amount: "500000", currency: usd }',
  collar_bps: 'collar_bps: 50',
  pairs: 'pairs: [btcusd, ethusd]',
  sides: 'sides: [buy]',
} as const;

function checkLive({ controls, venue, journal }: Facts, document: YamlDocument): FileProblem[] {
  const problems: FileProblem[] = [];
  for (const [name, example] of Object.entries(liveLimits)) {
    if (controls[name] !== undefined) continue;
    const message = `live mode has no default for these limits: write, for example, ${example}`;
    problems.push(document.problem(['controls', name], message));
  }
  problems.push(...checkEachPair(controls, document));
  if (journal?.includes('{started_at}') === true) {
    const message =
      'in live mode each start must continue the journal of the previous one, with its halts, doubts and totals: remove {started_at}';
    problems.push(document.problem(['journal'], message));
  }
  const { sides } = controls;
  if (Array.isArray(sides) && sides.includes('sell') && venue.sell_path === undefined) {
    const message = "selling needs the venue's sell route: set venue.sell_path, or write sides: [buy]";
    problems.push(document.problem(['controls', 'sides'], message));
  }
  return problems;
}

/** Checks that live mode has a maximum order for every pair, and a floor for every currency that may be sold. */
function checkEachPair(controls: Facts['controls'], document: YamlDocument): FileProblem[] {
  const { pairs, sides } = controls;
  const [quantities, floors] = [namesIn(controls['max_order_quantity']), namesIn(controls['min_position'])];
  const problems: FileProblem[] = [];
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    if (typeof pair !== 'string') continue;
    if (!quantities.has(pair)) {
      const message = `live mode has no default for these limits: write, for example, max_order_quantity: { ${pair}: "1" }`;
      problems.push(document.problem(['controls', 'max_order_quantity'], message));
    }
    const isSold = Array.isArray(sides) && sides.includes('sell');
    // The venue's currencies are not known yet: the pair's name and the named currencies tell its base.
    const { base } = sidesOf(pair, [...COMMON_CURRENCIES, ...floors]);
    if (!isSold || (base === undefined ? floors.size > 0 : floors.has(base))) continue;
    const message =
      'currencies that may be sold need a floor in live mode: write, for example, min_position: { btc: "0" }, or "-0.5" to permit that much on credit';
    problems.push(document.problem(['controls', 'min_position'], message));
  }
  return problems;
}

const namesIn = (value: unknown): ReadonlySet<string> =>
  new Set(typeof value === 'object' && value !== null ? Object.keys(value) : []);

/** Checks that the limits of single orders, daily totals and daily cost use one currency. Outside live mode, omitted limits are in usd. */
export function checkCurrencies({ controls }: RawConfig, document: YamlDocument): readonly FileProblem[] {
  const { max_order_notional: order, max_day_notional: day, max_day_cost: spent } = controls;
  if (spent !== undefined && spent.currency !== (day?.currency ?? 'usd')) {
    const message = `max_day_cost must be in the currency of max_day_notional: write ${day?.currency ?? 'usd'}`;
    return [document.problem(['controls', 'max_day_cost', 'currency'], message)];
  }
  const [of, other] = [order?.currency ?? 'usd', day?.currency ?? 'usd'];
  if (of === other || (order === undefined && day === undefined)) return [];
  const key = day === undefined ? 'max_order_notional' : 'max_day_notional';
  const message = `max_order_notional (${of}) and max_day_notional (${other}) must be in the same currency: write both in one currency`;
  return [document.problem(['controls', key, 'currency'], message)];
}

/** Checks that `order_margin` is shorter than the longest life of a quote. Otherwise the desk could send no order. */
export function checkQuoteLife(
  { order_margin: marginMs, in_doubt: inDoubt, venue }: RawConfig,
  document: YamlDocument,
  mode: Mode | undefined,
): readonly FileProblem[] {
  const simulatedMs = mode === 'paper' ? venue.simulated?.quoteLifeMs : undefined;
  const lifeMs = Math.min(inDoubt.quote_life_max, simulatedMs ?? inDoubt.quote_life_max);
  if (marginMs < lifeMs) return [];
  const of = lifeMs === inDoubt.quote_life_max ? 'in_doubt.quote_life_max' : 'venue.simulated.quote_life_ms';
  const message = `no order could be sent: order_margin needs ${marginMs} ms of the quote's life, but executable quotes live at most ${lifeMs} ms (${of}). Write, for example, order_margin: PT0.5S`;
  return [document.problem(['order_margin'], message)];
}

/** Reports, before the daemon starts, an address that it would refuse to listen on. */
export function checkListen({ operate }: RawConfig, document: YamlDocument): readonly FileProblem[] {
  if (operate === false) return [];
  const { listen, allow_network: isPlainAllowed, tls } = operate;
  const refuse = (message: string): readonly FileProblem[] => [
    document.problem(['operate', 'listen'], message),
  ];
  try {
    return isPlainAllowed || tls !== undefined || isLoopbackName(parseListen(listen).host)
      ? []
      : refuse(beyondLoopback(listen));
  } catch (cause) {
    return refuse(cause instanceof OperatorError ? cause.message : 'expected an address and a port');
  }
}

/** Checks that amounts of approvals are in the currency of the limits. */
export function checkApprovals(
  { operate, controls }: RawConfig,
  document: YamlDocument,
): readonly FileProblem[] {
  const above = operate === false ? undefined : operate.approvals?.parents_above;
  const currency = controls.max_order_notional?.currency ?? 'usd';
  if (above === undefined || above.currency === currency) return [];
  return [
    document.problem(
      ['operate', 'approvals', 'parents_above'],
      `write the amount in ${currency}, the currency of the limits`,
    ),
  ];
}

/** Returns the token from `token`, `token_file`, systemd or `TRANCHE_TOKEN`, in this order; otherwise the problem. */
function findToken(raw: Facts, document: YamlDocument, context: CheckContext): GivenToken | FileProblem {
  const { venue } = raw;
  const at = (key: string, message: string): FileProblem => document.problem(['venue', key], message);
  if (venue.token !== undefined && venue.token_file !== undefined) {
    return at('token', 'give either token or token_file, not both: remove one');
  }
  const given = givenToken(raw, document, context);
  if ('problem' in given.read) return at(given.key, given.read.problem);
  const credential = readCredential(given.read.text);
  if ('problem' in credential) return at(given.key, `${given.prefix ?? ''}${credential.problem}`);
  for (const key of ['base_url', 'ws_url'] as const) {
    const address = venue[key];
    const problem = address === undefined ? undefined : strangerProblem(credential, address);
    if (problem !== undefined) return at(key, problem);
  }
  return { token: credential.token, source: given.source };
}

/** A token that was found but not yet parsed. */
interface Found {
  readonly source: TokenSource;
  /** The setting at fault if there is a problem. */
  readonly key: 'token' | 'token_file';
  readonly read: { readonly text: string } | { readonly problem: string };
  readonly prefix?: string;
}

function givenToken({ venue }: Facts, document: YamlDocument, { folder, env }: CheckContext): Found {
  const { token, token_file: file } = venue;
  if (file === '-') return { source: 'stdin', key: 'token_file', read: readStdin() };
  if (file !== undefined)
    return { source: 'file', key: 'token_file', read: readTokenFile(resolve(folder, file)) };
  if (token !== undefined) {
    const isVariable = document.isFromVariable(['venue', 'token']);
    const problem =
      'a token in a config file is easily copied: write token: "${TRANCHE_TOKEN}" and set that variable, or token_file';
    if (!isVariable && !isLoopback(venue.base_url ?? ''))
      return { source: 'config', key: 'token', read: { problem } };
    return { source: isVariable ? 'environment' : 'config', key: 'token', read: { text: token.trim() } };
  }
  const systemd = readSystemdToken(env['CREDENTIALS_DIRECTORY']);
  if (systemd !== undefined) return { source: 'credentials', key: 'token', read: systemd };
  const text = env['TRANCHE_TOKEN']?.trim() ?? '';
  if (text !== '') return { source: 'environment', key: 'token', read: { text }, prefix: 'TRANCHE_TOKEN: ' };
  const problem =
    'the venue needs a token: set the environment variable TRANCHE_TOKEN, or write token_file: with the path of a file that contains it';
  return { source: 'environment', key: 'token', read: { problem } };
}
