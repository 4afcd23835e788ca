import { HOUR_MS, MINUTE_MS, SECOND_MS, after } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Clock } from '../engine/ports.ts';

/** Messages in one second above which a connection is closed: the venue sends a few. */
const MESSAGES_PER_SECOND_MAX = 2_000;
/** Unreadable messages in one minute that close a connection. */
const POISON_PER_MINUTE_MAX = 10;

/** What a number says about the messages before it. */
export type SequenceOrder = 'next' | 'gap' | 'late' | 'uncounted';

/** Watches the messages of one connection: their numbers, their stamps, and how much of them there is. */
export class FeedGuard {
  private readonly clock: Clock;
  private readonly poison: number[] = [];
  private readonly stamps = new Map<string, Instant>();
  private last: number | undefined;
  private second = 0;
  private inSecond = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Counts a message. Why the connection must end; `undefined` when it may go on. */
  flood(): string | undefined {
    const second = Math.floor(this.clock.monotonic() / SECOND_MS);
    this.inSecond = second === this.second ? this.inSecond + 1 : 1;
    this.second = second;
    return this.inSecond > MESSAGES_PER_SECOND_MAX
      ? `more than ${MESSAGES_PER_SECOND_MAX} messages in a second`
      : undefined;
  }

  /** Counts an unreadable message. Why the connection must end; `undefined` when it may go on. */
  poisoned(): string | undefined {
    const now = this.clock.monotonic();
    this.poison.push(now);
    while ((this.poison[0] ?? now) <= now - MINUTE_MS) this.poison.shift();
    return this.poison.length >= POISON_PER_MINUTE_MAX
      ? `${POISON_PER_MINUTE_MAX} unreadable messages in a minute`
      : undefined;
  }

  /** Follows the count of the connection: each number is one more than the last. */
  follow(sequence: number | undefined): SequenceOrder {
    if (sequence === undefined) return 'uncounted';
    const before = this.last;
    this.last = Math.max(sequence, before ?? sequence);
    if (before === undefined || sequence === before + 1) return 'next';
    return sequence > before ? 'gap' : 'late';
  }

  /**
   * Whether a message of this feed was sent before one that is here already. Only stamps of the venue are compared with one
   * another, and only inside one feed: the count is not, since no source says whether a feed may have its own.
   */
  isOutdated(feed: string, sentAt: Instant | undefined): boolean {
    // One absurd stamp must not silence its feed.
    if (sentAt === undefined || sentAt > after(this.clock.wall(), HOUR_MS)) return false;
    const newest = this.stamps.get(feed);
    if (newest !== undefined && sentAt < newest) return true;
    this.stamps.set(feed, sentAt);
    return false;
  }
}
