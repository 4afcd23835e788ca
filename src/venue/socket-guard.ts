import { HOUR_MS, MINUTE_MS, SECOND_MS, after } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { Clock } from '../engine/ports.ts';

/** Maximum number of messages per second. A connection with more messages is closed, because the venue sends only a few. */
const MESSAGES_PER_SECOND_MAX = 2_000;
/** Number of unreadable messages in one minute at which a connection is closed. */
const POISON_PER_MINUTE_MAX = 10;

/** Relation of a sequence number to earlier messages. */
export type SequenceOrder = 'next' | 'gap' | 'late' | 'uncounted';

/** Checks the messages of one connection: their numbers, timestamps and rate. */
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

  /** Counts a message. Returns why the connection must end; `undefined` if it may continue. */
  flood(): string | undefined {
    const second = Math.floor(this.clock.monotonic() / SECOND_MS);
    this.inSecond = second === this.second ? this.inSecond + 1 : 1;
    this.second = second;
    return this.inSecond > MESSAGES_PER_SECOND_MAX
      ? `more than ${MESSAGES_PER_SECOND_MAX} messages in a second`
      : undefined;
  }

  /** Counts an unreadable message. Returns why the connection must end; `undefined` if it may continue. */
  poisoned(): string | undefined {
    const now = this.clock.monotonic();
    this.poison.push(now);
    while ((this.poison[0] ?? now) <= now - MINUTE_MS) this.poison.shift();
    return this.poison.length >= POISON_PER_MINUTE_MAX
      ? `${POISON_PER_MINUTE_MAX} unreadable messages in a minute`
      : undefined;
  }

  /** Checks the connection's sequence, in which each number is one higher than the last. */
  follow(sequence: number | undefined): SequenceOrder {
    if (sequence === undefined) return 'uncounted';
    const before = this.last;
    this.last = Math.max(sequence, before ?? sequence);
    if (before === undefined || sequence === before + 1) return 'next';
    return sequence > before ? 'gap' : 'late';
  }

  /**
   * Whether this message of a feed was sent before one that has already arrived. Compares only the venue's timestamps,
   * and only within one feed; sequence numbers are not compared, because no source states whether each feed has its
   * own.
   */
  isOutdated(feed: string, sentAt: Instant | undefined): boolean {
    // One absurd timestamp must not silence its feed.
    if (sentAt === undefined || sentAt > after(this.clock.wall(), HOUR_MS)) return false;
    const newest = this.stamps.get(feed);
    if (newest !== undefined && sentAt < newest) return true;
    this.stamps.set(feed, sentAt);
    return false;
  }
}
