import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import type { Config, ConfigOptions } from '../../src/app/config/config.ts';
import { isLoopback } from '../../src/venue/origin.ts';
import { text } from '../../src/core/money.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import { aFolder } from '../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const now = instant(Date.UTC(2026, 11, 1, 9, 30, 15, 250));
const env = { TRANCHE_TOKEN: 'token-of-env' };

function load(yaml: string, options: Partial<ConfigOptions> = {}): Config {
  writeFileSync(join(folder, 'desk.yaml'), yaml);
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
  writeFileSync(join(folder, 'desk.yaml'), yaml);
  return loadConfig('desk.yaml', { env: { T: token }, cwd: folder, now }).hash;
}

/** Returns the problems of a venue with this address as printed. */
const ofUrl = (key: string, url: string): string =>
  refusal(
    [
      'mode: dry_run',
      'venue:',
      ...(key === 'base_url' ? [] : ['  base_url: "https://venue.example"']),
      `  ${key}: "${url}"`,
      'strategies: []',
    ].join('\n'),
  );

const withVenue = (line: string, options: Partial<ConfigOptions> = {}): string | undefined =>
  load(
    `venue:\n  base_url: "https://venue.example"\n  ${line}\nstrategies: []\n`,
    options,
  ).venue.token?.reveal();
const refused = (line: string, options: Partial<ConfigOptions> = {}): string =>
  refusal(`venue:\n  base_url: "https://venue.example"\n  ${line}\nstrategies: []\n`, options);
const tokenFile = (content: string, mode: number): string => {
  const file = join(folder, 'token');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return 'token_file: ./token';
};

const LIVE = `mode: live
venue: { base_url: "https://venue.example" }
controls:
  max_order_notional: { amount: "50000", currency: usd }
  max_day_notional: { amount: "500000", currency: usd }
  max_order_quantity: { btcusd: "1.5" }
  collar_bps: 12.5
  pairs: [btcusd]
  sides: [buy]
strategies: []
`;

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
      },
    });
    expect(text(config.controls.orderNotionalMax.amount)).toBe('250000');
    expect(text(config.controls.collarBps)).toBe('100');
    expect(config.controls.pairs).toBeUndefined();
    expect([...config.controls.sides]).toEqual(['buy', 'sell']);
    expect(Object.keys(config.venue.simulated?.pairs ?? {})).toContain('btcusd');
  });

  it('selects dry-run mode if only a venue address is given', () => {
    expect(load('venue: { base_url: "https://venue.example/" }\nstrategies: []\n')).toMatchObject({
      mode: 'dry_run',
      venue: { baseUrl: 'https://venue.example', simulated: undefined },
    });
  });

  it('applies the mode of the command line with the checks of that mode', () => {
    expect(load(LIVE, { mode: 'paper' }).venue.token).toBeUndefined();
    expect(
      refusal('venue: { base_url: "https://venue.example" }\nstrategies: []\n', { mode: 'live' }),
    ).toContain('live mode has no default for these limits');
  });

  it('reads live limits exactly', () => {
    const { controls } = load(LIVE);
    expect(text(controls.collarBps)).toBe('12.5');
    expect([...(controls.pairs ?? [])]).toEqual(['btcusd']);
    expect(text(controls.dayNotionalMax.amount)).toBe('500000');
  });

  it.each(['max_order_notional', 'max_day_notional', 'max_order_quantity', 'collar_bps', 'pairs', 'sides'])(
    'requires %s in live mode',
    (name) => {
      const without = LIVE.split('\n')
        .filter((line) => !line.trim().startsWith(`${name}:`))
        .join('\n');
      expect(refusal(without)).toContain(`controls.${name}\n`);
    },
  );

  it('requires one journal for all starts in live mode', () => {
    const each = `journal: "sqlite:./{started_at}.db"\n${LIVE}`;
    expect(refusal(each)).toContain('remove {started_at}');
    expect(load(each, { mode: 'paper' }).journal).toContain('sqlite:./');
  });

  it('requires a maximum quantity for each pair and, for sells, a minimum position in live mode', () => {
    const both = LIVE.replace('pairs: [btcusd]', 'pairs: [btcusd, ethusd]');
    expect(refusal(both)).toContain('max_order_quantity: { ethusd: "1" }');
    const selling = LIVE.replace('sides: [buy]', 'sides: [sell]').replace(
      'venue: {',
      'venue: { sell_path: /v1/orders/sell,',
    );
    expect(refusal(selling)).toContain('controls.min_position\n');
    const floored = selling.replace('controls:', 'controls:\n  min_position: { btc: "0" }');
    expect([...load(floored).controls.positionMin.keys()]).toEqual(['btc']);
    const short = load(floored.replace('btc: "0"', 'btc: "-0.5"')).controls.positionMin;
    expect([...short].map(([currency, floor]) => `${currency} ${floor.toFixed()}`)).toEqual(['btc -0.5']);
    expect(refusal(floored.replace('btc: "0"', 'btc: "-a"'))).toContain('controls.min_position.btc\n');
  });

  it('reads every limit and applies the documented defaults', () => {
    const plain = load(LIVE).controls;
    expect(plain).toMatchObject({
      minuteExecutionsMax: 5,
      parentExecutionsMax: undefined,
      duplicateMs: 2_000,
      openDoubtsMax: 2,
    });
    const { driftBpsMax, shortfallBpsMax } = plain;
    expect([driftBpsMax, shortfallBpsMax].map(String)).toEqual(['150', '100']);
    const hours = 'restricted_hours: [{ from: "22:00", to: "06:00", time_zone: Europe/London, days: [fri] }]';
    expect(load(LIVE.replace('controls:', `controls:\n  ${hours}`)).controls.closedHours).toEqual([
      { from: '22:00', to: '06:00', timeZone: 'Europe/London', days: new Set(['fri']) },
    ]);
    expect(refusal(LIVE.replace('controls:', `controls:\n  ${hours.replace('London', 'Lodon')}`))).toContain(
      'Europe/Lodon',
    );
  });

  it('requires all limits in one currency', () => {
    const eur = '{ amount: "1000", currency: eur }';
    expect(refusal(`controls: { max_order_notional: ${eur} }\nstrategies: []\n`)).toContain('desk.yaml:1:61');
    expect(
      load(`controls: { max_order_notional: ${eur}, max_day_notional: ${eur} }\nstrategies: []\n`).mode,
    ).toBe('paper');
  });

  it('replaces {started_at} in the journal name with the time of the start', () => {
    expect(load('journal: "sqlite:./var/{started_at}.db"\nstrategies: []\n').journal).toBe(
      'sqlite:./var/20261201T093015Z.db',
    );
  });

  it.each([
    ['order_margin: PT6S\nin_doubt: { quote_life_max: PT5S }', '(in_doubt.quote_life_max)'],
    ['order_margin: PT2S\nvenue: { simulated: { quote_life_ms: 1500 } }', '(venue.simulated.quote_life_ms)'],
  ])('rejects an order margin longer than the life of any quote: %s', (yaml, of) => {
    expect(refusal(`${yaml}\nstrategies: []\n`)).toContain('no order could be sent');
    expect(refusal(`${yaml}\nstrategies: []\n`)).toContain(of);
  });

  it('accepts port 0, an IPv6 address, proxies and false for operate', () => {
    expect(load('operate: { listen: "[::1]:0" }\nstrategies: []\n').operate).toEqual({
      listen: '[::1]:0',
      hosts: [],
      proxies: [],
      allowNetwork: false,
      tokens: [],
    });
    expect(load('operate: { proxies: ["127.0.0.1", "fd00::1"] }\nstrategies: []\n').operate?.proxies).toEqual(
      ['127.0.0.1', 'fd00::1'],
    );
    expect(refusal('operate: { proxies: [everybody] }\nstrategies: []\n')).toContain(
      'expected an IP address',
    );
    expect(load('operate: false\nstrategies: []\n').operate).toBeUndefined();
    expect(refusal('operate: { listen: "127.0.0.1:99999" }\nstrategies: []\n')).toContain('operate.listen');
    expect(refusal('operate: { listn: "127.0.0.1:1" }\nstrategies: []\n')).toContain('did you mean "listen"');
  });

  it('reads strategies from a folder or a list, relative to the config file', () => {
    mkdirSync(join(folder, 'plans', 'sub'), { recursive: true });
    for (const name of ['b.yaml', 'a.yml', 'notes.txt', '.hidden.yaml'])
      writeFileSync(join(folder, 'plans', name), 'x: 1\n');
    expect(load('strategies: plans\n').strategyFiles).toEqual(
      ['a.yml', 'b.yaml'].map((name) => join(folder, 'plans', name)),
    );
    expect(load('strategies: [plans/b.yaml, ./plans/a.yml]\n').strategyFiles).toEqual(
      ['b.yaml', 'a.yml'].map((name) => join(folder, 'plans', name)),
    );
    expect(refusal('strategies: [plans/b.yaml, plans/c.yaml]\n')).toContain('desk.yaml:1:28  strategies[1]');
  });

  it('computes a hash of the content that excludes the token', () => {
    const yaml = 'desk: a\nvenue: { base_url: "https://v.example", token: "${T}" }\nstrategies: []\n';
    const reordered =
      'strategies: []\nvenue: { token: "${T}", base_url: "https://v.example" } # same\ndesk: a\n';
    expect(hashWith(yaml, 'one')).toBe(hashWith(reordered, 'two'));
    expect(hashWith(yaml, 'one')).not.toBe(hashWith(yaml.replace('desk: a', 'desk: b'), 'one'));
  });

  it('reports a missing file, an empty file and a file with two documents', () => {
    expect(() => loadConfig('none.yaml', { env, cwd: folder, now })).toThrow(
      'none.yaml:1:1\n  no such file; create an example with "tranche init", or name another file with --config',
    );
    expect(refusal('# nothing\n')).toContain('the file is empty');
    expect(refusal('strategies: []\n---\nstrategies: []\n')).toContain('desk.yaml:3:1\n  3 | strategies: []');
  });
});

describe('the check of operate.listen and journal', () => {
  it.each([
    ["operate: { listen: '0.0.0.0:8321' }", 'desk.yaml:2:20  operate.listen'],
    ["operate: { listen: '[::]:8321' }", 'would be reachable from the network'],
    ["operate: { listen: 'a_desk:8321' }", 'expected an address and a port'],
    ['journal: mysql://db/tranche', 'expected a journal such as "sqlite:./var/journal.db"'],
    ['journal: postgres://db/tranche', 'add sslmode=verify-full'],
  ])('rejects %s', (line, says) => {
    expect(refusal(`strategies: []\n${line}\n`)).toContain(says);
  });

  it.each(["listen: '[::1]:0'", "listen: 'localhost:8321'", "listen: '0.0.0.0:8321', allow_network: true"])(
    'accepts %s',
    (settings) => {
      expect(refusal(`strategies: []\noperate: { ${settings} }\n`)).toBe('was accepted');
    },
  );
});

describe('a venue address', () => {
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

  it('is recognized as loopback in every notation', () => {
    expect(isLoopback('http://2130706433/')).toBe(true);
    expect(isLoopback('http://LOCALHOST/')).toBe(true);
    expect(isLoopback('http://128.0.0.1/')).toBe(false);
    expect(isLoopback('nonsense')).toBe(false);
  });
});

describe('the venue token', () => {
  it('comes from TRANCHE_TOKEN by default', () => {
    expect(withVenue('order_timeout: PT4S')).toBe('token-of-env');
  });

  it('comes from a variable that the config names', () => {
    expect(withVenue('token: "${OTHER}"', { env: { OTHER: 'token-of-other' } })).toBe('token-of-other');
    expect(refused('token: "${OTHER}"', { env: {} })).toContain('the environment variable OTHER is not set');
  });

  it('comes from a file that only its owner can read, and is trimmed', () => {
    expect(withVenue(tokenFile('token-of-file\n', 0o400))).toBe('token-of-file');
    expect(refused(tokenFile('token-of-file\n', 0o640))).toContain('chmod 600');
    expect(refused(tokenFile('a token\nand more\n', 0o600))).toContain('not a valid token');
    expect(refused('token_file: ./nothing')).toContain('there is no such file');
  });

  it('may be written in the config only for a venue on this machine', () => {
    expect(
      load(
        'venue: { base_url: "http://127.0.0.1:1", token: plain-token }\nstrategies: []\n',
      ).venue.token?.reveal(),
    ).toBe('plain-token');
    const printed = refused('token: plain-token');
    expect(printed).toContain('easily copied');
    expect(printed).not.toContain('plain-token');
    expect(refused('tokne: plain-token')).not.toContain('plain-token');
  });

  it('cannot be given in two places', () => {
    expect(refused(`token: "\${TRANCHE_TOKEN}"\n  ${tokenFile('x', 0o600)}`)).toContain('not both');
  });

  it('is redacted when the config is serialized or inspected', () => {
    const config = load(`venue: { base_url: "https://venue.example" }\nstrategies: []\n`);
    const shown = [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      String(config.venue.token),
    ];
    for (const one of shown) {
      expect(one).toContain('[redacted]');
      expect(one).not.toContain('token-of-env');
    }
  });
});

describe('the example configs', () => {
  const repo = join(import.meta.dirname, '../..');
  const copyOf = (name: string): string => readFileSync(join(repo, 'config', name), 'utf8');

  it('are valid for paper and dry-run mode without changes', () => {
    expect(loadConfig('config/paper.yaml', { env: {}, cwd: repo, now }).config).toMatchObject({
      mode: 'paper',
      operate: { listen: '127.0.0.1:0' },
      journal: 'sqlite:./var/paper/20261201T093015Z.db',
    });
    expect(loadConfig('config/dry-run.yaml', { env, cwd: repo, now }).config.mode).toBe('dry_run');
  });

  it('include a live config that is valid with a token, in dry-run and in live mode', () => {
    writeFileSync(join(folder, 'token'), 'token-of-file', { mode: 0o600 });
    const live = copyOf('live.yaml')
      .replace('/run/secrets/venue', './token')
      .replace('strategies: ../strategies', 'strategies: []');
    expect(load(live).mode).toBe('dry_run');
    expect(load(live, { mode: 'live' })).toMatchObject({
      mode: 'live',
      venue: { sellPath: '/v1/orders/sell' },
    });
  });

  it('state the defaults correctly in live.yaml', () => {
    writeFileSync(join(folder, 'token'), 'token-of-file', { mode: 0o600 });
    const live = load(
      copyOf('live.yaml')
        .replace('/run/secrets/venue', './token')
        .replace('strategies: ../strategies', 'strategies: []'),
    );
    const bare = load('venue: { base_url: "https://venue.example" }\nstrategies: []\n');
    for (const part of [
      'reference',
      'pacing',
      'retryBudgetMs',
      'inDoubt',
      'orderMarginMs',
      'journal',
      'operate',
      'log',
    ] as const) {
      expect(`${part} ${JSON.stringify(live[part])}`).toBe(`${part} ${JSON.stringify(bare[part])}`);
    }
    expect(live.venue).toMatchObject({
      orderTimeoutMs: bare.venue.orderTimeoutMs,
    });
  });
});
