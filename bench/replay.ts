/**
 * A journal of a million records, written by the real writer into a temporary folder, and read back as a start does it:
 * opened, its chain checked, folded into the state of a desk. Compared with two bounds of the same run: SQLite giving out
 * the same rows, and the same with the hash of every record. Exit code 1 when the target is missed.
 *
 * Run: `node bench/replay.ts [--records N] [--json]`
 */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { lastValueFrom } from 'rxjs';
import { clientId } from '../src/core/ids.ts';
import type { RecordBody } from '../src/core/record.ts';
import { instant } from '../src/core/time.ts';
import type { Instant } from '../src/core/time.ts';
import { DeskState } from '../src/engine/desk-state.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
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

interface Replay {
  readonly openSeconds: number;
  readonly foldSeconds: number;
  readonly fills: number;
}

/** What a start does with its journal. */
function replay(file: string): Replay {
  const begun = performance.now();
  const journal = sqliteJournal(file);
  const opened = performance.now();
  const state = new DeskState();
  for (const stored of journal.read()) state.apply(stored);
  const folded = performance.now();
  journal.close();
  return { openSeconds: (opened - begun) / 1e3, foldSeconds: (folded - opened) / 1e3, fills: state.fills };
}

/** SQLite giving out the rows, with or without the hash of each. */
function bound(file: string, isHashed: boolean): number {
  const db = new DatabaseSync(file, { readOnly: true });
  const begun = performance.now();
  const all = db.prepare('SELECT seq, at, kind, body, hash FROM records ORDER BY seq');
  all.setReturnArrays(true);
  let before = '0'.repeat(64);
  for (const row of all.iterate()) {
    const [seq, at, , body, own] = Object.values(row);
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
  const rounds = Array.from({ length: ROUNDS }, () => ({
    scan: bound(file, false),
    hashed: bound(file, true),
    ...replay(file),
  }));
  const whole = rounds.map(({ openSeconds, foldSeconds }) => openSeconds + foldSeconds);
  const figures = {
    records,
    megabytes: Math.round(statSync(file).size / 1e6),
    fills: rounds[0]?.fills ?? 0,
    writeSeconds,
    scanSeconds: median(rounds.map(({ scan }) => scan)),
    hashedSeconds: median(rounds.map(({ hashed }) => hashed)),
    openSeconds: median(rounds.map(({ openSeconds }) => openSeconds)),
    foldSeconds: median(rounds.map(({ foldSeconds }) => foldSeconds)),
    replaySeconds: median(whole),
    heapMegabytes: Math.round(process.memoryUsage().heapUsed / 1e6),
  };
  const perMillion = figures.replaySeconds * (1e6 / records);
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
        row('start: open', figures.openSeconds),
        row('start: read, check and fold', figures.foldSeconds),
        row(`start: whole, median of ${ROUNDS}`, figures.replaySeconds),
      ]),
    );
    console.log(
      `${records} records, ${figures.fills} fills, ${figures.megabytes} MB, written in ${writeSeconds.toFixed(0)} s; ` +
        `target: ${TARGET_SECONDS} s for a million: ${reached ? 'reached' : 'MISSED'}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
