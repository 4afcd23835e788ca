/**
 * Measures idle desks on one daemon of a fleet: resident memory of the daemon and all its processes, their processor time, and their
 * connections to PostgreSQL; in the same run also an empty Node process, and a daemon with one desk. All desks are live at simulated venues
 * of up to a hundred accounts each, and share the address. The increase per desk gives the figures for 200 desks, so that a machine without
 * the memory for these can also measure them. With `--hibernate` the daemon ends the processes of waiting desks, so that `--desks 200` fit.
 * Exit code 1 when 200 desks miss a target. Linux only.
 *
 * Run: `node bench/fleet-desks.ts [--desks 20] [--idle-s 60] [--hibernate] [--json]`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { hashOf, readDeskFiles } from '../src/app/fleet/desk-files.ts';
import { FleetStore } from '../src/app/fleet/fleet-store.ts';
import { preparePostgres } from '../src/journal/postgres/prepare.ts';
import { startPostgres } from '../test/journal/postgres-server.ts';
import { PROGRAM, ownEnvironment, residentMb, startTranche, stopTranche } from './daemon.ts';
import type { Running } from './daemon.ts';
import { table } from './measure.ts';

const TARGET = { desks: 200, residentMb: 600, idlePct: 5 };
const { values } = parseArgs({
  options: {
    desks: { type: 'string', default: '20' },
    'idle-s': { type: 'string', default: '60' },
    hibernate: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const DESKS = Math.max(2, Number(values.desks));
const IDLE_MS = Number(values['idle-s']) * 1_000;
/** Time after the last desk is ready, in which garbage of the starts is collected and the first reads of the accounts finish. */
const SETTLE_MS = 30_000;
const START_MS_MAX = 1_200_000;

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));
const env = { XDG_CACHE_HOME: join(folder, 'cache'), HOME: folder };

/** Returns a process and all its descendants. */
function familyOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** Returns the processor time of processes so far, ms, in steps of a hundredth of a second. */
const processorMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);

const memoryOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + residentMb(pid).now, 0);

/** Returns the memory that processes use of the machine, MB: a page that several processes share counts once in total. */
const ownMemoryOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return sum + (Number(/^Pss:\s+(\d+) kB$/mu.exec(rollup)?.[1]) * 1_024) / 1e6;
  }, 0);

const nameOf = (index: number): string => `desk-${index}`;
const tokenOf = (index: number): string => `bench-fleet-desk-${index}-7f31c9d2`;

/** Largest number of accounts of a simulated venue. */
const ACCOUNTS_MAX = 100;

/** Writes the options of a venue with the accounts of the desks from `first` on. */
function writeVenue(first: number): string {
  const file = join(folder, `venue-${first}.yaml`);
  const accounts = Array.from({ length: Math.min(ACCOUNTS_MAX, DESKS - first) }, (_, i) => ({
    name: nameOf(first + i),
    token: tokenOf(first + i),
    balances: { usd: '1000000', btc: '25', eth: '400' },
  }));
  writeFileSync(file, JSON.stringify({ accounts }));
  return file;
}

/** Writes the files of a desk that waits: two strategies that begin in a year. */
function writeDesk(index: number, venue: Readonly<Record<string, unknown>>): string {
  const home = join(folder, 'desks', nameOf(index));
  mkdirSync(join(home, 'strategies'), { recursive: true });
  const year = new Date().getUTCFullYear() + 1;
  for (const [pair, currency] of [
    ['btcusd', 'btc'],
    ['ethusd', 'eth'],
  ] as const)
    writeFileSync(
      join(home, 'strategies', `${pair}.yaml`),
      JSON.stringify({
        id: pair,
        kind: 'twap',
        pair,
        side: 'buy',
        total_quantity: { amount: '1.5', currency },
        start_time: `${year}-12-01T09:00:00[Europe/London]`,
        duration: 'PT4H',
        slices: 48,
      }),
    );
  const config = join(home, 'desk.yaml');
  writeFileSync(join(home, 'token'), tokenOf(index), { mode: 0o600 });
  writeFileSync(
    config,
    JSON.stringify({
      desk: nameOf(index),
      mode: 'live',
      journal: 'memory:',
      operate: { listen: '127.0.0.1:0' },
      strategies: { files: 'strategies' },
      runtime: { allow_other: true },
      pacing: { orders_per_second: 60 },
      venue: {
        base_url: venue['base_url'],
        ws_url: venue['ws_url'],
        capabilities: { balances: true, pairs: true, order_lookup: true, ticker: true },
        sell_path: '/v1/orders/sell',
        token_file: 'token',
      },
      controls: {
        max_order_notional: { amount: '250000', currency: 'usd' },
        max_day_notional: { amount: '5000000', currency: 'usd' },
        max_order_quantity: { btcusd: '1000', ethusd: '1000' },
        min_position: { btc: '0', eth: '0' },
        collar_bps: 100,
        max_drift_bps: 10_000,
        max_shortfall_bps: 10_000,
        max_executions_per_minute: 10_000,
        pairs: ['btcusd', 'ethusd'],
        sides: ['buy', 'sell'],
      },
    }),
  );
  return config;
}

async function store(url: string, config: string, desk: string): Promise<void> {
  const fleet = new FleetStore(url);
  const files = readDeskFiles(
    config,
    ['btcusd', 'ethusd'].map((pair) => join(config, '..', 'strategies', `${pair}.yaml`)),
  );
  await fleet.put(desk, { before: 0, files, hash: hashOf(files), person: 'bench', why: 'bench' });
  await fleet.close();
}

interface Figures {
  readonly processes: number;
  readonly readyMs: number;
  readonly residentMb: number;
  /** Memory with shared pages counted once. */
  readonly ownMb: number;
  readonly idlePct: number;
  readonly connections: number;
}

/** Returns the number of connections of all Tranche processes to the server. */
async function connectionsTo(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'tranche'",
    );
    return rows[0]?.count ?? Number.NaN;
  } finally {
    await client.end();
  }
}

/** Returns the number of desks that hibernate. */
async function hibernatingIn(url: string): Promise<number> {
  const fleet = new FleetStore(url);
  try {
    return (await fleet.desks()).filter(({ hibernatesS = 0 }) => hibernatesS > 0).length;
  } finally {
    await fleet.close();
  }
}

/** Measures a daemon whose desks wait, with all its processes. */
async function daemon(url: string, name: string, desks: readonly number[]): Promise<Figures> {
  const machine = join(folder, name);
  for (const index of desks) {
    mkdirSync(join(machine, nameOf(index)), { recursive: true, mode: 0o700 });
    writeFileSync(join(machine, nameOf(index), 'token'), tokenOf(index), { mode: 0o600 });
  }
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    [
      PROGRAM, 'run', '--json', '--fleet', url, '--name', name, '--folder', machine,
      '--capacity', String(desks.length), ...(values.hibernate ? ['--hibernate', 'PT2M'] : []),
    ], // prettier-ignore
    { env: ownEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  process.once('exit', () => child.kill());
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-20_000)));
  const ready = new Set<unknown>();
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (line['event'] === 'ready') ready.add(line['desk']);
  });
  const count = async (): Promise<number> => (values.hibernate ? await hibernatingIn(url) : ready.size);
  for (let done = 0; done < desks.length; done = await count()) {
    if (child.exitCode !== null || performance.now() - begun > START_MS_MAX)
      throw new Error(
        `only ${done} of ${desks.length} desks ${values.hibernate ? 'hibernate' : 'became ready'}:\n${said}`,
      );
    await sleep(values.hibernate ? 1_000 : 100);
  }
  const readyMs = performance.now() - begun;
  await sleep(SETTLE_MS);
  const pids = familyOf(child.pid ?? 0);
  const before = processorMs(pids);
  await sleep(IDLE_MS);
  const figures = {
    processes: pids.length,
    readyMs,
    residentMb: memoryOf(pids),
    ownMb: ownMemoryOf(pids),
    idlePct: ((processorMs(pids) - before) / IDLE_MS) * 100,
    connections: await connectionsTo(url),
  };
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
  return figures;
}

/** Returns the memory of an empty Node process, for comparison. */
async function emptyMb(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env: ownEnvironment(env) });
  await sleep(2_000);
  const { now } = residentMb(child.pid ?? 0);
  child.kill();
  return now;
}

async function measure(): Promise<{ readonly empty: number; readonly one: Figures; readonly many: Figures }> {
  const server = await startPostgres({ settings: { max_connections: String(5 * DESKS + 20) } });
  try {
    const url = `postgres://tranche@localhost/postgres?host=${encodeURIComponent(server.home)}`;
    preparePostgres(url);
    const venues: Running[] = [];
    const put = async (i: number): Promise<void> => {
      const venue = venues[Math.floor(i / ACCOUNTS_MAX)];
      if (venue !== undefined) await store(url, writeDesk(i, venue.line), nameOf(i));
    };
    try {
      for (let first = 0; first < DESKS; first += ACCOUNTS_MAX)
        venues.push(
          await startTranche(
            ['venue', '--port', '0', '--config', writeVenue(first)],
            (line) => 'base_url' in line,
            env,
          ),
        );
      await put(0);
      const empty = await emptyMb();
      const one = await daemon(url, 'one', [0]);
      for (let i = 1; i < DESKS; i++) await put(i);
      const all = Array.from({ length: DESKS }, (_, i) => i);
      return { empty, one, many: await daemon(url, 'many', all) };
    } finally {
      for (const venue of venues) await stopTranche(venue);
    }
  } finally {
    await server.stop();
  }
}

function report({ empty, one, many }: Awaited<ReturnType<typeof measure>>): void {
  const whole = (of: 'residentMb' | 'ownMb' | 'idlePct' | 'connections'): number =>
    one[of] + ((many[of] - one[of]) / (DESKS - 1)) * (TARGET.desks - 1);
  const target = {
    residentMb: whole('residentMb'),
    ownMb: whole('ownMb'),
    idlePct: whole('idlePct'),
    connections: whole('connections'),
  };
  const reached = target.residentMb <= TARGET.residentMb && target.idlePct <= TARGET.idlePct;
  process.exitCode = reached ? 0 : 1;
  const results = { load: loadavg()[0] ?? 0, desks: DESKS, emptyMb: empty, one, many, target };
  if (values.json) {
    console.log(
      JSON.stringify({
        bench: values.hibernate ? 'fleet-desks-hibernate' : 'fleet-desks',
        target: TARGET,
        reached,
        results,
      }),
    );
    return;
  }
  const row = (what: string, value: number, of?: number): Readonly<Record<string, string>> => ({
    what,
    value: value.toFixed(2),
    ofTarget: of === undefined ? '' : (value / of).toFixed(2),
  });
  const rows = ({ processes, readyMs, ...each }: Figures): readonly Readonly<Record<string, string>>[] => [
    row('  processes', processes),
    row(values.hibernate ? '  all hibernate after, s' : '  all ready after, s', readyMs / 1_000),
    row('  resident memory, MB', each.residentMb),
    row('    shared pages counted once, MB', each.ownMb),
    row(`  processor while they wait, % of a core over ${IDLE_MS / 1_000} s`, each.idlePct),
    row('  connections to PostgreSQL', each.connections),
  ];
  console.log(
    table([
      row('an empty process of Node, resident, MB', empty),
      row('desks', 1),
      ...rows(one),
      row('desks', DESKS),
      ...rows(many),
      row('desks, by what each adds', TARGET.desks),
      row('  resident memory, MB', target.residentMb, TARGET.residentMb),
      row('    shared pages counted once, MB', target.ownMb),
      row('  processor while they wait, % of a core', target.idlePct, TARGET.idlePct),
      row('  connections to PostgreSQL', target.connections),
      row('load average of the machine', results.load),
    ]),
  );
  console.log(`targets: ${reached ? 'reached' : 'MISSED'}`);
}

try {
  report(await measure());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
