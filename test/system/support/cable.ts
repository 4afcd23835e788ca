import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A cable between desk and venue that can be pulled out: nothing connects, and what was connected breaks off. */
export interface Cable {
  readonly port: number;
  pullOut(): Promise<void>;
  plugIn(): Promise<void>;
}

/**
 * Its port must be free when it is plugged in again: it lies below those that systems hand out to whoever connects, or listens at 0.
 */
const PORT_MIN = 20_000;
const PORTS = 12_000;

const ifTaken = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
};

/** Forwards a port of its own to `port` on loopback. */
export async function aCable(port: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const listen = async (on: number): Promise<ReturnType<typeof createServer>> => {
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      keep(near);
      keep(far);
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
      near.pipe(far).pipe(near);
    });
    server.listen(on, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let own = 0;
  let server: ReturnType<typeof createServer> | undefined;
  while (server === undefined) {
    own = PORT_MIN + Math.floor(Math.random() * PORTS);
    server = await listen(own).catch(ifTaken);
  }
  const pullOut = async (): Promise<void> => {
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    server = undefined;
    await closed;
  };
  onTestFinished(pullOut);
  return {
    port: own,
    pullOut,
    async plugIn() {
      server ??= await listen(own);
    },
  };
}
