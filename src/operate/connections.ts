import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Scrapers, commands and event listeners use descriptors that the venue connections also need. */
const CONNECTIONS_MAX = 128;
/** One caller leaves room for others. */
const CALLER_CONNECTIONS_MAX = 96;

interface Connection {
  readonly socket: Socket;
  /** Address of the caller: the peer, or whom a proxy of the config named with the last request. */
  caller: string;
  /** The last request, if one was complete enough to be handled, and its answer. */
  last?: { readonly request: IncomingMessage; readonly response: ServerResponse };
}

/** Whether an answer is being made. It is not while a request arrives, waits its turn, or its answer waits to be read. */
const isBusy = ({ last }: Connection): boolean =>
  last !== undefined && last.request.complete && !last.response.writableEnded;

/** A connection has one key, encrypted or not. */
const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * Bounds the connections of a server, in total and for each caller. A further connection takes the place of the one
 * whose last request is longest ago, so that silent and slow connections lock nobody out; only if all are busy, it is
 * closed itself. `onClosed` receives the caller whose connection was closed.
 */
export class Connections {
  /** Longest without a request first. */
  readonly #open = new Map<string, Connection>();
  readonly #onClosed: (caller: string) => void;

  constructor(onClosed: (caller: string) => void) {
    this.#onClosed = onClosed;
  }

  readonly add = (socket: Socket): void => {
    // Undefined if it has already closed.
    if (socket.remoteAddress === undefined) return;
    const connection = { socket, caller: socket.remoteAddress };
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
      if (connection !== undefined) {
        connection.last = { request, response };
        this.#open.delete(key);
        this.#open.set(key, connection);
      }
      listener(request, response);
    };

  /** Counts the connection of a request for `caller` from now on. `false`: it was closed, because the caller has too many. */
  countFor(caller: string, { socket }: IncomingMessage): boolean {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined || connection.caller === caller) return true;
    connection.caller = caller;
    return this.#hasRoom(connection);
  }

  /** Closes a connection if there are too many. Returns whether the given one stays. */
  #hasRoom(newest: Connection): boolean {
    const callers = Map.groupBy(this.#open.values(), ({ caller }) => caller);
    const own = callers.get(newest.caller) ?? [];
    const isCrowd = own.length > CALLER_CONNECTIONS_MAX;
    if (!isCrowd && this.#open.size <= CONNECTIONS_MAX) return true;
    const crowd = isCrowd ? own : [...callers.values()].toSorted((a, b) => b.length - a.length).flat();
    const closed = crowd.find((each) => each !== newest && !isBusy(each)) ?? newest;
    this.#open.delete(keyOf(closed.socket));
    closed.socket.destroy();
    this.#onClosed(closed.caller);
    return closed !== newest;
  }
}
