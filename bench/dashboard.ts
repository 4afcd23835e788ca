/**
 * Measures the dashboard in Chromium. First with a synthetic desk of 1,000 strategies that records 50 slices per second, six records
 * each: the time from sending a record to the frame that shows it, ms, and the memory of the page, on three screens. Then with a real
 * desk that trades as fast as its limits allow: the time from the click on "Halt now", as stamped by the browser, to the last byte of
 * an order at the venue's socket. Exit code 1 when a target is missed.
 *
 * Run: `node bench/dashboard.ts [--seconds 20] [--halts 20]`
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { buildDashboard } from '../scripts/build-dashboard.ts';
import { syntheticAnswers } from '../test/operate/dashboard/synthetic-answers.ts';
import { startSyntheticDesk } from '../test/operate/dashboard/synthetic-desk.ts';
import type { SyntheticDesk } from '../test/operate/dashboard/synthetic-desk.ts';
import { inFolder, startDesk, stopDesk } from './halt-desk.ts';
import type { Running } from './halt-desk.ts';
import type { RelayData } from './halt-relay.ts';
import { quantile, table } from './measure.ts';

const STRATEGIES = 1_000;
const SLICES_PER_SECOND = 50;
const PIXEL_MS = 100;
const MEMORY_MB = 100;
const HALT_MS = 50;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    halts: { type: 'string', default: '20' },
    chromium: { type: 'string', default: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium' },
  },
});
const seconds = Number(values.seconds);
const halts = Number(values.halts);
if (!existsSync(values.chromium)) {
  process.stderr.write(
    `There is no browser at ${values.chromium}: install chromium, or name one with --chromium.\n`,
  );
  process.exit(2);
}

const rows: Readonly<Record<string, string | number>>[] = [];
let isMissed = false;

/** A number on the screen that grows with the records sent. */
interface Watched {
  readonly screen: string;
  /** Expression for the number, evaluated in the page. */
  readonly number: string;
}

const watched: readonly Watched[] = [
  // Filled slices of the first strategy.
  { screen: 'now', number: `parseInt(document.querySelector('tbody tr td:nth-child(5)')?.textContent ?? '0')` },
  // The newest slice.
  { screen: 'slices', number: `parseInt(document.querySelector('tbody tr:not(.gap) .link .figures')?.textContent.slice(1) ?? '0')` },
  // The newest record.
  { screen: 'record', number: `parseInt((document.querySelector('tbody tr td')?.textContent ?? '0').replaceAll(',', ''))` },
]; // prettier-ignore

/** Script for the page that notes when a frame first contains each number: after its rendering, which precedes the next task. */
const WATCH = (number: string): string => `
  globalThis.shown = [];
  let last = -1;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const number = ${number};
    if (number > last) shown.push([last = number, Date.now()]);
  };
  const look = () => { port2.postMessage(0); requestAnimationFrame(look); };
  requestAnimationFrame(look);
`;

/** Records one slice with six records, as an engine writes them. */
function slice(desk: SyntheticDesk, number: number): { readonly seq: number } {
  const strategy = `btc-twap-${number % STRATEGIES}`;
  const of = { strategy, parent: `p${number % STRATEGIES}`, slice: number };
  const client_order_id = `bench-${number}`;
  const order = { client_order_id, ...of, attempt: 1, pair: 'btcusd', base: 'btc', quote: 'usd', side: 'buy' };
  const figures = { quantity: '0.05', price: '64210.5', amount: '3210.525', fees: '0' };
  const at = Date.now();
  const intent = { leg: 'all', ...of, pair: 'btcusd', side: 'buy', by: 'quantity', size: '0.05', deadline: at };
  desk.record({ kind: 'wake', strategy, on: 'at', detail: { due: at }, waits: [{ on: 'at', at: at + 2e4 }], missed: [], intents: [intent] });
  desk.record({ kind: 'intent', ...order, by: 'quantity', size: '0.05' });
  desk.record({ kind: 'quote', client_order_id, quote_id: `q${number}`, ...figures, life_ms: 3000, age_ms: 2 });
  desk.record({ kind: 'fill', ...order, ...figures, order_id: `o${number}`, executed_at: at, source: 'order' });
  desk.record({ kind: 'attempt', client_order_id, result: 'filled' });
  return desk.record({ kind: 'slice', ...of, leg: 'all', result: 'filled', filled: '0.05', filled_amount: '3210.525' });
} // prettier-ignore

async function load(browser: Browser, folder: string, { screen, number }: Watched): Promise<void> {
  const desk = await startSyntheticDesk(folder, syntheticAnswers(STRATEGIES));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${desk.url}/#/${screen}`);
  await page.locator('tbody tr').first().waitFor();
  await sleep(2_000);
  await page.evaluate(WATCH(number));
  const sent = new Map<number, number>();
  // The number before the first record: the number of the first strategy counts on from it.
  const before = Number(await page.evaluate(number));
  const begun = performance.now();
  for (let n = 0; n < seconds * SLICES_PER_SECOND; n += 1) {
    const due = begun + (n * 1_000) / SLICES_PER_SECOND;
    if (due > performance.now()) await sleep(due - performance.now());
    // Every twentieth slice belongs to the first strategy, which is in view.
    const of = screen === 'now' && n % 20 === 0 ? n * STRATEGIES : n + 1_000;
    const { seq } = slice(desk, of);
    if (screen === 'record') sent.set(seq, Date.now());
    else if (screen === 'slices') sent.set(of, Date.now());
    else if (n % 20 === 0) sent.set(before + n / 20 + 1, Date.now());
  }
  await sleep(1_000);
  const shown = (await page.evaluate('globalThis.shown')) as readonly (readonly [number, number])[];
  const delays: number[] = [];
  for (const [which, at] of sent) {
    // A frame that shows a later record shows this one too.
    const seen = shown.find(([newest]) => newest >= which);
    delays.push(seen === undefined ? Number.POSITIVE_INFINITY : seen[1] - at);
  }
  const memory = await memoryOf(page);
  const isMet = quantile(delays, 0.95) <= PIXEL_MS && memory <= MEMORY_MB;
  if (!isMet) isMissed = true;
  const show = (q: number): string => quantile(delays, q).toFixed(0);
  rows.push({ measures: `record to pixel, ${screen}`, tries: delays.length, 'p50 ms': show(0.5), 'p95 ms': show(0.95), 'max ms': show(1), 'MB': memory.toFixed(1), target: `p95 <= ${PIXEL_MS}, ${MEMORY_MB} MB`, is: isMet ? 'met' : 'missed' }); // prettier-ignore
  await page.close();
  await desk.close();
}

/** Returns the heap of the page's scripts, including garbage, MB. */
async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6;
}

const portOf = async (worker: Worker): Promise<number> =>
  await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });

async function rearm({ control }: Running): Promise<void> {
  for (;;) {
    const answer = await fetch(`${control.url}/api/v1/rearm`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${control.token}`,
        'content-type': 'application/json',
        'x-tranche': '1',
      },
      body: JSON.stringify({ why: 'bench', confirm: control.desk, with_open_doubts: true }),
    });
    await answer.text();
    if (answer.ok) return;
    await sleep(20);
  }
}

/** Script for the page that notes when the browser received the click, before the page handled it. */
const CLICKED = `addEventListener('click', (event) => { globalThis.clicked = performance.timeOrigin + event.timeStamp; }, { capture: true, once: true })`;

/** Halts a real desk by clicks, and re-arms it. */
async function halting(browser: Browser): Promise<void> {
  const seen = new Float64Array(new SharedArrayBuffer(24));
  const thread = (name: string, data: unknown): Worker =>
    new Worker(new URL(name, import.meta.url), { workerData: data });
  const account = { name: 'bench', token: 'bench-dashboard-token' };
  const real = thread('halt-venue.ts', [account]);
  const relay = thread('halt-relay.ts', {
    port: await portOf(real),
    seen,
    latencies: new Float64Array(0),
  } satisfies RelayData);
  const venuePort = await portOf(relay);
  await inFolder(async (folder) => {
    const running = await startDesk(folder, { account, venuePort, journalAt: folder, journalSeen: folder, isDeaf: false }); // prettier-ignore
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      // The token of this machine, where a person has a session: the path of the request is the same.
      extraHTTPHeaders: { authorization: `Bearer ${running.control.token}` },
    });
    const page = await context.newPage();
    await page.goto(running.control.url);
    const measured: number[] = [];
    for (let n = 0; n < halts; n += 1) {
      const from = seen[0] ?? 0;
      while ((seen[0] ?? 0) < from + 2) await sleep(2);
      await page.getByRole('button', { name: 'Halt', exact: true }).click();
      const confirm = page.getByRole('button', { name: 'Halt now' });
      await confirm.waitFor();
      await sleep(Math.random() * 40);
      await page.evaluate(CLICKED);
      await confirm.click();
      await page.getByRole('button', { name: 'Halted' }).waitFor();
      await sleep(200);
      const clicked = Number(await page.evaluate('globalThis.clicked'));
      // The relay uses the monotonic clock, the page the wall clock.
      const offset = Date.now() - Number(process.hrtime.bigint()) / 1e6;
      measured.push(Math.max(0, (seen[1] ?? 0) + offset - clicked));
      await rearm(running);
      await page.getByRole('button', { name: 'Halt', exact: true }).waitFor();
    }
    const isMet = quantile(measured, 0.95) <= HALT_MS;
    if (!isMet) isMissed = true;
    const show = (q: number): string => quantile(measured, q).toFixed(1);
    rows.push({ measures: 'click on halt to the last order at the venue', tries: halts, 'p50 ms': show(0.5), 'p95 ms': show(0.95), 'max ms': show(1), 'MB': '', target: `p95 <= ${HALT_MS}`, is: isMet ? 'met' : 'missed' }); // prettier-ignore
    await context.close();
    await stopDesk(running);
  });
  await real.terminate();
  await relay.terminate();
}

const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-dashboard-'));
await buildDashboard(folder);
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  for (const each of watched) await load(browser, folder, each);
  if (halts > 0) {
    // The daemon serves the dashboard from this folder.
    await buildDashboard(join(import.meta.dirname, '../dist/dashboard'));
    await halting(browser);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${table(rows)}\n`);
process.exit(isMissed ? 1 : 0);
