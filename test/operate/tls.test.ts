import { chmodSync } from 'node:fs';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TlsIdentity } from '../../src/operate/server.ts';
import { aTwapText } from '../app/support/texts.ts';
import { aFolder } from '../support/folder.ts';
import { operating } from '../support/operate.ts';
import { finish, start } from '../system/support/program.ts';
import { anIdentity } from '../venue/certificates.ts';

const authority = anIdentity({ name: 'an authority', isAuthority: true });
const own = anIdentity({ name: 'a desk', by: authority });
const serve = async (tls: TlsIdentity): Promise<string> => (await operating({ tls })).url;

/** The status of the answer, or the code of the error. */
const ask = async (url: string, options: RequestOptions): Promise<unknown> =>
  await new Promise((resolve) => {
    request(`${url}/healthz`, { agent: false, ...options }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', (error) => {
        resolve('code' in error ? error.code : error.message);
      })
      .end();
  });

describe('the operate server with operate.tls', () => {
  it('encrypts with the certificate of the desk and requires TLS 1.2', async () => {
    const url = await serve({ key: own.key, cert: own.cert, clientCa: undefined });
    expect(url).toMatch(/^https:/u);
    expect(await ask(url, { ca: authority.cert })).toBe(200);
    expect(await ask(url, {})).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    expect(await ask(url, { ca: authority.cert, ...old })).toBe('EPROTO');
  });

  it('accepts only clients with a certificate of client_ca_file, if it is set', async () => {
    const url = await serve({ key: own.key, cert: own.cert, clientCa: authority.cert });
    const ca = authority.cert;
    const client = anIdentity({ name: 'a client', by: authority });
    const strange = anIdentity({ name: 'a client' });
    expect(await ask(url, { ca, key: client.key, cert: client.cert })).toBe(200);
    expect(await ask(url, { ca })).not.toBe(200);
    expect(await ask(url, { ca, key: strange.key, cert: strange.cert })).not.toBe(200);
  });

  it('does not start if the key does not match the certificate', async () => {
    const { key } = anIdentity();
    await expect(serve({ key, cert: own.cert, clientCa: undefined })).rejects.toThrow(
      'operate.tls: key and certificate cannot be used',
    );
  });
});

describe('a desk with operate.tls', () => {
  const folderOf = (listen: string): string =>
    aFolder({
      'strategies/a.yaml': aTwapText(),
      'desk.yaml': `mode: paper
journal: "sqlite:./desk.db"
strategies: ./strategies
operate: { listen: "${listen}", tls: { key_file: key.pem, certificate_file: cert.pem, client_ca_file: ca.pem } }
`,
      'key.pem': own.key,
      'cert.pem': own.cert,
      'ca.pem': authority.cert,
    });

  it('serves the network encrypted without allow_network, and local commands on loopback', async () => {
    const cwd = folderOf('0.0.0.0:0');
    const desk = start(['run', '--json', '--config', 'desk.yaml'], { cwd });
    const url = String((await desk.event('ready'))['operate_url']);
    expect(url).toMatch(/^https:\/\/0\.0\.0\.0:\d+$/u);
    const { key, cert } = anIdentity({ name: 'a client', by: authority });
    expect(await ask(url.replace('0.0.0.0', '127.0.0.1'), { ca: authority.cert, key, cert })).toBe(200);
    expect(await finish(['status', '--config', 'desk.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  it.skipIf(process.platform === 'win32')('refuses a key file that other users can read', async () => {
    const cwd = folderOf('127.0.0.1:0');
    chmodSync(join(cwd, 'key.pem'), 0o644);
    const ran = await finish(['run', '--config', 'desk.yaml'], { cwd });
    expect(ran.code).toBe(78);
    expect(ran.stderr).toMatch(
      /operate\.tls\.key_file: .*other users of this machine can read or change it/u,
    );
  });
});
