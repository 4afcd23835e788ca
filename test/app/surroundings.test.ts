import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { hardeningProblems, refuseUnhardened } from '../../src/app/daemon/process-hardening.ts';
import { aFolder } from '../support/folder.ts';

const clean = { env: { PATH: '/bin', NODE_ENV: 'production' }, nodeOptions: [], debuggerUrl: undefined };

const PROGRAM = join(import.meta.dirname, '../../bin/tranche.js');
const TWAP = `id: a
kind: twap
pair: btcusd
side: buy
total_quantity: { amount: "0.1", currency: btc }
duration: PT1H
slices: 4
`;
const LIVE = `mode: live
venue: { base_url: "http://127.0.0.1:1", token_file: ./token }
journal: "memory:"
operate: false
strategies: ./strategies
controls:
  max_order_quantity: { btcusd: "1" }
  max_order_notional: { amount: "1000", currency: usd }
  max_day_notional: { amount: "1000", currency: usd }
  collar_bps: 50
  pairs: [btcusd]
  sides: [buy]
`;

describe('the environment of live mode', () => {
  it('is accepted without dangerous variables and options', () => {
    expect(hardeningProblems(clean, [])).toEqual([]);
    expect(
      hardeningProblems(
        {
          ...clean,
          env: {
            NODE_OPTIONS: '--max-old-space-size=512 --disable-warning="a b"',
            NODE_PATH: '',
            NODE_TLS_REJECT_UNAUTHORIZED: '1',
          },
        },
        [],
      ),
    ).toEqual([]);
    expect(
      hardeningProblems({ ...clean, nodeOptions: ['--disable-sigusr1', '--disable-proto=throw'] }, []),
    ).toEqual([]);
  });

  it.each([
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
    ['NODE_OPTIONS', '--require ./x.js'],
    ['NODE_OPTIONS', '--max-old-space-size=512 "--require" "./a b.js"'],
    ['NODE_OPTIONS', '--use_openssl_ca'],
    ['node_extra_ca_certs', '/tmp/ca.pem'],
    ['DYLD_INSERT_LIBRARIES', '/tmp/x.dylib'],
    ['NODE_EXTRA_CA_CERTS', '/tmp/ca.pem'],
    ['NODE_USE_ENV_PROXY', '1'],
    ['SSL_CERT_FILE', '/tmp/ca.pem'],
    ['OPENSSL_CONF', '/dev/null'],
    ['LD_PRELOAD', '/nowhere.so'],
    ['NODE_USE_SYSTEM_CA', '1'],
  ])('is refused with %s=%s unless that variable is allowed by name', (name, value) => {
    const around = { ...clean, env: { [name]: value } };
    expect(hardeningProblems(around, []).map((danger) => danger.name)).toEqual([name.toUpperCase()]);
    expect(hardeningProblems(around, [name.toUpperCase()])).toEqual([]);
    expect(hardeningProblems(around, ['PATH'])).toHaveLength(1);
  });

  it.each([
    '--inspect',
    '--inspect=0.0.0.0:9229',
    '--inspect-brk',
    '--inspect-wait',
    '--tls-keylog=/tmp/k',
    '--use-env-proxy',
    '--heapsnapshot-signal=SIGUSR2',
    '--heap-prof',
    '--use-openssl-ca',
    '--use-system-ca',
    '--tls-min-v1.0',
  ])('is refused with the option %s unless that option is allowed', (option) => {
    const around = { ...clean, nodeOptions: [option], debuggerUrl: undefined };
    const [danger] = hardeningProblems(around, []);
    expect(hardeningProblems(around, [danger?.name ?? ''])).toEqual([]);
    expect(option.startsWith(danger?.name ?? 'none')).toBe(true);
  });

  it('may have any variable that Node does not read', () => {
    const env = { CURL_CA_BUNDLE: '/tmp/ca.pem', REQUESTS_CA_BUNDLE: '/tmp/ca.pem', npm_config_cafile: '/tmp/ca.pem', HTTPS_PROXY: 'http://proxy', TZDIR: '/tmp' }; // prettier-ignore
    expect(hardeningProblems({ ...clean, env }, [])).toEqual([]);
  });

  it('is refused with an unknown option or variable of Node', () => {
    const around = {
      ...clean,
      nodeOptions: ['--from-a-later-node=1', '--max_old_space_size=512', '--tls-min-v1.3'],
      env: { NODE_LATER: 'x', LD_AUDIT: '/tmp/x.so', SSL_CERT_DIR: '/tmp', EDITOR: 'vi' },
    };
    expect(hardeningProblems(around, []).map(({ name }) => name)).toEqual([
      'NODE_LATER',
      'LD_AUDIT',
      'SSL_CERT_DIR',
      '--from-a-later-node',
    ]);
  });

  it('is refused, and allowed, by the name of an option alone if its value follows after a space', () => {
    const around = { ...clean, nodeOptions: ['--import', './hook.js', '-r', 'x'] };
    expect(hardeningProblems(around, []).map(({ name }) => name)).toEqual(['--import', '-r']);
    expect(hardeningProblems(around, ['--import', '-r'])).toEqual([]);
  });

  it('is refused with option files and with disabled security options of Node', () => {
    const nodeOptions = ['--env-file=.env', '--experimental-config-file=x.json', '--experimental-default-config-file', '--tls-min-v1.1', '--disable-proto=x']; // prettier-ignore
    expect(hardeningProblems({ ...clean, nodeOptions }, [])).toHaveLength(nodeOptions.length);
  });

  it('is refused with a debugger that was opened in another way', () => {
    expect(hardeningProblems({ ...clean, debuggerUrl: 'ws://127.0.0.1:9229/x' }, [])).toHaveLength(1);
  });

  it('is refused with all problems at once and the setting to allow them, without their values', () => {
    const env = { NODE_OPTIONS: '--require secret', NODE_EXTRA_CA_CERTS: '/secret/ca.pem' };
    const start = (): void => {
      refuseUnhardened({ ...clean, env }, []);
    };
    expect(start).toThrow(
      expect.objectContaining({
        exit: 'config',
        message: expect.stringMatching(
          /NODE_OPTIONS: .*\n.*NODE_EXTRA_CA_CERTS: [\s\S]*allow_environment: \["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS"\]/u,
        ) as string,
      }),
    );
    expect(start).not.toThrow(/secret/u);
  });
});

describe('the program in live mode', () => {
  let folder = '';
  beforeEach(() => {
    folder = aFolder();
    mkdirSync(join(folder, 'strategies'), 0o700);
    writeFileSync(join(folder, 'hook.mjs'), '');
    writeFileSync(join(folder, 'token'), 'a-token');
    writeFileSync(join(folder, 'desk.yaml'), LIVE);
    writeFileSync(join(folder, 'strategies/a.yaml'), TWAP);
    for (const name of ['token', 'desk.yaml', 'strategies/a.yaml']) chmodSync(join(folder, name), 0o600);
  });
  const run = (options: readonly string[], env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [...options, PROGRAM, 'run', '--config', 'desk.yaml'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
      encoding: 'utf8',
      timeout: 60_000,
    });

  it.each([
    ['--import', ['--import', './hook.mjs'], {}],
    ['SSL_CERT_FILE', [], { SSL_CERT_FILE: '/tmp/ca.pem' }],
    ['NODE_COMPILE_CACHE', [], { NODE_COMPILE_CACHE: '/tmp/never-made-here' }],
  ] as const)('does not start with %s and names the setting to allow it', (name, options, env) => {
    const { status, stderr } = run(options, env);
    expect(stderr).toContain(`  ${name}: `);
    expect(stderr).toContain('set allow_environment: [');
    expect(status).toBe(78);
  });
});
