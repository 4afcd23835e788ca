/**
 * Measures requests per second through the product's client and through a bare undici `Pool` to the same server, in the same run.
 * Rounds of all clients alternate, so that a slow minute of the machine slows all of them. Exit code 1 when the target is missed.
 *
 * Run: `node bench/client.ts [--json]`
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { asyncScheduler, firstValueFrom } from 'rxjs';
import { Pool } from 'undici';
import { quantity } from '../src/core/money.ts';
import { instant, monotonic } from '../src/core/time.ts';
import { venueHttp } from '../src/venue/http.ts';
import { tradingRoutes } from '../src/venue/routes.ts';
import { tradingVenue } from '../src/venue/trading.ts';
import { quoteRequestBody } from '../src/wire/quote.ts';
import { median, table } from './measure.ts';
import { toObservable } from '../src/engine/maybe-async.ts';

const TARGET = 0.7;
const ROUNDS = 9;
const REQUESTS = 4_000;

const worker = new Worker(new URL('server.ts', import.meta.url));
const [port] = (await once(worker, 'message')) as [number];
const baseUrl = `http://127.0.0.1:${port}`;
const clock = {
  scheduler: asyncScheduler,
  wall: () => instant(Date.now()),
  monotonic: () => monotonic(performance.now()),
};
const token = { reveal: () => 'bench-token' };
const http = venueHttp({ baseUrl, token, routes: tradingRoutes({}, undefined), clock, version: '0.0.0' });
const venue = tradingVenue({ http, capabilities: {}, orderTimeoutMs: 5_000, onExtras: () => undefined });
const bare = new Pool(baseUrl, { pipelining: 1, connections: 16, allowH2: false });

const request = {
  pair: 'btcusd',
  side: 'buy',
  size: { by: 'quantity', quantity: quantity('0.25') },
} as const;
const body = quoteRequestBody(request);
const headers = { authorization: 'Bearer bench-token', 'content-type': 'application/json' };

type Contestant = 'bare undici' | 'http.exchange' | 'trading.quote';
const contestants: Record<Contestant, () => Promise<void>> = {
  'bare undici': async () => {
    const answer = await bare.request({ method: 'POST', path: '/v1/quote', body, headers });
    if (!(await answer.body.text()).includes('buy_price')) throw new Error('not the quote');
  },
  'http.exchange': async () => {
    const reply = await firstValueFrom(
      http.exchange({ method: 'POST', path: '/v1/quote', body, timeoutMs: 5_000 }),
    );
    if (!reply.body.includes('buy_price')) throw new Error('not the quote');
  },
  'trading.quote': async () => {
    const answer = await firstValueFrom(toObservable(venue.quote(request)));
    if (answer.kind !== 'quote' || !answer.quote.price.eq('60001.75')) throw new Error('not the quote');
  },
};
const names = Object.keys(contestants) as Contestant[];

/** Returns requests per second with `concurrency` callers that each wait for their answer. */
async function round(run: () => Promise<void>, concurrency: number): Promise<number> {
  let left = REQUESTS;
  const begun = performance.now();
  const caller = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return REQUESTS / ((performance.now() - begun) / 1000);
}

const results = [];
for (const concurrency of [1, 10]) {
  const rates: Record<Contestant, number[]> = { 'bare undici': [], 'http.exchange': [], 'trading.quote': [] };
  for (const name of names) await round(contestants[name], concurrency); // warm-up, not counted
  for (let i = 0; i < ROUNDS; i++) {
    // The order rotates, so that no client always runs after the same one.
    for (let k = 0; k < names.length; k++) {
      const name = names[(i + k) % names.length] ?? 'bare undici';
      rates[name].push(await round(contestants[name], concurrency));
    }
  }
  for (const name of names) {
    const ratio = median(rates[name].map((rate, i) => rate / (rates['bare undici'][i] ?? Number.NaN)));
    results.push({
      concurrency,
      client: name,
      perSecond: Math.round(median(rates[name])),
      ratio: Number(ratio.toFixed(3)),
    });
  }
}

const reached = results.every(({ client, ratio }) => client === 'bare undici' || ratio >= TARGET);
if (process.argv.includes('--json'))
  console.log(JSON.stringify({ bench: 'client', target: TARGET, reached, results }));
else {
  console.log(table(results));
  console.log(`target: at least ${TARGET} of bare undici: ${reached ? 'reached' : 'MISSED'}`);
}
await Promise.all([http.close(), bare.close()]);
await worker.terminate();
process.exitCode = reached ? 0 : 1;
