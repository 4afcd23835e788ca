import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { asapScheduler, interval } from 'rxjs';
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import type { Change } from '../exchange/exchange-changes.ts';
import { endRaw } from '../http/deliver.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { FeedLimits } from './feed-limits.ts';
import { Line } from './feed-connection.ts';
import type { FeedFaults, LineSocket } from './feed-connection.ts';
import { FeedSource } from './feed-source.ts';
import type { VenueOptions } from '../options/options.ts';
import { refused } from '../exchange/refuse.ts';

export interface FeedsSetup {
  readonly exchange: Exchange;
  readonly options: VenueOptions;
  readonly clock: Clock;
  readonly now: () => Instant;
  /** Faults, for drills. */
  readonly faults?: FeedFaults | undefined;
}

const FRAME_BYTES_MAX = 65_536;
/** Total over all addresses. */
const CONNECTIONS_MAX = 5_000;

/** A connection and the state of its client. */
interface Held {
  readonly line: Line;
  readonly client: WebSocket;
  readonly openedAt: Monotonic;
  /** When the client last sent anything. */
  heardAt: Monotonic;
}

/**
 * The WebSocket of the simulated venue, at `/ws` of the same server. Authentication follows the specification; feeds and
 * their payloads follow the public documentation, because the specification shows none.
 */
export class Feeds {
  private readonly setup: FeedsSetup;
  private readonly source: FeedSource;
  private readonly limits: FeedLimits;
  private readonly sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    autoPong: false,
  });
  private readonly held = new Set<Held>();
  /** Accounts whose balances changed in this event-loop turn. Both legs of a trade share one message. */
  private readonly moved = new Map<string, Change>();
  private readonly stop: (() => void)[] = [];

  constructor(server: Server, setup: FeedsSetup) {
    this.setup = setup;
    const { exchange, options, clock, now } = setup;
    const { enforced } = options.limits;
    this.source = new FeedSource(exchange, now);
    this.limits = new FeedLimits({ enforced, ...options.feeds });
    server.on('upgrade', (request, socket, head) => {
      this.upgrade(request, socket, head);
    });
    this.sockets.on('wsClientError', (error, socket) => {
      endRaw(socket, refused.malformed(error.message));
    });
    const beats = interval(options.tickerIntervalMs, clock.scheduler).subscribe(() => {
      this.tick();
    });
    beats.add(
      interval(options.feeds.pingMs, clock.scheduler).subscribe(() => {
        this.look();
      }),
    );
    this.stop.push(
      () => {
        beats.unsubscribe();
      },
      exchange.listen((change) => {
        this.changed(change);
      }),
    );
  }

  close(): void {
    for (const stop of this.stop) stop();
    for (const { client } of this.held) client.terminate();
    this.sockets.close();
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const address = request.socket.remoteAddress ?? '';
    if (this.held.size >= CONNECTIONS_MAX || !this.limits.connect(address, this.setup.now())) {
      endRaw(socket, refused.connections());
      return;
    }
    let isOpen = true;
    socket.once('close', () => {
      if (isOpen) this.limits.disconnect(address);
      isOpen = false;
    });
    this.sockets.handleUpgrade(request, socket, head, (client) => {
      this.open(client, address);
    });
  }

  private open(client: WebSocket, address: string): void {
    const { clock, now, faults, exchange, options } = this.setup;
    const line = new Line(lineSocket(client), {
      clock,
      now,
      faults,
      authenticate(token) {
        const owner = exchange.authenticate(token, now());
        return owner.ok ? owner.value : undefined;
      },
      // The specification defines authentication but no feeds.
      isFeed: (feed) => !options.specOnly && this.source.isFeed(feed),
      first: (feed, account) => this.source.first(feed, account),
      admit: () => this.limits.admit(address, now()),
    });
    const held: Held = { line, client, openedAt: clock.monotonic(), heardAt: clock.monotonic() };
    this.held.add(held);
    client.on('close', () => this.held.delete(held));
    client.on('error', () => {
      client.terminate();
    });
    client.on('pong', () => {
      held.heardAt = clock.monotonic();
    });
    client.on('ping', (data: Buffer) => {
      line.pong(data);
    });
    client.on('message', (data, isBinary) => {
      line.receive(textOf(data, isBinary));
    });
  }

  /** Sends one message of every market feed. Each payload is computed once and shared by all subscribers. */
  private tick(): void {
    this.setup.exchange.advance(this.setup.now());
    const told = new Map<string, string | undefined>();
    for (const { line } of this.held) {
      for (const feed of line.names()) {
        if (this.source.isPrivate(feed)) continue;
        if (!told.has(feed)) told.set(feed, this.source.market(feed));
        const payload = told.get(feed);
        if (payload !== undefined) line.publish(feed, payload);
      }
    }
  }

  /** Pings every client, and drops clients that do not respond or have never sent a request. */
  private look(): void {
    const now = this.setup.clock.monotonic();
    const { idleMs, pongTimeoutMs } = this.setup.options.feeds;
    for (const { line, client, openedAt, heardAt } of this.held) {
      const isIdle = line.isIdle && now - openedAt >= idleMs;
      if (isIdle || now - heardAt >= pongTimeoutMs) client.terminate();
      else line.ping();
    }
  }

  private changed(change: Change): void {
    // New subscribers receive the current state first, so nothing is collected while nobody is subscribed.
    if (this.held.size === 0) return;
    if (change.kind !== 'balances') {
      this.tell(change);
      return;
    }
    if (this.moved.size === 0) {
      asapScheduler.schedule(() => {
        const all = [...this.moved.values()];
        this.moved.clear();
        for (const each of all) this.tell(each);
      });
    }
    this.moved.set(change.account, change);
  }

  private tell(change: Change): void {
    const lines = [...this.held].map(({ line }) => line).filter(({ account }) => account === change.account);
    if (lines.length === 0) return;
    for (const [feed, payload] of this.source.changed(change))
      for (const line of lines) line.publish(feed, payload);
  }
}

const textOf = (data: RawData, isBinary: boolean): string | undefined =>
  !isBinary && Buffer.isBuffer(data) ? data.toString('utf8') : undefined;

function lineSocket(client: WebSocket): LineSocket {
  const isOpen = (): boolean => client.readyState === client.OPEN;
  return {
    backlog: () => client.bufferedAmount,
    send(text) {
      if (isOpen()) client.send(text);
    },
    ping() {
      if (isOpen()) client.ping();
    },
    pong(data, sent) {
      if (isOpen()) client.pong(data, undefined, sent);
    },
    cut() {
      client.terminate();
    },
  };
}
