import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { guideCode } from '../docs/module-guide.ts';
import { aDesk, aFolder } from './support/desk.ts';
import { twapOf } from './support/drill.ts';
import { anInstallation } from './support/installation.ts';
import { finish, ROOT, start } from './support/program.ts';
import { aVenueProcess } from './support/venue.ts';

const UNIT = join(ROOT, 'packaging/systemd/tranche.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

const NO_SYSTEMD = 'systemd-analyze is not installed: it comes with the package systemd of Debian';

describe('the package', () => {
  it('contains only the program, its configs, documentation and packaging files', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json'], { cwd: ROOT, encoding: 'utf8' });
    const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = files.map(({ path }) => path);
    const wanted =
      /^(?:(?:bin|dist|src|config|strategies|docs|packaging)\/|(?:LICENSE|package\.json|sbom\.cdx\.json|[A-Z]+\.md)$)/u;
    expect(paths.filter((path) => !wanted.test(path))).toEqual([]);
    expect(
      paths.filter((path) =>
        /(?<!back|policy-|notify-)test(?!ing\.(?:d\.ts|js|ts)$)|\.env|token$|\.pem$|\.key$|\.db$|\.log$/iu.test(
          path,
        ),
      ),
    ).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        'bin/tranche.js',
        'dist/main.js',
        'dist/bundle/main.cjs',
        'dist/bundle/LICENSES.txt',
        'dist/strategy/sdk.d.ts',
        'dist/strategy/testing.d.ts',
        'dist/strategy/testing.js',
        'src/main.ts',
        'LICENSE',
        'SECURITY.md',
      ]),
    );
  });

  it('runs no script at installation, except those that find Node and build the dashboard', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const run = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'postprepare'];
    expect(run.filter((name) => name in scripts)).toEqual([]);
    const node = '"${npm_node_execpath:-node}"'; // oxlint-disable-line no-template-curly-in-string -- a shell reads it
    expect(scripts['prepare']).toBe(`${node} scripts/link-node.js && node scripts/prepare.js`);
  });
});

describe('the installed package', () => {
  it('runs, and provides types and helpers to a kernel in the folder of a user', async () => {
    const folder = anInstallation(aFolder());
    writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    mkdirSync(join(folder, 'strategies'));
    writeFileSync(join(folder, 'strategies/dip-buyer.ts'), guideCode('dip-buyer.ts'));
    writeFileSync(
      join(folder, 'strategies/dip-buyer.yaml'),
      guideCode('dip-buyer.yaml').replace('PT1M', 'PT1S'),
    );
    writeFileSync(
      join(folder, 'desk.yaml'),
      'mode: paper\njournal: "sqlite:./journal.db"\noperate: { listen: "127.0.0.1:0" }\nstrategies: ./strategies\n',
    );
    const bin = join(folder, 'node_modules/tranche/bin/tranche.js');
    const daemon = start(['run', '--json', '--config', 'desk.yaml'], { cwd: folder, program: bin });
    await daemon.event('wake', { count: 3 });
    daemon.signal('SIGTERM');
    expect((await daemon.ended()).code).toBe(0);
    expect(daemon.eventsOf('wake').map(({ reason }) => reason)).not.toContain('strategy_failed');
    const verified = await finish(['journal', 'verify', 'sqlite:./journal.db'], {
      cwd: folder,
      program: bin,
    });
    expect(verified).toMatchObject({ code: 0, stderr: '' });

    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--skipLibCheck',
      'false',
      '--types',
      '',
    ];
    const types = spawnSync(tsc, [...options, 'strategies/dip-buyer.ts'], { cwd: folder, encoding: 'utf8' });
    expect([types.status, types.stdout]).toEqual([0, '']);
    const wrong = guideCode('dip-buyer.ts').replace('view.left', 'view.rest');
    writeFileSync(join(folder, 'strategies/dip-buyer.ts'), wrong);
    const found = spawnSync(tsc, [...options, 'strategies/dip-buyer.ts'], { cwd: folder, encoding: 'utf8' });
    expect(found.stdout).toContain("Property 'rest' does not exist on type 'View'");
    // The tests of a user import it like any other package.
    const helpers =
      "import { quantity, text } from 'tranche/strategy'; process.stdout.write(text(quantity('0.10')));";
    const own = spawnSync(process.execPath, ['--input-type=module', '-e', helpers], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([own.stdout, own.stderr]).toEqual(['0.1', '']);
  });
});

describe('the systemd unit', () => {
  it('is valid for systemd', (ctx) => {
    if (!hasSystemd) return ctx.skip(NO_SYSTEMD);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
    // If the program is not installed, the only permitted message is that it is missing.
    const said = stderr.split('\n').filter((line) => line !== '' && !line.includes('is not executable'));
    expect({ said, isFine: status === 0 || stderr !== '' }).toEqual({ said: [], isFine: true });
  });

  it('has an exposure level of at most 2.0 in systemd-analyze', (ctx) => {
    if (!hasSystemd) return ctx.skip(NO_SYSTEMD);
    const { stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', UNIT],
      { encoding: 'utf8' },
    );
    // The level is between 0 (no exposure) and 10. Above 2.0, a restriction was removed.
    const exposure = /Overall exposure level for \S+: (?<level>\d+\.\d)/u.exec(stdout)?.groups?.['level'];
    expect({ stderr, isLow: Number(exposure ?? 10) <= 2 }).toEqual({ stderr: '', isLow: true });
  });

  it('restricts the rights of its service', () => {
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
    expect(unit).toMatch(/\nRestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX\n/u);
    expect(unit).not.toContain('TRANCHE_TOKEN');
  });

  it('receives the token of a desk as a systemd credential, and limits repeated restarts', () => {
    const unit = readFileSync(UNIT, 'utf8');
    expect(unit).toMatch(/\nLoadCredential=tranche_token:/u);
    expect(unit).toMatch(/\nStartLimitBurst=\d+\n/u);
  });

  it('starts the program with Node options that it supports', async () => {
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
  it.each<[string, Readonly<Record<string, string>>, (readonly string[])?]>([
    ['NODE_OPTIONS', { NODE_OPTIONS: '--use-openssl-ca' }],
    ['NODE_TLS_REJECT_UNAUTHORIZED', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
    ['NODE_USE_ENV_PROXY', { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:9' }],
    ['--inspect', {}, ['--inspect=127.0.0.1:0']],
  ])('does not start with %s', async (name, env, flags = []) => {
    const desk = aDesk({
      venue: { baseUrl: 'http://127.0.0.1:9', token: 'canary-never-sent' },
      strategies: [twapOf({ id: 'btc', slices: 2, everyMs: 1_000 })],
    });
    const options = { cwd: desk.folder, env: { TRANCHE_TOKEN: desk.token, ...env }, flags };
    const ran = await finish(['run', '--config', 'desk.yaml'], options);
    expect(ran.code).toBe(78);
    expect(ran.stderr).toContain(`  ${name}: `);
    expect(ran.stderr).not.toContain(desk.token);
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
