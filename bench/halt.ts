/**
 * From the trigger of a halt to the last byte of an order on the wire. A real daemon trades as fast as it can with a venue on
 * another thread; a third one between them notes when bytes of an order pass, on the clock by which the trigger is given. A try that no
 * byte follows counts as 0. Exit code 1 when a p99 is above the target, or a halt on a full disk left no file.
 *
 * With `--dashboard` one daemon is measured with an open dashboard and without, in alternating rounds, and nothing else: the time until
 * a halt by HTTP is answered as well, because most halts have no order after them, and the time from a quote to its order. `--core N` pins the daemon to one processor; start the
 * benchmark itself on another one, or page and venue take the time of the daemon.
 *
 * Run: `npm run bench:halt [-- --tries N] [--full N] [--only variant,…] [--dashboard]`
 *      `taskset -c 1 node bench/halt.ts --dashboard --core 0`
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { chromium } from 'playwright-core';
import { buildDashboard } from '../scripts/build-dashboard.ts';
import { halt } from '../src/app/commands/desk/halt.ts';
import { instant } from '../src/core/time.ts';
import { hasEnded, inFolder, startDesk, stopDesk } from './halt-desk.ts';
import type { Running, Setup } from './halt-desk.ts';
import type { RelayData } from './halt-relay.ts';
import type { Account } from './halt-venue.ts';
import { quantile, table } from './measure.ts';
import { smallDisk } from './small-disk.ts';

const TARGET_MS = 50;
/** The watch goes on until the desk has answered what it was asked after this time: what it was still busy with has left by then. */
const WATCHED_MS = 100;
/** No order comes for this long: the daemon does not trade, and a halt of it would prove nothing. */
const PATIENCE_MS = 30_000;

const { values } = parseArgs({
  options: {
    tries: { type: 'string', default: '1000' },
    full: { type: 'string' },
    only: { type: 'string', default: 'normal,deaf,full' },
    dashboard: { type: 'boolean', default: false },
    core: { type: 'string' },
    chromium: { type: 'string', default: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium' },
  },
});
const tries = Number(values.tries);
const triesFull = Number(values.full ?? values.tries);
const variants = new Set(values.dashboard ? [] : values.only.split(','));

/** What the simulated venue takes. */
const ACCOUNTS = 100;
const accounts: readonly Account[] = Array.from({ length: ACCOUNTS }, (_, i) => ({
  name: `bench-${i}`,
  token: `bench-halt-token-${i}`,
}));
let used = 0;
/** Each daemon has a name of its own: by the same one they would take each other's trades for trades that they forgot. */
const nextAccount = (): Account => {
  const { token = '' } = accounts[used % ACCOUNTS] ?? {};
  return { name: `bench-${used++}`, token };
};

const portOf = async (worker: Worker): Promise<number> =>
  await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
const threadOf = (name: string, data: unknown): Worker =>
  new Worker(new URL(name, import.meta.url), { workerData: data });

const seen = new Float64Array(new SharedArrayBuffer(24));
/** Some 40 orders a second come: enough for an hour and a half. */
const latencies = new Float64Array(new SharedArrayBuffer(8 * 250_000));
const realPort = await portOf(threadOf('halt-venue.ts', accounts));
const venuePort = await portOf(
  threadOf('halt-relay.ts', { port: realPort, seen, latencies } satisfies RelayData),
);
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

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

const quiet = { write: () => undefined };
type Trigger = (running: Running) => Promise<unknown>;
const triggers = {
  http: async (running) => await post(running, 'halt', { why: 'bench' }),
  signal: async ({ control }) => await Promise.resolve(process.kill(control.pid, 'SIGUSR2')),
  touch: async ({ haltFile }) => {
    await Promise.resolve();
    writeFileSync(haltFile, '');
  },
  // Without the start of its process.
  'tranche halt': async ({ journal }) =>
    await halt(
      { config: '', journal },
      { stdout: quiet, stderr: quiet, env: {}, cwd: '/', now: instant(Date.now()), colour: false },
    ),
} as const satisfies Readonly<Record<string, Trigger>>;

interface Halted {
  /** Milliseconds to the last byte of an order; 0 when none came. */
  readonly lastOrderMs: number;
  /** Milliseconds until the trigger was answered. */
  readonly answeredMs: number;
}

/** Waits for trade, and triggers at any moment of it. */
async function measure(running: Running, trigger: Trigger, before?: () => void): Promise<Halted> {
  const from = seen[0] ?? 0;
  for (let waited = 0; (seen[0] ?? 0) < from + 2; waited += 2) {
    if (waited > PATIENCE_MS) throw new Error(`no order came: ${await statusOf(running)}`);
    await sleep(2);
  }
  await sleep(Math.random() * 40);
  before?.();
  const at = monotonicMs();
  let answeredMs = Number.POSITIVE_INFINITY;
  const answered = trigger(running).then(
    () => (answeredMs = monotonicMs() - at),
    () => undefined,
  );
  await sleep(WATCHED_MS);
  await Promise.race([answered, sleep(5_000)]);
  await statusOf(running).catch(() => undefined);
  // What it wrote before it answered has passed the relay well before this.
  await sleep(5);
  return { lastOrderMs: Math.max(0, (seen[1] ?? 0) - at), answeredMs };
}

async function rearm(running: Running): Promise<void> {
  const { desk: confirm } = running.control;
  for (;;) {
    const answer = await post(running, 'rearm', { why: 'bench', confirm, with_open_doubts: true });
    await answer.text();
    if (answer.ok) return;
    await sleep(20);
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

const rows: Readonly<Record<string, string | number>>[] = [];
let isMissed = false;
function note(variant: string, trigger: string, measured: readonly number[]): void {
  const show = (q: number): string => quantile(measured, q).toFixed(1);
  const isMet = quantile(measured, 0.99) <= TARGET_MS;
  if (!isMet) isMissed = true;
  rows.push({
    variant,
    trigger,
    tries: measured.length,
    'order after it': measured.filter((ms) => ms > 0).length,
    'p50 ms': show(0.5),
    'p99 ms': show(0.99),
    'max ms': show(1),
    target: `p99 <= ${TARGET_MS}`,
    is: isMet ? 'met' : 'missed',
  });
}

const setupOf = (folder: string, over: Partial<Setup> = {}): Setup => ({
  account: nextAccount(),
  venuePort,
  journalAt: folder,
  journalSeen: folder,
  isDeaf: false,
  ...over,
});

/** One daemon, halted and armed again and again, by each way in turn. */
async function series(variant: string, isDeaf: boolean): Promise<void> {
  await inFolder(async (folder) => {
    const running = await startDesk(folder, setupOf(folder, { isDeaf }));
    const measured = new Map<string, number[]>(Object.keys(triggers).map((name) => [name, []]));
    for (let i = 0; i < tries; i++) {
      if (isDeaf && i % 10 === 0) deafListener(running);
      for (const [name, trigger] of Object.entries(triggers)) {
        measured.get(name)?.push((await measure(running, trigger)).lastOrderMs);
        await rearm(running);
      }
    }
    for (const [name, each] of measured) note(variant, name, each);
    await stopDesk(running);
  });
}

interface Full {
  readonly measured: readonly number[];
  /** Tries after which the halt file was not there. */
  readonly lost: number;
  /** Daemons that ended for want of room before the halt reached them: such a try is made again. */
  readonly ended: number;
}

/**
 * A disk that is filled to the last block right before the trigger. The daemon stops by itself after that, as it must, so
 * that each try has one of its own.
 */
async function full(): Promise<Full> {
  return await inFolder(async (outer) => {
    const disk = await smallDisk(join(outer, 'disk'), 16);
    const ways = Object.values(triggers);
    const measured: number[] = [];
    let lost = 0;
    let ended = 0;
    while (measured.length < triesFull) {
      const trigger = ways[measured.length % ways.length] ?? triggers.http;
      disk.clear();
      mkdirSync(join(disk.seen, 'desk'), { mode: 0o700 });
      await inFolder(async (folder) => {
        const places = { journalAt: join(disk.folder, 'desk'), journalSeen: join(disk.seen, 'desk') };
        const setup = setupOf(folder, { ...places, before: disk.command, reserveMib: 6 });
        const running = await startDesk(folder, setup);
        const { lastOrderMs } = await measure(running, trigger, () => {
          disk.fill();
        });
        const isThere = existsSync(running.haltFile);
        const isHalted = running.said().includes('the desk is halted');
        await stopDesk(running);
        if (!isThere && !isHalted && hasEnded(running.child)) {
          ended += 1;
          return;
        }
        measured.push(lastOrderMs);
        if (!isThere) lost += 1;
      });
    }
    disk.remove();
    return { measured, lost, ended };
  });
}

/** Tries between the opening of a dashboard and its end. */
const ROUND = 10;
/** How much a dashboard may slow a halt. */
const RATIO_MAX = 1.05;

/** Trade of each round for the time from a quote to its order, ms. */
const TRADING_MS = 10_000;
/** So few that no order waits for a permit or for another. */
const PARENTS_UNHURRIED = 8;

/** Rounds with one daemon of its own, in which a dashboard shows its slices, and in turn none does. */
async function alternating(
  parents: number | undefined,
  rounds: number,
  work: (running: Running, how: 'without' | 'open') => Promise<void>,
): Promise<void> {
  const browser = await chromium.launch({
    executablePath: values.chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  await inFolder(async (folder) => {
    const running = await startDesk(
      folder,
      setupOf(folder, {
        ...(values.core === undefined ? {} : { before: ['taskset', '-c', values.core] }),
        ...(parents === undefined ? {} : { parents }),
      }),
    );
    for (let round = 0; round < rounds; round++) {
      for (const how of ['without', 'open'] as const) {
        const context = await browser.newContext({
          extraHTTPHeaders: { authorization: `Bearer ${running.control.token}` },
        });
        if (how === 'open') {
          const page = await context.newPage();
          await page.goto(`${running.control.url}/#/slices`);
          await page.locator('tbody tr td').first().waitFor();
        }
        await work(running, how);
        await context.close();
      }
    }
    await stopDesk(running);
  });
  await browser.close();
}

/** What an open dashboard changes: at halts by HTTP of a busy desk, and at the orders of an unhurried one. */
async function withDashboard(): Promise<string> {
  const measured = { without: [] as Halted[], open: [] as Halted[] };
  const orders = { without: [] as number[], open: [] as number[] };
  const rounds = Math.ceil(tries / ROUND);
  await alternating(undefined, rounds, async (running, how) => {
    for (let i = 0; i < ROUND; i++) {
      measured[how].push(await measure(running, triggers.http));
      await rearm(running);
    }
  });
  await alternating(PARENTS_UNHURRIED, rounds, async (_, how) => {
    const before = seen[2] ?? 0;
    await sleep(TRADING_MS);
    orders[how].push(...latencies.subarray(before, seen[2] ?? 0));
  });
  const answered = (each: readonly Halted[]): number =>
    quantile(
      each.map(({ answeredMs }) => answeredMs),
      0.5,
    );
  for (const [how, each] of Object.entries(measured))
    note(
      `dashboard: ${how}`,
      'http',
      each.map(({ lastOrderMs }) => lastOrderMs),
    );
  const compared = (what: string, without: number, open: number): string => {
    const ratio = open / without;
    if (!(ratio <= RATIO_MAX)) isMissed = true;
    return `${what}: ${without.toFixed(2)} ms without a dashboard, ${open.toFixed(2)} ms with one: ratio ${ratio.toFixed(3)}, target <= ${RATIO_MAX}.\n`;
  };
  return [
    compared('A halt is answered, median', answered(measured.without), answered(measured.open)),
    ...[0.5, 0.99].map((q) =>
      compared(
        `From a quote to its order, ${q === 0.5 ? 'median' : 'p99'} of ${orders.without.length} and ${orders.open.length}`,
        quantile(orders.without, q),
        quantile(orders.open, q),
      ),
    ),
  ].join('');
}

const begun = Date.now();
if (values.dashboard) await buildDashboard(join(import.meta.dirname, '../dist/dashboard'));
if (variants.has('normal')) await series('normal', false);
if (variants.has('deaf')) await series('deaf listeners', true);
let says = values.dashboard ? await withDashboard() : '';
if (variants.has('full')) {
  const { measured, lost, ended } = await full();
  note('full disk', 'each', measured);
  if (lost > 0) isMissed = true;
  says =
    `With a full disk the halt file was there after ${measured.length - lost} of ${measured.length} tries` +
    `; ${ended} more daemons had stopped for want of room before their halt.\n`;
}
process.stdout.write(`${table(rows)}\n${says}${((Date.now() - begun) / 60_000).toFixed(1)} minutes\n`);
process.exit(isMissed ? 1 : 0);
