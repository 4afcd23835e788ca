/**
 * Measures the simulated venue under load: quotes and orders per second, compared with a bare `node:http` echo that receives and
 * sends as many bytes, alternating in the same run; the latency of quotes at 500 per second; ticker messages to 1,000 subscribers.
 * Exit code 1 when a target is missed or an answer is wrong.
 *
 * Run: `node bench/venue.ts [--json]`
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { median, quantile, table } from './measure.ts';
import { orderRequest, quoteRequest, Wire } from './venue-client.ts';
import type { Told } from './venue-server.ts';

const CONNECTIONS = 16;
/** Many short rounds: other load on the machine then affects only a few of them, which the median ignores. */
const ROUNDS = 31;
const WARM_UP_ROUNDS = 6;
const REQUESTS = 1_000;
const RATIO_MIN = 0.35;
const RATE = 500;
const PACED_SECONDS = 10;
const P99_MS_MAX = 10;
const SUBSCRIBERS = 1_000;
const CROWD_TICKS = 3;
const TICK_MS = 1_000;

async function start(answers?: Readonly<Record<string, string>>): Promise<Told & { child: ChildProcess }> {
  const child = fork(
    new URL('venue-server.ts', import.meta.url),
    answers === undefined ? [] : [JSON.stringify(answers)],
  );
  const [told] = (await once(child, 'message')) as [Told];
  return { ...told, child };
}

/** Measures requests per second when every connection sends its next request on each answer. */
async function throughput(
  wires: readonly Wire[],
  path: string,
  { bodies, expected }: { bodies: readonly string[]; expected: string },
): Promise<{ readonly perSecond: number; readonly answers: readonly string[] }> {
  const answers: string[] = Array.from({ length: bodies.length }, () => '');
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    wires.map(async (wire) => {
      for (;;) {
        const turn = next++;
        const body = bodies[turn];
        if (body === undefined) return;
        answers[turn] = await wire.post(path, body);
      }
    }),
  );
  const perSecond = bodies.length / ((performance.now() - begun) / 1000);
  const wrong = answers.find((answer) => !answer.includes(expected));
  if (wrong !== undefined) throw new Error(`${path} answered ${wrong}`);
  return { perSecond, answers };
}

/** Returns the times from the planned instant of each request to its answer, ms, including the wait for a free connection. */
async function paced(wires: readonly Wire[], name: string): Promise<readonly number[]> {
  const free = [...wires];
  const queue: { readonly at: number; readonly body: string }[] = [];
  const latencies: number[] = [];
  const total = RATE * PACED_SECONDS;
  const begun = performance.now();
  const { promise, resolve } = Promise.withResolvers<void>();
  const pump = (): void => {
    const wire = free.pop();
    if (wire === undefined) return;
    const job = queue.shift();
    if (job === undefined) {
      free.push(wire);
      return;
    }
    void ask(wire, job);
  };
  const ask = async (wire: Wire, job: { readonly at: number; readonly body: string }): Promise<void> => {
    await wire.post('/v1/quote', job.body);
    latencies.push(performance.now() - job.at);
    free.push(wire);
    if (latencies.length === total) resolve();
    pump();
  };
  let sent = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    while (sent < total && begun + (sent * 1000) / RATE <= now) {
      queue.push({ at: begun + (sent * 1000) / RATE, body: quoteRequest(`${name}-${sent}`) });
      sent += 1;
      pump();
    }
    if (sent === total) clearInterval(timer);
  }, 1);
  await promise;
  return latencies;
}

/** Subscribes all sockets to one ticker. Returns how many of the messages arrive, and the largest spread of one tick. */
async function crowded({
  port,
  token,
}: Told): Promise<{ readonly heard: number; readonly spreadMs: number }> {
  const ticks = Array.from({ length: CROWD_TICKS }, (): number[] => []);
  const sockets: WebSocket[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let isListening = false;
  let done = 0;
  for (let i = 0; i < SUBSCRIBERS; i++) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { perMessageDeflate: false });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'authenticate', apiKey: token }));
    socket.send(JSON.stringify({ type: 'subscribe', feeds: ['ticker.sfox.btcusd'] }));
    let heard = 0;
    socket.on('message', (data: Buffer) => {
      if (!isListening || !data.includes('"recipient"')) return;
      ticks[heard]?.push(performance.now());
      heard += 1;
      if (heard === CROWD_TICKS) done += 1;
      if (done === SUBSCRIBERS) resolve();
    });
    sockets.push(socket);
  }
  // The messages from the subscriptions have arrived; from here on every tick goes to all sockets. Starts between two ticks.
  await new Promise((wait) => {
    sockets[0]?.once('message', () => setTimeout(wait, TICK_MS / 2));
  });
  isListening = true;
  const patience = setTimeout(resolve, TICK_MS * (CROWD_TICKS + 5));
  await promise;
  clearTimeout(patience);
  for (const socket of sockets) socket.terminate();
  const spreads = ticks.map((times) => Math.max(...times) - Math.min(...times));
  return { heard: ticks.reduce((sum, { length }) => sum + length, 0), spreadMs: Math.max(...spreads) };
}

const open = async ({ port, token }: Told): Promise<readonly Wire[]> =>
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => await Wire.open(port, token)));

const venue = await start();
const probe = await Wire.open(venue.port, venue.token);
const quote = await probe.post('/v1/quote', quoteRequest('probe'));
const order = await probe.post('/v1/orders/buy', orderRequest(quote, 'probe'));
probe.close();
const echo = await start({ '/v1/quote': quote, '/v1/orders/buy': order });
const [venueWires, echoWires] = [await open(venue), await open(echo)];

const quotes: number[] = [];
const orders: number[] = [];
const bareQuotes: number[] = [];
const bareOrders: number[] = [];
for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
  const ids = Array.from({ length: REQUESTS }, (_, i) => `b${round}-${i}`);
  const asked = { bodies: ids.map((id) => quoteRequest(id)), expected: '"buy_price"' };
  const bareQuoted = await throughput(echoWires, '/v1/quote', asked);
  const quoted = await throughput(venueWires, '/v1/quote', asked);
  const placed = {
    bodies: ids.map((id, i) => orderRequest(quoted.answers[i] ?? '', id)),
    expected: '"status":"Done"',
  };
  const ordered = await throughput(venueWires, '/v1/orders/buy', placed);
  const bareOrdered = await throughput(echoWires, '/v1/orders/buy', placed);
  if (round < 0) continue;
  quotes.push(quoted.perSecond);
  orders.push(ordered.perSecond);
  bareQuotes.push(bareQuoted.perSecond);
  bareOrders.push(bareOrdered.perSecond);
}
const latencies = await paced(venueWires, 'paced');
const crowd = await crowded(venue);
for (const wire of [...venueWires, ...echoWires]) wire.close();
for (const { child } of [venue, echo]) child.disconnect();

const rowOf = (what: string, ours: readonly number[], bare: readonly number[]) => ({
  what,
  perSecond: Math.round(median(ours)),
  echoPerSecond: Math.round(median(bare)),
  // The ratio of each round, because other load on the machine affects both alike.
  ratio: Number(median(ours.map((each, round) => each / (bare[round] ?? Number.NaN))).toFixed(3)),
});
const results = [rowOf('quote', quotes, bareQuotes), rowOf('order', orders, bareOrders)];
const latency = { perSecond: RATE, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
const isHeard = crowd.heard === SUBSCRIBERS * CROWD_TICKS;
const reached = results.every(({ ratio }) => ratio >= RATIO_MIN) && latency.p99Ms < P99_MS_MAX && isHeard;
if (process.argv.includes('--json'))
  console.log(JSON.stringify({ bench: 'venue', reached, results, latency, crowd }));
else {
  console.log(table(results));
  console.log(
    `quotes at ${RATE} a second: p50 ${latency.p50Ms.toFixed(2)} ms, p99 ${latency.p99Ms.toFixed(2)} ms`,
  );
  console.log(
    `${SUBSCRIBERS} subscribers: ${crowd.heard} of ${SUBSCRIBERS * CROWD_TICKS} messages of ${CROWD_TICKS} ticks, the last of a tick at most ${crowd.spreadMs.toFixed(0)} ms after its first`,
  );
  console.log(
    `targets: ratio at least ${RATIO_MIN}, p99 below ${P99_MS_MAX} ms: ${reached ? 'reached' : 'MISSED'}`,
  );
}
process.exitCode = reached ? 0 : 1;
