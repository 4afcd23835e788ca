import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { aDesk, aFolder } from './support/desk.ts';
import { twapOf } from './support/drill.ts';
import { finish, ROOT, start } from './support/program.ts';
import { aVenueProcess } from './support/venue.ts';

const UNIT = join(ROOT, 'packaging/tranche.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the package', () => {
  it('holds what runs and what explains it, and nothing else', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json'], { cwd: ROOT, encoding: 'utf8' });
    const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = files.map(({ path }) => path);
    const wanted =
      /^(?:(?:bin|src|config|strategies|docs|packaging)\/|(?:LICENSE|package\.json|sbom\.cdx\.json|[A-Z]+\.md)$)/u;
    expect(paths.filter((path) => !wanted.test(path))).toEqual([]);
    expect(paths.filter((path) => /test|\.env|token$|\.pem$|\.key$|\.db$|\.log$/iu.test(path))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining(['bin/tranche.js', 'src/main.ts', 'LICENSE', 'SECURITY.md']),
    );
  });

  it('runs no script when it is installed, but the one that finds Node', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const run = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'postprepare'];
    expect(run.filter((name) => name in scripts)).toEqual([]);
    expect(scripts['prepare']).toBe('node scripts/link-node.js');
  });
});

describe('the systemd unit', () => {
  it.runIf(hasSystemd)('is understood by systemd', () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
    // Where the program is not installed, that it is not there is all that may be said.
    const said = stderr.split('\n').filter((line) => line !== '' && !line.includes('is not executable'));
    expect({ said, isFine: status === 0 || stderr !== '' }).toEqual({ said: [], isFine: true });
  });

  it('keeps a service from what it does not need', () => {
    const unit = readFileSync(UNIT, 'utf8');
    for (const line of [
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'PrivateTmp=yes',
      'LimitCORE=0',
      'UMask=0077',
    ])
      expect(unit).toContain(`\n${line}\n`);
    expect(unit).toMatch(/\nLoadCredential=tranche_token:/u);
    expect(unit).toMatch(/\nRestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX\n/u);
    expect(unit).toMatch(/\nStartLimitBurst=\d+\n/u);
    expect(unit).not.toContain('TRANCHE_TOKEN');
  });

  it('starts the program with options of Node under which it runs', async () => {
    const [, options = ''] =
      /\nExecStart=\S+ (?<options>(?:--\S+ )+)/u.exec(readFileSync(UNIT, 'utf8')) ?? [];
    const venue = await aVenueProcess([], aFolder());
    const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 2, everyMs: 1_000 })] });
    const flags = options.trim().split(' ');
    expect(flags.length).toBeGreaterThan(1);
    const daemon = start(['run', '--config', 'desk.yaml', '--json', '--until-done'], {
      cwd: desk.folder,
      env: { TRANCHE_TOKEN: venue.token },
      flags,
    });
    expect((await daemon.ended()).code).toBe(0);
    expect(daemon.eventsOf('fill').length).toBeGreaterThan(0);
  });
});

describe('a live desk', () => {
  it.each([
    ['NODE_OPTIONS', { NODE_OPTIONS: '--no-warnings' }],
    ['NODE_TLS_REJECT_UNAUTHORIZED', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'http://127.0.0.1:9' }],
  ])('does not start beside %s', async (name, env) => {
    const desk = aDesk({
      venue: { baseUrl: 'http://127.0.0.1:9', token: 'canary-never-sent' },
      strategies: [twapOf({ id: 'btc', slices: 2, everyMs: 1_000 })],
    });
    const ran = await finish(['run', '--config', 'desk.yaml'], {
      cwd: desk.folder,
      env: { TRANCHE_TOKEN: desk.token, ...env },
    });
    expect(ran.code).toBe(78);
    expect(ran.stderr).toContain(`  ${name}: `);
    expect(ran.stderr).not.toContain(desk.token);
  });

  it('does not start in a debugger', async () => {
    const desk = aDesk({
      venue: { baseUrl: 'http://127.0.0.1:9', token: 'canary-never-sent' },
      strategies: [twapOf({ id: 'btc', slices: 2, everyMs: 1_000 })],
    });
    const ran = await finish(['run', '--config', 'desk.yaml'], {
      cwd: desk.folder,
      env: { TRANCHE_TOKEN: desk.token },
      flags: ['--inspect=127.0.0.1:0'],
    });
    expect(ran.code).toBe(78);
    expect(ran.stderr).toContain('  --inspect: ');
  });

  it('opens no debugger at SIGUSR1', async () => {
    const venue = await aVenueProcess([], aFolder());
    const desk = aDesk({ venue, strategies: [twapOf({ id: 'btc', slices: 9, everyMs: 1_000 })] });
    const daemon = desk.run('--json');
    await daemon.event('ready');
    daemon.signal('SIGUSR1');
    await sleep(1_000);
    expect(daemon.stderr).not.toContain('Debugger listening');
    expect(daemon.hasEnded).toBe(false);
  });
});
