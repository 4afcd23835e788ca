import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import type { Config, ConfigOptions } from '../../src/app/config/config.ts';
import { isLoopback } from '../../src/venue/origin.ts';
import { text } from '../../src/core/money.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import { aFolder, put } from '../support/folder.ts';
import { aLiveText } from './support/texts.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const now = instant(Date.UTC(2026, 11, 1, 9, 30, 15, 250));
const env = { TRANCHE_TOKEN: 'token-of-env' };

function load(yaml: string, options: Partial<ConfigOptions> = {}): Config {
  put(folder, { 'desk.yaml': yaml });
  return loadConfig('desk.yaml', { env, cwd: folder, now, ...options }).config;
}

/** Returns the problems of an invalid config as printed. */
function refusal(yaml: string, options: Partial<ConfigOptions> = {}): string {
  try {
    load(yaml, options);
  } catch (error) {
    if (error instanceof OperatorError && error.exit === 'config') return error.message;
    throw error;
  }
  return 'was accepted';
}

function hashWith(yaml: string, token: string): string {
  put(folder, { 'desk.yaml': yaml });
  return loadConfig('desk.yaml', { env: { T: token }, cwd: folder, now }).hash;
}

const BASE = 'base_url: "https://venue.example"';
const withVenue = (...lines: readonly string[]): string =>
  ['mode: dry_run', 'venue:', ...lines.map((line) => `  ${line}`), 'strategies: []', ''].join('\n');
const LIVE = aLiveText(BASE, 'strategies: []\n');

describe('loadConfig', () => {
  it('requires only strategies: all other settings have defaults, and the mode is paper', () => {
    const config = load('strategies: []\n');
    expect(config).toMatchObject({
      desk: 'main',
      mode: 'paper',
      journal: 'sqlite:./var/paper/20261201T093015Z.db',
      orderMarginMs: 500,
      operate: { listen: '127.0.0.1:8321', hosts: [] },
      pacing: { quotesPerSecond: 10, quoteShare: 1 },
      retryBudgetMs: 600_000,
      venue: {
        orderTimeoutMs: 8000,
        baseUrl: undefined,
        capabilities: { ticker: false, accountFeed: false },
      },
    });
    const { orderNotionalMax, collarBps, pairs, sides } = config.controls;
    expect([text(orderNotionalMax.amount), text(collarBps), pairs]).toEqual(['250000', '100', undefined]);
    expect([...sides]).toEqual(['buy', 'sell']);
    expect(Object.keys(config.venue.simulated?.pairs ?? {})).toContain('btcusd');
  });

  it('selects dry-run mode if only a venue address is given, and applies the mode of the command line', () => {
    const plain = `venue: { ${BASE} }\nstrategies: []\n`;
    const venue = { baseUrl: 'https://venue.example', simulated: undefined };
    expect(load(plain)).toMatchObject({ mode: 'dry_run', venue });
    expect(load(LIVE, { mode: 'paper' }).venue.token).toBeUndefined();
    expect(refusal(plain, { mode: 'live' })).toContain('live mode has no default for these limits');
  });

  it.each(['max_order_notional', 'max_day_notional', 'max_order_quantity', 'collar_bps', 'pairs', 'sides'])(
    'requires %s in live mode',
    (name) => {
      const lines = LIVE.split('\n').filter((line) => !line.trim().startsWith(`${name}:`));
      expect(refusal(lines.join('\n'))).toContain(`controls.${name}\n`);
    },
  );

  it('requires a maximum quantity for each pair and, for sells, a minimum position in live mode', () => {
    const both = LIVE.replace('pairs: [btcusd]', 'pairs: [btcusd, ethusd]');
    expect(refusal(both)).toContain('max_order_quantity: { ethusd: "1" }');
    const selling = LIVE.replace('sides: [buy]', 'sides: [sell]').replace(
      'venue: {',
      'venue: { sell_path: /v1/orders/sell,',
    );
    expect(refusal(selling)).toContain('controls.min_position\n');
    const floored = (floor: string): string =>
      selling.replace('controls:', `controls:\n  min_position: { btc: "${floor}" }`);
    for (const floor of ['0', '-0.5'])
      expect(load(floored(floor)).controls.positionMin.get('btc')?.toFixed()).toBe(floor);
    expect(refusal(floored('-a'))).toContain('controls.min_position.btc\n');
    // "usdtusd" and "usdteur" begin with usd, but usd is not what they sell.
    for (const pair of ['usdtusd', 'usdteur', 'pepeusd']) {
      const other = floored('0').replaceAll('btcusd', pair);
      expect(refusal(other.replace('{ btc: "0" }', '{ usd: "0", pep: "0" }'))).toContain(
        'controls.min_position\n',
      );
      const base = pair.slice(0, 4);
      expect(load(other.replace('{ btc: "0" }', `{ ${base}: "0" }`)).controls.positionMin.size).toBe(1);
    }
  });

  it('reads every limit exactly and applies the documented defaults', () => {
    const plain = load(LIVE.replace('collar_bps: 50', 'collar_bps: 12.5')).controls;
    expect(plain).toMatchObject({
      minuteExecutionsMax: 5,
      parentExecutionsMax: undefined,
      duplicateMs: 2_000,
      openDoubtsMax: 2,
      pairs: new Set(['btcusd']),
    });
    const { driftBpsMax, shortfallBpsMax, collarBps, dayNotionalMax } = plain;
    expect([driftBpsMax, shortfallBpsMax].map(String)).toEqual(['150', '100']);
    expect([text(collarBps), text(dayNotionalMax.amount)]).toEqual(['12.5', '500000']);
    const hours = 'restricted_hours: [{ from: "22:00", to: "06:00", time_zone: Europe/London, days: [fri] }]';
    expect(load(LIVE.replace('controls:', `controls:\n  ${hours}`)).controls.closedHours).toEqual([
      { from: '22:00', to: '06:00', timeZone: 'Europe/London', days: new Set(['fri']) },
    ]);
    const wrong = hours.replace('London', 'Lodon');
    expect(refusal(LIVE.replace('controls:', `controls:\n  ${wrong}`))).toContain('Europe/Lodon');
  });

  it('replaces {started_at} in the journal name, except in live mode, which has one journal for all starts', () => {
    const each = 'journal: "sqlite:./var/{started_at}.db"\n';
    expect(load(`${each}strategies: []\n`).journal).toBe('sqlite:./var/20261201T093015Z.db');
    expect(refusal(each + LIVE)).toContain('remove {started_at}');
  });

  const eur = '{ amount: "1000", currency: eur }';
  it.each<readonly [string, string | RegExp]>([
    [
      'order_margin: PT6S\nin_doubt: { quote_life_max: PT5S }',
      /no order could be sent[^]*\(in_doubt\.quote_life_max\)/u,
    ],
    [
      'order_margin: PT2S\nvenue: { simulated: { quote_life_ms: 1500 } }',
      /no order could be sent[^]*\(venue\.simulated\.quote_life_ms\)/u,
    ],
    [`controls: { max_order_notional: ${eur} }`, 'desk.yaml:1:61'],
    ['operate: { proxies: [everybody] }', 'expected an IP address'],
    ...['8321', ':8321', '127.0.0.1', '127.0.0.1:65536', '::1:80', 'http://127.0.0.1:80', '127.0.0.1:x'].map(
      (listen) => [`operate: { listen: '${listen}' }`, 'operate.listen'] as const,
    ),
    ['operate: { listn: "127.0.0.1:1" }', 'did you mean "listen"'],
    ["operate: { listen: '0.0.0.0:8321' }", 'desk.yaml:1:20  operate.listen'],
    ["operate: { listen: '[::]:8321' }", 'would be reachable from the network'],
    ["operate: { listen: 'a_desk:8321' }", 'expected an address and a port'],
    ['journal: mysql://db/tranche', 'expected a journal such as "sqlite:./var/journal.db"'],
    ['journal: postgres://db/tranche', 'add sslmode=verify-full'],
    [`venue: { ${BASE}, capabilities: { ticker: true } }`, 'write venue.ws_url'],
    [`venue: { ${BASE}, capabilities: { account_feed: true } }`, 'write venue.ws_url'],
    ['strategies: []\n---', /desk\.yaml:3:1\n {2}3 \| strategies: \[\]/u],
  ])('rejects %s', (yaml, says) => {
    expect(refusal(`${yaml}\nstrategies: []\n`)).toMatch(says);
  });

  it.each([
    `controls: { max_order_notional: ${eur}, max_day_notional: ${eur} }`,
    "operate: { listen: 'localhost:8321' }",
    "operate: { listen: '0.0.0.0:8321', allow_network: true }",
    `venue: { ${BASE}, ws_url: "wss://venue.example/ws", capabilities: { ticker: true, account_feed: true } }`,
  ])('accepts %s', (yaml) => {
    expect(refusal(`${yaml}\nstrategies: []\n`)).toBe('was accepted');
  });

  it('accepts port 0, an IPv6 address, proxies and false for operate', () => {
    const of = (operate: string): Config['operate'] => load(`operate: ${operate}\nstrategies: []\n`).operate;
    const rest = { hosts: [], proxies: [], allowNetwork: false, tokens: [] };
    expect(of('{ listen: "[::1]:0" }')).toEqual({ listen: '[::1]:0', ...rest });
    expect(of('{ proxies: ["127.0.0.1", "fd00::1"] }')?.proxies).toEqual(['127.0.0.1', 'fd00::1']);
    expect(of('false')).toBeUndefined();
  });

  it('reads strategies from a folder or a list, relative to the config file', () => {
    mkdirSync(join(folder, 'plans', 'sub'), { recursive: true });
    for (const name of ['b.yaml', 'a.yml', 'notes.txt', '.hidden.yaml'])
      put(folder, { [`plans/${name}`]: 'x: 1\n' });
    const [a, b] = ['a.yml', 'b.yaml'].map((name) => join(folder, 'plans', name));
    expect(load('strategies: plans\n').strategyFiles).toEqual([a, b]);
    expect(load('strategies: [plans/b.yaml, ./plans/a.yml]\n').strategyFiles).toEqual([b, a]);
    expect(refusal('strategies: [plans/b.yaml, plans/c.yaml]\n')).toContain('desk.yaml:1:28  strategies[1]');
  });

  it('computes a hash of the content that excludes the token', () => {
    const venue = (fields: string): string => `venue: { ${fields} }\n`;
    const yaml = `desk: a\n${venue('base_url: "https://v.example", token: "${T}"')}strategies: []\n`;
    const reordered = `strategies: []\n# same\n${venue('token: "${T}", base_url: "https://v.example"')}desk: a\n`;
    expect(hashWith(yaml, 'one')).toBe(hashWith(reordered, 'two'));
    expect(hashWith(yaml, 'one')).not.toBe(hashWith(yaml.replace('desk: a', 'desk: b'), 'one'));
  });

  it('reports a missing file and an empty file', () => {
    const missing =
      'none.yaml:1:1\n  no such file; create an example with "tranche init", or name another file with --config';
    expect(() => loadConfig('none.yaml', { env, cwd: folder, now })).toThrow(missing);
    expect(refusal('# nothing\n')).toContain('the file is empty');
  });
});

describe('a venue address', () => {
  const ofUrl = (key: string, url: string): string =>
    refusal(withVenue(...(key === 'base_url' ? [] : [BASE]), `${key}: "${url}"`));

  it.each([
    ['base_url', 'https://venue.example/api'],
    ['base_url', 'http://127.0.0.1:8080'],
    ['base_url', 'http://127.8.9.1'],
    ['base_url', 'http://[::1]:8080'],
    ['base_url', 'http://localhost:1'],
    ['ws_url', 'wss://venue.example/ws'],
    ['ws_url', 'ws://localhost:1/ws'],
  ])('is accepted as %s: %s', (key, url) => {
    expect(ofUrl(key, url)).toBe('was accepted');
  });

  it.each([
    ['base_url', 'http://venue.example'],
    ['base_url', 'http://127.0.0.1.venue.example'],
    ['base_url', 'http://localhost.venue.example'],
    ['base_url', 'http://0.0.0.0'],
    ['base_url', 'http://10.0.0.1'],
    ['base_url', 'https://me:pass@venue.example'],
    ['base_url', 'https://venue.example/?a=b'],
    ['base_url', 'https://venue.example/#x'],
    ['base_url', 'ftp://venue.example'],
    ['base_url', 'venue.example'],
    ['ws_url', 'ws://venue.example/ws'],
    ['ws_url', 'https://venue.example/ws'],
  ])('is rejected as %s: %s', (key, url) => {
    const printed = ofUrl(key, url);
    expect(printed).toContain(`venue.${key}`);
    expect(printed).not.toContain('me:pass');
  });

  it.each([
    ['http://2130706433/', true],
    ['http://LOCALHOST/', true],
    ['http://128.0.0.1/', false],
    ['nonsense', false],
  ])('is recognized as loopback in every notation: %s', (url, isLocal) => {
    expect(isLoopback(url)).toBe(isLocal);
  });
});

describe('the venue token', () => {
  const tokenOf = (lines: readonly string[], variables: Record<string, string> = env): string | undefined =>
    load(withVenue(...lines), { env: variables }).venue.token?.reveal();

  it.each<readonly [source: string, lines: readonly string[], token: string, env: Record<string, string>]>([
    ['environment', [BASE], 'token-of-env', env],
    ['environment', [BASE, 'token: "${OTHER}"'], 'token-of-other', { OTHER: 'token-of-other' }],
    ['file', [BASE, 'token_file: ./token'], 'token-of-file', env],
    ['config', ['base_url: "http://127.0.0.1:1"', 'token: plain-token'], 'plain-token', {}],
  ])('comes from the %s: %j', (source, lines, token, variables) => {
    put(folder, { token: 'token-of-file\n' }, 0o400);
    expect(tokenOf(lines, variables)).toBe(token);
    expect(load(withVenue(...lines), { env: variables }).venue.tokenSource).toBe(source);
  });

  it.each([
    ['token: "${OTHER}"', 'the environment variable OTHER is not set'],
    ['token_file: ./two-lines', 'not a valid token'],
    ['token_file: ./nothing', 'there is no such file'],
    ['token_file: ./open', 'chmod 600'],
    ['token_file: ./link', 'name the file itself'],
    ['token: plain-token', 'easily copied'],
    ['tokne: plain-token', 'tokne'],
    ['token: "${TRANCHE_TOKEN}"\n  token_file: ./two-lines', 'not both'],
  ])('is not read from %s', (line, says) => {
    put(folder, { 'two-lines': 'a token\nand more\n' });
    put(folder, { open: 'a-token' }, 0o640);
    symlinkSync(join(folder, 'two-lines'), join(folder, 'link'));
    const printed = refusal(withVenue(BASE, line));
    expect(printed).toContain(says);
    expect(printed).not.toContain('plain-token');
  });

  it('comes from the folder of systemd before the environment, but not before the config', () => {
    put(folder, { 'credentials/tranche_token': 'token-of-systemd' }, 0o400);
    put(folder, { token: 'token-of-file' });
    const given = { CREDENTIALS_DIRECTORY: join(folder, 'credentials'), TRANCHE_TOKEN: 'token-of-env' };
    expect(tokenOf([BASE], given)).toBe('token-of-systemd');
    expect(tokenOf([BASE, 'token_file: token'], given)).toBe('token-of-file');
  });

  it.each([
    ['https://venue.example', ['base_url: "https://venue.example/api"', 'ws_url: "wss://venue.example/ws"']],
    [
      ['https://api.venue.example', 'wss://ws.venue.example'],
      ['base_url: "https://api.venue.example"', 'ws_url: "wss://ws.venue.example/ws"'],
    ],
  ])('is sent to each of its origins: %j', (origin, lines) => {
    const token = JSON.stringify({ origin, token: 'token-of-origin' });
    expect(tokenOf(lines, { TRANCHE_TOKEN: token })).toBe('token-of-origin');
    put(folder, { token });
    expect(tokenOf([...lines, 'token_file: token'])).toBe('token-of-origin');
  });

  it.each([
    ['another host', ['base_url: "https://evil.example"']],
    ['a host that only starts with its name', ['base_url: "https://venue.example.evil.example"']],
    ['another port', ['base_url: "https://venue.example:8443"']],
    ['an address of this machine', ['base_url: "http://127.0.0.1:1"']],
    ['another WebSocket host', [BASE, 'ws_url: "wss://evil.example/ws"']],
  ])('with an origin is not sent to %s', (_what, lines) => {
    const token = JSON.stringify({ origin: 'https://venue.example', token: 'token-of-origin' });
    const printed = refusal(withVenue(...lines), { env: { TRANCHE_TOKEN: token } });
    expect(printed).toContain('the token is bound to https://venue.example');
    expect(printed).not.toContain('token-of-origin');
  });

  it('is redacted when the config is serialized or inspected', () => {
    const config = load(withVenue(BASE));
    const deep = inspect(config, { depth: 9, showHidden: true });
    for (const one of [JSON.stringify(config), deep, String(config.venue.token)]) {
      expect(one).toContain('[redacted]');
      expect(one).not.toContain('token-of-env');
    }
  });
});

describe('the example configs', () => {
  const repo = join(import.meta.dirname, '../..');
  const live = readFileSync(join(repo, 'config/live.yaml'), 'utf8')
    .replace('/run/secrets/venue', './token')
    .replace('strategies: ../strategies', 'strategies: []');

  it('are valid for paper and dry-run mode without changes', () => {
    expect(loadConfig('config/paper.yaml', { env: {}, cwd: repo, now }).config).toMatchObject({
      mode: 'paper',
      operate: { listen: '127.0.0.1:0' },
      journal: 'sqlite:./var/paper/20261201T093015Z.db',
    });
    expect(loadConfig('config/dry-run.yaml', { env, cwd: repo, now }).config.mode).toBe('dry_run');
  });

  it('include a live config that is valid with a token, and states the defaults correctly', () => {
    put(folder, { token: 'token-of-file' });
    const venue = { sellPath: '/v1/orders/sell' };
    expect(load(live, { mode: 'live' })).toMatchObject({ mode: 'live', venue });
    const dry = load(live);
    expect(dry.mode).toBe('dry_run');
    const bare = load(`venue: { ${BASE} }\nstrategies: []\n`);
    const parts = ['reference', 'pacing', 'retryBudgetMs', 'inDoubt', 'orderMarginMs', 'journal'] as const;
    for (const part of [...parts, 'operate', 'log'] as const)
      expect(`${part} ${JSON.stringify(dry[part])}`).toBe(`${part} ${JSON.stringify(bare[part])}`);
    expect(dry.venue.orderTimeoutMs).toBe(bare.venue.orderTimeoutMs);
  });
});

describe('venue.proxy_url', () => {
  const dry = (lines: string, venue = 'https://venue.example'): string =>
    `mode: dry_run\nstrategies: []\nvenue:\n  base_url: "${venue}"\n  token: "\${TRANCHE_TOKEN}"\n${lines}`;
  const FILE = '  proxy_url: "http://proxy.example:3128/"\n  proxy_credentials_file: ./proxy\n';

  it('is read with the credentials of its file, which stay secret', () => {
    put(folder, { proxy: 'desk:open sesame\n' });
    chmodSync(join(folder, 'proxy'), 0o600);
    const { proxy } = load(dry(FILE)).venue;
    expect([proxy?.url, proxy?.credentials?.reveal()]).toEqual([
      'http://proxy.example:3128',
      'desk:open sesame',
    ]);
    expect(JSON.stringify(proxy)).not.toContain('sesame');
  });

  it.each([
    ['  proxy_url: "socks5://proxy.example"', 'expected an address such as http://proxy.example:3128'],
    ['  proxy_url: "http://desk:word@proxy.example"', 'use proxy_credentials_file'],
    ['  proxy_url: "http://proxy.example/path"', 'remove everything after the host and port'],
    ['  proxy_credentials_file: ./proxy', 'write proxy_url, or remove this'],
    [FILE, 'expected one line: user:password'],
  ])('is refused when it cannot be used: %s', (lines, why) => {
    put(folder, { proxy: 'no colon' });
    chmodSync(join(folder, 'proxy'), 0o600);
    expect(refusal(dry(lines))).toContain(why);
  });

  it('is refused for a venue whose connection is not encrypted', () => {
    const lines = '  ws_url: "ws://127.0.0.1:1"\n  proxy_url: "http://proxy.example"';
    expect(refusal(dry(lines))).toMatch(/venue\.ws_url[^]*a proxy would read the token/u);
  });
});
