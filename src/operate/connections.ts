import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Scrapers, commands and event listeners use descriptors that the venue connections also need. */
const CONNECTIONS_MAX = 128;
/** One caller leaves room for others. */
const CALLER_CONNECTIONS_MAX = 96;

interface Connection {
  readonly socket: Socket;
  /** Address of the peer, or of whom a proxy of the config named with the last request. */
  caller: string;
  /** Whether a response is being made: its request has arrived, and it is not only waiting to be read. */
  isBusy(): boolean;
}

/** The same for the encrypted and the bare socket of a connection. */
const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * Bounds the connections of a server, in total and for each caller. A further connection takes the place of the one
 * whose last request is longest ago; only if all are busy, it is closed itself.
 */
export class Connections {
  /** Longest without a request first. */
  readonly #open = new Map<string, Connection>();
  readonly #onClosed: (caller: string) => void;

  /** `onClosed` receives the caller whose connection was closed. */
  constructor(onClosed: (caller: string) => void) {
    this.#onClosed = onClosed;
  }

  readonly add = (socket: Socket): void => {
    // The connection has already closed.
    if (socket.remoteAddress === undefined) return;
    const connection = { socket, caller: socket.remoteAddress, isBusy: () => false };
    const key = keyOf(socket);
    this.#open.set(key, connection);
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    this.#hasRoom(connection);
  };

  /** Wraps the listener of a server, to learn which connections are in use. */
  readonly watched =
    (listener: RequestListener): RequestListener =>
    (request, response) => {
      const key = keyOf(request.socket);
      const connection = this.#open.get(key);
      this.#open.delete(key);
      const isBusy = (): boolean => request.complete && !response.writableEnded;
      if (connection !== undefined) this.#open.set(key, Object.assign(connection, { isBusy }));
      listener(request, response);
    };

  /** Counts the connection of a request for `caller` from now on. `false`: it was closed, because the caller has too many. */
  countFor(caller: string, { socket }: IncomingMessage): boolean {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined || connection.caller === caller) return true;
    connection.caller = caller;
    return this.#hasRoom(connection);
  }

  /** Closes one connection if there are too many. Returns whether the given one stays. */
  #hasRoom(newest: Connection): boolean {
    const callers = Map.groupBy(this.#open.values(), ({ caller }) => caller);
    const own = callers.get(newest.caller) ?? [];
    const isCrowd = own.length > CALLER_CONNECTIONS_MAX;
    if (!isCrowd && this.#open.size <= CONNECTIONS_MAX) return true;
    const crowd = isCrowd ? own : [...callers.values()].toSorted((a, b) => b.length - a.length).flat();
    const closed = crowd.find((each) => each !== newest && !each.isBusy()) ?? newest;
    this.#open.delete(keyOf(closed.socket));
    closed.socket.destroy();
    this.#onClosed(closed.caller);
    return closed !== newest;
  }
}
