/**
 * A venue on a raw socket, in its own thread: the simulated exchange behind minimal HTTP. It notes when it is about to write the
 * last byte of a quote and when the first byte of its order arrives. No server code lies between these two moments and the
 * socket.
 */
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { instant } from '../src/core/time.ts';
import { Exchange } from '../src/simulator/exchange/exchange.ts';
import { venueOptions } from '../src/simulator/options/options.ts';
import { routes } from '../src/simulator/http/routes.ts';
import { Written } from '../src/simulator/http/reply.ts';

const { quoteDelayMs } = workerData as { readonly quoteDelayMs: number };

/** When each quote was written, by client id, ms of `performance.now()`. */
const written = new Map<string, number>();
const latencies: number[] = [];

const exchange = new Exchange({
  options: venueOptions({
    accounts: [{ balances: { usd: '100000000', btc: '1000' } }],
    limits: { enforced: false },
  }),
  startedAt: instant(Date.now()),
});
const account = exchange.accounts[0]?.name ?? '';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string;
  readonly firstByteAt: number;
}

const textOf = (value: unknown): string => (value instanceof Written ? value.text : JSON.stringify(value));

function answer(socket: Socket, request: Request): void {
  const clientId = /"client_(?:quote|order)_id":"(?<id>[^"]+)"/u.exec(request.body)?.groups?.['id'];
  const isQuote = request.path === '/v1/quote';
  const quotedAt = clientId === undefined || isQuote ? undefined : written.get(clientId);
  if (quotedAt !== undefined) latencies.push(request.firstByteAt - quotedAt);
  const route = routes.find((one) => one.method === request.method && one.path === request.path);
  const now = instant(Date.now());
  const reply = route?.answer(exchange, { ...request, account, now, params: {} });
  const [status, body] =
    reply === undefined
      ? [404, '{"error":"no such route"}']
      : [reply.status, reply.ok ? textOf(reply.value) : JSON.stringify({ error: reply.error })];
  const bytes = Buffer.from(
    `HTTP/1.1 ${status} -\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const send = (): void => {
    if (socket.destroyed) return;
    // Noted before the call, because over loopback the peer receives the bytes before `write` returns.
    if (isQuote && clientId !== undefined) written.set(clientId, performance.now());
    socket.write(bytes);
  };
  if (isQuote && quoteDelayMs > 0) setTimeout(send, quoteDelayMs);
  else send();
}

/**
 * Serves one connection: collects bytes until a request is complete. Clients here never have two requests in flight on one
 * connection.
 */
function serve(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  let text = '';
  let firstByteAt: number | undefined;
  socket.on('data', (chunk) => {
    firstByteAt ??= performance.now();
    text += chunk.toString('latin1');
    const head = text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: (?<length>\d+)/iu.exec(text)?.groups?.['length'] ?? 0);
    if (text.length < head + 4 + length) return;
    const [method = '', target = ''] = text.slice(0, text.indexOf('\r\n')).split(' ');
    const url = new URL(target, 'http://venue');
    const body = text.slice(head + 4);
    const request: Request = {
      method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body,
      firstByteAt,
    };
    text = '';
    firstByteAt = undefined;
    answer(socket, request);
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  if (typeof address === 'object') parentPort?.postMessage(address?.port);
});
/** Answers any message with the latencies of all orders, in their order. */
parentPort?.on('message', () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(latencies);
});
