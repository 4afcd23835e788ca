/**
 * Measures a start on a journal of a million records, which the real writer has written into a temporary folder: it opens the
 * journal, verifies its chain, and folds it into a desk and its observers, until the first record of the new process is durable.
 * One start has the snapshot of a desk that died just before the next snapshot was due, the other has none. Two bounds of the same
 * run: SQLite returning the same rows, and the same with the hash of every record. Exit code 1 when the start with the snapshot
 * misses the target.
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
import { systemClock, systemRandom } from '../src/app/daemon/clock.ts';
import { noProgress } from '../src/app/cli/progress.ts';
import { Summary } from '../src/app/cli/summary.ts';
import { observe } from '../src/app/cli/watch.ts';
import type { RecordBody } from '../src/core/record.ts';
import type { Instant } from '../src/core/time.ts';
import { VirtualClock } from '../src/engine/time/virtual-clock.ts';
import { Desk } from '../src/engine/desk.ts';
import { toObservable } from '../src/engine/maybe-async.ts';
import { STATE_FORMAT, packed } from '../src/engine/state/snapshot-writer.ts';
import { takeOver } from '../src/engine/operator/recover.ts';
import type { Journal } from '../src/journal/journal.ts';
import { sqliteJournal } from '../src/journal/sqlite/sqlite.ts';
import type { StateOptions } from '../src/journal/sidecar/snapshot-file.ts';
import { AlertHistory } from '../src/app/daemon/open-alerts.ts';
import { createMetrics } from '../src/operate/metrics.ts';
import { Exchange } from '../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../src/simulator/options/options.ts';
import { inProcessVenue } from '../src/simulator/port.ts';
import { benchPolicy } from './desk.ts';
import { median, table } from './measure.ts';
import { START, story } from './story.ts';

const TARGET_SECONDS = 3;
const ROUNDS = 3;
const BATCH = 2_000;

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, json: { type: 'boolean', default: false } },
});
const wanted = Number(values.records);

/** Writes the journal, with many records per transaction: a start reads them the same way. */
async function write(file: string): Promise<number> {
  const journal = sqliteJournal(file);
  let count = 0;
  let batch: RecordBody[] = [];
  let at: Instant = START;
  for (const each of story()) {
    batch.push(...each.bodies);
    ({ at } = each);
    if (batch.length < BATCH && count + batch.length < wanted) continue;
    await lastValueFrom(toObservable(journal.append(batch, at)));
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

/** Disabled: every round counts as a crash of the same desk within a few minutes, which would halt it. */
const crashLoop = { startsMax: Number.POSITIVE_INFINITY, withinMs: 600_000 };
const STATES = { program: `bench ${STATE_FORMAT}` };

/** Starts a desk on a journal, with all observers, until the first record of the new process is durable. */
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
    metrics, progress: noProgress, summary: new Summary(), alerts: new AlertHistory(),
    progressOf: () => undefined, warn: nothing, alert: nothing, onRecord: nothing,
  }); // prettier-ignore
  const exchange = new Exchange({ options: venueOptions({}), startedAt: systemClock.wall() });
  const venue = inProcessVenue(exchange, {
    clock: new VirtualClock(START), capabilities: 'none', quoteLatencyMs: 0, orderLatencyMs: 0,
  }); // prettier-ignore
  const ports = { clock: systemClock, random: systemRandom, venue, journal, operator$: NEVER };
  return new Desk(ports, benchPolicy({ crashLoop }), observer, []);
}

/**
 * Stores the snapshot of a desk that died just before the next one was due. Returns the number of records after it, and the time
 * that packing took, ms.
 */
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

/** Returns how long SQLite takes to return the rows, with or without the hash of each, seconds. */
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
