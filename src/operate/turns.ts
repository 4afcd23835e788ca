import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of a connection that are parsed at once: a few requests. */
const PIECE_BYTES = 128;
/** Shortest time between two requests that did not wait for answers. It leaves the desk its processor and its memory. */
const PAUSE_MS = 10;
/** Other requests that begin to be answered in one turn of the event loop. */
const STARTS_MAX = 4;

/** The requests of one connection. */
interface Line {
  isAnswering: boolean;
  /** Start the other requests that were parsed, in order. */
  readonly waiting: (() => void)[];
  /** Reads on, once no request waits. */
  readOn: (() => void) | undefined;
}

/**
 * Answers the requests of each connection one after another. Requests that clients send without waiting for answers
 * share one queue: every ten milliseconds, one of them is answered or a few more are parsed, so that thousands of them
 * delay neither the desk nor other clients. Nothing more is read from a connection while its requests wait. Of all other
 * requests, a few are answered in each turn of the event loop.
 */
export class Turns {
  readonly #lines = new WeakMap<Socket, Line>();
  readonly #queue: { readonly socket: Socket; readonly work: () => void }[] = [];
  /** Start the requests that wait for a turn of the event loop. */
  readonly #ready: (() => void)[] = [];

  /** Wraps the listener of a server. */
  readonly inOrder =
    (listener: RequestListener): RequestListener =>
    (request, response) => {
      const line = this.#lineOf(request);
      const start = (): void => {
        if (request.socket.destroyed) return;
        response.once('close', () => {
          const { socket } = request;
          const next = line.waiting.shift();
          line.isAnswering = next !== undefined;
          if (next !== undefined) this.#later(socket, next);
          const { readOn } = line;
          if (line.waiting.length === 0 && readOn !== undefined) this.#later(socket, readOn);
        });
        listener(request, response);
      };
      if (line.isAnswering) line.waiting.push(start);
      else {
        line.isAnswering = true;
        this.#soon(start);
      }
    };

  /** Takes over the bytes of a connection to which `node:http` already listens. */
  readonly feed = (socket: Socket): void => {
    const parsers = socket.listeners('data');
    const line = this.#lineOf({ socket });
    socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
      line.readOn = undefined;
      for (const parse of parsers) Reflect.apply(parse, socket, [bytes.subarray(0, PIECE_BYTES)]);
      const rest = bytes.subarray(PIECE_BYTES);
      if (socket.destroyed || (rest.length === 0 && line.waiting.length === 0)) return;
      // `node:http` resumes what it has paused, once the client has read enough.
      const isOurs = !socket.isPaused();
      socket.pause();
      if (rest.length > 0) socket.unshift(rest);
      if (!isOurs) return;
      const readOn = (): void => {
        if (line.readOn !== readOn) return;
        line.readOn = undefined;
        socket.resume();
      };
      line.readOn = readOn;
      if (line.waiting.length === 0) setImmediate(readOn);
    });
  };

  #lineOf({ socket }: Pick<IncomingMessage, 'socket'>): Line {
    const line = this.#lines.get(socket) ?? { isAnswering: false, waiting: [], readOn: undefined };
    this.#lines.set(socket, line);
    return line;
  }

  #soon(start: () => void): void {
    if (this.#ready.push(start) === 1) setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    const starts = this.#ready.slice(0, STARTS_MAX);
    for (const start of starts) start();
    this.#ready.splice(0, starts.length);
    if (this.#ready.length > 0) setImmediate(this.#nextTurn);
  };

  #later(socket: Socket, work: () => void): void {
    if (this.#queue.push({ socket, work }) === 1) setTimeout(this.#run, PAUSE_MS);
  }

  readonly #run = (): void => {
    // Closed connections do not delay others.
    while (this.#queue[0]?.socket.destroyed === true) this.#queue.shift();
    this.#queue[0]?.work();
    this.#queue.shift();
    if (this.#queue.length > 0) setTimeout(this.#run, PAUSE_MS);
  };
}
