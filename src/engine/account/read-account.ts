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
/** Number of times a read restarts when its pages do not fit together; then it fails. */
const RESTARTS_MAX = 2;
/** Rows may be booked late, or come from a replica that lags: every read overlaps the previous one by this much. */
const OVERLAP_MS = 10 * MINUTE_MS;
/** How far the venue's clock may be behind ours when its offset is unknown. */
const SKEW_MAX_MS = DAY_MS;

/** One whole read of the account: every page arrived, and each fits the previous one. */
export interface AccountRead {
  readonly startedAt: Monotonic;
  readonly at: Instant;
  /** The read shows everything after this time, on the venue's clock. */
  readonly from: Instant;
  readonly rows: readonly Transaction[];
}

/** A whole read, with the trades of this desk in it. */
export interface WholeAccount extends AccountRead, WholeRead {
  /** What earlier reads showed. */
  readonly known: Books;
}

interface Progress {
  readonly rows: readonly Transaction[];
  readonly restarts: number;
  readonly isWhole: boolean;
}

/**
 * Reads all pages since the last read, with an overlap, and since an hour before the oldest order in doubt.
 * Consecutive pages share a row; if that row has moved between two requests, the read starts over.
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
            // The request may have waited for its turn: attempts that came into doubt in the meantime belong to this
            // read.
            [at, startedAt] = [clock.wall(), clock.monotonic()];
            from = beginning(desk, at);
            // A hint from here on may concern rows that this read does not show yet, so it counts towards the next read.
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
    // Processes pages one by one, so that a long read stores its rows once, not once per page.
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
 * Always explicit, because the venue's default period would be too short after a long pause. The venue applies it on its
 * own clock: if our clock is ahead, or was when the journal was written, the start moves back by the known offset, or by
 * the largest credible one when the offset is unknown or the last read lies in the future.
 */
function beginning({ state, policy, account, ports }: ReadAccountContext, at: Instant): Instant {
  const { ledger, newestRowAt, readUntil } = account;
  // Excludes orders whose answer is awaited: each will be a doubt or ended by the next read. Including them would make a busy
  // desk, which always has one, read back an hour every time.
  const oldest = state.doubts.map((open) => bookedFrom(open) - HOUR_MS);
  // Also covers fills that no read has shown completely.
  for (const { fill, since } of state.unshown.values())
    if (fill.executed_at > at - HOUR_MS) oldest.push(since + Math.min(0, state.venueAheadMs) - OVERLAP_MS);
  // The missing part of a fill may be booked late with the time of its trade, until a person has had time to close it.
  for (const { executed_at: executedAt } of state.lacking.values())
    if (executedAt > at - DAY_MS) oldest.push(executedAt + Math.min(0, state.venueAheadMs) - HOUR_MS);
  // The journal records the balances twice an hour, unless they change by more than the desk's own trades.
  const known = readUntil ?? state.balancesReadAt ?? instant(at - policy.historyMs);
  // After a mismatch, the next read covers all rows since the balances last agreed.
  const held = heldSince(ledger) ?? at;
  const skewMs = ports.venue.skewMs?.();
  const isBlind = known > at || (skewMs === undefined && newestRowAt === undefined);
  const aheadMs = isBlind
    ? SKEW_MAX_MS
    : Math.min(-Math.min(0, state.venueAheadMs, skewMs ?? 0), SKEW_MAX_MS);
  const since = Math.min(known - aheadMs, at - aheadMs, newestRowAt ?? at, held);
  return instant(Math.min(since - OVERLAP_MS, ...oldest));
}

/** How far the venue's quote clock and account clock may differ. */
const STAMPS_MS = 2 * SECOND_MS;

/**
 * Earliest possible timestamp of a trade of this attempt: from the venue's own timestamp of the quote, or from the start of the
 * attempt and the venue's clock offset. `undefined` when neither is known.
 */
export function earliestStamp(desk: ReadAccountContext, { since, quote }: OpenAttempt): Instant | undefined {
  if (quote?.quoted_at !== undefined) return after(quote.quoted_at, -STAMPS_MS);
  const skewMs = desk.ports.venue.skewMs?.();
  return skewMs === undefined
    ? undefined
    : after(since, Math.min(skewMs, desk.state.venueAheadMs) - MINUTE_MS);
}

/**
 * Earliest timestamp that a trade of this attempt can carry. Rows carry the venue's time, which its timestamp of the quote
 * reveals; without one the clocks may differ by up to a day, and the read goes back that far.
 */
const bookedFrom = ({ since, quote }: OpenAttempt): Instant =>
  quote?.quoted_at === undefined ? after(since, -SKEW_MAX_MS) : instant(Math.min(since, quote.quoted_at));
