import { createServer as createHttp } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { asyncScheduler } from 'rxjs';
import { onTestFinished } from 'vitest';
import { instant, monotonic } from '../../src/core/time.ts';
import type { Clock } from '../../src/engine/ports.ts';
import { venueHttp } from '../../src/venue/http.ts';
import type { HttpOptions, VenueHttp } from '../../src/venue/http.ts';
import { tradingRoutes } from '../../src/venue/routes.ts';

export const TOKEN = 'tok-5f2c9e';

export const systemClock: Clock = {
  scheduler: asyncScheduler,
  wall: () => instant(Date.now()),
  monotonic: () => monotonic(performance.now()),
};

async function listen(server: Server, sockets: Set<Socket>): Promise<number> {
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return (server.address() as AddressInfo).port;
}

export interface RawServer {
  readonly url: string;
  /** Everything that was received, over all connections. */
  received(): string;
  connections(): number;
  readonly sockets: ReadonlySet<Socket>;
}

/** A TCP server on loopback: `on` sees each connection when it opens. */
export async function rawServer(on: (socket: Socket) => void): Promise<RawServer> {
  let received = '';
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    on(socket);
  });
  const port = await listen(server, sockets);
  return {
    url: `http://127.0.0.1:${port}`,
    received: () => received,
    connections: () => connections,
    sockets,
  };
}

/** Answers the first bytes of every connection with `bytes`, as they are. */
export const answering = async (
  bytes: string | Buffer,
  then?: (socket: Socket) => void,
): Promise<RawServer> =>
  await rawServer((socket) => {
    socket.once('data', () => {
      socket.write(bytes);
      then?.(socket);
    });
  });

/** An answer with the right length. */
export const http = (status: string, body: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');

export async function httpServer(listener: RequestListener): Promise<string> {
  const port = await listen(createHttp(listener), new Set());
  return `http://127.0.0.1:${port}`;
}

/** The client under test, closed when the test ends. */
export function client(baseUrl: string, more: Partial<HttpOptions> = {}): VenueHttp {
  const made = venueHttp({
    baseUrl,
    token: { reveal: () => TOKEN },
    routes: tradingRoutes({ balances: true, pairs: true, orderLookup: true }, '/v1/orders/sell'),
    clock: systemClock,
    version: '9.9.9',
    ...more,
  });
  onTestFinished(async () => await made.close());
  return made;
}

/** Keeps `wanted` connections ready for the rest of the test. */
export function warm(venue: VenueHttp, wanted: number): void {
  const warmed = venue.warm(wanted).subscribe();
  onTestFinished(() => {
    warmed.unsubscribe();
  });
}
