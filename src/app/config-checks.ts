import { resolve } from 'node:path';
import { z } from 'zod';
import type { Instant } from '../core/time.ts';
import type { RawConfig } from './config-schema.ts';
import type { Mode } from './config-values.ts';
import { readTokenFile } from './files.ts';
import type { ReadOptions } from './files.ts';
import type { FileProblem } from './problems.ts';
import { Secret } from './secret.ts';
import type { YamlDocument } from './yaml.ts';

export interface ConfigOptions extends ReadOptions {
  /** Time of the start, for `{started_at}`. */
  readonly now: Instant;
  /** Overrides `mode` of the file. */
  readonly mode?: Mode | undefined;
}

export interface CheckContext extends ConfigOptions {
  readonly mode: Mode;
  /** Folder of the config file. */
  readonly folder: string;
}

/** What is checked here, read without judging: other settings may be wrong, and all problems are told at once. */
const facts = z.object({
  venue: z
    .object({
      base_url: z.string().optional().catch(undefined),
      ws_url: z.string().optional().catch(undefined),
      token: z.string().optional().catch(undefined),
      token_file: z.string().optional().catch(undefined),
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
});
type Facts = z.output<typeof facts>;

/** The mode that a file asks for; `undefined` when it asks for none that exists. */
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

/** What no single setting shows: addresses, the token, and the limits that live mode must be given. */
export function checkConfig(
  document: YamlDocument,
  context: CheckContext,
): { readonly problems: readonly FileProblem[]; readonly token: Secret | undefined } {
  const read = facts.safeParse(document.value);
  if (!read.success) return { problems: [], token: undefined };
  const raw = read.data;
  const problems = [...checkUrl(raw, document, 'base_url'), ...checkUrl(raw, document, 'ws_url')];
  if (context.mode === 'paper') return { problems, token: undefined };
  problems.push(...checkVenue(raw, document, context.mode));
  if (context.mode === 'live') problems.push(...checkLive(raw, document));
  const token = findToken(raw, document, context);
  if (token instanceof Secret) return { problems, token };
  return { problems: [...problems, token], token: undefined };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

/** Whether an address stays on this machine. `URL` has already spelled odd forms of 127.0.0.1 out. */
export function isLoopback(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && LOOPBACK.test(url.hostname);
}

function checkUrl({ venue }: Facts, document: YamlDocument, key: 'base_url' | 'ws_url'): FileProblem[] {
  const text = venue[key];
  if (text === undefined) return [];
  const [secure, plain] = key === 'base_url' ? ['https:', 'http:'] : ['wss:', 'ws:'];
  const refuse = (message: string): FileProblem[] => [document.problem(['venue', key], message)];
  const url = URL.parse(text);
  if (url === null || (url.protocol !== secure && url.protocol !== plain)) {
    return refuse(`expected an address that begins with ${secure}//`);
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('an address holds no user or password: write token_file or token instead');
  }
  if (url.search !== '' || url.hash !== '') return refuse('remove the ? or # and what follows it');
  if (url.protocol === plain && !isLoopback(text)) {
    return refuse(`${plain}// is not encrypted and would show the token to the network: write ${secure}//`);
  }
  return [];
}

function checkVenue({ venue }: Facts, document: YamlDocument, mode: Mode): FileProblem[] {
  const problems: FileProblem[] = [];
  if (venue.base_url === undefined) {
    const message = `mode ${mode} needs the address of the venue: write base_url: "https://…", or mode: paper`;
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

const liveLimits = {
  max_order_notional: 'max_order_notional: { amount: "50000", currency: usd }',
  max_day_notional: 'max_day_notional: { amount: "500000", currency: usd }',
  collar_bps: 'collar_bps: 50',
  pairs: 'pairs: [btcusd, ethusd]',
  sides: 'sides: [buy]',
} as const;

function checkLive({ controls, venue }: Facts, document: YamlDocument): FileProblem[] {
  const problems: FileProblem[] = [];
  for (const [name, example] of Object.entries(liveLimits)) {
    if (controls[name] !== undefined) continue;
    const message = `limits have no default in live mode: write such as ${example}`;
    problems.push(document.problem(['controls', name], message));
  }
  const { sides } = controls;
  if (Array.isArray(sides) && sides.includes('sell') && venue.sell_path === undefined) {
    const message =
      'selling is off until the venue has told its route: write venue.sell_path, or sides: [buy]';
    problems.push(document.problem(['controls', 'sides'], message));
  }
  return problems;
}

/** Totals of a day and single orders are compared in one currency; what is left out outside live mode counts in usd. */
export function checkCurrencies({ controls }: RawConfig, document: YamlDocument): readonly FileProblem[] {
  const { max_order_notional: order, max_day_notional: day } = controls;
  const [of, other] = [order?.currency ?? 'usd', day?.currency ?? 'usd'];
  if (of === other || (order === undefined && day === undefined)) return [];
  const key = day === undefined ? 'max_order_notional' : 'max_day_notional';
  const message = `max_order_notional (${of}) and max_day_notional (${other}) must be in one currency: write both`;
  return [document.problem(['controls', key, 'currency'], message)];
}

/** The token from `token`, `token_file` or `TRANCHE_TOKEN`, in this order; what is wrong with it otherwise. */
function findToken({ venue }: Facts, document: YamlDocument, context: CheckContext): Secret | FileProblem {
  const at = (key: string, message: string): FileProblem => document.problem(['venue', key], message);
  if (venue.token !== undefined && venue.token_file !== undefined) {
    return at('token', 'give either token or token_file, not both: remove one');
  }
  if (venue.token_file !== undefined) {
    const read = readTokenFile(resolve(context.folder, venue.token_file));
    if ('problem' in read) return at('token_file', read.problem);
    return isToken(read.text) ? new Secret(read.text) : at('token_file', NOT_A_TOKEN);
  }
  if (venue.token !== undefined) {
    if (!document.isFromVariable(['venue', 'token']) && !isLoopback(venue.base_url ?? '')) {
      return at(
        'token',
        'a token written out in a file is soon copied somewhere: write token: "${TRANCHE_TOKEN}" and set that variable, or token_file',
      );
    }
    return isToken(venue.token.trim()) ? new Secret(venue.token.trim()) : at('token', NOT_A_TOKEN);
  }
  const given = context.env['TRANCHE_TOKEN']?.trim();
  if (given !== undefined && given !== '')
    return isToken(given) ? new Secret(given) : at('token', `TRANCHE_TOKEN: ${NOT_A_TOKEN}`);
  return at(
    'token',
    'the venue needs a token: set the environment variable TRANCHE_TOKEN, or write token_file: with the path of a file that holds it',
  );
}

/** What can stand in an Authorization header. */
const isToken = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/u.test(text);
const NOT_A_TOKEN = 'this is not a token: expected 1 to 4096 letters, digits and signs on one line';
