import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anEvent, twapOf, watched } from './support/drill.ts';
import { expectNoToken, expectWholeJournal } from './support/checks.ts';
import { aDesk, aFolder } from './support/desk.ts';
import { finish, programFor, ROOT, start } from './support/program.ts';
import { aServedVenue } from './support/venue.ts';

const TOKEN = 'canary-mistakes-4fd2088e';
const isRoot = process.getuid?.() === 0;
/** The user id of nobody, who has no rights. */
const NOBODY = 65_534;
const plan = twapOf({ id: 'btc', slices: 3, everyMs: 3_000 });

describe('an invalid command line', () => {
  it.each([
    { args: ['rnu'], says: /unknown command 'rnu'[\s\S]*Did you mean run\?/u },
    { args: ['run', '--until-don'], says: /unknown option '--until-don'[\s\S]*Did you mean --until-done\?/u },
    { args: ['run', '--mode', 'papr'], says: /papr[\s\S]*paper, dry_run, live/u },
    { args: ['venue', '--port', 'many'], says: /--port <port>[\s\S]*whole number/u },
    { args: ['venue', '--start', 'monday'], says: /--start: expected a time with its zone/u },
    { args: ['venue', '--speed', '1e9'], says: /--speed: Too big/u },
    { args: ['venue', '--host', ''], says: /--host <address>[\s\S]*such as 127\.0\.0\.1/u },
    { args: ['venue', '--prices', 'btcusd'], says: /expected PAIR=FILE/u },
    { args: ['journal', 'verifi', 'x.db'], says: /unknown command 'verifi'[\s\S]*Did you mean verify\?/u },
    { args: ['journal', 'export', '--kind', 'filz', 'x.db'], says: /expected all or one of/u },
    { args: ['schema', 'confg'], says: /there is no schema "confg"/u },
    { args: ['run', '--config', 'nowhere.yaml'], says: /nowhere\.yaml/u, exit: 78 },
  ])('causes an exit code and an explanation: $args', async ({ args, says, exit = 64 }) => {
    const cwd = aFolder();
    writeFileSync(join(cwd, 'x.db'), '');
    const { code, stdout, stderr } = await finish(args, { cwd });
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^\s+at /mu);
  });
});

describe('output that cannot be written', () => {
  // A device that is always full.
  const FULL = '/dev/full';

  it.for([
    { args: ['schema', 'report'] },
    { args: ['run', '--help'] },
    { args: ['validate', '--config', join(ROOT, 'config/paper.yaml')] },
  ])('causes exit code 74 and a message: $args', ({ args }, context) => {
    if (!existsSync(FULL)) context.skip(`there is no ${FULL} on this system`);
    const printed = openSync(FULL, 'w');
    onTestFinished(() => {
      closeSync(printed);
    });
    const { status, stderr } = spawnSync(process.execPath, [programFor([]), ...args], {
      cwd: aFolder(),
      stdio: ['ignore', printed, 'pipe'],
      encoding: 'utf8',
    });
    expect(stderr).toContain('output is incomplete: ENOSPC');
    expect(status).toBe(74);
  });

  it('causes exit code 74 also if a part of it was written', (context) => {
    if (process.platform === 'win32') context.skip('there is no ulimit on this system');
    const cwd = aFolder();
    const cut = 'ulimit -f 16 && exec "$0" "$@" > printed.json';
    const command = [process.execPath, join(ROOT, 'bin/tranche.js'), 'schema', 'report'];
    const { status, stderr } = spawnSync('sh', ['-c', cut, ...command], {
      cwd,
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
      encoding: 'utf8',
    });
    expect(readFileSync(join(cwd, 'printed.json')).length).toBeGreaterThan(0);
    expect(stderr.match(/output is incomplete: EFBIG/gu)).toHaveLength(1);
    expect(status).toBe(74);
  });
});

describe('the output to a terminal', () => {
  it.for([
    { term: 'xterm', coded: true },
    { term: 'dumb', coded: false },
  ])('has colours only if the terminal supports them: $term', ({ term, coded }, context) => {
    // Its -e gives the exit code of the command; without a terminal of its own nothing is coded.
    const command = `env -u NO_COLOR TERM=${term} "${process.execPath}" "${join(ROOT, 'bin/tranche.js')}" validate none.yaml`;
    const { status, stdout, error } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: aFolder(),
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    });
    if (error !== undefined || process.platform !== 'linux') context.skip('there is no script of util-linux');
    expect(status).toBe(78);
    expect(stdout).toContain('there is no such file');
    expect(stdout.includes('\u001B[')).toBe(coded);
  });
});

describe('a config or strategy with a misspelled name', () => {
  it.each([
    { where: 'desk.yaml', wrong: '"sell_path"', written: '"sell_paht"', says: 'sell_paht' },
    { where: 'strategies/btc.yaml', wrong: '"twap"', written: '"twp"', says: 'twp' },
    { where: 'strategies/btc.yaml', wrong: '"slices"', written: '"slcies"', says: 'slcies' },
    { where: 'strategies/btc.yaml', wrong: '"btcusd"', written: '"btcuds"', says: 'btcuds' },
  ])(
    'causes exit code 78 and an error with its position: $written',
    async ({ where, wrong, written, says }) => {
      const venue = await aServedVenue(TOKEN);
      const desk = aDesk({ venue, strategies: [plan] });
      const file = join(desk.folder, where);
      writeFileSync(file, readFileSync(file, 'utf8').replace(wrong, written));
      const daemon = desk.run();
      expect(await daemon.ended()).toEqual({ code: 78, signal: null });
      expect(daemon.stderr).toContain(says);
      expect(daemon.stderr).toMatch(new RegExp(`${where.replaceAll('.', '\\.')}:\\d+:\\d+`, 'u'));
      expect(daemon.stderr).toContain('^');
      expectNoToken(desk);
    },
  );
});

describe('a daemon in a faulty environment', () => {
  it.each<[string, number, string, () => Promise<Partial<Parameters<typeof aDesk>[0]>>]>([
    [
      'the venue refuses the token',
      69,
      'the venue refuses the token',
      async () => ({ venue: { ...(await aServedVenue('another-token-5a')), token: TOKEN } }),
    ],
    [
      'another program uses the port of its metrics',
      69,
      'the port is in use',
      async () => ({ config: { operate: { listen: new URL((await aServedVenue(TOKEN)).baseUrl).host } } }),
    ],
    [
      'the path of its journal cannot be a file',
      74,
      'taken',
      async () => {
        const taken = join(aFolder(), 'taken');
        await writeFile(taken, 'a file, not a folder');
        return { config: { journal: `sqlite:${taken}/journal.db` } };
      },
    ],
  ])(
    'exits without a trade, and prints only JSON on stdout with --json, if %s: code %i',
    async (_, exit, says, setup) => {
      const seen = watched();
      const desk = aDesk({
        venue: await aServedVenue(TOKEN, {}, seen.hooks),
        strategies: [plan],
        ...(await setup()),
      });
      const daemon = desk.run('--json');
      expect(await daemon.ended()).toEqual({ code: exit, signal: null });
      expect(daemon.stderr).toContain(says);
      expect(daemon.stderr).not.toMatch(/^\s+at /mu);
      expect(daemon.events().every(anEvent)).toBe(true);
      expect(seen.orderCount()).toBe(0);
      expectNoToken(desk);
    },
  );

  it('stops cleanly on SIGTERM while the venue is down at the start', async () => {
    const desk = aDesk({
      venue: { baseUrl: `http://127.0.0.1:1`, wsUrl: 'ws://127.0.0.1:1/ws', token: TOKEN },
      strategies: [plan],
    });
    const daemon = desk.run();
    await daemon.said('venue does not respond; retrying');
    daemon.signal('SIGTERM');
    expect(await daemon.ended()).toEqual({ code: 0, signal: null });
    await expectWholeJournal(desk);
    expect((await desk.records()).at(-1)).toMatchObject({ kind: 'stopped', why: 'SIGTERM' });
    expectNoToken(desk);
  });

  it('exits with code 74 if the folder of its journal is not writable', async () => {
    const venue = await aServedVenue(TOKEN);
    const folder = join(aFolder(), 'read-only');
    mkdirSync(folder);
    const desk = aDesk({ venue, strategies: [plan], config: { journal: `sqlite:${folder}/journal.db` } });
    // The superuser can write everywhere, so the daemon runs as another user.
    for (const each of [folder, dirname(folder), desk.folder]) chmodSync(each, 0o555);
    const daemon = start(['run', '--config', 'desk.yaml'], {
      cwd: desk.folder,
      env: { TRANCHE_TOKEN: TOKEN },
      ...(isRoot ? { uid: NOBODY } : {}),
    });
    expect(await daemon.ended()).toEqual({ code: 74, signal: null });
    expect(daemon.stderr).toContain('read-only');
    expect(daemon.stderr).not.toMatch(/^\s+at /mu);
    for (const each of [folder, dirname(folder), desk.folder]) chmodSync(each, 0o755);
  });
});
