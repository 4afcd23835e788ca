import { EMPTY, defer, expand, last, map } from 'rxjs';
import type { Observable } from 'rxjs';
import { joinPages } from '../../core/cycle/account-audit.ts';
import type { Books } from '../../core/cycle/account-audit.ts';
import type { WholeRead } from '../../core/cycle/doubts.ts';
import { VenueError } from '../../core/errors.ts';
import { heldSince } from '../../core/cycle/reconcile.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, after, instant } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Transaction } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';
import type { OpenAttempt } from '../state/engine-state.ts';

/** The parts of a desk that this file uses. */
export type ReadAccountContext = Pick<Desk, 'account' | 'policy' | 'ports' | 'rateLimiter' | 'state'>;

export const PAGE = 1000;
/** Number of restarts of a read whose pages do not fit together; then it has failed. */
const RESTARTS_MAX = 2;
/** Rows may be booked late, or by a replica that lags: every read looks back past the one before by this much. */
const OVERLAP_MS = 10 * MINUTE_MS;
/** When a clock of the venue that we do not know may be behind ours. */
const SKEW_MAX_MS = DAY_MS;

/** One whole read of the account: every page came, and each fits the one before. */
export interface AccountRead {
  readonly startedAt: Monotonic;
  readonly at: Instant;
  /** It shows everything after this, in the venue's time. */
  readonly from: Instant;
  readonly rows: readonly Transaction[];
}

/** A whole read with the trades of this desk in it. */
export interface WholeAccount extends AccountRead, WholeRead {
  /** What the reads before it showed. */
  readonly known: Books;
}

interface Progress {
  readonly rows: readonly Transaction[];
  readonly restarts: number;
  readonly isWhole: boolean;
}

/**
 * All pages since the last read, overlapping, and since an hour before the oldest order in doubt. Pages overlap
 * by a row: when that is not where it was, rows have moved between two requests, and all is read again.
 *
 * - Errors: `VenueError` when a page did not come, or the pages never fit together.
 */
export function readAccount(desk: ReadAccountContext): Observable<AccountRead> {
  return defer(() => {
    const { clock, venue } = desk.ports;
    let at = clock.wall();
    let startedAt = clock.monotonic();
    let from = beginning(desk, at);
    const priority = desk.state.doubts.length > 0 ? 'doubt' : 'history';
    const ask = (have: number): Observable<readonly Transaction[]> =>
      desk.rateLimiter.through(
        { route: 'transactions', priority, key: 'account' },
        defer(() => {
          if (have === 0) {
            // It may have waited for its turn: what has come into doubt since then belongs into it.
            [at, startedAt] = [clock.wall(), clock.monotonic()];
            from = beginning(desk, at);
            // A hint from here on may be about what this read does not show yet: it counts for the next.
            desk.account.isHinted = false;
          }
          return venue.transactions({ from, limit: PAGE, ...(have === 0 ? {} : { offset: have - 1 }) });
        }),
      );
    const next = ({ rows: before, restarts }: Progress): Observable<Progress> =>
      ask(before.length).pipe(
        map((page): Progress => {
          const rows = joinPages(before, page);
          const isStuck = rows !== undefined && page.length === PAGE && rows.length === before.length;
          if (rows !== undefined && !isStuck) return { rows, restarts, isWhole: page.length < PAGE };
          if (restarts >= RESTARTS_MAX) throw unsteady();
          return { rows: [], restarts: restarts + 1, isWhole: false };
        }),
      );
    // One page after the other: a read of many pages holds its rows once, not once for each page.
    return next({ rows: [], restarts: 0, isWhole: false }).pipe(
      expand((progress) => (progress.isWhole ? EMPTY : next(progress))),
      last(),
      map(({ rows }): AccountRead => ({ startedAt, at, from, rows })),
    );
  });
}

const unsteady = (): VenueError =>
  new VenueError({
    code: 'unreadable',
    applied: 'no',
    attempt: 'GET /v1/account/transactions',
    said: 'pages of the account do not fit together',
  });

/**
 * Always explicit, never the default of the venue: after a long pause that would show too little. The venue reads it by its
 * own clock: where ours is ahead, or was when the journal was written, it goes back by as much, or by the most that is
 * believed when nothing tells, or what was read last lies in the future.
 */
function beginning({ state, policy, account, ports }: ReadAccountContext, at: Instant): Instant {
  const { ledger, newestRowAt, readUntil } = account;
  // An order whose answer is awaited is a doubt or ended by the next read. Counting it, a busy desk, which always has one, would
  // read an hour at every read, and never come to its end.
  const oldest = state.doubts.map((open) => bookedFrom(open) - HOUR_MS);
  // Nor is a fill forgotten that no read has shown whole.
  for (const { fill, since } of state.unshown.values())
    if (fill.executed_at > at - HOUR_MS) oldest.push(since + Math.min(0, state.venueAheadMs) - OVERLAP_MS);
  // What a fill lacks may be booked with the time of its trade, however late: until a person has had the time to close it.
  for (const { executed_at: executedAt } of state.lacking.values())
    if (executedAt > at - DAY_MS) oldest.push(executedAt + Math.min(0, state.venueAheadMs) - HOUR_MS);
  // The journal tells of the balances twice an hour, unless they change by more than its own trades.
  const known = readUntil ?? state.balancesReadAt ?? instant(at - policy.historyMs);
  // What did not add up is held against all rows since it last did.
  const held = heldSince(ledger) ?? at;
  const skewMs = ports.venue.skewMs?.();
  const isBlind = known > at || (skewMs === undefined && newestRowAt === undefined);
  const aheadMs = isBlind
    ? SKEW_MAX_MS
    : Math.min(-Math.min(0, state.venueAheadMs, skewMs ?? 0), SKEW_MAX_MS);
  const since = Math.min(known - aheadMs, at - aheadMs, newestRowAt ?? at, held);
  return instant(Math.min(since - OVERLAP_MS, ...oldest));
}

/** How far two clocks of the venue may differ: that of its quotes, and that of its account. */
const STAMPS_MS = 2 * SECOND_MS;

/**
 * No trade of this attempt can be stamped before this: by the venue's own stamp of its quote, or by when it was begun and how far
 * the venue's clock is ahead. `undefined` where nothing tells of that.
 */
export function earliestStamp(desk: ReadAccountContext, { since, quote }: OpenAttempt): Instant | undefined {
  if (quote?.quoted_at !== undefined) return after(quote.quoted_at, -STAMPS_MS);
  const skewMs = desk.ports.venue.skewMs?.();
  return skewMs === undefined
    ? undefined
    : after(since, Math.min(skewMs, desk.state.venueAheadMs) - MINUTE_MS);
}

/**
 * Earliest stamp that a trade of this attempt can carry. Rows carry the venue's time: its own stamp of the quote says when
 * that was; without one the clocks may differ by as much as a day, and the read goes back that far.
 */
const bookedFrom = ({ since, quote }: OpenAttempt): Instant =>
  quote?.quoted_at === undefined ? after(since, -SKEW_MAX_MS) : instant(Math.min(since, quote.quoted_at));
