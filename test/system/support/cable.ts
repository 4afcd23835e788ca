import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';

/** A cable between desk and venue that can be pulled out: nothing connects, and what was connected breaks off. */
export interface Cable {
  readonly port: number;
  pullOut(): Promise<void>;
  plugIn(): Promise<void>;
}

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
  const own = await freePort();
  let server: ReturnType<typeof createServer> | undefined = await listen(own);
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
