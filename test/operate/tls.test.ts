import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instant } from '../../src/core/time.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { startOperate } from '../../src/operate/server.ts';
import type { TlsIdentity } from '../../src/operate/server.ts';
import { anIdentity } from '../venue/certificates.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/tranche.js');
const authority = anIdentity({ name: 'an authority', isAuthority: true });
const own = anIdentity({ name: 'a desk', by: authority });

async function serve(tls: TlsIdentity): Promise<string> {
  const metrics = createMetrics({ version: '1', mode: 'paper', desk: 'main', now: () => instant(0) });
  const options = { listen: '127.0.0.1:0', version: '1', metrics, ready: () => [], tls };
  const operate = await startOperate(options);
  onTestFinished(async () => {
    await operate.close();
    metrics.close();
  });
  return operate.url;
}

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
  const folderOf = (operate: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-tls-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    mkdirSync(join(folder, 'strategies'));
    writeFileSync(join(folder, 'strategies/a.yaml'), 'id: a\nkind: twap\npair: btcusd\nside: buy\ntotal_quantity: { amount: "0.1", currency: btc }\nduration: PT1H\nslices: 4\n'); // prettier-ignore
    writeFileSync(join(folder, 'desk.yaml'), `mode: paper\njournal: "sqlite:./desk.db"\nstrategies: ./strategies\noperate: ${operate}\n`); // prettier-ignore
    writeFileSync(join(folder, 'key.pem'), own.key, { mode: 0o600 });
    writeFileSync(join(folder, 'cert.pem'), own.cert);
    writeFileSync(join(folder, 'ca.pem'), authority.cert);
    return folder;
  };
  const tls = 'tls: { key_file: key.pem, certificate_file: cert.pem, client_ca_file: ca.pem }';
  const env = { PATH: process.env['PATH'] ?? '' };

  it('serves the network encrypted without allow_network, and local commands on loopback', async () => {
    const cwd = folderOf(`{ listen: "0.0.0.0:0", ${tls} }`);
    const args = [PROGRAM, 'run', '--json', '--config', 'desk.yaml'];
    const desk = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(async () => {
      desk.kill('SIGKILL');
      if (desk.exitCode === null && desk.signalCode === null) await once(desk, 'exit');
    });
    let url = '';
    for await (const line of createInterface(desk.stdout)) {
      url = /"operate_url":"(?<url>[^"]+)"/u.exec(line)?.groups?.['url'] ?? '';
      if (url !== '') break;
    }
    expect(url).toMatch(/^https:\/\/0\.0\.0\.0:\d+$/u);
    const { key, cert } = anIdentity({ name: 'a client', by: authority });
    const here = url.replace('0.0.0.0', '127.0.0.1');
    expect(await ask(here, { ca: authority.cert, key, cert })).toBe(200);
    const status = spawnSync(process.execPath, [PROGRAM, 'status', '--config', 'desk.yaml'], { cwd, env, encoding: 'utf8', timeout: 30_000 }); // prettier-ignore
    expect(status.stderr).toBe('');
    expect(status.status).toBe(0);
  });

  it.skipIf(process.platform === 'win32')('refuses a key file that other users can read', () => {
    const cwd = folderOf(`{ listen: "127.0.0.1:0", ${tls} }`);
    rmSync(join(cwd, 'key.pem'));
    writeFileSync(join(cwd, 'key.pem'), own.key, { mode: 0o644 });
    const ran = spawnSync(process.execPath, [PROGRAM, 'run', '--config', 'desk.yaml'], { cwd, env, encoding: 'utf8', timeout: 30_000 }); // prettier-ignore
    expect(ran.stderr).toContain('operate.tls.key_file: ');
    expect(ran.stderr).toContain('other users of this machine can read or change it');
    expect(ran.status).toBe(78);
  });
});
