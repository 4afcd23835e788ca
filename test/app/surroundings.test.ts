import { describe, expect, it } from 'vitest';
import { hardeningProblems, refuseUnhardened } from '../../src/app/daemon/process-hardening.ts';

const clean = { env: { PATH: '/bin', NODE_ENV: 'production' }, nodeOptions: [], debuggerUrl: undefined };

describe('the surroundings of live mode', () => {
  it('are good when nothing dangerous is set', () => {
    expect(hardeningProblems(clean, [])).toEqual([]);
    expect(
      hardeningProblems(
        { ...clean, env: { NODE_OPTIONS: '', HTTPS_PROXY: '', NODE_TLS_REJECT_UNAUTHORIZED: '1' } },
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
    ['NODE_EXTRA_CA_CERTS', '/tmp/ca.pem'],
    ['SSLKEYLOGFILE', '/tmp/keys'],
    ['HTTP_PROXY', 'http://evil.example'],
    ['https_proxy', 'http://evil.example'],
    ['ALL_PROXY', 'socks://evil.example'],
    ['NODE_USE_ENV_PROXY', '1'],
  ])('are refused with %s=%s, unless that is allowed by name', (name, value) => {
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
  ])('are refused with the option %s', (option) => {
    const around = { ...clean, nodeOptions: [option], debuggerUrl: undefined };
    const [danger] = hardeningProblems(around, []);
    expect(hardeningProblems(around, [danger?.name ?? ''])).toEqual([]);
    expect(option.startsWith(danger?.name ?? 'none')).toBe(true);
  });

  it('are refused with a debugger that was opened another way', () => {
    expect(hardeningProblems({ ...clean, debuggerUrl: 'ws://127.0.0.1:9229/x' }, [])).toHaveLength(1);
  });

  it('are told all at once, with the way to allow them, and without their values', () => {
    const env = { HTTPS_PROXY: 'http://user:secret@proxy', NODE_OPTIONS: '--require x' };
    const start = (): void => {
      refuseUnhardened({ ...clean, env }, []);
    };
    expect(start).toThrow(
      expect.objectContaining({
        exit: 'config',
        message: expect.stringMatching(
          /NODE_OPTIONS: .*\n.*HTTPS_PROXY: [\s\S]*allow_environment: \["NODE_OPTIONS", "HTTPS_PROXY"\]/u,
        ) as string,
      }),
    );
    expect(start).not.toThrow(/secret/u);
  });
});
