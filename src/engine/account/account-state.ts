import { NO_BOOKS } from '../../core/cycle/account-audit.ts';
import type { Books } from '../../core/cycle/account-audit.ts';
import type { Doubt } from '../../core/cycle/doubts.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type { Money, Quantity } from '../../core/money.ts';
import { NO_LEDGER } from '../../core/cycle/reconcile.ts';
import type { Ledger } from '../../core/cycle/reconcile.ts';
import type { FillRecord } from '../../core/record.ts';
import { after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Clock } from '../ports.ts';

/** Minimum number of fills of this process whose booking time is kept. */
const BOOKED_MAX = 1_000;

/** A deposit or a withdrawal. */
export interface Transfer {
  readonly at: Instant;
  readonly currency: string;
  /** Signed: negative leaves the account. */
  readonly amount: Quantity;
}

/**
 * What this process has read from the account. The journal stores none of it: a new process reads the account again.
 */
export class AccountState {
  /** Attempts in doubt, each with the state of its proof. */
  readonly doubts = new Map<string, Doubt>();
  /** Time of the last record of an earlier process, which has reported its doubts itself. */
  inheritedAt: Instant | undefined;
  /** Fills that the account did not show in time and that the operator was alerted to. */
  readonly unbooked = new Set<string>();
  /** The rows and balances that earlier reads showed. */
  books: Books = NO_BOOKS;
  /** The last balances that agreed with the rows: the next read is checked against them. */
  ledger: Ledger = NO_LEDGER;
  /** Rows that could be an order in doubt and that the operator was alerted to. */
  readonly ambiguousTrades = new Set<string>();
  /** Fills of which the last read showed only a part, each with the rows and figures of that part. */
  booking: ReadonlyMap<string, string> = new Map();
  /** Orders that the venue executed twice, with the facts of the alert. */
  readonly executedTwice = new Set<string>();
  /** For each row without an id: the attempts that were open when a read first showed it. */
  openAtFirst: ReadonlyMap<number, ReadonlySet<string>> = new Map();
  /** The feed reported that the account may have changed since its last read began. */
  isHinted = false;
  /** The venue's timestamp of the newest row that this process has read. */
  newestRowAt: Instant | undefined;
  /** The last read showed everything after this time, on the venue's clock. */
  readFrom: Instant | undefined;
  /** Start of the last credible read. All that it showed is part of the state. */
  readUntil: Instant | undefined;
  /** When this process last completed a whole read of the account. */
  lastReadAt: Monotonic | undefined;
  valuation: { readonly usd: Money; readonly at: Instant; readonly readAt: Monotonic } | undefined;
  /** Deposits and withdrawals of the last hours that reads of this process showed, by row. */
  readonly transfers = new Map<number, Transfer>();
  /** Start of the last read that was whole and had no gap. */
  wholeReadAt: Monotonic | undefined;
  /** Why the last read confirms nothing; `undefined` when it was whole. */
  readFault: string | undefined;
  /** Booking time of the newest fill that no closing read of an earlier process covers. */
  lastFillAt: Monotonic | undefined;
  /** Nothing is in flight any longer: the desk waits for the closing read. */
  isClosing = false;
  readonly #clock: Clock;
  readonly #bookingMarginMs: number;
  /** Start of this process on the monotonic clock. */
  readonly #beganAt: Monotonic;
  /** When this process booked the newest fills, by client id. */
  readonly #bookedAt = new Map<string, Monotonic>();

  constructor(clock: Clock, bookingMarginMs: number) {
    this.#clock = clock;
    this.#bookingMarginMs = bookingMarginMs;
    this.#beganAt = clock.monotonic();
  }

  /** A fill has become part of the state. */
  booked(fill: FillRecord): void {
    const now = this.#clock.monotonic();
    if (fill.source !== 'dry_run') this.lastFillAt = now;
    this.#bookedAt.set(fill.client_order_id, now);
    // After so many newer fills, the booking margin of the oldest has passed.
    keepNewest(this.#bookedAt, BOOKED_MAX);
  }

  /**
   * The time by which the venue must have booked all of a fill. A read that begins earlier may show only a part of it. If an
   * earlier process booked the fill, this process knows only that the fill is older than itself.
   */
  bookingEnds(clientId: string): Monotonic {
    return after(this.#bookedAt.get(clientId) ?? this.#beganAt, this.#bookingMarginMs);
  }
}
