import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { approvalsOf } from '../engine/approval-desk.ts';
import { writeControlFile } from '../../src/app/daemon/control-file.ts';
import { deskApi } from '../../src/app/desk-api/desk-api.ts';
import { quantity } from '../../src/core/money.ts';
import { SECOND_MS, instant, monotonic } from '../../src/core/time.ts';
import type { Transaction } from '../../src/core/venue.ts';
import { setKillSwitch } from '../../src/engine/operator/operator-commands.ts';
import { haltFile } from '../../src/journal/sidecar/halt-file.ts';
import { takeLock } from '../../src/journal/sqlite/lock.ts';
import { sqliteJournal } from '../../src/journal/sqlite/sqlite.ts';
import type { Role } from '../../src/operate/access.ts';
import { EventStream } from '../../src/operate/events.ts';
import { faultyVenue } from '../engine/faulty-venue.ts';
import { START, aTwap, started } from '../engine/harness.ts';
import type { Bench, BenchOptions } from '../engine/harness.ts';
import { expectRan, expectRefused, runLine } from '../support/command.ts';
import type { Ran } from '../support/command.ts';
import { aFolder, put } from '../support/folder.ts';
import { postAs } from '../support/http.ts';
import type { Answer } from '../support/http.ts';
import { bearers, operating, tokenOf } from '../support/operate.ts';

const TOKEN = tokenOf('admin');
/** A reserved port at which no process listens. */
const NOBODY = 'http://127.0.0.1:1';
/** A process that prints the name of a signal and continues. */
const STAND_IN = 'trap "echo SIGUSR2" USR2; echo ready; while :; do sleep 0.05; done';

const run = async (cwd: string, line: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  await runLine(line, { cwd, now: START, env: { USER: 'ann', ...env }, config: 'desk.yaml' });

interface Served {
  readonly bench: Bench;
  readonly folder: string;
  readonly url: string;
  readonly haltFile: string;
  /** Output of the process whose id is in the control file, after a signal. */
  readonly signalled: Promise<string>;
  readonly command: (...line: readonly string[]) => Promise<Ran>;
  /** Sends a command to the API without the command line. */
  readonly post: (role: Role, path: string, body: object) => Promise<Answer>;
}

interface ServedOptions extends Partial<BenchOptions> {
  /** Token in the control file beside the journal; by default that of the desk. */
  readonly token?: string;
  /** The control file names an address at which nobody listens. */
  readonly isDeaf?: boolean;
}

/** A desk that has traded for five seconds, its API, and its control file. Another process stands in for it to take the signals. */
async function aServedDesk({ token = TOKEN, isDeaf = false, ...over }: ServedOptions = {}): Promise<Served> {
  const { folder, journal } = aQuietDesk();
  const file = join(folder, 'journal.db.halt');
  const bench = started({ strategies: [aTwap('btc')], halt: haltFile(file), ...over }, 5 * SECOND_MS);
  const desk = deskApi(bench.desk, (command) => {
    if (command.do === 'halt') setKillSwitch(bench.desk, command);
    bench.operator$.next(command);
  });
  const api = { desk, events: new EventStream(), bearers, now: () => monotonic(0) };
  const { url } = await operating({ api });
  const standIn = spawn('sh', ['-c', STAND_IN], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(standIn.stdout, 'data');
  // The commands accept only the process that holds the lock of the journal as its daemon.
  sqliteJournal(join(folder, 'journal.db')).close();
  const held = takeLock(join(folder, 'journal.db'));
  writeControlFile(journal, { url: isDeaf ? NOBODY : url, token, pid: standIn.pid ?? 0, desk: 'main' });
  const signalled = once(standIn.stdout, 'data').then(String);
  onTestFinished(() => {
    standIn.kill('SIGKILL');
    held?.release();
  });
  return {
    bench,
    folder,
    url,
    haltFile: file,
    signalled,
    command: async (...line) => await run(folder, line),
    post: async (role, path, body) => await postAs(`${url}/api/v1/${path}`, tokenOf(role), body),
  };
}

/** A folder with a config, without a daemon. */
function aQuietDesk(name = 'journal.db'): { readonly folder: string; readonly journal: string } {
  const folder = aFolder();
  const journal = `sqlite:${join(folder, name)}`;
  put(folder, { 'desk.yaml': JSON.stringify({ desk: 'main', mode: 'live', journal }) });
  return { folder, journal };
}

const controls = ({ bench }: Served): readonly object[] => bench.bodies('control');

const EVIDENCE = ['--evidence', 'ticket 4711', '--by', 'ann'];
const RESOLVE = ['doubts', 'resolve', 'some-id', ...EVIDENCE];
const FILLED = ['--filled', '--order-id', '7'];
const ATTRIBUTE = ['doubts', 'attribute', 'some-id', ...EVIDENCE];

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
  it('exits with 69 if no daemon runs, does not respond or has no API', async () => {
    const none = aFolder({ 'desk.yaml': '{"mode":"live","journal":"sqlite:/nowhere/journal.db"}' });
    expectRefused(await run(none, line), 69, 'no daemon runs on the journal sqlite:/nowhere/journal.db');
    const { folder, command } = await aServedDesk({ isDeaf: true });
    expectRefused(await command(...line), 69, 'did not respond: ECONNREFUSED');
    writeControlFile(`sqlite:${join(folder, 'journal.db')}`, {
      token: TOKEN,
      pid: process.pid,
      desk: 'main',
    });
    expectRefused(await command(...line), 69, 'operate: false');
  });

  it('exits with 78 if its token is not that of the desk, and does not show it', async () => {
    const served = await aServedDesk({ token: 'token-of-another-desk' });
    const ran = await served.command(...line);
    expectRefused(ran, 78, 'the daemon refused the command: this desk does not know the bearer token');
    expect(ran.err).not.toContain('token-of-another-desk');
    expect(controls(served)).toEqual([]);
  });

  it('takes the token for a remote API only from the environment', async () => {
    const { folder, url } = await aServedDesk();
    expectRefused(await run(folder, [...line, '--url', url]), 78, 'set TRANCHE_OPERATOR_TOKEN');
    const right = await run(folder, [...line, '--url', url], { TRANCHE_OPERATOR_TOKEN: TOKEN });
    expect([0, 75]).toContain(right.code);
  });

  it('exits with 78 without a config, and with 64 for an unknown option or mode', async () => {
    const folder = aFolder();
    expectRefused(await run(folder, line), 78, '--config, or the journal with --journal');
    for (const wrong of [['--nonsense'], ['--mode', 'dead']])
      expectRefused(await run(folder, [...line, ...wrong]), 64);
  });
});

describe('tranche status', () => {
  it('prints the state of the desk as text, and as one line of JSON', async () => {
    const { command, bench } = await aServedDesk();
    const fills = `fills ${bench.desk.state.fills}; today`;
    expectRan(await command('status'), 0, 'desk main, paper, active', fills);
    const { code, out } = await command('status', '--json');
    expect([code, out.trim().split('\n')]).toEqual([0, [expect.any(String)]]);
    expect(JSON.parse(out)).toMatchObject({ desk: 'main', state: 'active', strategies: [{ id: 'btc' }] });
  });

  it('shows readiness, holdings, price ages and the next slice of each strategy, and sets the exit code on request', async () => {
    const { command } = await aServedDesk();
    expectRan(
      await command('status', '--exit-code'),
      0,
      'ready to trade',
      /^holds .*\d usd/mu,
      /^price btcusd [\d,]+(?:\.\d+)?, \d+(?:\.\d)? s old \(probe\)$/mu,
      /btc \(twap\) {2}traded 0\.1 of 1 btc; 1 of 10 slices over, next 2026-01-05T00:01:00/u,
    );
    await command('pause', '--why', 'lunch');
    expectRan(await command('status', '--exit-code'), 75, 'not ready: paused: lunch');
    expectRan(await command('status'), 0);
  });

  it('shows paused parts with the command to resume them, and the person and the reason of a halt', async () => {
    const { command } = await aServedDesk();
    await command('pause', '--pair', 'btcusd', '--why', 'spread');
    expectRan(await command('status'), 0, 'paused: pair btcusd: spread (tranche resume --pair btcusd)');
    await command('halt', '--kill', '--why', 'wrong prices', '--by', 'bob');
    const stop = 'stop it, then start it with tranche run --rearm';
    expectRan(await command('status'), 0, 'halted', ': wrong prices (bob)', stop);
  });

  it('accepts a journal instead of a config', async () => {
    const { folder } = await aServedDesk();
    const journal = join(folder, 'journal.db');
    for (const named of [journal, `sqlite:${journal}`])
      expectRan(await run(aFolder(), ['status', '--journal', named]), 0);
  });
});

const local = { name: 'local', kind: 'machine' } as const;

describe('commands of an operator', () => {
  it.each([
    ['paused', []],
    ['reducing', ['--reducing']],
  ] as const)(
    'make the desk %s until a resume, with the person and the reason in the journal',
    async (state, how) => {
      const served = await aServedDesk();
      expectRan(await served.command('pause', ...how, '--why', 'lunch'), 0, `the desk is ${state}`);
      expect(served.bench.desk.control).toBe(state);
      const resumed = await served.command('resume', '--by', 'bob', '--json');
      expect([resumed.code, JSON.parse(resumed.out)]).toEqual([
        0,
        expect.objectContaining({ done: true, says: 'the desk is active', state: 'active' }),
      ]);
      expect(controls(served)).toEqual([
        { kind: 'control', state, by: 'local (cli:ann)', why: 'lunch', token: local },
        { kind: 'control', state: 'active', by: 'local (bob)', why: 'tranche resume', token: local },
      ]);
    },
  );

  it('pause the desk until a time that the response and the journal state', async () => {
    const served = await aServedDesk();
    const paused = await served.command('pause', '--for', 'PT30M', '--why', 'lunch');
    expectRan(paused, 0, /the desk is paused until \d{4}-/u);
    expect(controls(served)).toMatchObject([
      { why: expect.stringMatching(/^lunch \(until /u) as string, until: expect.any(Number) as number },
    ]);
    expectRan(await served.command('pause', '--for', 'an hour'), 64, 'ISO 8601');
  });

  it('accept the name of a pair or strategy without its kind', async () => {
    const served = await aServedDesk();
    expectRan(await served.command('pause', 'btcusd', '--why', 'spread'), 0);
    expectRan(await served.command('pause', 'btc', '--why', 'lunch'), 0);
    expectRan(await served.command('resume', 'btcusd'), 0);
    expect(controls(served)).toMatchObject([
      { state: 'paused', pair: 'btcusd' },
      { state: 'paused', strategy: 'btc' },
      { state: 'active', pair: 'btcusd' },
    ]);
    expectRan(await served.command('pause', 'btx'), 75, 'there is no open parent btx');
  });

  it('stop one strategy permanently', async () => {
    const served = await aServedDesk();
    expectRan(await served.command('stop', 'btc', '--why', 'no longer wanted'), 0);
    expectRan(await served.command('status'), 0, 'finished: by_operator');
    expectRan(await served.command('stop', 'btc', '--why', 'again'), 75);
  });

  it.each([
    [75, ['pause', '--pair', 'nonsense'], 'there is no pair nonsense; there are btcusd'],
    [75, ['pause', '--parent', 'nobody'], 'there is no open parent nobody'],
    [75, ['resume', '--pair', 'btcusd'], 'pair:btcusd is not paused; nothing is'],
    [75, ['pause', '--pair', 'btcusd', '--reducing'], 'reducing applies to the whole desk'],
    [75, ['pause', '--pair', 'btcusd', '--parent', 'x'], 'name exactly one of parent, pair or strategy'],
    [75, ['pause', '--strategy', 'nobody'], 'there is no strategy nobody; there are '],
    [75, ['resume', '--strategy', 'btc'], 'strategy:btc is not paused'],
    [75, ['run-now', 'btc', '--why', 'w'], 'btc cannot run now: a twap has no occurrence to run'],
    [75, ['run-now', 'btx', '--why', 'w'], 'no strategy btx runs'],
    [75, ['rearm', '--why', 'w'], 'the desk is not halted, it is active'],
    [75, ['doubts', 'resolve', 'some-id', ...EVIDENCE, '--not-executed', '--yes'], 'some-id'],
    [64, ['pause', 'btc', '--pair', 'btcusd'], ''],
    [64, ['pause', '--why', ''], '"why": expected a text of 1 to 500 characters'],
    [64, ['pause', '--why', ' '], '"why": expected a text of 1 to 500 characters'],
    [64, ['pause', '--why', 'x'.repeat(501)], '"why": expected a text of 1 to 500 characters'],
    [64, ['stop', 'btc'], '--why'],
    [64, ['run-now', 'btc'], '--why'],
    [64, ['rearm'], '--why'],
    [64, ['rearm', '--why', ' '], '"why"'],
    [64, [...RESOLVE, '--yes'], 'give either --not-executed or --filled'],
    [64, [...RESOLVE, '--filled', '--not-executed', '--yes'], 'give either --not-executed or --filled'],
    [64, [...RESOLVE, '--filled'], 'the journal will record permanently that some-id was filled'],
    [64, ['doubts', 'resolve', '--filled', ...EVIDENCE], "missing required argument 'id'"],
    [64, ['doubts', 'resolve', 'x', '--filled', '--by', 'ann', '--yes'], '--evidence'],
    [64, ['doubts', 'resolve', 'x', '--filled', '--evidence', 'e', '--yes'], '--by'],
    [75, [...RESOLVE, ...FILLED, '--yes'], 'give order_id, quantity and amount together'],
    [75, [...RESOLVE, ...FILLED, '--quantity', 'a lot', '--amount', '1', '--yes'], 'plain decimals'],
    [64, [...ATTRIBUTE, '--row', '8001'], 'give either --ours or --not-ours'],
    [64, [...ATTRIBUTE, '--row', '8001', '--ours', '--not-ours'], 'give either --ours or --not-ours'],
    [64, [...ATTRIBUTE, '--ours'], 'name each row with --row ID'],
    [75, [...ATTRIBUTE, '--row', '8001', '--ours'], 'some-id is not in doubt'],
  ])('exit with %i and change nothing: %j', async (expected, line, says) => {
    const served = await aServedDesk();
    const records = served.bench.records().length;
    const ran = await served.command(...line);
    expectRan(ran, expected, says);
    expect(expected === 64 ? ran.out : '').toBe('');
    const told = (await served.command(...line, '--json')).out;
    expect(told === '' ? { done: false } : JSON.parse(told)).toMatchObject({ done: false });
    expect(served.bench.records()).toHaveLength(records);
  });

  it('do not lift a halt', async () => {
    const served = await aServedDesk();
    await served.command('halt', '--why', 'a look');
    const says = 'the desk is halted: a look. Lift the halt with rearm';
    expectRan(await served.command('resume'), 75, says);
    expect(served.bench.desk.control).toBe('halted');
  });

  it('require the operator role on a remote API and record the name of the token', async () => {
    const served = await aServedDesk();
    const as = async (role: Role, ...line: readonly string[]): Promise<Ran> =>
      await run('/', [...line, '--url', served.url], { TRANCHE_OPERATOR_TOKEN: tokenOf(role) });
    expectRan(await as('viewer', 'status'), 0);
    const lesser = 'this action requires the operator role; the token has the viewer role';
    expectRefused(await as('viewer', 'pause'), 78, `the daemon refused the command: ${lesser}`);
    expectRan(await as('operator', 'pause', '--by', 'mallory'), 0);
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
    expectRan(await served.command('halt', '--kill'), 0, 'this process can no longer send orders');
    expect(controls(served).at(-1)).toMatchObject({ state: 'halted', transport: 'closed' });
  });

  it.each([
    ['whose API does not respond', { isDeaf: true }],
    ['that refuses the token', { token: 'token-of-another-desk' }],
  ])('exits with 75 for a daemon %s, which it halts by file and signal', async (_, over) => {
    const served = await aServedDesk(over);
    const says = 'halted by file and signal; the daemon did not report its orders in flight';
    expectRan(await served.command('halt'), 75, says);
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

  it('exits with 69 if the journal does not exist, is a folder, or is new at each start', async () => {
    const { folder, journal } = aQuietDesk();
    expectRan(await run(folder, ['halt']), 69, `the journal ${journal} does not exist yet: check the name`);
    expect(existsSync(join(folder, 'journal.db.halt'))).toBe(true);
    mkdirSync(join(folder, 'var'));
    expectRan(await run(folder, ['halt', '--journal', join(folder, 'var')]), 69, 'check the name');
    const each = aQuietDesk('journal-{started_at}.db').folder;
    expectRan(await run(each, ['halt']), 69, 'each start with this config creates a new journal');
    expect(readdirSync(each)).toEqual(['desk.yaml']);
  });

  it('does not signal another process that has the process id of a killed daemon', async () => {
    const { folder, journal } = aQuietDesk();
    sqliteJournal(join(folder, 'journal.db')).close();
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => {
      stranger.kill('SIGKILL');
    });
    writeControlFile(journal, { url: undefined, token: TOKEN, pid: stranger.pid ?? 0, desk: 'main' });
    expectRan(await run(folder, ['halt']), 0, 'no daemon runs on');
    expect(stranger.kill(0)).toBe(true);
    // SIGUSR2 would end the process: wait a moment to see that it does not.
    await expect(Promise.race([once(stranger, 'exit'), sleep(200, 'lives')])).resolves.toBe('lives');
  });

  it('exits with 74 if it can neither write the halt file nor signal a process', async () => {
    const memory = await run('/', ['halt', '--journal', 'memory:']);
    expectRefused(memory, 74, 'a journal in memory has no file');
    expectRefused(await run('/', ['halt', '--journal', 'sqlite:/nowhere/at/all/journal.db']), 74, 'ENOENT');
  });

  it('uses only the API with --url and writes no local file', async () => {
    const served = await aServedDesk({ halt: undefined });
    const { code } = await run(served.folder, ['halt', '--url', served.url], {
      TRANCHE_OPERATOR_TOKEN: tokenOf('operator'),
    });
    expect([code, existsSync(served.haltFile), served.bench.desk.control]).toEqual([0, false, 'halted']);
    expect(controls(served)).toMatchObject([{ by: 'operator@desk' }]);
  });
});

describe('tranche rearm', () => {
  it('lifts the halt, removes its file, and records the person', async () => {
    const served = await aServedDesk();
    await served.command('halt');
    expectRan(await served.command('rearm', '--why', 'nothing was wrong'), 0, 'the desk trades again');
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
    expectRan(await served.command(...line), 75, 'tranche run --rearm');
    const env = { TRANCHE_OPERATOR_TOKEN: tokenOf('operator') };
    const remote = await run('/', [...line, '--url', served.url], env);
    expectRefused(remote, 78, 'this action requires the approver role');
    expect(served.bench.desk.control).toBe('halted');
  });

  it('is refused while the outcome of an order is unknown, unless --with-open-doubts is given', async () => {
    const served = await aServedDesk({ wrap: faultyVenue({ order: () => 'answer lost' }) });
    served.bench.until(9 * SECOND_MS);
    await served.command('halt');
    expectRan(await served.command('rearm', '--why', 'w'), 75, '--with-open-doubts');
    expectRan(await served.command('rearm', '--why', 'w', '--with-open-doubts'), 0);
    expect(controls(served).at(-1)).toMatchObject({ state: 'active', doubts: [expect.any(String)] });
  });
});

describe('tranche doubts', () => {
  it('lists each order with an unknown outcome, or reports that there is none', async () => {
    expect((await (await aServedDesk()).command('doubts')).out).toBe('no open doubts\n');
    const served = await aServedDesk({ wrap: faultyVenue({ order: () => 'answer lost' }) });
    served.bench.until(9 * SECOND_MS);
    const [id = ''] = served.bench.desk.account.doubts.keys();
    expectRan(await served.command('doubts'), 0, `${id}  buy`, 'earliest proof 2026-');
    const told = await served.command('doubts', '--json');
    expect(JSON.parse(told.out)).toMatchObject({ doubts: [{ client_order_id: id, strategy: 'btc' }] });
    expect((await served.command('status')).out).toContain(`outcome unknown: ${id} (tranche doubts)`);
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
    const { desk } = served.bench;
    served.bench.until(9 * SECOND_MS);
    const [id = ''] = desk.account.doubts.keys();
    const { quantity: base = '0', amount = '0' } = desk.state.attempts.get(id)?.quote ?? {};
    rows.push(aRow('8001', 'btc', base), aRow('8002', 'usd', `-${amount}`));
    served.bench.until(40 * SECOND_MS);
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
    { command, id }: { readonly id: string } & Served,
    ...more: string[]
  ): Promise<Ran> => await command('doubts', 'attribute', id, ...more, ...EVIDENCE);

  it.each([
    ['--ours', 'belong to', 'ours'],
    ['--not-ours', 'are not ours', 'not_ours'],
  ])('%s lets the account end the doubt', async (whose, says, verdict) => {
    const served = await aHeldDesk();
    const told = await attribute(served, '--row', '8001', '--row', '8002', whose);
    expectRan(told, 0, `rows 8001, 8002 ${says}`);
    const rows = ['8001', '8002'];
    const resolved = { client_order_id: served.id, verdict, rows, by: 'local (ann)', why: 'ticket 4711' };
    expect(served.bench.bodies('resolved')).toEqual([{ kind: 'resolved', ...resolved, token: local }]);
    served.bench.until(120 * SECOND_MS);
    expect((await served.command('status')).out).not.toContain(`doubt ${served.id} is held open`);
  });

  it('exits with 75 for a row that does not hold the doubt open', async () => {
    const served = await aHeldDesk();
    const other = await attribute(served, '--row', '7', '--ours');
    expectRan(other, 75, `row 7 does not hold ${served.id} open`);
    expect(served.bench.bodies('resolved')).toEqual([]);
  });

  it('waits for approval where doubts need it', async () => {
    const served = await aHeldDesk({ policy: { approvals: approvalsOf({ for: ['doubt'] }) } });
    const asked = await served.post('operator', 'doubts/resolve', {
      client_order_id: served.id,
      verdict: 'not_ours',
      rows: ['8001', '8002'],
      evidence: 'ticket 4711',
    });
    expect(asked.body['says']).toContain('ap-1');
    expect(served.bench.bodies('resolved')).toEqual([]);
    const status = (await served.command('status')).out;
    expect(status).toContain(`${served.id}: rows 8001, 8002 not_ours`);
    const agreed = await served.post('approver', 'approvals/approve', {
      id: 'ap-1',
      hash: served.bench.desk.state.approvals.get('ap-1')?.proposal.hash,
      why: 'I asked the venue too',
    });
    expect(agreed.status).toBe(200);
    expect(served.bench.bodies('resolved')).toMatchObject([{ verdict: 'not_ours', rows: ['8001', '8002'] }]);
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
    const answer = await served.post('approver', 'doubts/resolve', {
      client_order_id: 'c',
      evidence: 'e',
      ...body,
    });
    const told = answer.body;
    expect([answer.status, told['says'] ?? told['error']]).toEqual([status, expect.stringContaining(says)]);
  });
});
