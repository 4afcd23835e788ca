import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { approvalsOf } from '../engine/approval-desk.ts';
import { writeControlFile } from '../../src/app/daemon/control-file.ts';
import { addControl } from '../../src/app/cli/control-cli.ts';
import { deskApi } from '../../src/app/desk-api/desk-api.ts';
import { quantity } from '../../src/core/money.ts';
import { SECOND_MS, instant, monotonic } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { setKillSwitch } from '../../src/engine/operator/operator-commands.ts';
import { haltFile } from '../../src/journal/sidecar/halt-file.ts';
import { takeLock } from '../../src/journal/sqlite/lock.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import type { Role } from '../../src/operate/access.ts';
import { GUARD_HEADER } from '../../src/operate/api/caller.ts';
import { EventStream } from '../../src/operate/events.ts';
import { createMetrics } from '../../src/operate/metrics.ts';
import { startOperate } from '../../src/operate/server.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import type { Bench, BenchOptions } from '../engine/harness.ts';
import { runLine } from './support/cli.ts';
import type { Ran } from './support/cli.ts';
import { aFolder } from '../support/folder.ts';

const TOKEN = 'token-of-this-machine';
/** A reserved port at which no process listens. */
const NOBODY = 'http://127.0.0.1:1';
/** A process that prints the name of a signal and continues. */
const STAND_IN = 'trap "echo SIGUSR2" USR2; echo ready; while :; do sleep 0.05; done';

const run = async (cwd: string, line: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  await runLine(addControl, line, { cwd, now: START, env: { USER: 'ann', ...env }, config: 'desk.yaml' });

interface Served {
  readonly bench: Bench;
  readonly folder: string;
  readonly url: string;
  readonly haltFile: string;
  /** Output of the process whose id is in the control file, after a signal. */
  readonly signalled: Promise<string>;
  readonly command: (...line: readonly string[]) => Promise<Ran>;
}

interface ServedOptions extends Partial<BenchOptions> {
  /** Token in the control file beside the journal; by default that of the desk. */
  readonly token?: string;
  /** Closes the API before the commands use it. */
  readonly isDeaf?: boolean;
}

/** A desk that has traded for five seconds, its API, and its control file. Another process stands in for it to take the signals. */
async function aServedDesk({ token = TOKEN, isDeaf = false, ...over }: ServedOptions = {}): Promise<Served> {
  const folder = aFolder();
  const journal = `sqlite:${join(folder, 'journal.db')}`;
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify({ desk: 'main', mode: 'live', journal }));
  const file = join(folder, 'journal.db.halt');
  const bench = aBench({ strategies: [aTwap('btc')], halt: haltFile(file), ...over });
  bench.start();
  bench.clock.run(instant(START + 5 * SECOND_MS));
  const metrics = createMetrics({ version: '1', mode: 'live', desk: 'main', now: () => START });
  const desk = deskApi(bench.desk, (command) => {
    if (command.do === 'halt') setKillSwitch(bench.desk, command);
    bench.operator$.next(command);
  });
  const bearers = (['viewer', 'operator', 'approver', 'admin'] as const).map((role: Role) => ({
    name: role === 'admin' ? 'local' : `${role}@desk`,
    role,
    kind: role === 'admin' ? ('machine' as const) : ('person' as const),
    token: { reveal: () => (role === 'admin' ? TOKEN : `token-of-a-${role}`) },
  }));
  const operate = await startOperate({
    listen: '127.0.0.1:0',
    version: '1',
    metrics,
    ready: () => [],
    api: { desk, events: new EventStream(), bearers, now: () => monotonic(0) },
  });
  const standIn = spawn('sh', ['-c', STAND_IN], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(standIn.stdout, 'data');
  // Another process may already use a port that was closed a moment ago.
  const url = isDeaf ? NOBODY : operate.url;
  // The commands accept only the process that holds the lock of the journal as its daemon.
  sqliteJournal(join(folder, 'journal.db')).close();
  const held = takeLock(join(folder, 'journal.db'));
  writeControlFile(journal, { url, token, pid: standIn.pid ?? 0, desk: 'main' });
  const signalled = once(standIn.stdout, 'data').then(String);
  if (isDeaf) await operate.close();
  onTestFinished(async () => {
    standIn.kill('SIGKILL');
    held?.release();
    metrics.close();
    if (!isDeaf) await operate.close();
  });
  return {
    bench,
    folder,
    url,
    haltFile: file,
    signalled,
    command: async (...line) => await run(folder, line),
  };
}

/** A folder with a config, without a daemon. */
function aQuietDesk(name = 'journal.db'): { readonly folder: string; readonly journal: string } {
  const folder = aFolder();
  const journal = `sqlite:${join(folder, name)}`;
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify({ mode: 'live', journal }));
  return { folder, journal };
}

const controls = ({ bench }: Served): readonly object[] =>
  bench
    .records()
    .map(({ body }) => body)
    .filter(({ kind }) => kind === 'control');

/** Each command with its required arguments. */
const commands: readonly (readonly string[])[] = [
  ['status'],
  ['pause'],
  ['resume'],
  ['rearm', '--why', 'w'],
  ['stop', 'btc', '--why', 'w'],
  ['run-now', 'btc', '--why', 'w'],
  ['doubts'],
  ['doubts', 'resolve', 'id', '--not-executed', '--evidence', 'e', '--by', 'ann', '--yes'],
  ['doubts', 'attribute', 'id', '--row', '7', '--ours', '--evidence', 'e', '--by', 'ann'],
];

describe.each(commands.map((line) => ({ name: line.join(' '), line })))('tranche $name', ({ line }) => {
  it('exits with 69 if no daemon runs, and names the journal', async () => {
    const folder = aFolder();
    writeFileSync(join(folder, 'desk.yaml'), '{"mode":"live","journal":"sqlite:/nowhere/journal.db"}');
    const { code, out, err } = await run(folder, line);
    expect([code, out]).toEqual([69, '']);
    expect(err).toContain('no daemon runs on the journal sqlite:/nowhere/journal.db');
  });

  it('exits with 69 if the daemon does not respond or has no API', async () => {
    const deaf = await aServedDesk({ isDeaf: true });
    expect(await deaf.command(...line)).toMatchObject({
      code: 69,
      out: '',
      err: expect.stringContaining('did not respond: ECONNREFUSED') as string,
    });
    writeControlFile(`sqlite:${join(deaf.folder, 'journal.db')}`, {
      token: TOKEN,
      pid: process.pid,
      desk: 'main',
    });
    const { code, err } = await deaf.command(...line);
    expect([code, err]).toEqual([69, expect.stringContaining('operate: false')]);
  });

  it('exits with 78 if its token is not that of the desk, and does not show it', async () => {
    const served = await aServedDesk({ token: 'token-of-another-desk' });
    const { code, out, err } = await served.command(...line);
    expect([code, out]).toEqual([78, '']);
    expect(err).toContain('the daemon refused the command: this desk does not know the bearer token');
    expect(err).not.toContain('token-of-another-desk');
    expect(controls(served)).toEqual([]);
  });

  it('takes the token for a remote API only from the environment', async () => {
    const { folder, url } = await aServedDesk();
    const none = await run(folder, [...line, '--url', url]);
    expect([none.code, none.err]).toEqual([78, expect.stringContaining('set TRANCHE_OPERATOR_TOKEN')]);
    const right = await run(folder, [...line, '--url', url], { TRANCHE_OPERATOR_TOKEN: TOKEN });
    expect([0, 75]).toContain(right.code);
  });

  it('exits with 78 without a config and names the ways to find the daemon', async () => {
    const { code, err } = await run(aFolder(), line);
    expect(code).toBe(78);
    expect(err).toContain('--config, or the journal with --journal');
  });

  it('exits with 64 for an unknown option or mode', async () => {
    const folder = aFolder();
    for (const wrong of [['--nonsense'], ['--mode', 'dead']])
      expect(await run(folder, [...line, ...wrong])).toMatchObject({ code: 64, out: '' });
  });
});

describe('tranche status', () => {
  it('prints the state of the desk as text, and as one line of JSON', async () => {
    const { command, bench } = await aServedDesk();
    const words = await command('status');
    expect(words).toMatchObject({ code: 0, err: '' });
    expect(words.out).toContain('desk main, paper, active');
    expect(words.out).toContain(`fills ${bench.desk.state.fills}; today`);
    const { code, out } = await command('status', '--json');
    expect([code, out.trim().split('\n')]).toEqual([0, [expect.any(String)]]);
    expect(JSON.parse(out)).toMatchObject({ desk: 'main', state: 'active', strategies: [{ id: 'btc' }] });
  });

  it('shows readiness, holdings, price ages and the next slice of each strategy, and sets the exit code on request', async () => {
    const { command } = await aServedDesk();
    const ready = await command('status', '--exit-code');
    expect(ready.code).toBe(0);
    expect(ready.out).toContain('ready to trade');
    expect(ready.out).toMatch(/^holds .*\d usd/mu);
    expect(ready.out).toMatch(/^price btcusd [\d,]+(?:\.\d+)?, \d+(?:\.\d)? s old \(probe\)$/mu);
    expect(ready.out).toMatch(
      /btc \(twap\) {2}traded 0\.1 of 1 btc; 1 of 10 slices over, next 2026-01-05T00:01:00/u,
    );
    await command('pause', '--why', 'lunch');
    const paused = await command('status', '--exit-code');
    expect(paused.code).toBe(75);
    expect(paused.out).toContain('not ready: paused: lunch');
    expect((await command('status')).code).toBe(0);
  });

  it('shows paused parts with the command to resume them, and the person and the reason of a halt', async () => {
    const { command } = await aServedDesk();
    await command('pause', '--pair', 'btcusd', '--why', 'spread');
    expect((await command('status')).out).toContain(
      'paused: pair btcusd: spread (tranche resume --pair btcusd)',
    );
    await command('halt', '--kill', '--why', 'wrong prices', '--by', 'bob');
    const { out } = await command('status');
    expect(out).toContain('halted');
    expect(out).toContain(': wrong prices (bob)');
    expect(out).toContain('stop it, then start it with tranche run --rearm');
  });

  it('accepts a journal instead of a config', async () => {
    const { folder } = await aServedDesk();
    const journal = join(folder, 'journal.db');
    for (const named of [journal, `sqlite:${journal}`])
      expect(await run(aFolder(), ['status', '--journal', named])).toMatchObject({ code: 0 });
  });
});

const local = { name: 'local', kind: 'machine' } as const;

describe('tranche pause, resume, stop and run-now', () => {
  it('pause and resume the desk and record the person and the reason in the journal', async () => {
    const served = await aServedDesk();
    expect(await served.command('pause', '--why', 'lunch')).toMatchObject({ code: 0, err: '' });
    expect(served.bench.desk.control).toBe('paused');
    const resumed = await served.command('resume', '--by', 'bob', '--json');
    expect([resumed.code, JSON.parse(resumed.out)]).toEqual([
      0,
      expect.objectContaining({ done: true, says: 'the desk is active', state: 'active' }),
    ]);
    expect(controls(served)).toEqual([
      { kind: 'control', state: 'paused', by: 'local (cli:ann)', why: 'lunch', token: local },
      { kind: 'control', state: 'active', by: 'local (bob)', why: 'tranche resume', token: local },
    ]);
  });

  it('pause the desk until a time that the response and the journal state', async () => {
    const served = await aServedDesk();
    const paused = await served.command('pause', '--for', 'PT30M', '--why', 'lunch');
    expect([paused.code, paused.out]).toEqual([0, expect.stringMatching(/the desk is paused until \d{4}-/u)]);
    expect(controls(served)).toMatchObject([
      { why: expect.stringMatching(/^lunch \(until /u) as string, until: expect.any(Number) as number },
    ]);
    const wrong = await served.command('pause', '--for', 'an hour');
    expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining('ISO 8601')]);
  });

  it('allow only orders that reduce a borrowed balance after pause --reducing, until a resume', async () => {
    const served = await aServedDesk();
    const reducing = await served.command('pause', '--reducing', '--why', 'unwind');
    expect(reducing).toMatchObject({
      code: 0,
      out: expect.stringContaining('the desk is reducing') as string,
    });
    expect(served.bench.desk.control).toBe('reducing');
    expect((await served.command('resume')).code).toBe(0);
    expect(served.bench.desk.control).toBe('active');
    expect(controls(served)).toMatchObject([
      { state: 'reducing', by: 'local (cli:ann)', why: 'unwind' },
      { state: 'active' },
    ]);
  });

  it('accept the name of a pair or strategy without its kind', async () => {
    const served = await aServedDesk();
    expect(await served.command('pause', 'btcusd', '--why', 'spread')).toMatchObject({ code: 0 });
    expect(await served.command('pause', 'btc', '--why', 'lunch')).toMatchObject({ code: 0 });
    expect(await served.command('resume', 'btcusd')).toMatchObject({ code: 0 });
    expect(controls(served)).toMatchObject([
      { state: 'paused', pair: 'btcusd' },
      { state: 'paused', strategy: 'btc' },
      { state: 'active', pair: 'btcusd' },
    ]);
    const wrong = await served.command('pause', 'btx');
    expect([wrong.code, wrong.out]).toEqual([75, expect.stringContaining('there is no open parent btx')]);
    expect((await served.command('pause', 'btc', '--pair', 'btcusd')).code).toBe(64);
  });

  it('stop one strategy permanently', async () => {
    const served = await aServedDesk();
    expect(await served.command('stop', 'btc', '--why', 'no longer wanted')).toMatchObject({ code: 0 });
    expect((await served.command('status')).out).toContain('finished: by_operator');
    expect((await served.command('stop', 'btc', '--why', 'again')).code).toBe(75);
    expect((await served.command('stop', 'btc')).code).toBe(64);
  });

  it('reject run-now for a strategy without occurrences', async () => {
    const served = await aServedDesk();
    const refused = await served.command('run-now', 'btc', '--why', 'the fund asks');
    expect(refused.code).toBe(75);
    expect(refused.out).toContain('btc cannot run now: a twap has no occurrence to run');
    expect((await served.command('run-now', 'btx', '--why', 'w')).out).toContain('no strategy btx runs');
    expect((await served.command('run-now', 'btc')).code).toBe(64);
  });

  it.each([
    [['pause', '--pair', 'nonsense'], 'there is no pair nonsense; there are btcusd'],
    [['pause', '--parent', 'nobody'], 'there is no open parent nobody'],
    [['resume', '--pair', 'btcusd'], 'pair:btcusd is not paused; nothing is'],
    [['pause', '--pair', 'btcusd', '--reducing'], 'reducing applies to the whole desk'],
    [['pause', '--pair', 'btcusd', '--parent', 'x'], 'name exactly one of parent, pair or strategy'],
    [['pause', '--strategy', 'nobody'], 'there is no strategy nobody; there are '],
    [['resume', '--strategy', 'btc'], 'strategy:btc is not paused'],
  ])('exit with 75 if the desk refuses: %s', async (line, says) => {
    const served = await aServedDesk();
    const { code, out } = await served.command(...line);
    expect([code, out]).toEqual([75, expect.stringContaining(says)]);
    const told = await served.command(...line, '--json');
    expect([told.code, JSON.parse(told.out)]).toEqual([75, expect.objectContaining({ done: false })]);
    expect(controls(served)).toEqual([]);
  });

  it('exit with 64 for a reason that is empty or longer than 500 characters', async () => {
    const served = await aServedDesk();
    for (const why of ['', ' ', 'x'.repeat(501)]) {
      const { code, err } = await served.command('pause', '--why', why);
      expect([code, err]).toEqual([64, '"why": expected a text of 1 to 500 characters']);
    }
    expect(controls(served)).toEqual([]);
  });

  it('do not lift a halt', async () => {
    const served = await aServedDesk();
    await served.command('halt', '--why', 'a look');
    const { code, out } = await served.command('resume');
    expect([code, out]).toEqual([
      75,
      expect.stringContaining('the desk is halted: a look. Lift the halt with rearm'),
    ]);
    expect(served.bench.desk.control).toBe('halted');
  });

  it('require the operator role on a remote API and record the name of the token', async () => {
    const served = await aServedDesk();
    const as = async (role: Role, ...line: readonly string[]): Promise<Ran> =>
      await run('/', [...line, '--url', served.url], { TRANCHE_OPERATOR_TOKEN: `token-of-a-${role}` });
    expect(await as('viewer', 'status')).toMatchObject({ code: 0 });
    expect(await as('viewer', 'pause')).toMatchObject({
      code: 78,
      err: 'the daemon refused the command: this action requires the operator role; the token has the viewer role',
    });
    expect(await as('operator', 'pause', '--by', 'mallory')).toMatchObject({ code: 0 });
    expect(controls(served)).toMatchObject([{ state: 'paused', by: 'operator@desk' }]);
  });
});

describe('tranche halt', () => {
  it('writes the halt file, signals the process, and reports the response of the desk', async () => {
    const served = await aServedDesk();
    const { code, out } = await served.command('halt', '--why', 'wrong prices', '--json');
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ done: true, state: 'halted', open_doubts: [] }),
    ]);
    expect(await served.signalled).toBe('SIGUSR2\n');
    expect(JSON.parse(readFileSync(served.haltFile, 'utf8'))).toEqual({
      level: 'halt',
      by: 'cli:ann',
      why: 'wrong prices',
    });
    expect(served.bench.desk.killSwitch.halt).toMatchObject({ level: 'halt', by: 'cli:ann' });
    expect(controls(served)).toMatchObject([{ state: 'halted', by: 'cli:ann', why: 'wrong prices' }]);
  });

  it('also closes the order route with --kill', async () => {
    const served = await aServedDesk();
    const { code, out } = await served.command('halt', '--kill');
    expect([code, out]).toEqual([0, expect.stringContaining('this process can no longer send orders')]);
    expect(controls(served).at(-1)).toMatchObject({ state: 'halted', transport: 'closed' });
  });

  it.each([
    ['whose API does not respond', { isDeaf: true }],
    ['that refuses the token', { token: 'token-of-another-desk' }],
  ])('exits with 75 for a daemon %s, which it halts by file and signal', async (_, over) => {
    const served = await aServedDesk(over);
    const { code, out } = await served.command('halt');
    expect([code, out]).toEqual([
      75,
      expect.stringContaining('halted by file and signal; the daemon did not report its orders in flight'),
    ]);
    expect([await served.signalled, existsSync(served.haltFile)]).toEqual(['SIGUSR2\n', true]);
  });

  it('halts the next start if no daemon runs', async () => {
    const { folder, journal } = aQuietDesk();
    sqliteJournal(join(folder, 'journal.db')).close();
    const { code, out } = await run(folder, ['halt', '--why', 'night']);
    expect([code, out]).toEqual([0, `no daemon runs on ${journal}; the next start is halted\n`]);
    expect(haltFile(join(folder, 'journal.db.halt')).read()).toEqual({
      level: 'halt',
      by: 'cli:ann',
      why: 'night',
    });
    const told = await run(folder, ['halt', '--json']);
    expect([told.code, JSON.parse(told.out)]).toEqual([0, { done: true, says: 'no daemon runs', journal }]);
  });

  it('exits with 69 if the journal does not exist, because its name may be wrong', async () => {
    const { folder, journal } = aQuietDesk();
    const { code, out } = await run(folder, ['halt']);
    expect([code, out]).toEqual([
      69,
      expect.stringContaining(`the journal ${journal} does not exist yet: check the name`),
    ]);
    expect(existsSync(join(folder, 'journal.db.halt'))).toBe(true);
  });

  it('exits with 69 for a folder instead of a journal', async () => {
    const { folder } = aQuietDesk();
    mkdirSync(join(folder, 'var'));
    const { code, out } = await run(folder, ['halt', '--journal', join(folder, 'var')]);
    expect([code, out]).toEqual([69, expect.stringContaining('check the name')]);
  });

  it('exits with 69 and writes no file if each start creates a new journal', async () => {
    const { folder } = aQuietDesk('journal-{started_at}.db');
    const { code, err } = await run(folder, ['halt']);
    expect([code, err]).toEqual([
      69,
      expect.stringContaining('each start with this config creates a new journal'),
    ]);
    expect(readdirSync(folder)).toEqual(['desk.yaml']);
  });

  it('does not signal another process that has the process id of a killed daemon', async () => {
    const { folder, journal } = aQuietDesk();
    sqliteJournal(join(folder, 'journal.db')).close();
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => {
      stranger.kill('SIGKILL');
    });
    writeControlFile(journal, { url: undefined, token: TOKEN, pid: stranger.pid ?? 0, desk: 'main' });
    const { code, out } = await run(folder, ['halt']);
    expect([code, out]).toEqual([0, expect.stringContaining('no daemon runs on')]);
    expect(stranger.kill(0)).toBe(true);
    // SIGUSR2 would end the process: wait a moment to see that it does not.
    await expect(Promise.race([once(stranger, 'exit'), sleep(200, 'lives')])).resolves.toBe('lives');
  });

  it('exits with 74 if it can neither write the halt file nor signal a process', async () => {
    for (const [journal, why] of [
      ['memory:', 'a journal in memory has no file'],
      ['sqlite:/nowhere/at/all/journal.db', 'ENOENT'],
    ] as const) {
      const { code, out, err } = await run('/', ['halt', '--journal', journal]);
      expect([code, out, err]).toEqual([74, '', expect.stringContaining(why)]);
    }
  });

  it('uses only the API with --url and writes no local file', async () => {
    const served = await aServedDesk({ halt: undefined });
    const { code } = await run(served.folder, ['halt', '--url', served.url], {
      TRANCHE_OPERATOR_TOKEN: 'token-of-a-operator',
    });
    expect([code, existsSync(served.haltFile), served.bench.desk.control]).toEqual([0, false, 'halted']);
    expect(controls(served)).toMatchObject([{ by: 'operator@desk' }]);
  });
});

describe('tranche rearm', () => {
  it('requires a reason and a halted desk', async () => {
    const served = await aServedDesk();
    expect(await served.command('rearm')).toMatchObject({ code: 64 });
    expect(await served.command('rearm', '--why', ' ')).toMatchObject({ code: 64 });
    const { code, out } = await served.command('rearm', '--why', 'w');
    expect([code, out]).toEqual([75, 'the desk is not halted, it is active\n']);
  });

  it('lifts the halt, removes its file, and records the person', async () => {
    const served = await aServedDesk();
    await served.command('halt');
    const { code, out } = await served.command('rearm', '--why', 'nothing was wrong');
    expect([code, out]).toEqual([0, expect.stringContaining('the desk trades again')]);
    expect([served.bench.desk.control, existsSync(served.haltFile)]).toEqual(['active', false]);
    expect(controls(served).at(-1)).toEqual({
      kind: 'control',
      state: 'active',
      by: 'local (cli:ann)',
      why: 'nothing was wrong',
      token: local,
    });
  });

  it('is refused after a kill and for an operator without the approver role', async () => {
    const served = await aServedDesk();
    await served.command('halt', '--kill');
    const line = ['rearm', '--why', 'w'];
    expect(await served.command(...line)).toMatchObject({
      code: 75,
      out: expect.stringContaining('tranche run --rearm') as string,
    });
    const env = { TRANCHE_OPERATOR_TOKEN: 'token-of-a-operator' };
    expect(await run('/', [...line, '--url', served.url], env)).toMatchObject({
      code: 78,
      err: expect.stringContaining('this action requires the approver role') as string,
    });
    expect(served.bench.desk.control).toBe('halted');
  });

  it('is refused while the outcome of an order is unknown, unless --with-open-doubts is given', async () => {
    const served = await aServedDesk({ wrap: faultyVenue({ order: () => 'answer lost' }) });
    served.bench.clock.run(instant(START + 9 * SECOND_MS));
    await served.command('halt');
    const refused = await served.command('rearm', '--why', 'w');
    expect([refused.code, refused.out]).toEqual([75, expect.stringContaining('--with-open-doubts')]);
    expect(await served.command('rearm', '--why', 'w', '--with-open-doubts')).toMatchObject({ code: 0 });
    expect(controls(served).at(-1)).toMatchObject({ state: 'active', doubts: [expect.any(String)] });
  });
});

describe('tranche doubts', () => {
  const resolve = ['doubts', 'resolve', 'some-id', '--evidence', 'ticket 4711', '--by', 'ann'];

  it('lists each order with an unknown outcome, or reports that there is none', async () => {
    expect((await (await aServedDesk()).command('doubts')).out).toBe('no open doubts\n');
    const served = await aServedDesk({ wrap: faultyVenue({ order: () => 'answer lost' }) });
    served.bench.clock.run(instant(START + 9 * SECOND_MS));
    const [id = ''] = served.bench.desk.account.doubts.keys();
    const { code, out } = await served.command('doubts');
    expect(code).toBe(0);
    expect(out).toContain(`${id}  buy`);
    expect(out).toContain('earliest proof 2026-');
    const told = await served.command('doubts', '--json');
    expect(JSON.parse(told.out)).toMatchObject({ doubts: [{ client_order_id: id, strategy: 'btc' }] });
    expect((await served.command('status')).out).toContain(`outcome unknown: ${id} (tranche doubts)`);
  });

  it.each([
    ['without a verdict', [...resolve, '--yes'], 'give either --not-executed or --filled'],
    [
      'with two verdicts',
      [...resolve, '--filled', '--not-executed', '--yes'],
      'give either --not-executed or --filled',
    ],
    [
      'without --yes',
      [...resolve, '--filled'],
      'the journal will record permanently that some-id was filled',
    ],
    [
      'without an id',
      ['doubts', 'resolve', '--filled', '--evidence', 'e', '--by', 'ann'],
      "missing required argument 'id'",
    ],
    ['without evidence', ['doubts', 'resolve', 'x', '--filled', '--by', 'ann', '--yes'], '--evidence'],
    ['without a name', ['doubts', 'resolve', 'x', '--filled', '--evidence', 'e', '--yes'], '--by'],
  ])('resolve exits with 64 %s', async (_, line, says) => {
    const served = await aServedDesk();
    const { code, out, err } = await served.command(...line);
    expect([code, out, err]).toEqual([64, '', expect.stringContaining(says)]);
  });

  it.each([
    ['an id without a doubt', ['--not-executed'], 'some-id'],
    ['incomplete figures', ['--filled', '--order-id', '7'], 'give order_id, quantity and amount together'],
    [
      'figures that are not decimals',
      ['--filled', '--order-id', '7', '--quantity', 'a lot', '--amount', '1'],
      'plain decimals',
    ],
  ])('resolve exits with 75 for %s', async (_, more, says) => {
    const served = await aServedDesk();
    const records = served.bench.records().length;
    const { code, out } = await served.command(...resolve, ...more, '--yes');
    expect([code, out]).toEqual([75, expect.stringContaining(says)]);
    expect(served.bench.records()).toHaveLength(records);
  });
});

describe('tranche doubts attribute', () => {
  /** A desk whose first order is in doubt, held open by two rows that carry only an order id. */
  async function aHeldDesk(over: ServedOptions = {}): Promise<Served & { readonly id: string }> {
    const rows: Transaction[] = [];
    const served = await aServedDesk({
      wrap: faultyVenue({ order: () => 'request lost', transactions: (own) => [...own, ...rows] }),
      ...over,
    });
    const { clock, desk } = served.bench;
    clock.run(instant(START + 9 * SECOND_MS));
    const [id = ''] = desk.account.doubts.keys();
    const { quantity: base = '0', amount = '0' } = desk.state.attempts.get(id)?.quote ?? {};
    rows.push(aRow('8001', 'btc', base), aRow('8002', 'usd', `-${amount}`));
    clock.run(instant(START + 40 * SECOND_MS));
    return { ...served, id };
  }

  const aRow = (id: string, currency: string, amount: string): Transaction => ({
    id,
    orderId: '900',
    clientId: undefined,
    tradeId: undefined,
    at: instant(START + 12 * SECOND_MS),
    action: 'buy',
    currency,
    amount: quantity(amount),
    price: undefined,
    fees: quantity('0'),
    balance: undefined,
    status: 'done',
  });

  it('shows the rows that hold a doubt open, in the list, in the status and as JSON', async () => {
    const served = await aHeldDesk();
    const list = (await served.command('doubts')).out;
    expect(list).toMatch(/row 8001 of 2026-\S+: buy [\d.]+ btc, order 900, no client id, equals the quote/u);
    expect(list).toContain(
      `tranche doubts attribute ${served.id} --row 8001 --row 8002 --ours or --not-ours`,
    );
    expect((await served.command('status')).out).toContain(
      `doubt ${served.id} is held open by rows that belong to no known order:`,
    );
    const rows = [
      { id: '8001', order_id: '900', equals_quote: true },
      { id: '8002', currency: 'usd' },
    ];
    expect(JSON.parse((await served.command('doubts', '--json')).out)).toMatchObject({
      doubts: [{ client_order_id: served.id, unattributed: rows }],
    });
    expect(JSON.parse((await served.command('status', '--json')).out)).toMatchObject({
      unattributed: [{ doubt: served.id, rows }],
    });
  });

  const attribute = async (
    { id, command }: Served & { readonly id: string },
    ...more: readonly string[]
  ): Promise<Ran> =>
    await command('doubts', 'attribute', id, ...more, '--evidence', 'ticket 4711', '--by', 'ann');

  it.each([
    ['--ours', 'belong to', 1],
    ['--not-ours', 'are not ours', 0],
  ] as const)('%s lets the account end the doubt', async (whose, says, fills) => {
    const served = await aHeldDesk();
    const told = await attribute(served, '--row', '8001', '--row', '8002', whose);
    expect([told.code, told.out]).toEqual([0, expect.stringContaining(`rows 8001, 8002 ${says}`)]);
    expect(served.bench.records().map(({ body }) => body)).toContainEqual({
      kind: 'resolved',
      client_order_id: served.id,
      verdict: whose === '--ours' ? 'ours' : 'not_ours',
      rows: ['8001', '8002'],
      by: 'local (ann)',
      why: 'ticket 4711',
      token: { name: 'local', kind: 'machine' },
    });
    served.bench.clock.run(instant(START + 120 * SECOND_MS));
    expect(served.bench.desk.account.doubts.has(served.id)).toBe(false);
    const filled = served.bench
      .records()
      .filter(({ body }) => body.kind === 'fill' && body.client_order_id === served.id);
    expect(filled).toHaveLength(fills);
    expect((await served.command('status')).out).not.toContain(`doubt ${served.id} is held open`);
  });

  it.each([
    ['no answer', ['--row', '8001'], 'give either --ours or --not-ours'],
    ['both answers', ['--row', '8001', '--ours', '--not-ours'], 'give either --ours or --not-ours'],
    ['no row', ['--ours'], 'name each row with --row ID'],
  ])('exits with 64 for %s', async (_, more, says) => {
    const { code, err } = await attribute(await aHeldDesk(), ...more);
    expect([code, err]).toEqual([64, expect.stringContaining(says)]);
  });

  it('exits with 75 for a row that does not hold the doubt open, and for an order that is not in doubt', async () => {
    const served = await aHeldDesk();
    const records = served.bench.records().length;
    const other = await attribute(served, '--row', '7', '--ours');
    expect([other.code, other.out]).toEqual([
      75,
      expect.stringContaining(`row 7 does not hold ${served.id} open`),
    ]);
    const none = await attribute({ ...served, id: 'some-id' }, '--row', '8001', '--ours');
    expect([none.code, none.out]).toEqual([75, expect.stringContaining('some-id is not in doubt')]);
    expect(served.bench.records()).toHaveLength(records);
  });

  it('waits for approval where doubts need it', async () => {
    const served = await aHeldDesk({ policy: { approvals: approvalsOf({ for: ['doubt'] }) } });
    const send = async (role: 'operator' | 'approver', path: string, body: object): Promise<Response> =>
      await fetch(`${served.url}/api/v1/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer token-of-a-${role}`,
          [GUARD_HEADER]: '1',
        },
        body: JSON.stringify(body),
      });
    const asked = await send('operator', 'doubts/resolve', {
      client_order_id: served.id,
      verdict: 'not_ours',
      rows: ['8001', '8002'],
      evidence: 'ticket 4711',
    });
    expect(await asked.json()).toMatchObject({
      says: expect.stringContaining('ap-1') as string,
    });
    expect(served.bench.records().some(({ body }) => body.kind === 'resolved')).toBe(false);
    const status = (await served.command('status')).out;
    expect(status).toContain(`${served.id}: rows 8001, 8002 not_ours`);
    const agreed = await send('approver', 'approvals/approve', {
      id: 'ap-1',
      hash: served.bench.desk.state.approvals.get('ap-1')?.proposal.hash,
      why: 'I asked the venue too',
    });
    expect(agreed.status).toBe(200);
    expect(served.bench.records().map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ kind: 'resolved', verdict: 'not_ours', rows: ['8001', '8002'] }),
    );
  });

  it.each([
    ['rows with another verdict', { verdict: 'filled', rows: ['1'] }, 409, 'a verdict of filled has no rows'],
    ['an attribution without rows', { verdict: 'ours' }, 409, 'name the rows as "rows"'],
    ['rows that are numbers', { verdict: 'ours', rows: [1] }, 400, '"rows.0"'],
    ['too many rows', { verdict: 'ours', rows: Array.from({ length: 101 }, String) }, 400, '"rows"'],
    ['another field', { verdict: 'ours', row: '1' }, 400, '"row" is unknown'],
    ['another verdict', { verdict: 'theirs', rows: ['1'] }, 400, '"verdict"'],
  ])('refuses %s', async (_, body, status, says) => {
    const served = await aServedDesk();
    const answer = await fetch(`${served.url}/api/v1/doubts/resolve`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer token-of-a-approver',
        [GUARD_HEADER]: '1',
      },
      body: JSON.stringify({ client_order_id: 'c', evidence: 'e', ...body }),
    });
    const told = Object(await answer.json()) as { readonly says?: string; readonly error?: string };
    expect([answer.status, told.says ?? told.error]).toEqual([status, expect.stringContaining(says)]);
  });
});
