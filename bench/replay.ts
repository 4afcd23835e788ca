/**
 * A journal of a million records, written by the real writer into a temporary folder, and a start on it: opened, its chain
 * proven, folded into a desk and its watchers, until the first record of the new process is durable. Once with the state
 * that a desk leaves which dies just before the next one is due, once without any. Compared with two bounds of the same
 * run: SQLite giving out the same rows, and the same with the hash of every record. Exit code 1 when the target is missed,
 * which the start with the state has to reach.
 *
 * Run: `node bench/replay.ts [--records N] [--json]`
 */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { NEVER, lastValueFrom } from 'rxjs';
import { systemClock, systemRandom } from '../src/app/clock.ts';
import { noProgress } from '../src/app/progress.ts';
import { Summary } from '../src/app/summary.ts';
import { observe } from '../src/app/watch.ts';
import { clientId } from '../src/core/ids.ts';
import type { RecordBody } from '../src/core/record.ts';
import { instant } from '../src/core/time.ts';
import type { Instant } from '../src/core/time.ts';
import { VirtualClock } from '../src/engine/clock.ts';
import { Desk } from '../src/engine/desk.ts';
import { STATE_FORMAT, packed } from '../src/engine/keeper.ts';
import { takeOver } from '../src/engine/recover.ts';
import type { Journal } from '../src/journal/journal.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import type { StateOptions } from '../src/journal/state-file.ts';
import { createMetrics } from '../src/operate/metrics.ts';
import { Exchange } from '../src/simulator/exchange.ts';
import { venueOptions } from '../src/simulator/options.ts';
import { inProcessVenue } from '../src/simulator/port.ts';
import { benchPolicy } from './desk.ts';
import { median, table } from './measure.ts';

const TARGET_SECONDS = 3;
const ROUNDS = 3;
const PARENTS = 50;
/** From one slice of a parent to the next. */
const SLOT_MS = 60_000;
/** 2026-01-05T00:00:00Z, a Monday. */
const START = instant(Date.UTC(2026, 0, 5));
const BATCH = 2_000;

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, json: { type: 'boolean', default: false } },
});
const wanted = Number(values.records);

interface Stamped {
  readonly at: Instant;
  readonly bodies: readonly RecordBody[];
}

const nameOf = (i: number): string => `twap-${i}`;
const hashOf = (i: number): string => hash('sha256', nameOf(i));

/** The first records of a desk with fifty parents. */
function opening(): Stamped {
  const strategies = Array.from({ length: PARENTS }, (_, i): RecordBody => ({
    kind: 'strategy',
    strategy: nameOf(i),
    hash: hashOf(i),
    type: 'twap',
    begun_at: START,
    document: {
      id: nameOf(i),
      kind: 'twap',
      pair: 'btcusd',
      side: i % 2 === 0 ? 'buy' : 'sell',
      total_quantity: { amount: '1000', currency: 'btc' },
      duration: 'P30D',
      slices: 100_000,
    },
  }));
  const started: RecordBody = {
    kind: 'started',
    version: '0.1.0',
    mode: 'live',
    desk: 'bench',
    config_hash: hashOf(0),
    account: 'bench',
  };
  return { at: START, bodies: [started, ...strategies] };
}

/** Everything that one slice of one parent leaves in a journal, as the engine writes it, and the balances of each hour. */
function* story(): Generator<Stamped> {
  yield opening();
  for (let slot = 0; ; slot++) {
    for (let i = 0; i < PARENTS; i++) {
      const at = instant(START + slot * SLOT_MS + i * 1_000);
      yield* slice(i, slot, at);
    }
    if (slot % 30 === 0) yield { at: instant(START + slot * SLOT_MS + 59_000), bodies: [balances(slot)] };
  }
}

const balances = (slot: number): RecordBody => ({
  kind: 'balances',
  balances: { btc: String(100 + (slot % 7)), eth: '400.25', usd: '1000000.55' },
  newest_id: slot * 100,
  read_at: instant(START + slot * SLOT_MS + 59_000),
});

function* slice(i: number, slot: number, at: Instant): Generator<Stamped> {
  const strategy = nameOf(i);
  const parent = `abcdef${String.fromCodePoint(97 + Math.floor(i / 8), 97 + (i % 8))}`;
  const id = clientId({ desk: 'bench', parent, slice: slot, attempt: 0 });
  const price = `${60_000 + (slot % 500)}.25`;
  const amount = `${600 + (slot % 5)}.00`;
  const side = i % 2 === 0 ? 'buy' : 'sell';
  const common = { pair: 'btcusd', base: 'btc', quote: 'usd', side } as const;
  const state = { next: slot + 1, left: `${1_000 - slot / 100}`, shiftMs: 0 };
  const later = (ms: number): Instant => instant(at + ms);
  yield {
    at,
    bodies: [
      {
        kind: 'wake',
        strategy,
        hash: hashOf(i),
        on: 'at',
        detail: { due: at },
        state,
        waits: [{ on: 'outcome', leg: 'all', slice: slot }],
        intents: [
          {
            leg: 'all',
            parent,
            slice: slot,
            pair: 'btcusd',
            side,
            by: 'quantity',
            size: '0.01',
            deadline: later(SLOT_MS),
            decision_price: price,
          },
        ],
        missed: [],
      },
    ],
  };
  yield {
    at: later(1),
    bodies: [
      {
        ...common,
        kind: 'intent',
        client_order_id: id,
        strategy,
        parent,
        slice: slot,
        attempt: 0,
        by: 'quantity',
        size: '0.01',
        worst_price: '63000.2625',
        reference_price: price,
        notional_usd: '630.01',
        cuts: [],
      },
    ],
  };
  yield {
    at: later(20),
    bodies: [
      {
        kind: 'quote',
        client_order_id: id,
        quote_id: `q-${slot}-${i}-5b1f0c9e-1b1d-4c1e`,
        quantity: '0.01',
        price,
        amount,
        life_ms: 10_000,
        quoted_at: later(19),
        age_ms: 0.4,
      },
    ],
  };
  yield {
    at: later(40),
    bodies: [
      {
        ...common,
        kind: 'fill',
        client_order_id: id,
        order_id: String(10_000_000 + slot * PARENTS + i),
        quote_id: `q-${slot}-${i}-5b1f0c9e-1b1d-4c1e`,
        quantity: '0.01',
        price,
        amount,
        fees: '0',
        executed_at: later(40),
        strategy,
        parent,
        slice: slot,
        attempt: 0,
        notional_usd: amount,
        decision_price: price,
        source: 'order',
      },
      { kind: 'attempt', client_order_id: id, result: 'filled' },
      {
        kind: 'slice',
        strategy,
        parent,
        leg: 'all',
        slice: slot,
        result: 'filled',
        filled: '0.01',
        filled_amount: amount,
      },
    ],
  };
  yield {
    at: later(41),
    bodies: [
      {
        kind: 'wake',
        strategy,
        hash: hashOf(i),
        on: 'outcome',
        detail: { leg: 'all', slice: slot },
        state,
        waits: [{ on: 'at', at: later(SLOT_MS) }],
        intents: [],
        missed: [],
      },
    ],
  };
}

/** Writes the journal, many records a transaction: what a start reads does not depend on how they came. */
async function write(file: string): Promise<number> {
  const journal = sqliteJournal(file);
  let count = 0;
  let batch: RecordBody[] = [];
  let at: Instant = START;
  for (const each of story()) {
    batch.push(...each.bodies);
    ({ at } = each);
    if (batch.length < BATCH && count + batch.length < wanted) continue;
    await lastValueFrom(journal.append(batch, at));
    count += batch.length;
    batch = [];
    if (count >= wanted) break;
  }
  journal.close();
  return count;
}

interface Start {
  readonly openSeconds: number;
  readonly foldSeconds: number;
  readonly fills: number;
}

/** Rounds are deaths of one desk in a few minutes, which halt it. */
const crashLoop = { startsMax: Number.POSITIVE_INFINITY, withinMs: 600_000 };
const STATES = { program: `bench ${STATE_FORMAT}` };

/** What a start does with its journal, with all who watch, until the first record of the new process is durable. */
async function start(file: string, states: StateOptions | undefined): Promise<Start> {
  const begun = performance.now();
  const journal = sqliteJournal(file, { states });
  const opened = performance.now();
  const desk = aDesk(journal);
  await lastValueFrom(takeOver(desk), { defaultValue: undefined });
  const ready = performance.now();
  journal.close();
  return {
    openSeconds: (opened - begun) / 1e3,
    foldSeconds: (ready - opened) / 1e3,
    fills: desk.state.fills,
  };
}

function aDesk(journal: Journal): Desk {
  const metrics = createMetrics({
    version: 'bench',
    mode: 'live',
    desk: 'bench',
    now: () => systemClock.wall(),
  });
  metrics.close();
  const nothing = (): void => undefined;
  const observer = observe({
    metrics, progress: noProgress, summary: new Summary(), warn: console.warn, alert: nothing, onRecord: nothing,
  }); // prettier-ignore
  const exchange = new Exchange({ options: venueOptions({}), startedAt: systemClock.wall() });
  const venue = inProcessVenue(exchange, {
    clock: new VirtualClock(START), capabilities: 'none', quoteLatencyMs: 0, orderLatencyMs: 0,
  }); // prettier-ignore
  const ports = { clock: systemClock, random: systemRandom, venue, journal, operator$: NEVER };
  return new Desk(ports, benchPolicy({ crashLoop }), observer, []);
}

/** Leaves the state that a desk kept which died just before the next one was due. Returns the records behind it, and the milliseconds that it took to pack. */
function keep(file: string): { readonly tail: number; readonly packMs: number; readonly megabytes: number } {
  const journal = sqliteJournal(file, { states: STATES });
  const { states } = journal;
  if (states === undefined) throw new Error('no states');
  const desk = aDesk(journal);
  const head = journal.head().seq;
  const until = Math.max(1, head - states.every + ROUNDS);
  let newest = journal.head();
  for (const stored of journal.read()) {
    desk.state.apply(stored);
    desk.observer.replay(stored);
    newest = stored;
    if (stored.seq === until) break;
  }
  const begun = performance.now();
  const text = packed(desk);
  const packMs = performance.now() - begun;
  states.keepNow({ seq: newest.seq, hash: newest.hash, text });
  journal.close();
  return { tail: head - until, packMs, megabytes: Math.round(statSync(`${file}.state`).size / 1e6) };
}

/** SQLite giving out the rows, with or without the hash of each. */
function bound(file: string, isHashed: boolean): number {
  const db = new DatabaseSync(file, { readOnly: true });
  const begun = performance.now();
  const all = db.prepare('SELECT seq, at, kind, body, hash FROM records ORDER BY seq');
  all.setReturnArrays(true);
  let before = '0'.repeat(64);
  for (const row of all.iterate()) {
    const [seq, at, , body, own] = row as unknown as readonly unknown[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- Node types rows as objects although they are arrays here
    if (!isHashed) continue;
    before = hash('sha256', `${before}\n${String(seq)}\n${String(at)}\n${String(body)}`);
    if (before !== own) throw new Error('the chain does not hold');
  }
  const seconds = (performance.now() - begun) / 1e3;
  db.close();
  return seconds;
}

const folder = mkdtempSync(join(tmpdir(), 'tranche-replay-'));
try {
  const file = join(folder, 'journal.db');
  const begun = performance.now();
  const records = await write(file);
  const writeSeconds = (performance.now() - begun) / 1e3;
  const kept = keep(file);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({
      scan: bound(file, false),
      hashed: bound(file, true),
      kept: await start(file, STATES),
      whole: await start(file, undefined),
    });
  const secondsOf = ({ openSeconds, foldSeconds }: Start): number => openSeconds + foldSeconds;
  const figures = {
    records,
    megabytes: Math.round(statSync(file).size / 1e6),
    fills: rounds[0]?.kept.fills ?? 0,
    writeSeconds,
    tail: kept.tail,
    stateMegabytes: kept.megabytes,
    packMs: kept.packMs,
    scanSeconds: median(rounds.map(({ scan }) => scan)),
    hashedSeconds: median(rounds.map(({ hashed }) => hashed)),
    keptOpenSeconds: median(rounds.map((round) => round.kept.openSeconds)),
    keptSeconds: median(rounds.map((round) => secondsOf(round.kept))),
    wholeOpenSeconds: median(rounds.map((round) => round.whole.openSeconds)),
    wholeSeconds: median(rounds.map((round) => secondsOf(round.whole))),
    heapMegabytes: Math.round(process.memoryUsage().heapUsed / 1e6),
  };
  if (rounds.some((round) => round.kept.fills !== round.whole.fills)) throw new Error('the starts differ');
  const perMillion = figures.keptSeconds * (1e6 / records);
  const reached = perMillion <= TARGET_SECONDS;
  process.exitCode = reached ? 0 : 1;
  if (values.json)
    console.log(JSON.stringify({ bench: 'replay', target: TARGET_SECONDS, reached, results: figures }));
  else {
    const row = (what: string, seconds: number): Readonly<Record<string, string>> => ({
      what,
      seconds: seconds.toFixed(2),
      overScan: (seconds / figures.scanSeconds).toFixed(1),
      overHashedScan: (seconds / figures.hashedSeconds).toFixed(1),
    });
    console.log(
      table([
        row('SQLite gives out the rows', figures.scanSeconds),
        row('the same, and the hash of each', figures.hashedSeconds),
        row(`start with the state kept ${kept.tail} records ago`, figures.keptSeconds),
        row('start without a state: all is folded', figures.wholeSeconds),
      ]),
    );
    console.log(
      `${records} records, ${figures.fills} fills, ${figures.megabytes} MB, written in ${writeSeconds.toFixed(0)} s; ` +
        `the state: ${kept.megabytes} MB, packed in ${kept.packMs.toFixed(0)} ms; median of ${ROUNDS}; ` +
        `target with the state: ${TARGET_SECONDS} s for a million: ${reached ? 'reached' : 'MISSED'}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
