/**
 * Measures the cost of a journal in PostgreSQL for an order. First the time between the last byte of a quote and the first byte of its
 * order, as in bench/latency.ts, with the journal in a file and in PostgreSQL in turn, each compared with a bare client: PostgreSQL adds
 * one commit to that time, the fenced write that accepts the quote. The bound is the bare client with one such write of one row between
 * quote and order, in plain SQL, at the same rate: no program that checks its epoch after the quote can be faster. The round trip is the
 * bare client with a query for a constant in that place: no program that queries the server can be faster. Then forty desks with a journal
 * each in one database, together fifty slices per second. The server is a real one on this machine. Exit code 1 when the first
 * measurement misses its target.
 *
 * Run: `npm run bench:postgres -- [--cycles N] [--rounds R] [--seconds S] [--json]`
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { postgresJournal } from '../src/journal/postgres/postgres.ts';
import { readPostgresUrl } from '../src/journal/postgres/postgres-url.ts';
import { preparePostgres } from '../src/journal/postgres/prepare.ts';
import { sqliteJournal } from '../src/journal/sqlite/sqlite.ts';
import { startPostgres } from '../test/journal/postgres-server.ts';
import type { PostgresServer } from '../test/journal/postgres-server.ts';
import { bareCycles } from './bare-client.ts';
import type { Account } from './halt-venue.ts';
import { median, quantile, table } from './measure.ts';
import { WARM_UP, deskCycles, measuredAtVenue } from './order-latency.ts';

/** Largest ratio of the latency that PostgreSQL adds to what the file adds, median of the rounds. */
const RATIO_MAX = 1.3;
const QUOTE_DELAY_MS = 15;
/** Time between two slices, ms: more than a busy machine needs for one; otherwise slices expire without a measurement. */
const INTERVAL_MS = 100;
const DESKS = 40;
/** Time that does not count: forty desks start at once, and read their accounts. */
const STARTS_MS = 10_000;
const SLICES_PER_SECOND = 50;

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
  },
});
const slices = Number(values.cycles) + WARM_UP;
const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));

interface Latency {
  readonly round: number;
  /** Medians, ms. */
  readonly bare: number;
  readonly bound: number;
  readonly roundTrip: number;
  readonly sqlite: number;
  readonly postgres: number;
  /** Latency that PostgreSQL adds to the bare client, relative to what the file adds. */
  readonly ofAdded: number;
  /** The ratio of the whole times, from the request of the quote until the order leaves. */
  readonly ofWhole: number;
  readonly commitP50: number;
  readonly commitP99: number;
}

/**
 * Returns the results of `run` with a fenced write of one row, of the size of a quote, before each order, and with a query that
 * needs no table.
 */
async function boundsOf<T>(
  server: PostgresServer,
  run: (beforeOrder: () => Promise<unknown>) => Promise<T>,
): Promise<{ readonly bound: T; readonly roundTrip: T }> {
  const client = new pg.Client({ connectionString: readPostgresUrl(server.url('any')).connectionString });
  await client.connect();
  try {
    await client.query('CREATE TABLE IF NOT EXISTS bound_desk (desk text PRIMARY KEY, epoch bigint NOT NULL)');
    await client.query("INSERT INTO bound_desk VALUES ('any', 1) ON CONFLICT DO NOTHING");
    await client.query('CREATE TABLE IF NOT EXISTS bound_record (seq bigserial PRIMARY KEY, body text NOT NULL)');
    const body = 'x'.repeat(600);
    const bound = await run(async () => {
      const { rowCount } = await client.query({
        name: 'fenced',
        text: `WITH owner AS (SELECT 1 FROM bound_desk WHERE desk = 'any' AND epoch = 1 FOR SHARE)
          INSERT INTO bound_record (body) SELECT $1 FROM owner`,
        values: [body],
      });
      if (rowCount !== 1) throw new Error('the fenced write added no row');
    });
    const roundTrip = await run(async () => await client.query({ name: 'asked', text: 'SELECT 1' }));
    return { bound, roundTrip };
  } finally {
    await client.end();
  }
} // prettier-ignore

async function latency(server: PostgresServer, round: number): Promise<Latency> {
  const name = `round-${round}`;
  const commits: number[] = [];
  const observed = { now: () => performance.now(), observe: (ms: number) => commits.push(ms) };
  const at = async (run: (port: number) => Promise<unknown>): Promise<number> => {
    const { all } = await measuredAtVenue(QUOTE_DELAY_MS, run);
    if (all.length === 0)
      throw new Error('no order was measured: the machine is too busy, or --cycles is too small');
    return quantile(all, 0.5);
  };
  const bare = await at(async (port) => {
    await bareCycles(port, slices, name, { intervalMs: INTERVAL_MS });
  });
  const { bound, roundTrip } = await boundsOf(
    server,
    async (beforeOrder) =>
      await at(async (port) => {
        await bareCycles(port, slices, `${name}-bound`, { intervalMs: INTERVAL_MS, beforeOrder });
      }),
  );
  const sqlite = await at(async (port) => {
    await deskCycles(sqliteJournal(join(folder, `${name}.db`)), {
      port,
      name,
      slices,
      intervalMs: INTERVAL_MS,
    });
  });
  const postgres = await at(async (port) => {
    await deskCycles(postgresJournal(server.url(name), { commits: observed }), {
      port,
      name,
      slices,
      intervalMs: INTERVAL_MS,
    });
  });
  return {
    round,
    bare,
    bound,
    roundTrip,
    sqlite,
    postgres,
    ofAdded: (postgres - bare) / (sqlite - bare),
    ofWhole: (QUOTE_DELAY_MS + postgres) / (QUOTE_DELAY_MS + sqlite),
    commitP50: quantile(commits, 0.5),
    commitP99: quantile(commits, 0.99),
  };
}

interface Crowd {
  readonly slicesPerSecond: number;
  readonly commits: number;
  readonly commitP50: number;
  readonly commitP99: number;
}

/** Runs forty desks in this process, each with its own account, journal and connections. */
async function crowd(server: PostgresServer, seconds: number): Promise<Crowd> {
  const accounts = Array.from({ length: DESKS }, (_, i): Account => ({ name: `desk${i}`, token: `bench-token-${i}` })); // prettier-ignore
  const venue = new Worker(new URL('halt-venue.ts', import.meta.url), { workerData: accounts });
  const [port] = (await once(venue, 'message')) as [number];
  const intervalMs = (1_000 * DESKS) / SLICES_PER_SECOND;
  const commits: { readonly endedAt: number; readonly ms: number }[] = [];
  const orders: number[] = [];
  const now = (): number => performance.now();
  const commitsOf = { now, observe: (ms: number) => commits.push({ endedAt: now(), ms }) };
  const journals = accounts.map(({ name }) => postgresJournal(server.url(name), { commits: commitsOf }));
  const from = now() + STARTS_MS;
  const until = from + seconds * 1_000;
  await Promise.all(
    accounts.map(async ({ name, token }, i) => {
      const journal = journals[i];
      if (journal === undefined) return;
      const each = Math.ceil((STARTS_MS + seconds * 1_000) / intervalMs) + 1;
      await deskCycles(journal, { port, name, token, slices: each, intervalMs, onOrder: () => orders.push(now()) });
    }),
  ); // prettier-ignore
  await venue.terminate();
  const counted = commits.filter(({ endedAt }) => endedAt >= from && endedAt < until).map(({ ms }) => ms);
  return {
    slicesPerSecond: orders.filter((at) => at >= from && at < until).length / seconds,
    commits: counted.length,
    commitP50: quantile(counted, 0.5),
    commitP99: quantile(counted, 0.99),
  };
}

const server = await startPostgres({ settings: { max_connections: '200' } });
try {
  preparePostgres(server.url('any'));
  const rounds: Latency[] = [];
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await latency(server, round));
  const together = await crowd(server, Number(values.seconds));
  const ratio = median(rounds.map(({ ofAdded }) => ofAdded));
  const isReached = ratio <= RATIO_MAX;
  if (values.json)
    console.log(
      JSON.stringify({ bench: 'postgres', target: RATIO_MAX, reached: isReached, rounds, together }),
    );
  else {
    console.log(
      table(
        rounds.map((one) => ({
          round: one.round,
          'bare p50 ms': one.bare.toFixed(3),
          'SQLite p50': one.sqlite.toFixed(3),
          'round trip p50': one.roundTrip.toFixed(3),
          'bound p50': one.bound.toFixed(3),
          'PostgreSQL p50': one.postgres.toFixed(3),
          'of added': one.ofAdded.toFixed(2),
          'with the quote': one.ofWhole.toFixed(2),
          'commit p50': one.commitP50.toFixed(3),
          'commit p99': one.commitP99.toFixed(3),
        })),
      ),
    );
    console.log(
      `added latency of an order: ${ratio.toFixed(2)} × that of SQLite in the median of ${rounds.length}; target ≤ ${RATIO_MAX}: ${isReached ? 'reached' : 'MISSED'}`,
    );
    const ofSqlite = (what: (one: Latency) => number): string =>
      median(rounds.map((one) => (what(one) - one.bare) / (one.sqlite - one.bare))).toFixed(2);
    console.log(
      `without any program: a round trip to the server takes ${ofSqlite(({ roundTrip }) => roundTrip)} × what SQLite adds with one, the bound ${ofSqlite(({ bound }) => bound)} ×; over the bound, PostgreSQL adds ${median(rounds.map(({ bound, bare, postgres, sqlite }) => (postgres - bound) / (sqlite - bare))).toFixed(2)} ×`,
    );
    console.log(
      `${DESKS} desks: ${together.slicesPerSecond.toFixed(1)} slices/s, ${together.commits} commits, p50 ${together.commitP50.toFixed(2)} ms, p99 ${together.commitP99.toFixed(2)} ms`,
    );
  }
  process.exitCode = isReached ? 0 : 1;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
