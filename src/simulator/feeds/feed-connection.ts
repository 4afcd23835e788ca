import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../../engine/ports.ts';
import { answerText, dataText, readFeedRequest } from '../../wire/feeds/feed-requests.ts';
import type { Answer, FeedRequest, MessageStyle } from '../../wire/feeds/feed-requests.ts';
import type { Met, Strike } from '../faults/fault-plan.ts';
import type { FeedFault } from '../faults/faults.ts';

/** The socket of one connection, as far as a line needs it. */
export interface LineSocket {
  /** Bytes that wait to be sent. */
  backlog(): number;
  send(text: string): void;
  ping(): void;
  /** Calls `sent` once the pong has left the memory of this process. */
  pong(data: Buffer, sent: () => void): void;
  /** Breaks off without a close. */
  cut(): void;
}

/** What goes wrong with messages; asked once for each. `what`: a feed, `authenticate`, `subscribe` or `unsubscribe`. */
export interface FeedFaults {
  message(met: Met): Strike<FeedFault> | undefined;
}

export interface LineWorld {
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly style: MessageStyle;
  readonly faults?: FeedFaults | undefined;
  /** Name of the account whose token it is. */
  authenticate(token: string): string | undefined;
  isFeed(feed: string): boolean;
  /** First message of a feed to a new subscriber, as JSON; `undefined` if there is none yet. */
  first(feed: string, account: string): string | undefined;
  /** Whether the address of the line may ask now. */
  admit(): boolean;
}

/** A client that reads slower than this is cut off rather than kept in memory. */
const BACKLOG_BYTES_MAX = 1_048_576;
/** So many pings may arrive while one pong waits to leave: who sends more does not read. */
const UNREAD_PINGS_MAX = 1_000;

/** Texts that no document shows: chosen here. A refused authentication has none, as in the public sample. */
const REFUSED = {
  unreadable: 'invalid request',
  stranger: 'not authenticated',
  feed: 'unknown feed',
  limit: 'too many requests',
} as const;

/** One connection: its own count, from 1, runs through answers and data. */
export class Line {
  private readonly socket: LineSocket;
  private readonly world: LineWorld;
  private readonly feeds = new Set<string>();
  private owner: string | undefined;
  private sequence = 0;
  /** Messages that a gap still swallows. */
  private missing = 0;
  private silentUntil = -Infinity;
  /** Pings since a pong began to wait, and the newest of them: only that one is answered, as RFC 6455 allows. */
  private unread: { pings: number; newest: Buffer | undefined } | undefined;
  /** Messages that wait for later ones to overtake them. */
  private held: { readonly text: string; left: number }[] = [];

  constructor(socket: LineSocket, world: LineWorld) {
    this.socket = socket;
    this.world = world;
  }

  /** Name of the account; `undefined` before authentication. */
  get account(): string | undefined {
    return this.owner;
  }

  /** Feeds that it has. */
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

  /** Sends data, JSON already, if the line has the feed. */
  publish(feed: string, payload: string): void {
    if (!this.feeds.has(feed)) return;
    this.send(feed, (number) =>
      dataText({ feed, payload }, number, { ...this.world.style, now: this.world.now() }),
    );
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
    // Whoever lost the right to a feed does not keep it.
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
    const { now, style } = this.world;
    return (number) => answerText(answer, number, { now: now(), unit: style.unit });
  }

  private strike(what: string, account = this.owner): Strike<FeedFault> | undefined {
    const at: Monotonic = this.world.clock.monotonic();
    return this.world.faults?.message({ at, what, account });
  }

  private send(what: string, make: (number: number) => string): void {
    this.sendStruck(this.strike(what), make);
  }

  /** Every message uses up a number, whether it leaves or not: that is how a client sees that one is missing. */
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
