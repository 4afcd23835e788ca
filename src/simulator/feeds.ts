import type { Server } from 'node:http';
import { interval } from 'rxjs';
import type { Subscription } from 'rxjs';
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { exact } from '../core/json.ts';
import { text } from '../core/money.ts';
import { isoOf } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Clock } from '../engine/ports.ts';
import type { Exchange } from './exchange.ts';
import type { Ticker } from './ticker.ts';

export interface FeedsSetup {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly tickerIntervalMs: number;
}

const FRAME_BYTES_MAX = 65_536;
/** A client that reads slower than this is cut off rather than kept in memory. */
const BACKLOG_BYTES_MAX = 1_048_576;
const CONNECTIONS_MAX = 1_000;
const PING_MS = 27_000;
const TICKER = 'ticker.sfox.';

const requestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('authenticate'), apiKey: z.string().max(256) }),
  z.object({ type: z.literal('subscribe'), feeds: z.array(z.string().max(64)).min(1).max(200) }),
  z.object({ type: z.literal('unsubscribe'), feeds: z.array(z.string().max(64)).min(1).max(200) }),
]);

/**
 * The WebSocket side of the simulated venue, at `/ws` of the same server: authenticate, then the feeds
 * `ticker.sfox.<pair>`. Shapes are those of the venue's public documentation; the specification shows none.
 */
export class Feeds {
  private readonly setup: FeedsSetup;
  private readonly sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
  });
  private readonly lines = new Set<Line>();
  private readonly beats: Subscription;

  constructor(server: Server, setup: FeedsSetup) {
    this.setup = setup;
    server.on('upgrade', (request, socket, head) => {
      if (request.url !== '/ws' || this.lines.size >= CONNECTIONS_MAX) {
        socket.destroy();
        return;
      }
      this.sockets.handleUpgrade(request, socket, head, (client) => {
        this.open(client);
      });
    });
    this.beats = interval(setup.tickerIntervalMs, setup.clock.scheduler).subscribe(() => {
      for (const line of this.lines) line.tick();
    });
    this.beats.add(
      interval(PING_MS, setup.clock.scheduler).subscribe(() => {
        for (const line of this.lines) line.ping();
      }),
    );
  }

  close(): void {
    this.beats.unsubscribe();
    for (const line of this.lines) line.end();
    this.sockets.close();
  }

  private open(client: WebSocket): void {
    const line = new Line(client, this.setup);
    this.lines.add(line);
    client.on('close', () => this.lines.delete(line));
    client.on('error', () => {
      client.terminate();
    });
    client.on('message', (data) => {
      line.receive(data);
    });
  }
}

/** One connection: its own counter, from 1, runs through answers and data. */
class Line {
  private readonly client: WebSocket;
  private readonly setup: FeedsSetup;
  private readonly feeds = new Set<string>();
  private account: string | undefined;
  private sequence = 0;

  constructor(client: WebSocket, setup: FeedsSetup) {
    this.client = client;
    this.setup = setup;
  }

  receive(data: RawData): void {
    const request = readRequest(data);
    if (request === undefined) this.acknowledge('error', 'unknown');
    else if (request.type === 'authenticate') this.authenticate(request.apiKey);
    else this.change(request.type, request.feeds);
  }

  /** Sends one message of every feed. */
  tick(): void {
    for (const feed of this.feeds) this.publish(feed);
  }

  ping(): void {
    if (this.client.readyState === this.client.OPEN) this.client.ping();
  }

  end(): void {
    this.client.terminate();
  }

  private authenticate(apiKey: string): void {
    const owner = this.setup.exchange.authenticate(apiKey);
    this.account = owner.ok ? owner.value : undefined;
    this.acknowledge(owner.ok ? 'success' : 'error', 'authenticate');
  }

  private change(type: 'subscribe' | 'unsubscribe', feeds: readonly string[]): void {
    const { listings } = this.setup.exchange.market;
    const isKnown = feeds.every((feed) => feed.startsWith(TICKER) && listings.has(feed.slice(TICKER.length)));
    if (this.account === undefined || !isKnown) {
      this.acknowledge('error', type);
      return;
    }
    for (const feed of feeds) {
      if (type === 'subscribe') this.feeds.add(feed);
      else this.feeds.delete(feed);
    }
    this.acknowledge('success', type);
    if (type === 'subscribe') for (const feed of feeds) this.publish(feed);
  }

  private acknowledge(type: 'success' | 'error', action: string): void {
    const feeds = action === 'authenticate' ? {} : { feeds: [...this.feeds] };
    this.send({ type, ...this.stamp(), payload: { action, ...feeds }, action });
  }

  private publish(feed: string): void {
    const now = this.setup.now();
    const ticker = this.setup.exchange.ticker(feed.slice(TICKER.length), now);
    this.send({ recipient: feed, ...this.stamp(), payload: tickerBody(ticker, now) });
  }

  /** The stamp is in nanoseconds: 19 digits, more than a float holds, so it is written as text. */
  private stamp(): { sequence: number; timestamp: object } {
    this.sequence += 1;
    return { sequence: this.sequence, timestamp: exact(`${Math.floor(this.setup.now())}000000`) };
  }

  private send(message: object): void {
    if (this.client.readyState !== this.client.OPEN) return;
    if (this.client.bufferedAmount > BACKLOG_BYTES_MAX) this.client.terminate();
    else this.client.send(JSON.stringify(message));
  }
}

function readRequest(data: RawData): z.output<typeof requestSchema> | undefined {
  if (!Buffer.isBuffer(data)) return undefined;
  try {
    return requestSchema.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

const tickerBody = (ticker: Ticker, now: Instant): object => ({
  amount: exact(text(ticker.amount)),
  exchange: 'simulated',
  high: exact(text(ticker.high)),
  last: exact(text(ticker.last)),
  low: exact(text(ticker.low)),
  open: exact(text(ticker.open)),
  pair: ticker.pair,
  route: 'Smart',
  source: 'ticker-info',
  timestamp: isoOf(now),
  volume: exact(text(ticker.volume)),
  vwap: exact(text(ticker.vwap)),
});
