import type { Client, Dispatcher } from 'undici';

/** Maximum number of connections kept ready. */
export const PRECONNECTIONS_MAX = 4;

/** Open connections that have not carried a request, for calls whose first byte must leave immediately. */
export interface Preconnections {
  /** Ensures that `wanted` connections are ready or being opened. */
  ready(wanted: number): void;
  /** Takes a ready connection, if there is one. It is used for one request and then closed. */
  take(): Client | undefined;
  close(): Promise<void>;
}

/**
 * undici lets one turn of the event loop pass before it writes to a used connection, in order to see bytes of a
 * closing or cheating peer first. A connection that has carried no request needs no such check, so undici writes to
 * it in the tick of `dispatch`. It is also the only kind of connection for which "not sent" is certain.
 *
 * A spare that the peer closes, or that idles for longer than the keep-alive of `make`, is dropped; no call waits for
 * it.
 */
export function preconnect(make: () => Client): Preconnections {
  const opening = new Set<Client>();
  const open = new Set<Client>();
  const drop = (client: Client): void => {
    opening.delete(client);
    open.delete(client);
    if (client.destroyed) return;
    void client.destroy();
  };

  const add = (): void => {
    const client = make();
    opening.add(client);
    client.on('disconnect', () => drop(client));
    client.on('connectionError', () => drop(client));
    const connected = (): void => {
      opening.delete(client);
      open.add(client);
    };
    client.dispatch(
      { method: 'GET', path: '/' },
      connectOnly(connected, () => drop(client)),
    );
  };

  return {
    ready(wanted) {
      const missing = Math.min(wanted, PRECONNECTIONS_MAX) - open.size - opening.size;
      for (let i = 0; i < missing; i++) add();
    },
    take() {
      for (const client of open) {
        open.delete(client);
        return client;
      }
      return undefined;
    },
    async close() {
      const all = [...opening, ...open];
      opening.clear();
      open.clear();
      await Promise.all(all.map(async (client) => await client.destroy()));
    },
  };
}

/** A request that connects and then throws right before its first byte: undici drops it and keeps the connection. */
function connectOnly(connected: () => void, failed: () => void): Dispatcher.DispatchHandler {
  let hasConnected = false;
  return {
    onRequestStart() {
      hasConnected = true;
      throw new Error('connected; nothing to send');
    },
    onResponseError() {
      if (hasConnected) connected();
      else failed();
    },
    // undici requires these callbacks; this request never gets that far.
    onResponseStart: () => undefined,
    onResponseData: () => undefined,
    onResponseEnd: () => undefined,
  };
}
