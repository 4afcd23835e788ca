/**
 * Measures a desk with a thousand strategies: the time of `tranche run` from its start to `ready`, compared with the same desk with
 * two strategies in the same run; and while it waits, its processor time over a minute and its resident memory. Exit code 1 when a
 * target is missed.
 *
 * Run: `node bench/many.ts [--json]`
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb, startTranche, stopTranche, writeDesk, writeVenue } from './daemon.ts';
import type { Running } from './daemon.ts';
import { median, table } from './measure.ts';

const TARGET = { readyMs: 2_000, idlePct: 1, residentMb: 250 };
const STRATEGIES = 1_000;
const ROUNDS = 3;
/** Garbage of the start is collected within half a minute, in one pass of some 200 ms. */
const SETTLE_MS = 30_000;
/** One full period of recurring work, such as the read of the account. */
const IDLE_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'));
const env = { XDG_CACHE_HOME: join(folder, 'cache') };

/** Returns the processor time of a process so far, ms, from `/proc`, in steps of a hundredth of a second. Linux only. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

interface Measured {
  readonly few: readonly number[];
  readonly many: readonly number[];
  /** Processor time until `ready`, ms. */
  readonly processor: readonly number[];
  readonly idlePct: number;
  readonly memory: { readonly now: number; readonly peak: number };
}

async function measure(): Promise<Measured> {
  const venue = await startTranche(
    ['venue', '--port', '0', '--config', writeVenue(folder, 2 * ROUNDS + 1)],
    (line) => 'base_url' in line,
    env,
  );
  const tokens = [...(venue.line['tokens'] as readonly string[])];
  const run = async (strategies: number): Promise<Running> => {
    const token = tokens.pop() ?? '';
    const baseUrl = String(venue.line['base_url']);
    const config = writeDesk({ baseUrl, token, folder: join(folder, token), strategies });
    return await startTranche(
      ['run', '--json', '--config', config],
      (line) => line['event'] === 'ready',
      env,
    );
  };
  await stopTranche(await run(2)); // fills the cache of compiled code
  const [few, many, processor]: [number[], number[], number[]] = [[], [], []];
  let idle: Omit<Measured, 'few' | 'many' | 'processor'> | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const small = await run(2);
    few.push(small.readyMs);
    await stopTranche(small);
    const large = await run(STRATEGIES);
    const pid = large.process.pid ?? 0;
    many.push(large.readyMs);
    processor.push(processorMs(pid));
    if (round === ROUNDS - 1) {
      await sleep(SETTLE_MS);
      const before = processorMs(pid);
      await sleep(IDLE_MS);
      idle = { idlePct: ((processorMs(pid) - before) / IDLE_MS) * 100, memory: residentMb(pid) };
    }
    await stopTranche(large);
  }
  await stopTranche(venue);
  if (idle === undefined) throw new Error('nothing was measured');
  return { few, many, processor, ...idle };
}

function report({ few, many, processor, idlePct, memory }: Measured): void {
  const ready = median(many);
  const reached = ready <= TARGET.readyMs && idlePct <= TARGET.idlePct && memory.now <= TARGET.residentMb;
  const figures = {
    load: loadavg()[0] ?? 0,
    fewReadyMs: median(few),
    readyMs: ready,
    overFew: ready / median(few),
    processorMs: median(processor),
    idlePct,
    residentMb: memory.now,
    residentPeakMb: memory.peak,
  };
  process.exitCode = reached ? 0 : 1;
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ bench: 'many', target: TARGET, reached, results: figures }));
    return;
  }
  const row = (what: string, value: number, of: number | undefined): Readonly<Record<string, string>> => ({
    what,
    value: value.toFixed(2),
    ofTarget: of === undefined ? '' : (value / of).toFixed(2),
  });
  console.log(
    table([
      row(`run to ready, 2 strategies, ms, median of ${ROUNDS}`, figures.fewReadyMs, undefined),
      row(`run to ready, ${STRATEGIES} strategies, ms, median of ${ROUNDS}`, ready, TARGET.readyMs),
      row('  times as long as with 2', figures.overFew, undefined),
      row('  processor time until then, ms', figures.processorMs, undefined),
      row(`processor while it waits, % of a core over ${IDLE_MS / 1000} s`, idlePct, TARGET.idlePct),
      row('resident memory, MB', memory.now, TARGET.residentMb),
      row('load average of the machine', figures.load, undefined),
    ]),
  );
  console.log(`targets: ${reached ? 'reached' : 'MISSED'}`);
}

try {
  report(await measure());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
