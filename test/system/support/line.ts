import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** How a line is: `cut` breaks connections and makes no new ones; `silent` makes them, and nothing arrives in either direction. */
export type LineState = 'open' | 'cut' | 'silent';

interface Connection {
  readonly near: Socket;
  far: Socket;
  /** What the line holds back, in the order in which it came. */
  readonly held: { readonly to: 'near' | 'far'; readonly bytes: Buffer | 'end' }[];
  /** One message was caught on its way: what comes from the near side waits. */
  isCaught: boolean;
}

/** A line from one machine to one server, on loopback. It can be cut, fall silent, and hold one message back on its way. */
export class Line {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #reach: () => Socket;
  readonly #redials: boolean;
  #state: LineState = 'open';
  #trap: { readonly pattern: RegExp; readonly caught: (one: Connection) => void } | undefined;

  private constructor(server: Server, reach: () => Socket, redials: boolean) {
    this.#server = server;
    this.#reach = reach;
    this.#redials = redials;
    server.on('connection', (near) => {
      this.#connect(near);
    });
  }

  /**
   * `reach` opens a connection to the server that the line leads to at that moment. `redials`: the near side outlives a server that closes an
   * idle connection, as behind a load balancer.
   */
  static async to(reach: () => Socket, { redials = false } = {}): Promise<Line> {
    // Not even the end of a connection crosses a line that is silent.
    const server = createServer({ allowHalfOpen: true });
    const line = new Line(server, reach, redials);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Whatever was held back while the line was silent arrives when it opens. */
  set(state: LineState): void {
    this.#state = state;
    if (state === 'cut') this.reset();
    if (state === 'open') for (const one of this.#connections) if (!one.isCaught) release(one);
  }

  /** Breaks all connections. Messages that were caught on their way are still under way. */
  reset(): void {
    for (const one of this.#connections) {
      one.near.destroy();
      if (!one.isCaught) one.far.destroy();
    }
  }

  /**
   * Holds the next message that matches. Gives how to let it arrive, which it then does even when its sender is gone; `undefined`:
   * none came within the time.
   */
  async holdNext(pattern: RegExp, withinMs: number): Promise<(() => void) | undefined> {
    const { promise, resolve } = Promise.withResolvers<Connection | undefined>();
    const timer = setTimeout(() => {
      resolve(undefined);
    }, withinMs);
    this.#trap = { pattern, caught: resolve };
    const one = await promise;
    clearTimeout(timer);
    this.#trap = undefined;
    if (one === undefined) return undefined;
    return () => {
      one.isCaught = false;
      this.#redial(one);
      release(one);
      if (one.near.destroyed) one.far.end();
    };
  }

  close(): void {
    this.#server.close();
    for (const { near, far } of this.#connections) {
      near.destroy();
      far.destroy();
    }
  }

  #connect(near: Socket): void {
    if (this.#state === 'cut') {
      near.destroy();
      return;
    }
    const one: Connection = { near, far: this.#dial(), held: [], isCaught: false };
    this.#connections.add(one);
    near.setNoDelay(true).on('error', () => undefined);
    this.#hear(one);
    near.on('data', (bytes: Buffer) => {
      if (!one.isCaught && this.#trap?.pattern.test(bytes.toString('latin1')) === true) {
        one.isCaught = true;
        this.#trap.caught(one);
        this.#trap = undefined;
      }
      this.#redial(one);
      this.#pass(one, 'far', bytes);
    });
    near.on('end', () => {
      this.#pass(one, 'far', 'end');
    });
    near.on('close', () => {
      if (!one.isCaught) one.far.destroy();
      this.#connections.delete(one);
    });
  }

  /** Opens another connection if the server has closed an idle one. */
  #redial(one: Connection): void {
    if (!this.#redials || !one.far.readableEnded) return;
    one.far = this.#dial();
    this.#hear(one);
  }

  #dial(): Socket {
    return this.#reach()
      .setNoDelay(true)
      .on('error', () => undefined);
  }

  /** What the far side of a connection says, and its end. */
  #hear(one: Connection): void {
    const { near, far } = one;
    far.on('data', (bytes: Buffer) => {
      // Said to a connection without a request, which then closes.
      if (this.#redials && bytes.toString('latin1').startsWith('HTTP/1.1 408 ')) return;
      this.#pass(one, 'near', bytes);
    });
    far.on('end', () => {
      if (this.#redials && !near.writableEnded) far.end();
      else this.#pass(one, 'near', 'end');
    });
    far.on('close', () => {
      if (this.#redials && far.readableEnded) return;
      near.destroy();
      this.#connections.delete(one);
    });
  }

  #pass(one: Connection, to: 'near' | 'far', bytes: Buffer | 'end'): void {
    if (this.#state === 'silent' || (one.isCaught && to === 'far')) one.held.push({ to, bytes });
    else send(one[to], bytes);
  }
}

function release(one: Connection): void {
  for (const { to, bytes } of one.held.splice(0)) if (!one[to].destroyed) send(one[to], bytes);
}

function send(to: Socket, bytes: Buffer | 'end'): void {
  if (bytes === 'end') to.end();
  else to.write(bytes);
}
