import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/app/config/config.ts';
import type { LoadedConfig } from '../../../src/app/config/config.ts';
import { commandFiles, secretsOf } from '../../../src/app/notify/notify-config.ts';
import type { NotifyConfig } from '../../../src/app/notify/notify-config.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { guarded } from '../../custody/watch.ts';
import { NINE } from '../../operate/notify/notices.ts';
import { aFolder, put } from '../../support/folder.ts';

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

type Env = Readonly<Record<string, string>>;

function load(notify: string, env: Env = {}): LoadedConfig {
  const indented = notify.trim().replaceAll('\n', '\n    ');
  put(folder, { 'desk.yaml': `strategies: []\noperate:\n  notify:\n    ${indented}\n` });
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

const secretFile = (name: string, content: string, mode?: number): void => {
  put(folder, { [name]: content }, mode);
};

const ALL = `
dashboard: https://desk.example:8321/
channels:
  - { name: chat, type: webhook, format: slack, url_file: token-chat.url, severity: warning }
  - { name: mail, type: smtp, url_file: token-mail.url, from: desk@example.com, to: [ann@example.com] }
  - { name: pager, type: command, run: [./page, --now] }
heartbeat: { url_file: token-beat.url }
`;
const SLACK = 'https://hooks.example/services/T0/B0/secretsecret';
const MAIL = 'smtps://desk:the-password-of-mail@mail.example';
const BEAT = 'https://beat.example/ping?uuid=0123456789';

const hook = (url = 'chat'): string =>
  `channels: [{ name: a, type: webhook, format: json, url_file: token-${url}.url }]`;
const mailBy = (url: string, to = 'a@b.c'): string =>
  `channels: [{ name: m, type: smtp, url_file: token-${url}.url, from: a@b.c, to: ["${to}"] }]`;
const page = '{ name: a, type: command, run: [./page] }';

describe('operate.notify', () => {
  beforeEach(() => {
    secretFile('token-chat.url', `${SLACK}\n`);
    secretFile('token-mail.url', `${MAIL}\n`);
    secretFile('token-beat.url', `${BEAT}\n`);
    secretFile('page', '#!/bin/sh\n', 0o700);
    for (const secret of ['/services/T0/B0/secretsecret', 'the-password-of-mail']) guarded(secret);
  });

  it('reads channels with their secrets from files, and applies defaults', () => {
    const notify = notifyOf(ALL);
    expect(notify).toMatchObject({
      dashboard: 'https://desk.example:8321',
      channels: [
        { name: 'chat', type: 'webhook', format: 'slack', severity: 'warning' },
        { name: 'mail', type: 'smtp', severity: 'info', to: ['ann@example.com'] },
        { name: 'pager', type: 'command', run: [join(folder, 'page'), '--now'] },
      ],
    }); // prettier-ignore
    expect(secretsOf(notify).map((secret) => secret.reveal())).toEqual([SLACK, MAIL, BEAT]);
    expect(JSON.stringify(notify)).not.toContain('secret');
    expect(commandFiles(notify)).toEqual([join(folder, 'page')]);
  });

  it('has the same hash with other secrets, so that the hash in the journal does not help to guess them', () => {
    const { hash } = load(ALL);
    secretFile('token-chat.url', `${SLACK}2`);
    expect(load(ALL).hash).toBe(hash);
    expect(load(ALL.replace('severity: warning', 'severity: critical')).hash).not.toBe(hash);
  });

  it.each([
    ['an address that is not encrypted', hook('plain'), 'http:// is not encrypted'],
    ['an address with a password', hook('login'), 'an address must not contain a user or password'],
    ['a file that others can read', hook('open'), 'run "chmod 600'],
    ['a channel without a type', 'channels: [{ name: chat }]', 'type'],
    ['two channels with one name', `channels: [${page}, ${page}]`, 'two channels have the name a'],
    ['mail that leaves this machine in plain text', mailBy('relay'), 'must be encrypted'],
    ['mail with other options of the library', mailBy('options'), 'remove the ? or #'],
    ['a user without a password', mailBy('user'), 'both user and password'],
    ['a web address for mail', mailBy('chat'), 'expected an address such as smtps://'],
    ['a recipient that adds a header', mailBy('mail', 'a@b.c>\\r\\nBcc: <x@y.z'), 'expected a mail address'],
    ['a missing program', 'channels: [{ name: c, type: command, run: [./nothing] }]', 'there is no such file'],
    ['an unknown severity', `channels: [${page.replace('name: a', 'name: a, severity: high')}]`, 'severity'],
    ['a heartbeat without an address', 'heartbeat: {}', 'url_file'],
  ])('rejects %s', (_, notify, words) => {
    secretFile('token-open.url', SLACK, 0o644);
    secretFile('token-plain.url', 'http://hook.example/in');
    secretFile('token-login.url', 'https://u:p@hook.example/in');
    secretFile('token-relay.url', 'smtp://mail.example?ignoreTLS=true');
    secretFile('token-options.url', 'smtp://mail.example?logger=true');
    secretFile('token-user.url', 'smtp://user@mail.example');
    expect(refusal(notify)).toContain(words);
  }); // prettier-ignore

  it('accepts a systemd credential that a group can read', () => {
    secretFile('token-chat.url', SLACK, 0o440);
    expect(refusal(hook())).toContain('chmod 600');
    expect(notifyOf(hook(), { CREDENTIALS_DIRECTORY: folder })?.channels).toHaveLength(1);
  });
});
