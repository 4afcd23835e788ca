import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/app/clock.ts';
import { startVenue } from '../src/simulator/venue.ts';
import { quantile, table } from './measure.ts';

/**
 * From the trigger of a halt to the arrival of the last order at the venue, which is served by this process: one clock, and
 * the way over the socket counts. A real daemon trades as fast as it can; a try that no order follows counts as 0.
 *
 *     npm run bench:halt -- [tries of each variant, 1000] [tries with a full disk, 100]
 */
const TRIES = Number(process.argv[2] ?? 1000);
const TRIES_FULL = Number(process.argv[3] ?? 100);
/** Nothing may arrive later than this: what did would show as a far larger figure in the next try. */
const WATCHED_MS = 150;
const STRATEGIES = 40;
const TOKEN = 'bench-halt-token';
const PROGRAM = join(import.meta.dirname, '..', 'bin', 'tranche.js');

const arrivals: number[] = [];
const venue = await startVenue(
  {
    accounts: [{ name: 'desk', token: TOKEN, balances: { usd: '1000000000', btc: '10000' } }],
    pairs: { btcusd: { startPrice: '60000' } },
    limits: { enforced: false },
  },
  {
    clock: systemClock,
    onRequest: ({ at, route }) => {
      if (route.startsWith('/v1/orders/')) arrivals.push(at);
    },
  },
);

const children = new Set<ChildProcess>();
// A bench that fails leaves nothing behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

interface Control {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly desk: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly control: Control;
  readonly haltFile: string;
}

let desks = 0;

/** Each desk has a name of its own: on one account each would take the trades of the others for trades that it forgot. */
function writeFiles(folder: string): void {
  desks += 1;
  mkdirSync(join(folder, 'strategies'));
  for (let i = 0; i < STRATEGIES; i++) {
    const begins = new Date(Date.now() + 1_500 + (1_000 * i) / STRATEGIES).toISOString();
    writeFileSync(
      join(folder, 'strategies', `twap-${i}.yaml`),
      JSON.stringify({
        id: `twap-${i}`,
        kind: 'twap',
        pair: 'btcusd',
        side: 'buy',
        // Each another size: equal orders at one time would be taken for one order sent twice.
        total_quantity: { amount: `${7.2 + i / 100}`.slice(0, 6), currency: 'btc' },
        start_time: begins,
        duration: 'PT2H',
        slices: 7_200,
        catch_up: 'skip',
      }),
    );
  }
  writeFileSync(
    join(folder, 'desk.yaml'),
    JSON.stringify({
      desk: `bench-${desks}`,
      mode: 'live',
      venue: { base_url: venue.baseUrl, token: TOKEN },
      controls: {
        max_order_notional: { amount: '1000000', currency: 'usd' },
        max_day_notional: { amount: '10000000000', currency: 'usd' },
        max_order_quantity: { btcusd: '1000' },
        max_open_doubts: 100,
        collar_bps: 1000,
        max_drift_bps: 10000,
        max_shortfall_bps: 10000,
        max_executions_per_minute: 10000,
        max_executions_per_parent: 10000,
        pairs: ['btcusd'],
        sides: ['buy'],
      },
      pacing: { quotes_per_second: 500, orders_per_second: 60 },
      journal: `sqlite:${join(folder, 'journal.db')}`,
      operate: { listen: '127.0.0.1:0' },
      strategies: './strategies',
    }),
  );
}

async function start(folder: string, { isDeaf }: { readonly isDeaf: boolean }): Promise<Running> {
  writeFiles(folder);
  const child = spawn(process.execPath, [PROGRAM, 'run', '--json', '--config', join(folder, 'desk.yaml')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of the surroundings: live mode refuses some of them.
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  });
  children.add(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  // A pipe that nobody reads fills up, and stays full.
  if (isDeaf) child.stdout.pause();
  else child.stdout.resume();
  const file = join(folder, 'journal.db.control');
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}:\n${said}`);
    try {
      const control = JSON.parse(readFileSync(file, 'utf8')) as Control;
      return { child, control, haltFile: join(folder, 'journal.db.halt') };
    } catch {
      await sleep(20);
    }
  }
}

async function stop({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  while (child.exitCode === null && child.signalCode === null) await sleep(5);
}

const post = async ({ control }: Running, path: string, body: object): Promise<Response> =>
  await fetch(`${control.url}/api/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${control.token}`,
      'content-type': 'application/json',
      'x-tranche': '1',
    },
    body: JSON.stringify(body),
  });

async function statusOf({ control }: Running): Promise<string> {
  const headers = { authorization: `Bearer ${control.token}` };
  return await (await fetch(`${control.url}/api/v1/status`, { headers })).text();
}

type Trigger = (running: Running) => Promise<unknown>;
const triggers: Readonly<Record<string, Trigger>> = {
  http: async (running) => await post(running, 'halt', { why: 'bench' }),
  signal: async ({ control }) => await Promise.resolve(process.kill(control.pid, 'SIGUSR2')),
  file: async ({ haltFile }) => {
    writeFileSync(haltFile, '');
    await Promise.resolve();
  },
};

/** Waits for trade, triggers at any moment of it, and gives the milliseconds to the last order that arrived. */
async function measure(running: Running, trigger: Trigger): Promise<number> {
  const from = arrivals.length;
  for (let waited = 0; arrivals.length < from + 2; waited += 2) {
    if (waited > 30_000) throw new Error(`no order came within half a minute: ${await statusOf(running)}`);
    await sleep(2);
  }
  await sleep(Math.random() * 40);
  const at = performance.now();
  const answered = trigger(running).catch(() => undefined);
  await sleep(WATCHED_MS);
  await Promise.race([answered, sleep(2_000)]);
  return Math.max(0, (arrivals.at(-1) ?? 0) - at);
}

async function rearm(running: Running): Promise<void> {
  const { control } = running;
  for (;;) {
    const answer = await post(running, 'rearm', {
      why: 'bench',
      confirm: control.desk,
      with_open_doubts: true,
    });
    await answer.text();
    if (answer.ok) return;
    await sleep(50);
  }
}

/** Listens to the events and never reads one. */
function deafListener({ control }: Running): void {
  const { hostname, port, host } = new URL(control.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `GET /api/v1/events HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${control.token}\r\n\r\n`,
  );
}

const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-halt-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const rows: Readonly<Record<string, string | number>>[] = [];
function note(variant: string, trigger: string, measured: readonly number[]): void {
  const show = (q: number): string => quantile(measured, q).toFixed(1);
  rows.push({
    variant,
    trigger,
    tries: measured.length,
    'order after it': measured.filter((ms) => ms > 0).length,
    'p50 ms': show(0.5),
    'p99 ms': show(0.99),
    'max ms': show(1),
  });
}

/** One daemon, halted and armed again and again. */
async function series(variant: string, isDeaf: boolean): Promise<void> {
  await inFolder(async (folder) => {
    const running = await start(folder, { isDeaf });
    const measured = new Map<string, number[]>(Object.keys(triggers).map((name) => [name, []]));
    for (let i = 0; i < TRIES; i++) {
      if (isDeaf && i % 50 === 0) deafListener(running);
      const [name, trigger] = Object.entries(triggers)[i % Object.keys(triggers).length] ?? [];
      if (name === undefined || trigger === undefined) continue;
      measured.get(name)?.push(await measure(running, trigger));
      await rearm(running);
    }
    for (const [name, each] of measured) note(variant, name, each);
    await stop(running);
  });
}

/** Each try a daemon of its own: one whose disk is full does not go on. No file of it may grow from the trigger on. */
async function full(): Promise<number> {
  const measured: number[] = [];
  let noted = 0;
  for (let i = 0; i < TRIES_FULL; i++) {
    const name = Object.keys(triggers)[i % 3] ?? 'http';
    await inFolder(async (folder) => {
      const running = await start(folder, { isDeaf: false });
      measured.push(
        await measure(running, async (one) => {
          const limited = spawnSync('prlimit', ['--pid', String(one.control.pid), '--fsize=4096:4096']);
          if (limited.status !== 0) throw new Error(`prlimit: ${String(limited.stderr)}`);
          return await triggers[name]?.(one);
        }),
      );
      if (existsSync(running.haltFile)) noted += 1;
      await stop(running);
    });
  }
  note('full disk', 'each', measured);
  return noted;
}

await series('normal', false);
await series('deaf listeners', true);
const noted = await full();
process.stdout.write(`${table(rows)}\n`);
process.stdout.write(`With a full disk the halt file was there after ${noted} of ${TRIES_FULL} tries.\n`);
await venue.close();
process.exit(0);
