import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { alerts } from '../../../src/core/alerts.ts';
import { alertsOf, openIntents } from './checks.ts';
import { storedRecords } from './deaths.ts';
import { aDesk, aFolder } from './desk.ts';
import type { DeskFolder } from './desk.ts';
import { twapOf, units } from './drill.ts';
import { hardDayFaults } from './hard-day-faults.ts';
import { readTrades, tradesOf } from './ledger.ts';
import type { Event } from './program.ts';
import { admin, aVenueProcess, faultsOf } from './venue.ts';

/** A hard day: a venue that fails a fifth of all requests in 29 ways, quotes that live for 1.5 s, and nine SIGKILLs of the daemon. */

export const QUOTE_LIFE_MS = 1_500;
export const KILLS = 9;
export const SLICES = 40;
const TOTAL = units('4');
/** For the closing read, and for doubts that are still being proven. */
const END_MS = 180_000;
/** A supervisor starts a daemon that ended this long after its death. */
const RESTART_MS = 100;

/** What one day came to. */
export interface HardDay {
  readonly seed: number;
  /** Of the total, per cent. */
  readonly traded: number;
  /** From the intent of an order until its outcome was proven, the longest of the day. */
  readonly doubtMs: number;
  readonly kills: number;
  /** Changes of a control to another state than active, with who and why. */
  readonly stops: readonly string[];
  /** How often each alert was raised. */
  readonly alerts: Readonly<Record<string, number>>;
  /** How often attempts and slices ended for each reason. */
  readonly reasons: Readonly<Record<string, number>>;
  /** From the start of each process until it was ready, ms. */
  readonly startsMs: readonly number[];
  /** Faults that struck, and how many requests and messages the venue has met. */
  readonly struck: number;
  readonly idle: readonly string[];
  /** What must never be, and was. */
  readonly violations: readonly string[];
  readonly load: number;
}

/** Lives through one hard day of `minutes` with real processes. `keep`: a folder for its journal and log. */
export async function hardDay(seed: number, minutes: number, keep?: string): Promise<HardDay> {
  const cwd = aFolder();
  const lengthMs = minutes * 60_000;
  writeFileSync(join(cwd, 'faults.json'), JSON.stringify(hardDayFaults(seed)));
  writeFileSync(
    join(cwd, 'venue.json'),
    JSON.stringify({
      seed,
      accounts: [{ name: 'desk', balances: { usd: '10000000', btc: '100', eth: '1000' } }],
      pairs: { btcusd: { start_price: '60000' }, ethusd: { start_price: '3000' } },
      quote_life_ms: QUOTE_LIFE_MS,
    }),
  );
  const venue = await aVenueProcess(['--config', 'venue.json', '--faults', 'faults.json'], cwd);
  const twap = twapOf({ id: 'btc', slices: SLICES, everyMs: lengthMs / SLICES });
  const desk = aDesk({ venue, strategies: [twap], config: { in_doubt: { booking_margin: 'PT3S', quote_life_max: 'PT5S' } } });
  const lives = await liveThrough(desk, lengthMs);
  const faults = await faultsOf(venue);
  await admin(venue, 'DELETE faults');

  if (keep !== undefined) cpSync(desk.folder, join(keep, `seed-${seed}`), { recursive: true });
  const records = storedRecords(desk.folder);
  const sums = bookedOf(records);
  const raised = counted(alertsOf(desk));
  return {
    seed,
    traded: Number(([...sums.values()].reduce((sum, each) => sum + each.base, 0n) * 10_000n) / TOTAL) / 100,
    doubtMs: longestDoubt(records),
    kills: lives.kills,
    stops: records
      .filter(({ kind, state }) => kind === 'control' && state !== 'active')
      .map(({ state, parent, pair, by, why }) => `${text(state)} ${whatOf({ parent, pair })} by ${text(by)}: ${text(why)}`),
    alerts: raised,
    reasons: counted(
      records
        .filter(({ kind, result }) => (kind === 'attempt' || kind === 'slice') && result !== 'filled')
        .map(({ kind, result, reason }) => `${text(kind)} ${text(result)} ${text(reason)}`.trim()),
    ),
    startsMs: lives.startsMs,
    struck: faults.reduce((sum, each) => sum + each.struck, 0),
    idle: faults.filter(({ struck }) => struck === 0).map(({ name }) => name),
    violations: [
      ...(lives.isOver ? [] : ['the daemon did not end by itself']),
      ...differences(sums, ledgerOf(tradesOf(await readTrades(venue)))),
      ...tooMuch(records, sums),
      ...openIntents(records).map((id) => `order ${String(id)} has no outcome`),
      ...unfinished(records),
      ...Object.keys(raised)
        .filter((id) => !(id in alerts) || !readFileSync('docs/runbook.md', 'utf8').includes(`\n## ${id}\n`))
        .map((id) => `no line of the runbook for ${id}`),
    ],
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
} // prettier-ignore

/** The daemon, killed again and again and started again, until it ends by itself. */
async function liveThrough(
  desk: DeskFolder,
  lengthMs: number,
): Promise<{ readonly kills: number; readonly isOver: boolean; readonly startsMs: readonly number[] }> {
  const begun = performance.now();
  const startsMs: number[] = [];
  const everyMs = lengthMs / (KILLS + 1);
  let kills = 0;
  while (performance.now() - begun < lengthMs + END_MS) {
    const daemon = desk.run('--json', '--until-done');
    const startedAt = performance.now();
    const isOverAt = kills < KILLS ? begun + (kills + 1) * everyMs : begun + lengthMs + END_MS;
    let isReady = false;
    while (!daemon.hasEnded && performance.now() < isOverAt) {
      await sleep(20);
      if (!isReady && daemon.stdout.includes('"event":"ready"')) {
        isReady = true;
        startsMs.push(Math.round(performance.now() - startedAt));
      }
    }
    if (daemon.hasEnded) {
      const { code, signal } = await daemon.ended();
      if (code === 0) return { kills, isOver: true, startsMs };
      process.stderr.write(
        `the daemon ended with ${String(code)} ${String(signal)}: ${daemon.lastWords()}\n`,
      );
    } else if (kills < KILLS) {
      kills += 1;
    } else {
      process.stderr.write(`the daemon is not done: ${daemon.lastWords()}\n`);
    }
    await daemon.kill();
    await sleep(RESTART_MS);
  }
  return { kills, isOver: false, startsMs };
}

interface Sum {
  readonly base: bigint;
  readonly quote: bigint;
}

/** What the journal says was traded, by client id: each fill as it was corrected last. */
function bookedOf(records: readonly Event[]): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const record of records)
    if (record['kind'] === 'fill' || record['kind'] === 'correction')
      sums.set(String(record['client_order_id']), { base: units(String(record['quantity'])), quote: units(String(record['amount'])) }); // prettier-ignore
  return sums;
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);

/** What the venue says was traded, by client id: an order may be booked as several trades. */
function ledgerOf(trades: ReturnType<typeof tradesOf>): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { id, base, quote } of trades) {
    const before = sums.get(id) ?? { base: 0n, quote: 0n };
    sums.set(id, { base: before.base + size(units(base)), quote: before.quote + size(units(quote)) });
  }
  return sums;
}

function differences(journal: ReadonlyMap<string, Sum>, ledger: ReadonlyMap<string, Sum>): readonly string[] {
  const told = ({ base = 0n, quote = 0n }: Partial<Sum> = {}): string => `${base} for ${quote}`;
  return [...new Set([...journal.keys(), ...ledger.keys()])].flatMap((id) => {
    const [own, theirs] = [told(journal.get(id)), told(ledger.get(id))];
    return own === theirs ? [] : [`order ${id}: the journal says ${own}, the ledger ${theirs}`];
  });
}

/** Slices and the whole that traded more than they were to. */
function tooMuch(records: readonly Event[], sums: ReadonlyMap<string, Sum>): readonly string[] {
  const planned = new Map<string, bigint>();
  for (const { intents } of records.filter(({ kind }) => kind === 'wake'))
    for (const { parent, slice, size: wanted } of intents as readonly { readonly parent: string; readonly slice: number; readonly size: string }[]) planned.set(`${parent}/${slice}`, units(wanted)); // prettier-ignore
  const done = new Map<string, bigint>();
  for (const { client_order_id: id, parent, slice } of records.filter(({ kind }) => kind === 'fill')) {
    const key = `${String(parent)}/${String(slice)}`;
    done.set(key, (done.get(key) ?? 0n) + (sums.get(String(id))?.base ?? 0n));
  }
  const total = [...sums.values()].reduce((sum, { base }) => sum + base, 0n);
  return [
    ...[...done].filter(([key, base]) => base > (planned.get(key) ?? 0n)).map(([key]) => `slice ${key} traded more than its size`),
    ...(total > TOTAL ? [`${total} traded of ${TOTAL}`] : []),
  ]; // prettier-ignore
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What a control holds for. */
const whatOf = (record: Event): string =>
  ['parent', 'pair', 'strategy'].map((name) => text(record[name])).find((name) => name !== '') ?? 'desk';

/** Controls that somebody would have to set back. */
function unfinished(records: readonly Event[]): readonly string[] {
  const last = new Map<string, Event>();
  for (const record of records.filter(({ kind }) => kind === 'control')) last.set(whatOf(record), record);
  return [...last].filter(([, { state }]) => state !== 'active').map(([what, { state, why }]) => `${what} is ${String(state)} at the end: ${String(why)}`); // prettier-ignore
}

/** The longest that an order was without an outcome, from its intent, over all processes. */
function longestDoubt(records: readonly Event[]): number {
  const open = new Map<string, number>();
  let longest = 0;
  for (const { kind, client_order_id: id, result, recorded_at: at } of records) {
    if (kind === 'intent') open.set(String(id), Number(at));
    const from = open.get(String(id));
    if (from !== undefined && (kind === 'fill' || (kind === 'attempt' && result !== 'doubt'))) {
      longest = Math.max(longest, Number(at) - from);
      open.delete(String(id));
    }
  }
  const end = Number(records.at(-1)?.['recorded_at'] ?? 0);
  return Math.max(longest, ...[...open.values()].map((from) => end - from));
}

/** How often each name is there, the most frequent first. */
function counted(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, each]) => ({
    name,
    count: each.length,
  }));
  const sorted = counts.toSorted((a, b) => b.count - a.count);
  return Object.fromEntries(sorted.map(({ name, count }) => [name, count] as const));
}
