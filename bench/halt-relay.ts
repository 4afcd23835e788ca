/**
 * Passes bytes between a daemon and the venue, on a thread of its own that has nothing else to do: when it sees bytes of an
 * order is when they came. It counts them in memory that it shares with the measurement.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface RelayData {
  readonly port: number;
  /** Pieces of orders that came, and when the last did: milliseconds of `monotonicMs`. */
  readonly seen: Float64Array;
}

const { port, seen } = workerData as RelayData;

const server = createServer({ noDelay: true }, (near) => {
  const far = connect({ port, host: '127.0.0.1', noDelay: true });
  let isOrder = false;
  near.on('data', (bytes: Buffer) => {
    const at = Number(process.hrtime.bigint()) / 1e6;
    const head = bytes.toString('latin1', 0, 18);
    // A request may come in pieces: what follows belongs to the one that began.
    if (/^(?:GET|POST) \//u.test(head)) isOrder = head.startsWith('POST /v1/orders/');
    if (isOrder) {
      seen[0] = (seen[0] ?? 0) + 1;
      seen[1] = at;
    }
    far.write(bytes);
  });
  far.on('data', (bytes: Buffer) => near.write(bytes));
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
