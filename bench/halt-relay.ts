/**
 * Relays bytes between a daemon and the venue, on its own thread without other work: the moment at which it sees bytes of an order
 * is the moment of their arrival. It counts them in memory that it shares with the measurement.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

export interface RelayData {
  readonly port: number;
  /** Number of pieces of orders that arrived; arrival of the last, ms of `monotonicMs`; number of latencies. */
  readonly seen: Float64Array;
  /** Times from the last byte of a quote to the first byte of its order, ms. Values beyond its length are dropped. */
  readonly latencies: Float64Array;
}

const { port, seen, latencies } = workerData as RelayData;

try {
  // Priority of this thread only. A browser on the same processor must not delay the time stamps.
  setPriority(0, -15);
} catch {
  // Only root may raise it.
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** When the relay passed on the last byte of each quote, by the client's id. */
const quotedAt = new Map<string, number>();

interface Request {
  readonly firstByteAt: number;
  readonly isOrder: boolean;
  readonly isQuote: boolean;
  text: string;
  id?: string | undefined;
}

function noteLatency({ id = '', firstByteAt }: Request): void {
  const at = quotedAt.get(id);
  const count = seen[2] ?? 0;
  if (at === undefined || count >= latencies.length) return;
  quotedAt.delete(id);
  latencies[count] = firstByteAt - at;
  seen[2] = count + 1;
}

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ port, host: '127.0.0.1', noDelay: true });
  let request: Request | undefined;
  near.on('data', (bytes: Buffer) => {
    const at = nowMs();
    const text = bytes.toString('latin1');
    // A request may arrive in pieces: following bytes belong to the request that began.
    if (/^(?:GET|POST) \//u.test(text)) {
      const isOrder = text.startsWith('POST /v1/orders/');
      request = { firstByteAt: at, isOrder, isQuote: text.startsWith('POST /v1/quote'), text: '' };
    }
    if (request?.isOrder === true) {
      seen[0] = (seen[0] ?? 0) + 1;
      seen[1] = at;
    }
    if (request !== undefined && request.id === undefined && (request.isOrder || request.isQuote)) {
      request.text += text;
      request.id = /"client_(?:quote|order)_id":"(?<id>[^"]+)"/u.exec(request.text)?.groups?.['id'];
      if (request.isOrder && request.id !== undefined) noteLatency(request);
    }
    far.write(bytes);
  });
  far.on('data', (bytes: Buffer) => {
    if (request?.isQuote === true && request.id !== undefined) quotedAt.set(request.id, nowMs());
    near.write(bytes);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const satisfies readonly (readonly [Socket, Socket])[]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});
server.listen(0, '127.0.0.1', () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread of this process, no window
  parentPort?.postMessage((server.address() as AddressInfo).port);
});
