import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { parse } from 'csv-parse/sync';
import { fleetMove } from '../../../src/app/fleet/fleet-commands.ts';
import { instant } from '../../../src/core/time.ts';
import { startPostgres } from '../../journal/postgres-server.ts';
import type { PostgresServer } from '../../journal/postgres-server.ts';
import { aDesk, aFolder } from './desk.ts';
import type { FillRow, VenueAddress } from './desk.ts';
import { twapOf, watched } from './drill.ts';
import type { Watched } from './drill.ts';
import { expectSameStory, readTrades } from './ledger.ts';
import { finish, jsonLines, start } from './program.ts';
import type { Finished, Program, ProgramOptions } from './program.ts';
import { until } from './until.ts';
import { aServedVenue } from './venue.ts';

export const tokenOf = (desk: string): string => `canary-fleet-${desk}-5e8801c2`;

/** One object of `tranche fleet list --json`. */
export interface Listed {
  readonly desk: string;
  readonly daemon?: string;
  readonly isLeased: boolean;
  readonly owner?: string;
  readonly program: string;
  readonly hibernatesS?: number;
}

/** When the TWAP of a desk begins, Unix ms; one that is not named begins at once. */
type StartTimes = Readonly<Record<string, number>>;

type DaemonOptions = Pick<ProgramOptions, 'program' | 'imports' | 'env'>;

/** A PostgreSQL server, a simulated venue with an account for each desk, and desks in the store. Daemons are started by the test. */
export class Fleet {
  /** The primary, after a failover the one of now. */
  server: PostgresServer;
  readonly venue: VenueAddress;
  readonly seen: Watched;
  readonly desks: readonly string[];
  readonly #cwd = aFolder();
  readonly #configs = new Map<string, string>();
  readonly #machines = new Map<string, string>();
  readonly #everyMs: number;
  readonly #startsAt: StartTimes;
  readonly #quoteLifeMaxSeconds: number;

  constructor(
    server: PostgresServer,
    {
      venue,
      seen,
      desks,
      everyMs = 1_000,
      startsAt = {},
      quoteLifeMaxSeconds = 12,
    }: Pick<Fleet, 'venue' | 'seen' | 'desks'> & {
      readonly everyMs?: number;
      readonly startsAt?: StartTimes;
      /** A desk refuses quotes that live longer, and waits as long before it trusts an absence. */
      readonly quoteLifeMaxSeconds?: number;
    },
  ) {
    this.server = server;
    this.venue = venue;
    this.seen = seen;
    this.desks = desks;
    this.#everyMs = everyMs;
    this.#startsAt = startsAt;
    this.#quoteLifeMaxSeconds = quoteLifeMaxSeconds;
    onTestFinished(async () => {
      for (const { owner } of await this.list().catch(() => [])) killOwner(owner);
    });
  }

  /** URL of the store. */
  get store(): string {
    return `postgres://tranche@localhost/postgres?host=${encodeURIComponent(this.server.home)}`;
  }

  /** Makes the tables and puts a first version of each desk, a TWAP of a slice a second unless `everyMs` says otherwise. */
  async prepare(): Promise<void> {
    await succeeded(['journal', 'prepare', this.store], this.#cwd);
    for (const name of this.desks) {
      const { folder } = aDesk({
        venue: { ...this.venue, token: tokenOf(name) },
        strategies: [this.#twapOf(name)],
        config: {
          desk: name,
          venue: { token_file: 'token' },
          in_doubt: {
            poll: 'PT2S',
            quote_life_max: `PT${this.#quoteLifeMaxSeconds}S`,
            booking_margin: 'PT3S',
          },
        },
      });
      this.#configs.set(name, join(folder, 'desk.yaml'));
      // Where the config is put from, any token will do: only the machines trade.
      keepToken(join(folder, 'token'), `not-of-an-account-${name}-0001`);
    }
    await Promise.all(this.desks.map(async (name) => await this.put(name)));
  }

  #twapOf(desk: string): Readonly<Record<string, unknown>> {
    const twap = twapOf({ id: `btc-${desk}`, slices: 900, everyMs: this.#everyMs });
    const at = this.#startsAt[desk];
    return at === undefined ? twap : { ...twap, start_time: new Date(at).toISOString() };
  }

  /** A daemon on the machine of its name, which keeps its folder when the daemon is started again. */
  daemon(
    name: string,
    {
      store = this.store,
      settings,
      args: more = [],
      ...how
    }: DaemonOptions & {
      readonly store?: string;
      readonly settings?: string;
      readonly args?: readonly string[];
    } = {},
  ): Program {
    const args = ['run', '--fleet', store, '--name', name, '--folder', this.folderOf(name), '--json'];
    if (settings !== undefined) args.push('--settings', settings);
    args.push(...more);
    return start(args, { cwd: this.#cwd, ...how });
  }

  /** Where the machine of this name keeps the files of its desks. */
  folderOf(name: string): string {
    let folder = this.#machines.get(name);
    if (folder === undefined) {
      folder = aFolder();
      this.#machines.set(name, folder);
      for (const desk of this.desks) keepToken(join(folder, desk, 'token'), tokenOf(desk));
    }
    return folder;
  }

  /** A link that signs a browser in to the pages of a daemon, once. */
  async link(daemon: string): Promise<string> {
    const args = ['fleet', 'sign-in', '--folder', this.#machines.get(daemon) ?? '', '--json'];
    const { stdout } = await succeeded(args, this.#cwd);
    return (JSON.parse(stdout) as { readonly link: string }).link;
  }

  /** Adds a strategy to the files of a desk; `put` makes a version of them. */
  addStrategy(desk: string, id: string): void {
    const file = join(dirname(this.#configs.get(desk) ?? ''), 'strategies', `${id}.yaml`);
    writeFileSync(file, JSON.stringify(twapOf({ id, slices: 900, everyMs: 1_000 })));
  }

  async put(desk: string, ...args: readonly string[]): Promise<void> {
    await this.command('put', desk, '--config', this.#configs.get(desk) ?? '', ...args);
  }

  /** `tranche fleet …`, which must succeed. */
  async command(...args: readonly string[]): Promise<Finished> {
    return await succeeded(['fleet', ...args, '--store', this.store], this.#cwd);
  }

  /** `tranche fleet …`, whatever comes of it. */
  async tried(...args: readonly string[]): Promise<Finished> {
    return await finish(['fleet', ...args, '--store', this.store], { cwd: this.#cwd });
  }

  /** As `tranche fleet move`, without a process of its own, whatever comes of it. */
  async move(desk: string, to: string): Promise<void> {
    const out = { write: () => true };
    const io = { stdout: out, stderr: out, env: {}, cwd: this.#cwd, now: instant(Date.now()), colour: false };
    await fleetMove(desk, { store: this.store, to }, io).catch(() => undefined);
  } // prettier-ignore

  /** A command for one desk, such as `halt`, by the store, whatever comes of it. */
  async ask(desk: string, ...args: readonly string[]): Promise<Finished> {
    return await finish([...args, '--store', this.store, '--desk', desk, '--json'], { cwd: this.#cwd });
  }

  /** Records of a desk, oldest first. */
  async records(desk: string, kind: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const args = ['journal', 'export', '--format', 'jsonl', '--kind', 'all', this.server.url(desk)];
    const { stdout } = await succeeded(args, this.#cwd);
    return jsonLines(stdout)
      .map((line): Readonly<Record<string, unknown>> =>
        typeof line['body'] === 'object' ? { ...line['body'] } : line,
      )
      .filter((body) => body['kind'] === kind);
  }

  async list(): Promise<readonly Listed[]> {
    const { stdout } = await this.command('list', '--json');
    return (JSON.parse(stdout) as { readonly desks: readonly Listed[] }).desks;
  }

  /** Desks that a daemon has. */
  async desksOf(daemon: string): Promise<readonly Listed[]> {
    return (await this.list()).filter((one) => one.daemon === daemon);
  }

  /** Waits until this daemon runs so many desks: the first daemon takes all of them, and gives some to the next. */
  async desksAt(daemon: string, count: number): Promise<readonly Listed[]> {
    for (let tries = 0; tries < 40; tries += 1) {
      const own = (await this.desksOf(daemon)).filter(({ isLeased }) => isLeased);
      if (own.length === count) return own;
      await sleep(1_000);
    }
    throw new Error(`${daemon} does not run ${count} desks: ${JSON.stringify(await this.list())}`);
  }

  /** Waits until each desk is ready at one of these daemons. */
  async tradesAt(desks: readonly string[], ...daemons: readonly Program[]): Promise<void> {
    for (const desk of desks)
      await until(
        () => daemons.some((daemon) => startsOf(daemon, desk) > 0),
        () => `desk ${desk} does not trade: ${daemons.map((daemon) => daemon.lastWords()).join(' ')}`,
        40_000,
      );
  }

  /** @throws when a desk still trades after a minute: it renews its lease for as long. */
  async noLeaseIsLeft(): Promise<void> {
    for (let tries = 0; tries < 30; tries += 1) {
      if ((await this.list()).every(({ isLeased }) => !isLeased)) return;
      await sleep(1_000);
    }
    throw new Error(`desks are still leased: ${JSON.stringify(await this.list())}`);
  }

  /** Every chain verifies, and the fills of each desk are the trades of its account. */
  async everyOrderOnce(tokenNow: (desk: string) => string = tokenOf): Promise<void> {
    await Promise.all(
      this.desks.map(async (name) => {
        const url = this.server.url(name);
        await succeeded(['journal', 'verify', url], this.#cwd);
        const { stdout } = await succeeded(['journal', 'export', '--kind', 'fills', url], this.#cwd);
        const fills: readonly FillRow[] = parse(stdout, { columns: true });
        if (fills.length === 0) throw new Error(`desk ${name} has no fill`);
        expectSameStory(fills, await readTrades({ ...this.venue, token: tokenNow(name) }));
      }),
    );
  }
}

/** A fleet with these desks in its store, and no daemon. */
export async function aFleet(
  desks: readonly string[],
  options: { readonly startsAt?: StartTimes } = {},
): Promise<Fleet> {
  const server = await startPostgres();
  onTestFinished(async () => {
    await server.stop();
  });
  const seen = watched();
  const balances = { usd: '10000000', btc: '100', eth: '1000' };
  const accounts = desks.map((name) => ({ name, token: tokenOf(name), balances }));
  const venue = await aServedVenue(tokenOf(desks[0] ?? ''), { accounts }, seen.hooks);
  const fleet = new Fleet(server, { venue, seen, desks, ...options });
  await fleet.prepare();
  return fleet;
}

/** @throws when the command fails */
async function succeeded(args: readonly string[], cwd: string): Promise<Finished> {
  const ended = await finish(args, { cwd });
  if (ended.code !== 0) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  return ended;
}

/** How often a daemon has reported that this desk is ready. */
const startsOf = (daemon: Program, desk: string): number =>
  daemon.eventsOf('ready').filter((event) => event['desk'] === desk).length;

export function keepToken(file: string, token: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, token, { mode: 0o600 });
}

/** Kills or stops the process that holds a lease, from the words of the lease. Only one of this program is ended. */
export function killOwner(owner: string | undefined, signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): void {
  const pid = /^process (\d+) on /u.exec(owner ?? '')?.[1];
  if (pid === undefined) return;
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('desk.yaml')) process.kill(Number(pid), signal);
  } catch {
    // It has ended.
  }
}
