import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../../../src/app/daemon/post-outside.ts';
import { Secret } from '../../../src/app/config/secret.ts';
import { command, mail, webhook } from '../../../src/app/notify/channels.ts';
import type { MailChannel } from '../../../src/app/notify/channels.ts';
import { Undelivered } from '../../../src/operate/notify/channel.ts';
import { guarded } from '../../custody/watch.ts';
import { aMessage } from '../../operate/notify/notices.ts';
import { anIdentity } from '../../venue/certificates.ts';
import { receiver } from './receiver.ts';
import { resolvingTo } from './resolver.ts';
import { smtpServer } from './smtp-server.ts';
import { aFolder, put } from '../../support/folder.ts';

async function failureOf(sending: Promise<void>): Promise<Undelivered> {
  const error: unknown = await sending.catch((failure: unknown) => failure);
  if (error instanceof Undelivered) return error;
  throw new TypeError('it was delivered, or failed otherwise', { cause: error });
}

describe('the webhook channel', () => {
  it('sends nothing unencrypted to another machine, whatever its name resolves to', async () => {
    onTestFinished(resolvingTo('192.0.2.1'));
    const asked = exchange('http://localhost:8999/hook', { method: 'GET', timeoutMs: 5_000 });
    await expect(asked).rejects.toMatchObject({
      cause: { message: 'localhost is not an address of this machine' },
    });
  });

  it('sends JSON with the key of the message', async () => {
    const server = await receiver();
    const url = new Secret(`${server.url}/hook?sig=abc`);
    await webhook({ type: 'webhook', format: 'json', url })(aMessage());
    const [post] = server.posts;
    expect(post?.path).toBe('/hook?sig=abc');
    expect(post?.headers['idempotency-key']).toBe('k1');
    expect(JSON.parse(post?.body ?? '')).toMatchObject({
      key: 'k1',
      desk: 'main',
      kind: 'venue_unreachable',
    });
  });

  it('reports the status of a failure, but never its address', async () => {
    const server = await receiver();
    guarded('/services/secret-path-of-slack');
    const url = new Secret(`${server.url}/services/secret-path-of-slack`);
    const send = webhook({ type: 'webhook', format: 'slack', url });
    server.answer = { status: 429 };
    expect((await failureOf(send(aMessage()))).message).toBe('status 429');
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
  const options = (url: string): MailChannel => ({
    type: 'smtp',
    url: new Secret(url),
    from: 'desk@example.com',
    to: ['ann@example.com', 'ben@example.com'],
    ca: authority.cert,
  });

  it('sends one plain-text message to all recipients, over TLS with a login, and derives its id from the key', async () => {
    guarded('password-of-mail');
    for (const isImplicit of [true, false]) {
      const server = await smtpServer({ identity, isImplicit });
      const scheme = isImplicit ? 'smtps' : 'smtp';
      await mail(options(`${scheme}://desk:password-of-mail@127.0.0.1:${server.port}`))(aMessage());
      const [got] = server.mails;
      expect(got).toMatchObject({ to: ['ann@example.com', 'ben@example.com'], isEncrypted: true, login: 'desk:password-of-mail' }); // prettier-ignore
      expect(got?.text).toContain('Message-ID: <k1@tranche.invalid>');
      expect(got?.text).toContain('Content-Type: text/plain');
      expect(got?.text).toContain('Subject: main (paper): critical: the venue has not responded for 30');
    }
  });

  it('sends neither login nor text to a server without TLS', async () => {
    const server = await smtpServer();
    const failure = await failureOf(
      mail(options(`smtp://desk:pw-of-mail@127.0.0.1:${server.port}`))(aMessage()),
    );
    expect(failure.message).toMatch(/^the mail server did not accept the message \(E/u);
    expect(server.lines.filter((line) => /^(?:AUTH|MAIL|DATA)/u.test(line))).toEqual([]);
  });

  it('sends without encryption only where the URL says so', async () => {
    const server = await smtpServer();
    await mail(options(`smtp://127.0.0.1:${server.port}?ignoreTLS=true`))(aMessage());
    expect(server.mails).toMatchObject([{ isEncrypted: false }]);
  });

  it('rejects a server with an untrusted certificate', async () => {
    const stranger = anIdentity({ name: 'a mail server' });
    const server = await smtpServer({ identity: stranger, isImplicit: true });
    expect((await failureOf(mail(options(`smtps://127.0.0.1:${server.port}`))(aMessage()))).message).toContain('the mail server did not accept the message'); // prettier-ignore
    expect(server.mails).toEqual([]);
  });

  it('reports a rejection without the text of the server, which may repeat the login', async () => {
    guarded('wrong-password');
    const server = await smtpServer({ identity, isImplicit: true });
    const wrong = options(`smtps://desk:wrong-password@127.0.0.1:${server.port}`);
    const failure = await failureOf(mail(wrong)(aMessage()));
    expect(failure.message).toBe('the mail server did not accept the message (EAUTH, answer 535)');
    expect(failure.cause).toBeUndefined();
  });
});

describe('the command channel', () => {
  function program(script: string): { readonly file: string; readonly out: string } {
    const folder = aFolder();
    const out = join(folder, 'out');
    put(folder, { page: `#!/bin/sh\n${script.replaceAll('OUT', out)}\n` }, 0o700);
    return { file: join(folder, 'page'), out };
  }

  it('passes the message as JSON on stdin, with unmodified arguments and without secret variables', async () => {
    const { file, out } = program('cat > OUT; echo "$1 [$SECRET]" >> OUT');
    const env = { PATH: process.env['PATH'], SECRET: 'x' };
    await command({ type: 'command', run: [file, '$(id) ; x'] }, env)(aMessage());
    const [json = '', args] = readFileSync(out, 'utf8').split('\n');
    expect(JSON.parse(json)).toMatchObject({ key: 'k1', severity: 'critical' });
    expect(args).toBe('$(id) ; x []');
  });

  it('reports the exit code of the command and kills it after the timeout', async () => {
    for (const [file, message] of [
      [program('exit 3').file, 'the command ended with exit code 3'],
      [program('exec sleep 60').file, 'the command did not finish within 1000 ms'],
      ['/nowhere/page', 'the command cannot be run (ENOENT)'],
    ] as const) {
      const send = command({ type: 'command', run: [file] }, { PATH: process.env['PATH'] }, 1_000);
      expect(await failureOf(send(aMessage()))).toMatchObject({ message });
    }
  });
});
