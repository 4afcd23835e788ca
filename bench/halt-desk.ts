import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './halt-venue.ts';
import { wideLimits } from './wide-limits.ts';

const PROGRAM = join(import.meta.dirname, '..', 'bin', 'tranche.js');
/** Number of parents: together an order every 25 ms, as fast as the limits of the desk allow. */
const STRATEGIES = 40;

export interface Control {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly desk: string;
}

/** A running daemon. */
export interface Running {
  readonly child: ChildProcess;
  readonly control: Control;
  /** Path of its journal, as this process sees it. */
  readonly journal: string;
  readonly haltFile: string;
  /** Returns its output on stderr. */
  said(): string;
}

export interface Setup {
  readonly account: Account;
  readonly venuePort: number;
  /** Folder of the journal as the daemon sees it, and as this process does. */
  readonly journalAt: string;
  readonly journalSeen: string;
  /** Prefix of the command line. */
  readonly before?: readonly string[];
  /** Whether nobody reads its output. */
  readonly isDeaf: boolean;
  /** Number of parents that trade one slice per second each. */
  readonly parents?: number;
}

const children = new Set<ChildProcess>();
// A failed benchmark leaves no process behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Writes the config, and parents that trade one slice per second each. */
function writeFiles(folder: string, { account, venuePort, journalAt, parents = STRATEGIES }: Setup): void {
  mkdirSync(join(folder, 'strategies'));
  for (let i = 0; i < parents; i++) {
    writeFileSync(
      join(folder, 'strategies', `twap-${i}.yaml`),
      JSON.stringify({
        id: `twap-${i}`,
        kind: 'twap',
        pair: 'btcusd',
        side: 'buy',
        // Sizes differ, because the desk takes equal orders at one time for duplicates.
        total_quantity: { amount: `${7.2 + i / 100}`.slice(0, 6), currency: 'btc' },
        start_time: new Date(Date.now() + 1_000 + (1_000 * i) / parents).toISOString(),
        duration: 'PT2H',
        slices: 7_200,
        catch_up: 'skip',
      }),
    );
  }
  const config = {
    desk: account.name,
    mode: 'live',
    venue: { base_url: `http://127.0.0.1:${venuePort}`, token: account.token },
    ...wideLimits,
    controls: { ...wideLimits.controls, max_open_doubts: 100 },
    journal: `sqlite:${join(journalAt, 'journal.db')}`,
    operate: { listen: '127.0.0.1:0' },
    strategies: './strategies',
  };
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify(config));
}

/** Starts a daemon in `folder`, which must be empty. */
export async function startDesk(folder: string, setup: Setup): Promise<Running> {
  writeFiles(folder, setup);
  const [command, ...args] = [
    ...(setup.before ?? []),
    process.execPath,
    PROGRAM,
    'run',
    '--json',
    '--config',
    join(folder, 'desk.yaml'),
  ];
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // No other variables, because live mode rejects some of them.
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  });
  children.add(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  // A pipe without a reader fills up and stays full.
  if (setup.isDeaf) child.stdout.pause();
  else child.stdout.resume();
  const journal = join(setup.journalSeen, 'journal.db');
  for (;;) {
    if (hasEnded(child)) throw new Error(`the daemon ended with ${child.exitCode}:\n${said}`);
    try {
      const control = JSON.parse(readFileSync(`${journal}.control`, 'utf8')) as Control;
      return { child, control, journal, haltFile: `${journal}.halt`, said: () => said };
    } catch {
      await sleep(10);
    }
  }
}

export const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

export async function stopDesk({ child }: Running): Promise<void> {
  child.kill('SIGKILL');
  while (!hasEnded(child)) await sleep(5);
  children.delete(child);
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-halt-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
