/**
 * Measures the dashboard of a real daemon in Chromium: 1,000 strategies together trade some slices per second, against a simulated
 * venue in its own process. On three screens, it measures the time from a record in the journal to the frame that shows it, ms, the
 * arrival of the same records at a bare listener of the same desk, and the memory of the page. The request budget of a desk allows
 * twelve slices per second; for more, `raised-rate.ts` raises the budget, and the venue enforces none. Exit code 1 when a target is
 * missed.
 *
 * Run: `node bench/dashboard-desk.ts [--rate 12] [--seconds 40] [--strategies 1000]`
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { buildDashboard } from '../scripts/build-dashboard.ts';
import { startTranche, stopTranche } from './daemon.ts';
import { quantile, table } from './measure.ts';
import { wideLimits } from './wide-limits.ts';

const PIXEL_MS = 100;
const MEMORY_MB = 100;
/** Slices per second that the request budget of a desk allows: two requests per slice. */
const RATE_OF_BUDGET = 12;
/** Spreads the start times, so that neighbours in a list trade at different times. */
const SPREAD = 617;
/** Slices of one strategy: more than any run needs. */
const SLICES = 360;
/** Time for the browser to open the page. */
const AHEAD_MS = 40_000;

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: String(RATE_OF_BUDGET) },
    seconds: { type: 'string', default: '40' },
    strategies: { type: 'string', default: '1000' },
    chromium: { type: 'string', default: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium' },
  },
});
const seconds = Number(values.seconds);
const strategies = Number(values.strategies);
const rate = Number(values.rate);
const everyS = strategies / rate;

interface Seen {
  readonly seq: number;
  /** When the desk wrote the record, and when it arrived here. */
  readonly at: number;
  readonly arrived: number;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A screen to watch. Each row has the key of a record; each key is noted when a frame first contains it. */
interface Watched {
  readonly screen: string;
  /** Expression for the keys of the visible rows, evaluated in the page. */
  readonly keys: string;
  /** Returns the key of a record that the screen must show; `undefined` if the screen has no row for it. */
  readonly keyOf: (record: Seen, nth: number) => string | undefined;
}

const cell = (column: number): string => `row.querySelector('td:nth-child(${column})')?.textContent`;
const watched: readonly Watched[] = [
  {
    screen: 'now',
    keys: `rows.map((row) => row.querySelector('a')?.textContent + ' ' + parseInt((${cell(5)} ?? '').replaceAll(',', '')))`,
    keyOf: ({ kind, body }, nth) => (kind === 'slice' ? `${String(body['strategy'])} ${nth}` : undefined),
  },
  {
    screen: 'slices',
    keys: `rows.map((row) => ${cell(2)} + ' ' + ${cell(8)})`,
    keyOf: ({ kind, body }) => (kind === 'slice' ? `${String(body['strategy'])} #${Number(body['slice'])} ${String(body['result'])}` : undefined),
  },
  {
    screen: 'record',
    keys: `rows.map((row) => (${cell(1)} ?? '').replaceAll(',', ''))`,
    keyOf: ({ seq }) => String(seq),
  },
]; // prettier-ignore

/** Script for the page that notes when a frame first contains each key: after its rendering, which precedes the next task. */
const WATCH = (keys: string): string => `
  globalThis.shown = {};
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const at = Date.now();
    const rows = [...document.querySelector('.rows').querySelectorAll('tbody tr:not(.gap)')];
    for (const key of ${keys}) shown[key] ??= at;
  };
  const look = () => { port2.postMessage(0); requestAnimationFrame(look); };
  requestAnimationFrame(look);
`;

/** In memory if possible: a slice commits five times, and many disks cannot do 250 commits per second. */
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tranche-bench-dashboard-'));
const env = { XDG_CACHE_HOME: join(folder, 'cache') };

function writeFiles(baseUrl: string, wsUrl: string, token: string): string {
  mkdirSync(join(folder, 'strategies'));
  const begin = Date.now() + AHEAD_MS;
  for (let n = 0; n < strategies; n += 1)
    writeFileSync(
      join(folder, 'strategies', `twap-${n}.yaml`),
      JSON.stringify({
        id: `twap-${n}`,
        kind: 'twap',
        pair: 'btcusd',
        side: 'buy',
        // Sizes differ, because the desk takes equal orders at one time for duplicates.
        total_quantity: { amount: (0.36 * (1 + n / 1_000)).toFixed(6), currency: 'btc' },
        start_time: new Date(begin + (((n * SPREAD) % strategies) * 1_000) / rate).toISOString(),
        duration: `PT${Math.round(SLICES * everyS)}S`,
        slices: SLICES,
        catch_up: 'skip',
      }),
    );
  const config = {
    desk: 'bench',
    mode: 'live',
    venue: { base_url: baseUrl, ws_url: wsUrl, token, capabilities: { ticker: true } },
    ...wideLimits,
    journal: `sqlite:${join(folder, 'journal.db')}`,
    operate: { listen: '127.0.0.1:0' },
    allow_environment: ['--import'],
    strategies: './strategies',
  };
  writeFileSync(join(folder, 'desk.yaml'), JSON.stringify(config));
  return join(folder, 'desk.yaml');
}

interface Control {
  readonly url: string;
  readonly token: string;
}

/** Reads the same event stream as the page, and notes when each record arrived. */
async function listen({ url, token }: Control, into: Seen[], gone: AbortSignal): Promise<void> {
  const response = await fetch(`${url}/api/v1/events?after=0`, { headers: { authorization: `Bearer ${token}` }, signal: gone }); // prettier-ignore
  let rest = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const arrived = Date.now();
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const { seq, at, kind, body } = JSON.parse(line.slice(6)) as Omit<Seen, 'at'> & { at: string };
      if (typeof seq === 'number') into.push({ seq, at: Date.parse(at), arrived, kind, body });
    }
  }
}

const rows: Readonly<Record<string, string | number>>[] = [];
let isMissed = false;

async function measure(
  browser: Browser,
  control: Control,
  records: readonly Seen[],
  of: Watched,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    // The token of this machine, where a person has a session: the path of the data is the same.
    extraHTTPHeaders: { authorization: `Bearer ${control.token}` },
  });
  const page = await context.newPage();
  await page.goto(`${control.url}/#/${of.screen}`);
  await page.locator('tbody tr td').first().waitFor();
  await sleep(3_000);
  await page.evaluate(WATCH(of.keys));
  await sleep(500);
  const from = Date.now();
  await sleep(seconds * 1_000);
  const until = Date.now();
  await sleep(2_000);
  const shown = (await page.evaluate('globalThis.shown')) as Readonly<Record<string, number>>;
  const inView = new Set(Object.keys(shown).map((key) => key.split(' ')[0]));
  const nth = new Map<string, number>();
  const pixel: number[] = [];
  const listener: number[] = [];
  for (const record of records) {
    const id = String(record.body['strategy']);
    if (record.kind === 'slice') nth.set(id, (nth.get(id) ?? 0) + 1);
    const key = of.keyOf(record, nth.get(id) ?? 0);
    if (key === undefined || record.at < from || record.at > until) continue;
    // The list of strategies contains only rows in view.
    if (of.screen === 'now' && !inView.has(id)) continue;
    pixel.push((shown[key] ?? Number.POSITIVE_INFINITY) - record.at);
    listener.push(record.arrived - record.at);
  }
  const during = records.filter(({ at }) => at >= from && at <= until);
  const slices = during.filter(({ kind }) => kind === 'slice').length / seconds;
  const filled = during.filter(({ kind }) => kind === 'fill').length / seconds;
  const memory = await memoryOf(page);
  const isMet = pixel.length > 0 && quantile(pixel, 0.95) <= PIXEL_MS && memory <= MEMORY_MB;
  if (!isMet) isMissed = true;
  const show = (measured: readonly number[], q: number): string => quantile(measured, q).toFixed(0);
  rows.push({ screen: of.screen, 'slices/s': slices.toFixed(1), 'fills/s': filled.toFixed(1), 'records/s': (during.length / seconds).toFixed(0), tries: pixel.length, 'listener p95': show(listener, 0.95), 'pixel p50': show(pixel, 0.5), 'pixel p95': show(pixel, 0.95), 'max': show(pixel, 1), 'MB': memory.toFixed(1), target: `p95 <= ${PIXEL_MS} ms, ${MEMORY_MB} MB`, is: isMet ? 'met' : 'missed' }); // prettier-ignore
  await context.close();
}

/** Returns the heap of the page's scripts, including garbage, MB. */
async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6;
}

try {
  await buildDashboard(join(import.meta.dirname, '../dist/dashboard'));
  const venueFile = join(folder, 'venue.yaml');
  writeFileSync(venueFile, JSON.stringify({ accounts: [{ name: 'bench', balances: { usd: '1000000000', btc: '10000' } }], pairs: { btcusd: { start_price: '60000' } }, limits: { enforced: false } })); // prettier-ignore
  const venue = await startTranche(['venue', '--port', '0', '--config', venueFile], (line) => 'base_url' in line, env); // prettier-ignore
  const [token = ''] = venue.line['tokens'] as readonly string[];
  const browser = await chromium.launch({
    executablePath: values.chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  const config = writeFiles(String(venue.line['base_url']), String(venue.line['ws_url']), token);
  const desk = await startTranche(
    ['run', '--json', '--config', config],
    (line) => line['event'] === 'ready',
    env,
    rate > RATE_OF_BUDGET ? ['--import', join(import.meta.dirname, 'raised-rate.ts')] : [],
  );
  const control = JSON.parse(readFileSync(join(folder, 'journal.db.control'), 'utf8')) as Control;
  const records: Seen[] = [];
  const gone = new AbortController();
  const listening = listen(control, records, gone.signal).catch(() => undefined);
  while (!records.some(({ kind }) => kind === 'fill')) await sleep(200);
  // Waits until work left over from the start is done.
  await sleep(Math.min(everyS, 20) * 1_000);
  for (const each of watched) await measure(browser, control, records, each);
  gone.abort();
  await listening;
  await browser.close();
  process.stdout.write(`${table(rows)}\nload average of the machine: ${loadavg()[0]?.toFixed(1) ?? ''}\n`);
  await stopTranche(desk);
  await stopTranche(venue);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isMissed ? 1 : 0);
