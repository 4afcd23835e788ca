import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'csv-parse/sync';
import { noPostgres, startPostgres } from '../journal/postgres-server.ts';
import { aDesk, aFolder } from './support/desk.ts';
import type { FillRow } from './support/desk.ts';
import { twapOf, watched } from './support/drill.ts';
import { expectSameStory, readTrades } from './support/ledger.ts';
import { finish, start } from './support/program.ts';
import type { Program } from './support/program.ts';
import { until } from './support/until.ts';
import { aServedVenue } from './support/venue.ts';

const DESKS = ['a', 'b', 'c', 'd'] as const;
const tokenOf = (desk: string): string => `canary-fleet-${desk}-5e8801c2`;
const missing = noPostgres();

interface Listed {
  readonly desks: readonly {
    readonly desk: string;
    readonly daemon?: string;
    readonly isLeased: boolean;
    readonly owner?: string;
  }[];
}

describe.skipIf(missing !== undefined)(
  `a fleet of two daemons over PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('moves desks by command, on drain and on death, reloads a new version, and executes each order once', async () => {
      const server = await startPostgres();
      onTestFinished(async () => {
        await server.stop();
      });
      const store = `postgres://tranche@localhost/postgres?host=${encodeURIComponent(server.home)}`;
      const seen = watched();
      const balances = { usd: '10000000', btc: '100', eth: '1000' };
      const accounts = DESKS.map((name) => ({ name, token: tokenOf(name), balances }));
      const venue = await aServedVenue(tokenOf('a'), { accounts }, seen.hooks);
      const machines = { one: aFolder(), two: aFolder() };
      const cwd = aFolder();
      const fleet = async (...args: readonly string[]): ReturnType<typeof finish> => {
        const ended = await finish(['fleet', ...args, '--store', store], { cwd });
        expect(ended).toMatchObject({ code: 0 });
        return ended;
      };
      const list = async (): Promise<Listed['desks']> =>
        (JSON.parse((await fleet('list', '--json')).stdout) as Listed).desks;
      /** Waits until desks trade at this daemon. */
      const tradesAt = async (names: readonly string[], daemon: Program, before = 0): Promise<void> => {
        for (const name of names)
          await until(
            () => startsOf(daemon, name) > before,
            () => `desk ${name} did not trade: ${daemon.lastWords()}`,
            40_000,
          );
      };

      expect(await finish(['journal', 'prepare', store], { cwd })).toMatchObject({ code: 0 });
      const configs = new Map<string, string>();
      for (const name of DESKS) {
        const { folder } = aDesk({
          venue: { ...venue, token: tokenOf(name) },
          strategies: [twapOf({ id: `btc-${name}`, slices: 900, everyMs: 1_000 })],
          config: {
            desk: name,
            venue: { token_file: 'token' },
            in_doubt: { poll: 'PT2S', quote_life_max: 'PT12S', booking_margin: 'PT3S' },
          },
        });
        configs.set(name, join(folder, 'desk.yaml'));
        // Where the config is put from, any token will do: only the machines trade.
        keepToken(join(folder, 'token'), `not-of-an-account-${name}-0001`);
        for (const machine of Object.values(machines)) keepToken(join(machine, name, 'token'), tokenOf(name));
      }
      const put = async (name: string): Promise<unknown> =>
        await fleet('put', name, '--config', configs.get(name) ?? '');
      await Promise.all(DESKS.map(put));
      const machine = (name: 'one' | 'two'): Program =>
        start(['run', '--fleet', store, '--name', name, '--folder', machines[name], '--json'], { cwd });
      onTestFinished(async () => {
        for (const { owner } of await list().catch(() => [])) kill(owner);
      });

      const [one, two] = [machine('one'), machine('two')];
      await until(
        () => DESKS.every((name) => startsOf(one, name) + startsOf(two, name) > 0),
        () => `not all desks trade: ${one.lastWords()} ${two.lastWords()}`,
        40_000,
      );
      const ofOne = (await list()).filter(({ daemon }) => daemon === 'one').map(({ desk }) => desk);
      expect(ofOne).toHaveLength(2);

      // A command moves a desk, and a new version reaches the desk that runs.
      const [moved = '', stays = ''] = ofOne;
      await fleet('move', moved, '--to', 'two');
      await tradesAt([moved], two);
      const added = join(dirname(configs.get(stays) ?? ''), 'strategies', 'more.yaml');
      writeFileSync(added, JSON.stringify(twapOf({ id: 'more', slices: 900, everyMs: 1_000 })));
      await put(stays);
      await one.event('reload');

      // The machine dies: its daemon and the processes of its desks with it.
      const owners = (await list()).filter(({ daemon }) => daemon === 'one').map(({ owner }) => owner);
      one.signal('SIGKILL');
      for (const owner of owners) kill(owner);
      await one.ended();
      await tradesAt([stays], two);

      // A daemon joins, and one drains: its desks move at once.
      const three = machine('one');
      await three.said('fleet ready');
      await fleet('drain', 'two');
      expect(await two.ended()).toMatchObject({ code: 0 });
      await tradesAt(DESKS, three);
      await seen.orders(seen.orderCount() + 8);
      // The daemon dies alone: its desks end by themselves, for nobody could move them any more.
      three.signal('SIGKILL');
      await three.ended();
      await untilNoLease(list);

      await Promise.all(
        DESKS.map(async (name) => {
          const url = server.url(name);
          expect(await finish(['journal', 'verify', url], { cwd })).toMatchObject({ code: 0 });
          const { stdout } = await finish(['journal', 'export', '--kind', 'fills', url], { cwd });
          const fills: readonly FillRow[] = parse(stdout, { columns: true });
          expect(fills.length).toBeGreaterThan(0);
          expectSameStory(fills, await readTrades({ ...venue, token: tokenOf(name) }));
        }),
      );
    });
  },
);

/** @throws when a desk still trades after a minute: it renews its lease for as long. */
async function untilNoLease(list: () => Promise<Listed['desks']>): Promise<void> {
  for (let tries = 0; tries < 30; tries += 1) {
    if ((await list()).every(({ isLeased }) => !isLeased)) return;
    await sleep(1_000);
  }
  throw new Error(`desks are still leased: ${JSON.stringify(await list())}`);
}

/** How often a daemon has reported that this desk is ready. */
const startsOf = (daemon: Program, desk: string): number =>
  daemon.eventsOf('ready').filter((event) => event['desk'] === desk).length;

function keepToken(file: string, token: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, token, { mode: 0o600 });
}

/** The process that holds a lease, from the words of the lease. Only one of this program is ended. */
function kill(owner: string | undefined): void {
  const pid = /^process (\d+) on /u.exec(owner ?? '')?.[1];
  if (pid === undefined) return;
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('desk.yaml'))
      process.kill(Number(pid), 'SIGKILL');
  } catch {
    // It has ended.
  }
}
