import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import { answerText, dataText, readFeedRequest } from '../../wire/feeds/feed-requests.ts';
import type { Answer, FeedRequest } from '../../wire/feeds/feed-requests.ts';
import type { Met, Strike } from '../faults/fault-plan.ts';
import type { FeedFault } from '../faults/faults.ts';

/** The socket operations that a connection needs. */
export interface LineSocket {
  /** Number of bytes queued for sending. */
  backlog(): number;
  send(text: string): void;
  ping(): void;
  /** Calls `sent` once the pong has left the memory of this process. */
  pong(data: Buffer, sent: () => void): void;
  /** Drops the connection without a close frame. */
  cut(): void;
}

/** Chooses the faults of each message. `what` is a feed, `authenticate`, `subscribe` or `unsubscribe`. */
export interface FeedFaults {
  message(met: Met): Strike<FeedFault> | undefined;
}

export interface LineWorld {
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly faults?: FeedFaults | undefined;
  /** Name of the account that the token belongs to. */
  authenticate(token: string): string | undefined;
  isFeed(feed: string): boolean;
  /** First message of a feed to a new subscriber, as JSON; `undefined` if there is none yet. */
  first(feed: string, account: string): string | undefined;
  /** Whether the rate limit of the client's address admits another request. */
  admit(): boolean;
}

/** A client with more queued bytes than this reads too slowly and is disconnected. */
const BACKLOG_BYTES_MAX = 1_048_576;
/** Maximum number of pings while a pong is queued. A client that sends more pings is not reading. */
const UNREAD_PINGS_MAX = 1_000;

/** Error texts, which no document states. A rejected authentication has no text, as in the public sample. */
const REFUSED = {
  unreadable: 'invalid request',
  stranger: 'not authenticated',
  feed: 'unknown feed',
  limit: 'too many requests',
} as const;

/** One connection. It numbers its responses and data messages together, from 1. */
export class Line {
  private readonly socket: LineSocket;
  private readonly world: LineWorld;
  private readonly feeds = new Set<string>();
  private owner: string | undefined;
  private sequence = 0;
  /** Number of messages that the current gap still drops. */
  private missing = 0;
  private silentUntil = -Infinity;
  /** Pings received while a pong is queued, and the newest of them; only the newest gets a pong, as RFC 6455 allows. */
  private unread: { pings: number; newest: Buffer | undefined } | undefined;
  /** Messages held back so that later ones overtake them. */
  private held: { readonly text: string; left: number }[] = [];

  constructor(socket: LineSocket, world: LineWorld) {
    this.socket = socket;
    this.world = world;
  }

  /** Name of the account; `undefined` before authentication. */
  get account(): string | undefined {
    return this.owner;
  }

  /** Feeds that the connection is subscribed to. */
  names(): Iterable<string> {
    return this.feeds;
  }

  get isIdle(): boolean {
    return this.feeds.size === 0;
  }

  receive(source: string | undefined): void {
    const request =
      source === undefined ? ({ type: 'unreadable', action: 'unknown' } as const) : readFeedRequest(source);
    const action = request.type === 'unreadable' ? request.action : request.type;
    if (!this.world.admit()) this.answer({ type: 'error', action, error: REFUSED.limit });
    else if (request.type === 'unreadable') this.answer({ type: 'error', action, error: REFUSED.unreadable });
    else if (request.type === 'authenticate') this.authenticate(request.apiKey);
    else this.change(request);
  }

  /** Sends data, which is already JSON, if the connection is subscribed to the feed. */
  publish(feed: string, payload: string): void {
    if (!this.feeds.has(feed)) return;
    this.send(feed, (number) => dataText({ feed, payload }, number, this.world.now()));
  }

  ping(): void {
    if (this.isSilent()) return;
    if (this.socket.backlog() > BACKLOG_BYTES_MAX) this.socket.cut();
    else this.socket.ping();
  }

  pong(data: Buffer): void {
    if (this.isSilent()) return;
    if (this.unread === undefined) {
      this.unread = { pings: 0, newest: undefined };
      this.socket.pong(data, () => {
        this.ponged();
      });
      return;
    }
    this.unread.pings += 1;
    this.unread.newest = data;
    if (this.unread.pings > UNREAD_PINGS_MAX) this.socket.cut();
  }

  private ponged(): void {
    const newest = this.unread?.newest;
    this.unread = undefined;
    if (newest !== undefined) this.pong(newest);
  }

  private authenticate(apiKey: string): void {
    const owner = this.world.authenticate(apiKey);
    const strike = this.strike('authenticate', owner);
    this.owner = strike?.fault.kind === 'refuse_authentication' ? undefined : owner;
    // Drops feeds that the client is no longer entitled to.
    if (this.owner === undefined) this.feeds.clear();
    const type = this.owner === undefined ? 'error' : 'success';
    this.sendStruck(strike, this.answering({ type, action: 'authenticate' }));
  }

  private change({ type, feeds }: FeedRequest & { readonly feeds: readonly string[] }): void {
    const all = (): readonly string[] => [...this.feeds];
    const account = this.owner;
    if (account === undefined) {
      this.answer({ type: 'error', action: type, feeds: all(), error: REFUSED.stranger });
      return;
    }
    const unknown = feeds.find((feed) => !this.world.isFeed(feed));
    if (unknown !== undefined) {
      this.answer({ type: 'error', action: type, feeds: all(), error: `${REFUSED.feed}: ${unknown}` });
      return;
    }
    const added = type === 'subscribe' ? feeds.filter((feed) => !this.feeds.has(feed)) : [];
    for (const feed of feeds) {
      if (type === 'subscribe') this.feeds.add(feed);
      else this.feeds.delete(feed);
    }
    this.answer({ type: 'success', action: type, feeds: all() });
    for (const feed of new Set(added)) {
      const payload = this.world.first(feed, account);
      if (payload !== undefined) this.publish(feed, payload);
    }
  }

  private answer(answer: Answer): void {
    this.send(answer.action, this.answering(answer));
  }

  private answering(answer: Answer): (number: number) => string {
    return (number) => answerText(answer, number, this.world.now());
  }

  private strike(what: string, account = this.owner): Strike<FeedFault> | undefined {
    const at: Monotonic = this.world.clock.monotonic();
    return this.world.faults?.message({ at, what, account });
  }

  private send(what: string, make: (number: number) => string): void {
    this.sendStruck(this.strike(what), make);
  }

  /** Every message takes a number, whether it is sent or dropped, so that the client can detect the gap. */
  private sendStruck(strike: Strike<FeedFault> | undefined, make: (number: number) => string): void {
    this.sequence += 1;
    const fault = strike?.fault;
    if (fault?.kind === 'gap') this.missing = fault.messages;
    if (fault?.kind === 'stall') this.silentUntil = this.world.clock.monotonic() + fault.ms;
    if (fault?.kind === 'drop') this.socket.cut();
    if (this.missing > 0) {
      this.missing -= 1;
      return;
    }
    const text = fault?.kind === 'garble' ? fault.text : make(this.sequence);
    if (fault?.kind === 'reorder') this.held.push({ text, left: fault.by });
    else if (fault?.kind === 'delay') this.later(text, fault.ms);
    else this.transmit(text);
    if (fault?.kind === 'duplicate') this.transmit(text);
  }

  private transmit(text: string): void {
    if (this.isSilent()) return;
    if (this.socket.backlog() > BACKLOG_BYTES_MAX) {
      this.socket.cut();
      return;
    }
    this.socket.send(text);
    if (this.held.length === 0) return;
    for (const message of this.held) message.left -= 1;
    const due = this.held.filter(({ left }) => left <= 0);
    this.held = this.held.filter(({ left }) => left > 0);
    for (const message of due) this.socket.send(message.text);
  }

  private later(text: string, ms: number): void {
    this.world.clock.scheduler.schedule(() => {
      this.transmit(text);
    }, ms);
  }

  private isSilent(): boolean {
    return this.world.clock.monotonic() < this.silentUntil;
  }
}
