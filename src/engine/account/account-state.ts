import type { Replaced, Trade } from '../../core/account/rows.ts';
import { NO_BOOKS } from '../../core/account/whole-read.ts';
import type { Books } from '../../core/account/whole-read.ts';
import type { Doubt } from '../../core/cycle/cycle.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import type { Money, Quantity } from '../../core/money.ts';
import type { FillRecord } from '../../core/record.ts';
import { after } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import { unknownLifeMs } from '../../core/venue.ts';
import type { Transaction } from '../../core/venue.ts';
import type { DeskSettings } from '../desk-settings.ts';
import type { Clock } from '../ports.ts';

/** Minimum number of orders of this process whose quotes' ends are kept. */
const ENDS_MAX = 1_000;

/** How long a quote can live, and how long after its end the venue may book its order, milliseconds. */
type Waits = Pick<DeskSettings['inDoubt'], 'bookingMarginMs' | 'lifeMaxMs'>;

/** A deposit or a withdrawal. */
export interface Transfer {
  readonly at: Instant;
  readonly currency: string;
  /** Signed; a negative amount leaves the account. */
  readonly amount: Quantity;
}

/** What this process has read from the account. The journal stores none of it, because a new process reads the account again. */
export class AccountState {
  /** Attempts in doubt, with what the proof of each requires. */
  readonly doubts = new Map<string, Doubt>();
  /** Time of the last record of an earlier process, which itself reported its doubts. */
  inheritedAt: Instant | undefined;
  /** Fills that the account did not show in time and about which the operator was alerted. */
  readonly unbooked = new Set<string>();
  /** The rows and balances that earlier reads showed. */
  books: Books = NO_BOOKS;
  /** What the last read showed of each doubt: rows that could be its trade, and its rows so far. */
  readonly evidence = new Map<string, DoubtEvidence>();
  /** Rows that could be an order in doubt and about which the operator was alerted. */
  readonly ambiguousTrades = new Set<string>();
  /** Fills of which the last read showed only a part, each with that part's rows and figures. */
  booking: ReadonlyMap<string, BookingPart> = new Map();
  /** Orders that the venue executed twice, with the facts of the alert. */
  readonly executedTwice = new Set<string>();
  /** Whether the feed reported that the account may have changed since its last read began. */
  isHinted = false;
  /** The venue's timestamp of the newest row that this process has read. */
  newestRowAt: Instant | undefined;
  /** Rows of our fills that the last read showed in place of earlier ones. */
  replaced: readonly Replaced[] = [];
  /** The next read goes back to this row, because rows of an old fill may have come under new ids. */
  rereadAfter: string | undefined;
  /** Start of the last credible read. Everything that it showed is part of the state. */
  readUntil: Instant | undefined;
  /** When this process last completed a whole read of the account. */
  lastReadAt: Monotonic | undefined;
  valuation: { readonly usd: Money; readonly at: Instant; readonly readAt: Monotonic } | undefined;
  /** Deposits and withdrawals of the last hours that reads of this process showed, by row. */
  readonly transfers = new Map<string, Transfer>();
  /** Start of the last read that was whole and had no gap. */
  wholeReadAt: Monotonic | undefined;
  /** Why the last read confirms nothing; `undefined` when it was whole. */
  readFault: string | undefined;
  /** When the venue must have booked all fills that no closing read of an earlier process covers. */
  bookedBy: Monotonic | undefined;
  /** Whether nothing is in flight any longer, so that the desk waits for the closing read. */
  isClosing = false;
  readonly #clock: Clock;
  readonly #inDoubt: Waits;
  /** Start of this process on the monotonic clock. */
  readonly #beganAt: Monotonic;
  /** The latest end of the quotes of orders that this process sent, by client id. */
  readonly #quoteEnds = new Map<string, Monotonic>();

  constructor(clock: Clock, inDoubt: Waits) {
    this.#clock = clock;
    this.#inDoubt = inDoubt;
    this.#beganAt = clock.monotonic();
  }

  /** An order leaves on a quote that is certainly over at `end`. */
  leaves(clientId: string, end: Monotonic): void {
    this.#quoteEnds.set(clientId, end);
    // After so many newer orders, the booking margin of the oldest has passed.
    keepNewest(this.#quoteEnds, ENDS_MAX);
  }

  /** A fill has become part of the state. A read that began earlier does not confirm it unless it showed its rows. */
  booked({ source, client_order_id: clientId, rows }: FillRecord, lifeMs: number | undefined): void {
    if (source === 'dry_run') return;
    const known = rows === undefined ? [this.#clock.monotonic()] : [];
    for (const time of [this.bookingEnds(clientId, lifeMs), ...known])
      if (this.bookedBy === undefined || time > this.bookedBy) this.bookedBy = time;
  }

  /**
   * The time by which the venue must have booked the whole order: the booking margin after the end of its quote. A read
   * that begins earlier may show only a part of it. `lifeMs`: the longest life of the quote of an order that an earlier
   * process sent, which had arrived before this process began; `undefined` if no record tells it.
   */
  bookingEnds(clientId: string, lifeMs: number | undefined): Monotonic {
    const { bookingMarginMs, lifeMaxMs } = this.#inDoubt;
    const inherited = (): Monotonic => after(this.#beganAt, lifeMs ?? unknownLifeMs(lifeMaxMs));
    return after(this.#quoteEnds.get(clientId) ?? inherited(), bookingMarginMs);
  }
}

/** A fill of which the account shows only a part. */
export interface BookingPart {
  readonly shown: string;
  /** When the venue must have booked the rest. */
  readonly dueAt: Monotonic;
}

/** What a read shows of a doubt that it cannot end. */
export interface DoubtEvidence {
  /** Rows that belong to no order and could be its trade. */
  readonly rows: readonly Transaction[];
  readonly trade: Trade | undefined;
}
