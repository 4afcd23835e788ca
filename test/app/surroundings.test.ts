import { describe, expect, it } from 'vitest';
import { hardeningProblems, refuseUnhardened } from '../../src/app/daemon/process-hardening.ts';
import { aFolder } from '../support/folder.ts';
import { finish } from '../system/support/program.ts';
import { aLiveText, aTwapText } from './support/texts.ts';

const clean = { env: { PATH: '/bin', NODE_ENV: 'production' }, nodeOptions: [], debuggerUrl: undefined };

/** The names of what is dangerous in an environment, unless it is allowed. */
const dangers = (
  around: Partial<Parameters<typeof hardeningProblems>[0]>,
  allowed: string[] = [],
): string[] => hardeningProblems({ ...clean, ...around }, allowed).map(({ name }) => name);

describe('the environment of live mode', () => {
  it('is accepted without dangerous variables and options, with any variable that Node does not read', () => {
    const harmless = '--max-old-space-size=512 --disable-warning="a b"';
    const foreign = {
      CURL_CA_BUNDLE: '/tmp/ca.pem',
      npm_config_cafile: '/tmp/ca.pem',
      HTTPS_PROXY: 'http://proxy',
    };
    for (const around of [
      {},
      { env: { NODE_OPTIONS: harmless, NODE_PATH: '', NODE_TLS_REJECT_UNAUTHORIZED: '1' } },
      { env: { ...foreign, REQUESTS_CA_BUNDLE: '/tmp/ca.pem', TZDIR: '/tmp' } },
      { nodeOptions: ['--disable-sigusr1', '--disable-proto=throw'] },
    ])
      expect(dangers(around)).toEqual([]);
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
    const env = { [name]: value };
    expect(dangers({ env })).toEqual([name.toUpperCase()]);
    expect(dangers({ env }, [name.toUpperCase()])).toEqual([]);
    expect(dangers({ env }, ['PATH'])).toHaveLength(1);
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
    '--tls-min-v1.1',
    '--env-file=.env',
    '--experimental-config-file=x.json',
    '--experimental-default-config-file',
    '--disable-proto=x',
  ])('is refused with the option %s unless that option is allowed', (option) => {
    const [name = ''] = dangers({ nodeOptions: [option] });
    expect([name !== '', option.startsWith(name)]).toEqual([true, true]);
    expect(dangers({ nodeOptions: [option] }, [name])).toEqual([]);
  });

  it('is refused with an unknown option or variable of Node', () => {
    const nodeOptions = ['--from-a-later-node=1', '--max_old_space_size=512', '--tls-min-v1.3'];
    const env = { NODE_LATER: 'x', LD_AUDIT: '/tmp/x.so', SSL_CERT_DIR: '/tmp', EDITOR: 'vi' };
    expect(dangers({ nodeOptions, env })).toEqual([
      'NODE_LATER',
      'LD_AUDIT',
      'SSL_CERT_DIR',
      '--from-a-later-node',
    ]);
  });

  it('is refused, and allowed, by the name of an option alone if its value follows after a space', () => {
    const nodeOptions = ['--import', './hook.js', '-r', 'x'];
    expect(dangers({ nodeOptions })).toEqual(['--import', '-r']);
    expect(dangers({ nodeOptions }, ['--import', '-r'])).toEqual([]);
  });

  it('is refused with a debugger that was opened in another way', () => {
    expect(dangers({ debuggerUrl: 'ws://127.0.0.1:9229/x' })).toHaveLength(1);
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
  it.each([
    ['--import', ['--import', './hook.mjs'], {}],
    ['SSL_CERT_FILE', [], { SSL_CERT_FILE: '/tmp/ca.pem' }],
    ['NODE_COMPILE_CACHE', [], { NODE_COMPILE_CACHE: '/tmp/never-made-here' }],
  ] as const)('does not start with %s and names the setting to allow it', async (name, flags, env) => {
    const cwd = aFolder({
      'hook.mjs': '',
      token: 'a-token',
      'desk.yaml': aLiveText(
        'base_url: "http://127.0.0.1:1", token_file: ./token',
        'journal: "memory:"\noperate: false\nstrategies: ./strategies\n',
      ),
      'strategies/a.yaml': aTwapText(),
    });
    const { code, stderr } = await finish(['run', '--config', 'desk.yaml'], { cwd, env, flags });
    expect(stderr).toContain(`  ${name}: `);
    expect(stderr).toContain('set allow_environment: [');
    expect(code).toBe(78);
  });
});
