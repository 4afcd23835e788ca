/**
 * Passes bytes between a daemon and the venue, on a thread of its own that has nothing else to do: when it sees bytes of an
 * order is when they came. It counts them in memory that it shares with the measurement.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

export interface RelayData {
  readonly port: number;
  /** Pieces of orders that came; when the last did, milliseconds of `monotonicMs`; how many latencies there are. */
  readonly seen: Float64Array;
  /** From the last byte of a quote to the first byte of its order, milliseconds. Later ones than fit are not noted. */
  readonly latencies: Float64Array;
}

const { port, seen, latencies } = workerData as RelayData;

try {
  // Of this thread alone. A browser on the same processor must not make bytes look late.
  setPriority(0, -15);
} catch {
  // Only root may.
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** When the last byte of each quote was passed on, by the client's id. */
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
    // A request may come in pieces: what follows belongs to the one that began.
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
