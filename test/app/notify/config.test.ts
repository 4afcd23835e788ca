import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/app/config/config.ts';
import type { LoadedConfig } from '../../../src/app/config/config.ts';
import { commandFiles, secretsOf } from '../../../src/app/notify/notify-config.ts';
import type { NotifyConfig } from '../../../src/app/notify/notify-config.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { guarded } from '../../custody/watch.ts';
import { NINE } from '../../operate/notify/notices.ts';
import { aFolder } from '../../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

type Env = Readonly<Record<string, string>>;

function load(notify: string, env: Env = {}): LoadedConfig {
  const indented = notify.trim().replaceAll('\n', '\n    ');
  writeFileSync(join(folder, 'desk.yaml'), `strategies: []\noperate:\n  notify:\n    ${indented}\n`);
  return loadConfig('desk.yaml', { env, cwd: folder, now: NINE });
}

const notifyOf = (text: string, env: Env = {}): NotifyConfig | undefined =>
  load(text, env).config.operate?.notify;

function refusal(notify: string, env: Env = {}): string {
  try {
    load(notify, env);
  } catch (error) {
    if (error instanceof OperatorError && error.exit === 'config') return error.message;
    throw error;
  }
  return 'was accepted';
}

function secretFile(name: string, content: string, mode = 0o600): void {
  writeFileSync(join(folder, name), content);
  chmodSync(join(folder, name), mode);
}

const ALL = `
dashboard: https://desk.example:8321/
channels:
  - name: chat
    webhook: { format: slack, url: "\${SLACK}" }
  - name: audit
    webhook: { format: json, url_file: token-hook.url, key_file: token-hook.key }
    severity: warning
  - name: mail
    smtp: { host: mail.example, user: desk, password_file: token-mail.password, from: desk@example.com, to: [ann@example.com] }
  - name: pager
    command: { run: [./page, --now] }
heartbeat: { url: "\${BEAT}" }
`;
const SLACK = 'https://hooks.example/services/T0/B0/secretsecret';
const BEAT = 'https://beat.example/ping?uuid=0123456789';

describe('operate.notify', () => {
  beforeEach(() => {
    secretFile('token-hook.url', `https://hook.example/in?sig=abcdefgh\n`);
    secretFile('token-hook.key', 'the-key-of-the-hook\n');
    secretFile('token-mail.password', 'the password of mail\n');
    secretFile('page', '#!/bin/sh\n', 0o700);
    for (const secret of ['/services/T0/B0/secretsecret', 'the-key-of-the-hook', 'the password of mail']) guarded(secret); // prettier-ignore
  });

  it('reads channels with their secrets from files and variables, and applies defaults', () => {
    const notify = notifyOf(ALL, { SLACK, BEAT });
    expect(notify).toMatchObject({
      dashboard: 'https://desk.example:8321',
      channels: [
        { name: 'chat', way: 'webhook', format: 'slack', severity: 'info' },
        { name: 'audit', way: 'webhook', format: 'json', severity: 'warning' },
        { name: 'mail', way: 'smtp', port: 465, tls: 'implicit', user: 'desk' },
        { name: 'pager', way: 'command', run: [join(folder, 'page'), '--now'] },
      ],
    }); // prettier-ignore
    expect(secretsOf(notify).map((secret) => secret.reveal())).toEqual([
      SLACK,
      'https://hook.example/in?sig=abcdefgh',
      'the-key-of-the-hook',
      'the password of mail',
      BEAT,
    ]);
    expect(JSON.stringify(notify)).not.toContain('secret');
    expect(commandFiles(notify)).toEqual([join(folder, 'page')]);
  });

  it('has the same hash with other secrets, so that the hash in the journal does not help to guess them', () => {
    const { hash } = load(ALL, { SLACK, BEAT });
    expect(load(ALL, { SLACK: `${SLACK}2`, BEAT: `${BEAT}2` }).hash).toBe(hash);
    expect(load(ALL.replace('severity: warning', 'severity: critical'), { SLACK, BEAT }).hash).not.toBe(hash);
  });

  it('rejects a secret in plain text and does not show it', () => {
    const text = refusal(
      `channels: [{ name: chat, webhook: { format: slack, url: "https://hooks.example/in-plain-sight" } }]`,
    );
    expect(text).toContain('write it as "${NAME}" and set that variable, or write url_file');
    expect(text).not.toContain('in-plain-sight');
  });

  it.each([
    ['an address that is not encrypted', 'channels: [{ name: chat, webhook: { format: json, url: "${U}" } }]', 'http:// is not encrypted'],
    ['an address with a password', 'channels: [{ name: chat, webhook: { format: json, url: "${P}" } }]', 'an address must not contain a user or password'],
    ['a file that others can read', 'channels: [{ name: chat, webhook: { format: json, url_file: token-open.url } }]', 'run "chmod 600'],
    ['a missing address', 'channels: [{ name: chat, webhook: { format: json } }]', 'the address is missing'],
    ['an address given twice', 'channels: [{ name: chat, webhook: { format: json, url: "${OK}", url_file: token-hook.url } }]', 'not both'],
    ['a channel without a transport', 'channels: [{ name: chat }]', 'needs exactly one of webhook, smtp and command'],
    ['a channel with two transports', 'channels: [{ name: chat, webhook: { format: json, url: "${OK}" }, command: { run: [./page] } }]', 'exactly one'],
    ['two channels with one name', 'channels: [{ name: a, command: { run: [./page] } }, { name: a, command: { run: [./page] } }]', 'two channels have the name a'],
    ['mail that leaves this machine in plain text', 'channels: [{ name: m, smtp: { host: mail.example, tls: none, from: a@b.c, to: [a@b.c] } }]', 'must be encrypted'],
    ['a user without a password', 'channels: [{ name: m, smtp: { host: mail.example, user: a, from: a@b.c, to: [a@b.c] } }]', 'both user and password'],
    ['a recipient that adds a header', 'channels: [{ name: m, smtp: { host: mail.example, from: a@b.c, to: ["a@b.c>\\r\\nBcc: <x@y.z"] } }]', 'expected a mail address'],
    ['a missing program', 'channels: [{ name: c, command: { run: [./nothing] } }]', 'there is no such file'],
    ['an unknown severity', 'channels: [{ name: c, severity: high, command: { run: [./page] } }]', 'severity'],
    ['a heartbeat without an address', 'heartbeat: {}', 'the address is missing'],
  ])('rejects %s', (_, notify, words) => {
    secretFile('token-open.url', SLACK, 0o644);
    const env = { U: 'http://hook.example/in', P: 'https://u:p@hook.example/in', OK: SLACK };
    expect(refusal(notify, env)).toContain(words);
  }); // prettier-ignore

  it('accepts a systemd credential that a group can read', () => {
    secretFile('token-slack', SLACK, 0o440);
    const text = 'channels: [{ name: chat, webhook: { format: slack, url_file: token-slack } }]';
    expect(refusal(text)).toContain('chmod 600');
    expect(notifyOf(text, { CREDENTIALS_DIRECTORY: folder })?.channels).toHaveLength(1);
  });
});
