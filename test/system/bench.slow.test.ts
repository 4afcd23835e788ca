import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/program.ts';

/** Environment variables that live mode refuses, or that slow down every Node process. */
const STRANGE = {
  NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
  NODE_OPTIONS: '--use-openssl-ca',
  SSL_CERT_FILE: '/nowhere/certificates.pem',
  SSL_CERT_DIR: '/nowhere',
  HTTPS_PROXY: 'http://127.0.0.1:9',
};

describe('a benchmark', () => {
  it('runs with any certificates and Node options in the environment', { timeout: 240_000 }, () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'bench/start.ts'), '--rounds', '1', '--json'],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...STRANGE } },
    );
    const found = /^\{.*\}$/mu.exec(stdout)?.[0] ?? `nothing measured: ${stderr}`;
    expect(JSON.parse(found)).toMatchObject({ bench: 'start' });
    const { results } = JSON.parse(found) as { readonly results: Readonly<Record<string, number>> };
    for (const figure of Object.values(results)) expect(figure).toBeGreaterThan(0);
  });
});
