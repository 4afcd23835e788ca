import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/app/config/config.ts';
import type { Config } from '../../src/app/config/config.ts';
import { readCredential, readSystemdToken, readTokenFile } from '../../src/app/config/credential.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { instant } from '../../src/core/time.ts';
import { aFolder } from '../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const TOKEN = 'canary-c0ffee-token';

const fileOf = (content: string, mode = 0o600, name = 'token'): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
};

/** Returns the config with this venue, or its problems as printed. */
function load(venue: readonly string[], env: Readonly<Record<string, string>> = {}): Config | string {
  const lines = ['mode: dry_run', 'venue:', ...venue.map((line) => `  ${line}`), 'strategies: []', ''];
  writeFileSync(join(folder, 'desk.yaml'), lines.join('\n'));
  try {
    return loadConfig('desk.yaml', { env, cwd: folder, now: instant(0) }).config;
  } catch (error) {
    if (error instanceof OperatorError && error.exit === 'config') return error.message;
    throw error;
  }
}

const tokenOf = (config: Config | string): string | undefined =>
  typeof config === 'string' ? config : config.venue.token?.reveal();
const sourceOf = (config: Config | string): string | undefined =>
  typeof config === 'string' ? config : config.venue.tokenSource;

describe('a token file', () => {
  it('is accepted if only its owner can access it', () => {
    expect(readTokenFile(fileOf(`${TOKEN}\n`))).toEqual({ text: TOKEN });
  });

  it.each([0o640, 0o604, 0o620, 0o602, 0o644, 0o660, 0o666])('is rejected with mode %o', (mode) => {
    expect(readTokenFile(fileOf(TOKEN, mode))).toEqual({
      problem: expect.stringContaining('chmod 600') as string,
    });
  });

  it('is rejected if it is a symbolic link', () => {
    symlinkSync(fileOf(TOKEN), join(folder, 'link'));
    expect(readTokenFile(join(folder, 'link'))).toEqual({
      problem: expect.stringContaining('name the file itself') as string,
    });
  });

  it('is rejected if it is a folder, a device, missing or too large', () => {
    expect(readTokenFile(folder)).toHaveProperty('problem');
    expect(readTokenFile('/dev/zero')).toHaveProperty('problem');
    expect(readTokenFile(join(folder, 'nothing'))).toHaveProperty('problem');
    expect(readTokenFile(fileOf('x'.repeat(70_000)))).toHaveProperty('problem');
  });

  // Only root can change the owner of a file.
  it.runIf(process.getuid?.() === 0)('is rejected if it belongs to another user', async () => {
    const { chownSync } = await import('node:fs');
    const path = fileOf(TOKEN);
    chownSync(path, 12_345, 12_345);
    expect(readTokenFile(path)).toEqual({
      problem: expect.stringContaining('belongs to another user') as string,
    });
  });
});

describe('a venue token', () => {
  it('without an origin may be sent to any configured address', () => {
    expect(readCredential(TOKEN)).toMatchObject({ origins: undefined });
  });

  it.each([
    '',
    '{}',
    '{',
    `{"token":"${TOKEN}"}`,
    `{"origin":"https://v.example"}`,
    `{"origin":"nonsense","token":"${TOKEN}"}`,
    `{"origin":[],"token":"${TOKEN}"}`,
    `{"origin":"file:///x","token":"${TOKEN}"}`,
    `{"origin":"https://v.example","token":"two words"}`,
    `{"origin":"https://v.example","token":"${TOKEN}","more":1}`,
    `{"origin":"https://v.example","token":5}`,
  ])('is not read from %s, and the problem does not show it', (text) => {
    const read = readCredential(text);
    expect(read).toHaveProperty('problem');
    expect(JSON.stringify(read)).not.toContain(TOKEN);
  });

  it('with an origin is sent to that address', () => {
    fileOf(JSON.stringify({ origin: 'https://venue.example', token: TOKEN }));
    const lines = [
      'base_url: "https://venue.example/api"',
      'ws_url: "wss://venue.example/ws"',
      'token_file: token',
    ];
    expect(tokenOf(load(lines))).toBe(TOKEN);
  });

  it('with several origins is sent to each', () => {
    const origin = ['https://api.venue.example', 'wss://ws.venue.example'];
    fileOf(JSON.stringify({ origin, token: TOKEN }));
    const lines = [
      'base_url: "https://api.venue.example"',
      'ws_url: "wss://ws.venue.example/ws"',
      'token_file: token',
    ];
    expect(tokenOf(load(lines))).toBe(TOKEN);
  });

  it.each([
    ['another host', 'base_url: "https://evil.example"'],
    ['a host that only starts with its name', 'base_url: "https://venue.example.evil.example"'],
    ['another port', 'base_url: "https://venue.example:8443"'],
    ['an address of this machine', 'base_url: "http://127.0.0.1:1"'],
    ['another WebSocket host', 'base_url: "https://venue.example", ws_url: "wss://evil.example/ws"'],
  ])('with an origin is not sent to %s', (_what, address) => {
    fileOf(JSON.stringify({ origin: 'https://venue.example', token: TOKEN }));
    const printed = load([...address.split(', '), 'token_file: token']);
    expect(printed).toContain('the token is bound to https://venue.example');
    expect(printed).not.toContain(TOKEN);
  });

  it('keeps its origin if it comes from the environment', () => {
    const env = { TRANCHE_TOKEN: JSON.stringify({ origin: 'https://venue.example', token: TOKEN }) };
    expect(tokenOf(load(['base_url: "https://venue.example"'], env))).toBe(TOKEN);
    expect(load(['base_url: "https://evil.example"'], env)).toContain(
      'must not be sent to https://evil.example',
    );
  });

  it('reports its source: file, environment or config', () => {
    fileOf(TOKEN);
    const address = 'base_url: "https://venue.example"';
    expect(sourceOf(load([address, 'token_file: token']))).toBe('file');
    expect(sourceOf(load([address], { TRANCHE_TOKEN: TOKEN }))).toBe('environment');
    expect(sourceOf(load([address, 'token: "${T}"'], { T: TOKEN }))).toBe('environment');
    expect(sourceOf(load(['base_url: "http://127.0.0.1:1"', `token: ${TOKEN}`]))).toBe('config');
  });
});

describe('the systemd credentials folder', () => {
  it('takes precedence over the environment, but not over the config', () => {
    const given = join(folder, 'credentials');
    mkdirSync(given);
    fileOf('token-of-systemd', 0o400, 'credentials/tranche_token');
    const env = { CREDENTIALS_DIRECTORY: given, TRANCHE_TOKEN: TOKEN };
    const address = 'base_url: "https://venue.example"';
    expect(tokenOf(load([address], env))).toBe('token-of-systemd');
    fileOf('token-of-file');
    expect(tokenOf(load([address, 'token_file: token'], env))).toBe('token-of-file');
  });

  it('may contain a token readable by its group, but not by others', () => {
    const given = join(folder, 'credentials');
    mkdirSync(given);
    fileOf(TOKEN, 0o440, 'credentials/tranche_token');
    expect(readSystemdToken(given)).toEqual({ text: TOKEN });
    fileOf(TOKEN, 0o444, 'credentials/tranche_token');
    expect(readSystemdToken(given)).toHaveProperty('problem');
  });

  it('provides no token if it contains none', () => {
    expect([readSystemdToken(undefined), readSystemdToken(''), readSystemdToken(folder)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
