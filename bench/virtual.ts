/**
 * Runs 10,000 slices in virtual time through the whole engine: twaps on `VirtualClock`, the exchange in process, the journal in
 * memory. Two runs in this process and one in another must end with the same journal hash. Exit code 1 when they do not, when a
 * slice is missing, or when no run meets the target.
 *
 * Run: `node bench/virtual.ts [--seed S] [--slices N] [--json]`
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { NEVER } from 'rxjs';
import { quantity } from '../src/core/money.ts';
import { instant } from '../src/core/time.ts';
import { VirtualClock } from '../src/engine/time/virtual-clock.ts';
import { Desk } from '../src/engine/desk.ts';
import type { StrategySource } from '../src/engine/desk.ts';
import { noObserver } from '../src/engine/observer.ts';
import { runDesk } from '../src/engine/run.ts';
import { memoryJournal } from '../src/journal/memory.ts';
import { Exchange } from '../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../src/simulator/options/options.ts';
import { inProcessVenue } from '../src/simulator/port.ts';
import { seededRandom } from '../src/simulator/market/random.ts';
import { benchPolicy, benchTwap } from './desk.ts';
import { table } from './measure.ts';

const TARGET_SECONDS = 10;
const STRATEGIES = 20;
/** 2026-01-05T00:00:00Z, a Monday. */
const START = instant(Date.UTC(2026, 0, 5));

interface Run {
  readonly seconds: number;
  readonly hash: string;
  readonly records: number;
  readonly filled: number;
  readonly virtualHours: number;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    slices: { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
    child: { type: 'boolean', default: false },
  },
});
const each = Math.max(1, Math.round(Number(values.slices) / STRATEGIES));
const slices = each * STRATEGIES;

/** Returns twenty strategies with one slice per minute each, both sides of two pairs, with jitter. */
function twaps(): readonly StrategySource[] {
  return Array.from({ length: STRATEGIES }, (_, i) => {
    const base = i % 2 === 0 ? 'btc' : 'eth';
    return benchTwap(`twap-${i}`, {
      pair: `${base}usd`,
      side: i % 4 < 2 ? 'buy' : 'sell',
      total_quantity: { amount: String(each * (base === 'btc' ? 0.01 : 0.2)), currency: base },
      duration: `PT${each}M`,
      slices: each,
      jitter: { time_pct: 50, size_pct: 20, seed: i },
    });
  });
}

function run(seed: string): Run {
  const clock = new VirtualClock(START);
  const exchange = new Exchange({
    options: venueOptions({
      seed,
      accounts: [{ balances: { usd: '100000000', btc: '1000', eth: '20000' } }],
    }),
    startedAt: START,
  });
  const journal = memoryJournal();
  const random = seededRandom(seed);
  const venue = inProcessVenue(exchange, {
    clock,
    capabilities: 'none',
    quoteLatencyMs: 20,
    orderLatencyMs: 20,
  });
  const desk = new Desk(
    { clock, random, venue, journal, operator$: NEVER },
    benchPolicy(),
    noObserver,
    twaps(),
  );
  const begun = performance.now();
  const failures: unknown[] = [];
  runDesk(desk, { isUntilDone: true }).subscribe({
    error: (error: unknown) => failures.push(error),
  });
  clock.run();
  const seconds = (performance.now() - begun) / 1000;
  if (failures.length > 0) throw new Error('the desk could not go on', { cause: failures[0] });
  let filled = 0;
  let hash = '';
  let records = 0;
  for (const record of journal.read()) {
    records++;
    ({ hash } = record);
    if (record.body.kind === 'slice' && record.body.result === 'filled') filled++;
  }
  return { seconds, hash, records, filled, virtualHours: (clock.wall() - START) / 3_600_000 };
}

/** Requests the same number of quotes and orders directly from the exchange: the floor to which the engine adds. */
function floor(seed: string): number {
  const exchange = new Exchange({
    options: venueOptions({
      seed,
      accounts: [{ balances: { usd: '1000000000' } }],
      limits: { enforced: false },
    }),
    startedAt: START,
  });
  const account = exchange.accounts[0]?.name ?? '';
  const begun = performance.now();
  for (let i = 0; i < slices; i++) {
    const now = instant(START + i * 3_000);
    const request = {
      pair: 'btcusd',
      side: 'buy',
      size: { by: 'quantity', quantity: quantity('0.01') },
      clientId: `c-${i}`,
    } as const;
    const quote = exchange.quote(account, request, now);
    if (!quote.ok) throw new Error(quote.error);
    const order = exchange.order(account, { ...request, quoteId: quote.value.quoteId }, instant(now + 20));
    if (!order.ok) throw new Error(order.error);
  }
  return (performance.now() - begun) / 1000;
}

function elsewhere(): Run {
  const args = [import.meta.filename, '--child', '--seed', values.seed, '--slices', values.slices];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Run;
}

if (values.child) {
  console.log(JSON.stringify(run(values.seed)));
} else {
  const runs = [
    { where: 'this process, cold', ...run(values.seed) },
    { where: 'this process, warm', ...run(values.seed) },
    { where: 'another process', ...elsewhere() },
  ];
  const floorSeconds = floor(values.seed);
  const best = Math.min(...runs.map(({ seconds }) => seconds));
  const isSame = new Set(runs.map(({ hash }) => hash)).size === 1;
  const isWhole = runs.every(({ filled }) => filled === slices);
  const reached = isSame && isWhole && best * (10_000 / slices) < TARGET_SECONDS;
  const results = runs.map((one) => ({
    run: one.where,
    seconds: Number(one.seconds.toFixed(2)),
    slicesPerSecond: Math.round(slices / one.seconds),
    ofTarget: Number(((one.seconds / TARGET_SECONDS) * (10_000 / slices)).toFixed(2)),
    overExchange: Number((one.seconds / floorSeconds).toFixed(1)),
    filled: one.filled,
    records: one.records,
    virtualHours: Number(one.virtualHours.toFixed(1)),
    hash: one.hash.slice(0, 16),
  }));
  if (values.json)
    console.log(
      JSON.stringify({ bench: 'virtual', target: TARGET_SECONDS, reached, hash: runs[0]?.hash, results }),
    );
  else {
    console.log(table(results));
    console.log(
      `journal head ${runs[0]?.hash}; ${isSame ? 'the same in all runs' : 'DIFFERENT between runs'}`,
    );
    console.log(
      `the exchange alone, ${slices} quotes and orders: ${floorSeconds.toFixed(2)} s; target: under ${TARGET_SECONDS} s for 10000 slices: ${reached ? 'reached' : 'MISSED'}`,
    );
  }
  process.exitCode = reached ? 0 : 1;
}
