/**
 * Measures the latency that Tranche adds between the last byte of a quote and the first byte of its order: the whole engine, the
 * real client and the durable journal in a file, against a bare client on two open sockets in the same run. The venue stamps both
 * moments. Rounds of both alternate. Exit code 1 when no round meets the target.
 *
 * Run: `node bench/latency.ts [--cycles N] [--rounds R] [--json]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sqliteJournal } from '../src/journal/sqlite/sqlite.ts';
import { bareCycles } from './bare-client.ts';
import { WARM_UP, deskCycles, measuredAtVenue } from './order-latency.ts';
import type { Round } from './order-latency.ts';
import { quantile, table } from './measure.ts';

const TARGET = { p50Ms: 0.5, p99Ms: 3 };
const QUOTE_DELAYS_MS = [15, 0];

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '700' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});
const cycles = Number(values.cycles);
const rounds = Number(values.rounds);

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));

/** Runs a desk with its journal in a file. Returns the time of each commit, ms. */
async function engineCycles(port: number, name: string): Promise<readonly number[]> {
  const commits: number[] = [];
  const journal = sqliteJournal(join(folder, `${name}.db`), {
    commits: { now: () => performance.now(), observe: (ms) => commits.push(ms) },
  });
  await deskCycles(journal, { port, name, slices: cycles + WARM_UP });
  return commits;
}

interface At {
  readonly raw: number;
  readonly floor: number;
  readonly added: number;
}

interface Result {
  readonly quoteDelayMs: number;
  readonly round: number;
  readonly cycles: number;
  readonly p50: At;
  readonly p99: At;
  readonly firstMs: number;
  readonly commitP50Ms: number;
}

const floors: Record<number, Round[]> = {};
const results: Result[] = [];
try {
  for (const quoteDelayMs of QUOTE_DELAYS_MS) {
    for (let round = 0; round < rounds; round++) {
      const name = `delay-${quoteDelayMs}-round-${round}`;
      const floor = await measuredAtVenue(
        quoteDelayMs,
        async (port) => await bareCycles(port, cycles + WARM_UP, name),
      );
      const quietest = (floors[quoteDelayMs] ??= []);
      quietest.push(floor);
      let commits: readonly number[] = [];
      const engine = await measuredAtVenue(quoteDelayMs, async (port) => {
        commits = await engineCycles(port, name);
      });
      const at = (q: number): At => {
        const raw = quantile(engine.all, q);
        // The lowest floor so far: other load on the machine that slows the bare client must not make the engine look better.
        const bare = Math.min(...quietest.map(({ all }) => quantile(all, q)));
        return { raw, floor: bare, added: raw - bare };
      };
      results.push({
        quoteDelayMs,
        round,
        cycles: engine.all.length,
        p50: at(0.5),
        p99: at(0.99),
        firstMs: engine.first,
        commitP50Ms: quantile(commits, 0.5),
      });
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const keeps = ({ p50, p99 }: Result): boolean => p50.added <= TARGET.p50Ms && p99.added <= TARGET.p99Ms;
const total = results.reduce((sum, one) => sum + one.cycles, 0);
const reached = QUOTE_DELAYS_MS.every((delay) =>
  results.some((one) => one.quoteDelayMs === delay && keeps(one)),
);
if (values.json) console.log(JSON.stringify({ bench: 'latency', target: TARGET, reached, results }));
else {
  const ms = (value: number): string => value.toFixed(3);
  console.log(
    table(
      results.map((one) => ({
        quoteDelayMs: one.quoteDelayMs,
        round: one.round,
        cycles: one.cycles,
        'p50 ms': ms(one.p50.raw),
        'floor p50': ms(one.p50.floor),
        'added p50': ms(one.p50.added),
        'of target': (one.p50.added / TARGET.p50Ms).toFixed(2),
        'p99 ms': ms(one.p99.raw),
        'floor p99': ms(one.p99.floor),
        'added p99': ms(one.p99.added),
        'of target ': (one.p99.added / TARGET.p99Ms).toFixed(2),
        'first ms': ms(one.firstMs),
        'commit p50': ms(one.commitP50Ms),
      })),
    ),
  );
  console.log(
    `${total} cycles; target: added p50 <= ${TARGET.p50Ms} ms and p99 <= ${TARGET.p99Ms} ms in one round of each delay: ${reached ? 'reached' : 'MISSED'}`,
  );
}
process.exitCode = reached ? 0 : 1;
