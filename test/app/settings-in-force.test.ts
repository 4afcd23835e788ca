import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/app/config/config.ts';
import { configSchema } from '../../src/app/config/config-schema.ts';
import { settingsInForce } from '../../src/app/daemon/settings-in-force.ts';
import { NINE } from '../journal/records.ts';
import { aFolder } from '../support/folder.ts';

const TOKEN = 'canary-settings-4f0d9b62aa';

/** A live config with every kind of secret, and most settings that have no default. */
const CONFIG = {
  desk: 'treasury',
  mode: 'live',
  venue: {
    base_url: 'https://venue.example/',
    ws_url: 'wss://venue.example/ws',
    proxy_url: 'http://proxy.example:3128',
    token: '${TRANCHE_TOKEN}',
    sell_path: '/v1/orders/sell',
    capabilities: { pairs: true },
    minimums: { pairs: { btcusd: { quantity: '0.001' } } },
  },
  rates: { usdt: { usd: '1' } },
  sizing: { keep: { usd: '100.50' } },
  controls: {
    max_order_notional: { amount: '50000', currency: 'usd' },
    max_day_notional: { amount: '500000', currency: 'usd' },
    max_order_quantity: { btcusd: '1' },
    min_position: { btc: '0' },
    collar_bps: 50,
    max_drift_bps: 50,
    pairs: ['btcusd'],
    sides: ['buy', 'sell'],
  },
  pts: { use: 'when_enabled', max_credit: { amount: '10', currency: 'usd' }, max_carry_bps: 2 },
  operate: {
    listen: '127.0.0.1:8321',
    hosts: ['desk.example:8321'],
    proxies: ['127.0.0.1'],
    tokens: [{ name: 'ann', role: 'approver', token_file: 'ann-token' }],
    heads: { file: 'heads.jsonl' },
    notify: { channels: [{ name: 'ops', type: 'webhook', format: 'json', url_file: 'hook' }] },
  },
  allow_environment: ['NODE_EXTRA_CA_CERTS'],
  strategies: [],
};

function inForce(): Readonly<Record<string, string>> {
  const cwd = aFolder({
    'desk.yaml': JSON.stringify(CONFIG),
    'ann-token': TOKEN,
    hook: `https://hooks.example/${TOKEN}`,
  });
  const { config } = loadConfig('desk.yaml', { env: { TRANCHE_TOKEN: TOKEN }, cwd, now: NINE });
  return settingsInForce(config, 'a0');
}

/** Settings that affect neither trades, nor venues, nor permissions. The engine adds `controls`, which are limits. */
const LEFT_OUT = ['log', 'journal', 'journal_anchor', 'venue.simulated', 'venue.token_file'];
/** Settings of separate files, which are recorded by their hash, of which this config has none, and what the engine adds. */
const OTHERS = [
  'venue.ca_file',
  'venue.proxy_credentials_file',
  'strategies',
  'controls',
  'operate.approvals',
];

describe('the recorded settings in force', () => {
  it('are those of the config with their defaults', () => {
    expect(inForce()).toMatchObject({
      desk: 'treasury',
      mode: 'live',
      account: 'a0',
      'venue.base_url': 'https://venue.example',
      'venue.ws_url': 'wss://venue.example',
      'venue.token': 'environment',
      'venue.proxy_url': 'http://proxy.example:3128',
      'venue.capabilities': 'pairs',
      'venue.order_timeout': 'PT8S',
      'venue.minimums.btcusd': 'quantity 0.001',
      'rates.usdt': '1',
      'sizing.keep.usd': '100.5',
      'pts.max_credit': '10 usd',
      'controls.balance_difference': 'halt',
      'operate.listen': '127.0.0.1:8321',
      'operate.tokens.ann': 'approver, person',
      'operate.notify.ops': 'info, webhook',
      allow_environment: 'NODE_EXTRA_CA_CERTS',
    });
  });

  it('contain no secret', () => {
    const text = JSON.stringify(inForce());
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain('hooks.example');
  });

  it('include every setting of the schema except for those that this file lists', () => {
    const known = Object.keys(inForce());
    const { properties = {} } = z.toJSONSchema(configSchema, { unrepresentable: 'any', io: 'input' });
    const isKnown = (path: string): boolean =>
      [...LEFT_OUT, ...OTHERS].includes(path) ||
      known.some((name) => name === path || name.startsWith(`${path}.`));
    const paths = Object.keys(properties).flatMap((name) =>
      name === 'venue' || name === 'operate'
        ? partsOf(properties[name]).map((part) => `${name}.${part}`)
        : [name],
    );
    expect(paths.filter((path) => !isKnown(path))).toEqual([]);
  });
});

/** Names of all properties at the top level of a schema, in any alternative. */
function partsOf(schema: unknown): readonly string[] {
  const found = new Set<string>();
  const look = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    const { properties, anyOf, allOf } = one as Record<string, unknown>;
    for (const name of Object.keys((properties as object | undefined) ?? {})) found.add(name);
    for (const each of [anyOf, allOf]) if (Array.isArray(each)) each.forEach(look);
  };
  look(schema);
  return [...found];
}
