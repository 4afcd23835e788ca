import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/app/config/secret.ts';
import { command } from '../../../src/app/notify/command.ts';
import { mail } from '../../../src/app/notify/mail.ts';
import type { MailOptions } from '../../../src/app/notify/mail.ts';
import { signatureOf, webhook } from '../../../src/app/notify/webhook.ts';
import { Undelivered } from '../../../src/operate/notify/channel.ts';
import { guarded } from '../../custody/watch.ts';
import { NINE, aMessage } from '../../operate/notify/notices.ts';
import { anIdentity } from '../../venue/certificates.ts';
import { receiver } from './receiver.ts';
import { smtpServer } from './smtp-server.ts';
import { aFolder } from '../../support/folder.ts';

const clock = { wall: () => NINE };

async function failureOf(sending: Promise<void>): Promise<Undelivered> {
  try {
    await sending;
  } catch (error) {
    if (error instanceof Undelivered) return error;
    throw error;
  }
  throw new TypeError('it was delivered');
}

describe('the webhook channel', () => {
  it('sends JSON with the key of the message and a signature over time and body', async () => {
    const server = await receiver();
    const key = new Secret('key-of-the-webhook');
    guarded('key-of-the-webhook');
    const url = new Secret(`${server.url}/hook?sig=abc`);
    await webhook({ format: 'json', url, key }, clock)(aMessage());
    const [post] = server.posts;
    expect(post?.path).toBe('/hook?sig=abc');
    expect(post?.headers['idempotency-key']).toBe('k1');
    expect(post?.headers['x-tranche-signature']).toBe(signatureOf('key-of-the-webhook', NINE / 1_000, post?.body ?? '')); // prettier-ignore
    expect(JSON.parse(post?.body ?? '')).toMatchObject({
      key: 'k1',
      desk: 'main',
      kind: 'venue_unreachable',
    });
  });

  it('reports the status and the retry delay of a failure, but never its address', async () => {
    const server = await receiver();
    guarded('/services/secret-path-of-slack');
    const url = new Secret(`${server.url}/services/secret-path-of-slack`);
    const send = webhook({ format: 'slack', url, key: undefined }, clock);
    server.answer = { status: 429, headers: { 'retry-after': '7' } };
    expect(await failureOf(send(aMessage()))).toMatchObject({ message: 'status 429', waitMs: 7_000, isRefused: false }); // prettier-ignore
    server.answer = { status: 400 };
    expect(await failureOf(send(aMessage()))).toMatchObject({ message: 'status 400', isRefused: true });
    server.answer = { status: 302, headers: { location: '/services/secret-path-of-slack' } };
    expect((await failureOf(send(aMessage()))).message).toBe('it redirects, and redirects are not followed');
    server.close();
    const gone = await failureOf(send(aMessage()));
    expect(gone.message).toMatch(/^no answer \((?:ECONNREFUSED|UND_ERR_SOCKET)\)$/u);
    expect(gone.cause).toBeUndefined();
  });
});

describe('the mail channel', () => {
  const authority = anIdentity({ name: 'an authority', isAuthority: true });
  const identity = anIdentity({ name: 'a mail server', by: authority });
  const options = (differs: Partial<MailOptions>): MailOptions => ({
    host: '127.0.0.1',
    port: 0,
    tls: 'implicit',
    user: 'desk',
    password: new Secret('password-of-mail'),
    from: 'desk@example.com',
    to: ['ann@example.com', 'ben@example.com'],
    ca: authority.cert,
    ...differs,
  });

  it('sends one plain-text message to all recipients, over TLS with a login, and derives its id from the key', async () => {
    guarded('password-of-mail');
    for (const isImplicit of [true, false]) {
      const server = await smtpServer({ identity, isImplicit });
      await mail(options({ port: server.port, tls: isImplicit ? 'implicit' : 'starttls' }))(aMessage());
      const [got] = server.mails;
      expect(got).toMatchObject({ to: ['ann@example.com', 'ben@example.com'], isEncrypted: true, login: 'desk:password-of-mail' }); // prettier-ignore
      expect(got?.text).toContain('Message-ID: <k1@tranche.invalid>');
      expect(got?.text).toContain('Content-Type: text/plain');
      expect(got?.text).toContain('Subject: main (paper): critical: the venue has not responded for 30');
    }
  });

  it('sends neither login nor text to a server without TLS', async () => {
    const server = await smtpServer();
    const failure = await failureOf(mail(options({ port: server.port, tls: 'starttls' }))(aMessage()));
    expect(failure.message).toMatch(/^the mail server did not accept the message \(E/u);
    expect(server.lines.filter((line) => /^(?:AUTH|MAIL|DATA)/u.test(line))).toEqual([]);
  });

  it('rejects a server with an untrusted certificate', async () => {
    const stranger = anIdentity({ name: 'a mail server' });
    const server = await smtpServer({ identity: stranger, isImplicit: true });
    expect((await failureOf(mail(options({ port: server.port }))(aMessage()))).message).toContain('the mail server did not accept the message'); // prettier-ignore
    expect(server.mails).toEqual([]);
  });

  it('reports a rejection without the text of the server, which may repeat the login', async () => {
    guarded('wrong-password');
    const server = await smtpServer({ identity, isImplicit: true });
    const wrong = options({ port: server.port, password: new Secret('wrong-password') });
    const failure = await failureOf(mail(wrong)(aMessage()));
    expect(failure.message).toBe('the mail server did not accept the message (EAUTH, answer 535)');
    expect(failure.cause).toBeUndefined();
  });
});

describe('the command channel', () => {
  function program(script: string): { readonly file: string; readonly out: string } {
    const folder = aFolder();
    const file = join(folder, 'page');
    writeFileSync(file, `#!/bin/sh\n${script.replaceAll('OUT', join(folder, 'out'))}\n`);
    chmodSync(file, 0o700);
    return { file, out: join(folder, 'out') };
  }

  it('passes the message as JSON on stdin, with unmodified arguments and without secret variables', async () => {
    const { file, out } = program('cat > OUT; echo "$1 [$SECRET]" >> OUT');
    const env = { PATH: process.env['PATH'], SECRET: 'x' };
    await command({ run: [file, '$(id) ; x'] }, env)(aMessage());
    const [json = '', args] = readFileSync(out, 'utf8').split('\n');
    expect(JSON.parse(json)).toMatchObject({ key: 'k1', severity: 'critical' });
    expect(args).toBe('$(id) ; x []');
  });

  it('reports the exit code of the command and kills it after the timeout', async () => {
    const failing = program('exit 3');
    expect((await failureOf(command({ run: [failing.file] }, {})(aMessage()))).message).toBe('the command ended with exit code 3'); // prettier-ignore
    const slow = program('exec sleep 60');
    expect((await failureOf(command({ run: [slow.file] }, { PATH: process.env['PATH'] }, 100)(aMessage()))).message).toBe('the command did not finish within 100 ms'); // prettier-ignore
    expect((await failureOf(command({ run: ['/nowhere/page'] }, {})(aMessage()))).message).toBe('the command cannot be run (ENOENT)'); // prettier-ignore
  });
});
