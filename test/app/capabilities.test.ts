import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import type { Config } from '../../src/app/config/config.ts';
import { instant } from '../../src/core/time.ts';
import { aFolder } from '../support/folder.ts';

/** Loads a dry-run config with this capability and this WebSocket address. */
function load(capability: string, wsUrl: string): Config {
  const cwd = aFolder();
  const venue = ['base_url: "https://venue.example"', wsUrl, 'token: "${T}"', `capabilities: { ${capability} }`];
  writeFileSync(
    join(cwd, 'desk.yaml'),
    ['mode: dry_run', 'venue:', ...venue.map((line) => `  ${line}`), 'strategies: []'].join('\n'),
  );
  return loadConfig('desk.yaml', { env: { T: 'token-of-env' }, cwd, now: instant(0) }).config;
} // prettier-ignore

describe('a WebSocket capability', () => {
  it.each(['ticker', 'account_feed'])('requires venue.ws_url: %s', (name) => {
    expect(() => load(`${name}: true`, '# none')).toThrow(/write venue\.ws_url/u);
    expect(() => load(`${name}: true`, 'ws_url: "wss://venue.example/ws"')).not.toThrow();
  });

  it('is off by default', () => {
    expect(load('ticker: true', 'ws_url: "wss://venue.example/ws"').venue.capabilities).toMatchObject({
      ticker: true,
      accountFeed: false,
    });
  });
});
