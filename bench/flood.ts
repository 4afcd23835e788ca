/**
 * Measures a desk of `bench/halt.ts` while strangers without a token flood its API: each of ninety connections sends
 * thousands of requests without waiting for answers. It takes the largest delay of the event loop and the memory from
 * the desk's own metrics, and halts and re-arms the desk meanwhile. Exit code 1 when a target is missed.
 *
 * Run: `npm run bench:flood [-- --seconds N]`
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { parseArgs } from 'node:util';
import { inFolder, startDesk, stopDesk } from './halt-desk.ts';
import type { Running } from './halt-desk.ts';

const CONNECTIONS = 90;
/** Few enough that the desk has time. */
const PARENTS = 8;
const AT_ONCE = 2_000;
const TARGETS = { haltMs: 100, delayMs: 50, memoryRatio: 1.2 };

/** Opens a connection that sends requests as fast as they are read, and another when it is closed. */
function flood(port: number): void {
  const asking = `GET /metrics HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`.repeat(AT_ONCE);
  const socket = connect(port, '127.0.0.1', () => socket.write(asking));
  socket.on('drain', () => socket.write(asking));
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(flood, 1, port));
  socket.resume();
}

const post = async ({ control }: Running, path: string, body: object): Promise<Response> =>
  await fetch(`${control.url}/api/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${control.token}`,
      'content-type': 'application/json',
      'x-tranche': '1',
    },
    body: JSON.stringify(body),
  });

/** Largest delay of the event loop since the last call, ms, and resident memory, bytes. */
async function figures({ control }: Running): Promise<{ readonly delayMs: number; readonly memory: number }> {
  const text = await (await fetch(`${control.url}/metrics`)).text();
  const figure = (name: string): number => Number(new RegExp(`^${name}.* (\\S+)$`, 'mu').exec(text)?.[1]);
  return {
    delayMs: 1_000 * figure('tranche_event_loop_lag_seconds\\{quantile="1"'),
    memory: figure('tranche_resident_memory_bytes'),
  };
}

async function measure(running: Running, seconds: number): Promise<Record<keyof typeof TARGETS, number>> {
  const most = { haltMs: 0, delayMs: 0, memory: 0 };
  for (const until = Date.now() + seconds * 1_000; Date.now() < until;) {
    await sleep(1_000);
    const from = performance.now();
    await (await post(running, 'halt', { why: 'bench' })).text();
    most.haltMs = Math.max(most.haltMs, performance.now() - from);
    const { delayMs, memory } = await figures(running);
    most.delayMs = Math.max(most.delayMs, delayMs);
    most.memory = Math.max(most.memory, memory);
    const confirm = running.control.desk;
    await (await post(running, 'rearm', { why: 'bench', confirm, with_open_doubts: true })).text();
  }
  return { haltMs: most.haltMs, delayMs: most.delayMs, memoryRatio: most.memory };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
  const account = { name: 'bench-flood', token: 'bench-flood-token' };
  const venue = new Worker(new URL('halt-venue.ts', import.meta.url), { workerData: [account] });
  const venuePort = await new Promise<number>((resolve) => venue.once('message', resolve));
  await inFolder(async (folder) => {
    const setup = {
      account,
      venuePort,
      journalAt: folder,
      journalSeen: folder,
      isDeaf: false,
      parents: PARENTS,
    };
    const running = await startDesk(folder, setup);
    while (!(await fetch(`${running.control.url}/readyz`)).ok) await sleep(100);
    await measure(running, 5);
    // A minute, because the desk reads its account once in a minute.
    const before = await measure(running, 60);
    const strangers = new Worker(new URL(import.meta.url), {
      workerData: Number(new URL(running.control.url).port),
    });
    const during = await measure(running, Number(values.seconds));
    await strangers.terminate();
    await stopDesk(running);
    during.memoryRatio /= before.memoryRatio;
    for (const [name, target] of Object.entries(TARGETS)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- keys of that object
      const figure = during[name as keyof typeof TARGETS];
      if (!(figure <= target)) process.exitCode = 1;
      console.log(`${name} ${figure.toFixed(2)}, target <= ${target}`);
    }
    console.log(`without the flood: ${JSON.stringify(before)}`);
  });
  process.exit();
}

if (isMainThread) await main();
else for (let n = 0; n < CONNECTIONS; n++) flood(Number(workerData));
