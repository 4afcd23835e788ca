import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { wideControls } from './desk.ts';
import type { FillRow, VenueAddress } from './desk.ts';
import { fastClock } from './fast.ts';
import { COMPILED, programFor } from './program.ts';
import type { Ended, Event } from './program.ts';
import { aVenueProcess } from './venue.ts';

/** Desks that are ended with SIGKILL at a boundary of their effects, on clocks that run fast: many real lives in minutes. */

const PATIENCE_MS = 180_000;

const killer = (at: number | string, log: string): string => {
  const url = pathToFileURL(join(import.meta.dirname, 'hooks/killer.ts'));
  url.search = String(new URLSearchParams({ at: String(at), log }));
  return url.href;
};

/** A process of the program that somebody waits for. */
export interface Life extends Ended {
  readonly said: string;
  /** The boundaries that it passed, the fatal one last. */
  readonly boundaries: readonly string[];
}

interface LifeOptions {
  readonly cwd: string;
  readonly clock: string;
  readonly token: string;
  /** Number of the boundary at which it dies, 0 for never; or a name, for the first boundary of that name. */
  readonly dieAt: number | string;
}

/** Runs the desk in `cwd` until it ends or dies. @throws when it does neither in time. */
export async function live({ cwd, clock, token, dieAt }: LifeOptions): Promise<Life> {
  const log = join(cwd, 'boundaries.log');
  writeFileSync(log, '');
  const imports = [clock, killer(dieAt, log)].flatMap((hook) => ['--import', hook]);
  const child = spawn(
    process.execPath,
    [...imports, programFor(imports), 'run', '--config', 'desk.yaml', '--until-done'],
    {
      cwd,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: cwd,
        XDG_CACHE_HOME: COMPILED,
        NO_COLOR: '1',
        TRANCHE_TOKEN: token,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const timer = setTimeout(() => child.kill('SIGABRT'), PATIENCE_MS);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return { code, signal, said, boundaries: readFileSync(log, 'utf8').split('\n').slice(0, -1) };
}

/** A process of the simulated venue with many accounts, each with its own ledger and limits. */
export interface ManyAccounts {
  readonly clock: string;
  /** The next account that nobody has used. */
  next(): VenueAddress;
}

/** Serves `accounts` accounts on a fast clock. */
export async function manyAccounts(folder: string, accounts: number): Promise<ManyAccounts> {
  const clock = fastClock();
  mkdirSync(folder, { recursive: true });
  const tokens = Array.from({ length: accounts }, (_, i) => `canary-death-${i}-5b1f`);
  const options = {
    accounts: tokens.map((token, i) => ({
      name: `desk${i}`,
      token,
      balances: { usd: '10000000', btc: '100', eth: '1000' },
    })),
    pairs: { btcusd: { start_price: '60000' }, ethusd: { start_price: '3000' } },
    quote_life_ms: 10_000,
    limits: { enforced: false },
  };
  writeFileSync(join(folder, 'venue.yaml'), JSON.stringify(options));
  const { baseUrl } = await aVenueProcess(['--config', 'venue.yaml'], folder, [clock]);
  let used = 0;
  return {
    clock,
    next() {
      const token = tokens[used++];
      if (token === undefined) throw new RangeError('all accounts are used');
      return { baseUrl, token };
    },
  };
}

/** The files of a live desk with short waits, in `folder`: what is tested is not how long a doubt may last. */
export function mortalDesk(
  folder: string,
  venue: VenueAddress,
  strategies: readonly Readonly<Record<string, unknown>>[],
): void {
  const config = {
    desk: 'main',
    mode: 'live',
    allow_environment: ['--import'],
    journal: 'sqlite:./journal.db',
    operate: false,
    strategies: 'strategies',
    venue: { base_url: venue.baseUrl, sell_path: '/v1/orders/sell', order_timeout: 'PT4S' },
    controls: wideControls,
    pacing: { orders_per_second: 60 },
    in_doubt: { booking_margin: 'PT2S', quote_life_max: 'PT10S' },
  };
  mkdirSync(join(folder, 'strategies'), { recursive: true });
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify(config));
  for (const strategy of strategies)
    writeFileSync(join(folder, 'strategies', `${String(strategy['id'])}.yaml`), JSON.stringify(strategy));
}

interface Stored {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly body: string;
  readonly hash: string;
}

/**
 * The records of a journal, read and its chain checked by nothing of the product. None when there is no journal yet.
 *
 * @throws when the chain does not hold.
 */
export function storedRecords(folder: string): readonly Event[] {
  const file = join(folder, 'journal.db');
  if (!existsSync(file)) return [];
  const db = new DatabaseSync(file);
  try {
    const rows = db.prepare('SELECT seq, at, kind, body, hash FROM records ORDER BY seq').all();
    let before = '0'.repeat(64);
    return (rows as unknown as readonly Stored[]).map(({ seq, at, body, hash }, i) => {
      const own = createHash('sha256').update(`${before}\n${seq}\n${at}\n${body}`).digest('hex');
      if (seq !== i + 1 || own !== hash) throw new Error(`the hash chain breaks at record ${i + 1}`);
      before = hash;
      return Object.assign(JSON.parse(body) as Event, { recorded_at: at });
    });
  } finally {
    db.close();
  }
}

/** The fills among them, spelt as the export spells them. */
export const fillsOf = (records: readonly Event[]): readonly FillRow[] =>
  records
    .filter(({ kind }) => kind === 'fill')
    .map((fill) => Object.fromEntries(Object.entries(fill).map(([name, each]) => [name, String(each)]))) as unknown as readonly FillRow[]; // prettier-ignore

/** Bytes of an order that were handed to the kernel before so many intents were durable: there may be none. */
export function ordersAhead(boundaries: readonly string[]): readonly string[] {
  let intents = 0;
  let orders = 0;
  return boundaries.flatMap((name, i) => {
    if (/^after commit of .*intent/u.test(name)) intents += 1;
    if (!name.startsWith('before POST /v1/orders/')) return [];
    orders += 1;
    return orders > intents ? [`boundary ${i + 1}: order ${orders} with ${intents} intents`] : [];
  });
}
