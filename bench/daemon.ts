import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const PROGRAM = join(import.meta.dirname, '..', 'bin', 'tranche.js');

/**
 * Returns an environment without the variables of the caller: certificates and options of Node would change the result, and live
 * mode rejects them.
 */
export const ownEnvironment = (added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ...added,
});

/** A process of Tranche that has reported that it is ready. */
export interface Running {
  readonly process: ChildProcess;
  /** Time from `spawn` to the line, ms. */
  readonly readyMs: number;
  readonly line: Readonly<Record<string, unknown>>;
}

/** Starts `tranche` and waits for the first line of JSON that `isReady` accepts. Errors contain its stderr. */
export async function startTranche(
  args: readonly string[],
  isReady: (line: Readonly<Record<string, unknown>>) => boolean,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<Running> {
  const begun = performance.now();
  const child = spawn(process.execPath, [...flags, PROGRAM, ...args], { env: ownEnvironment(env) });
  // A failed benchmark leaves no process behind.
  const kill = (): void => {
    child.kill();
  };
  process.on('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  for await (const text of createInterface(child.stdout)) {
    const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (!isReady(line)) continue;
    const readyMs = performance.now() - begun;
    child.stdout.resume(); // a full pipe must not stop it
    return { process: child, readyMs, line };
  }
  throw new Error(`tranche ${args.join(' ')} ended before it was ready:\n${said}`);
}

/** Sends SIGTERM and returns the exit code. */
export async function stopTranche({ process: child }: Running): Promise<unknown> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exit) as [number | null];
  return code;
}

/** Returns the resident memory of a process in MB (10^6 bytes), now and at its peak. Linux only: reads `/proc`. */
export function residentMb(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string): number =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1]) * 1024) / 1e6;
  return { now: of('VmRSS'), peak: of('VmHWM') };
}

/** Writes options of the simulated venue with this many accounts. Returns the path of the file. */
export function writeVenue(folder: string, accounts: number): string {
  const file = join(folder, 'venue.yaml');
  const lines = Array.from(
    { length: accounts },
    (_, i) => `  - { name: desk-${i}, balances: { usd: '1000000', btc: '25', eth: '400' } }\n`,
  );
  writeFileSync(file, `accounts:\n${lines.join('')}`);
  return file;
}

export interface DeskFiles {
  readonly folder: string;
  readonly baseUrl: string;
  readonly token: string;
  readonly strategies: number;
}

/** Writes a live config for a venue on this machine, and twaps that begin in a year. Returns the path of the config. */
export function writeDesk({ folder, baseUrl, token, strategies }: DeskFiles): string {
  const next = new Date().getUTCFullYear() + 1;
  mkdirSync(join(folder, 'strategies'), { recursive: true });
  for (let i = 0; i < strategies; i++) {
    writeFileSync(
      join(folder, 'strategies', `twap-${i}.yaml`),
      `id: twap-${i}
kind: twap
pair: ${i % 2 === 0 ? 'btcusd' : 'ethusd'}
side: ${i % 4 < 2 ? 'buy' : 'sell'}
total_quantity: { amount: '1.5', currency: ${i % 2 === 0 ? 'btc' : 'eth'} }
start_time: '${next}-12-01T09:00:00[Europe/London]'
duration: PT4H
slices: 48
jitter: { time_pct: 20, size_pct: 10, seed: ${i} }
`,
    );
  }
  const config = join(folder, 'desk.yaml');
  writeFileSync(
    config,
    `desk: bench
mode: live
venue:
  base_url: '${baseUrl}'
  token: '${token}'
  sell_path: /v1/orders/sell
controls:
  max_order_notional: { amount: '250000', currency: usd }
  max_day_notional: { amount: '5000000', currency: usd }
  max_order_quantity: { btcusd: '1000', ethusd: '1000' }
  min_position: { btc: '0', eth: '0' }
  collar_bps: 100
  max_drift_bps: 10000
  max_shortfall_bps: 10000
  max_executions_per_minute: 10000
  pairs: [btcusd, ethusd]
  sides: [buy, sell]
pacing: { orders_per_second: 60 }
journal: 'sqlite:${join(folder, 'journal.db')}'
operate: { listen: '127.0.0.1:0' }
strategies: ./strategies
`,
  );
  return config;
}
