import { EMPTY, defer, expand, last, map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { WholeRead } from '../../core/account/judge.ts';
import { compareRowIds } from '../../core/ids.ts';
import type { Trade } from '../../core/account/rows.ts';
import { gapsIn } from '../../core/account/whole-read.ts';
import type { Reach } from '../../core/account/whole-read.ts';
import { VenueError } from '../../core/errors.ts';
import type { Pair } from '../../core/pairs.ts';
import type { FillRecord } from '../../core/record.ts';
import { DAY_MS, HOUR_MS, instant } from '../../core/time.ts';
import type { Instant, Monotonic } from '../../core/time.ts';
import type { Transaction } from '../../core/venue.ts';
import type { Desk } from '../desk.ts';

const PAGE = 1000;
/** Number of times that a read restarts because its pages do not fit together, before it fails. */
const RESTARTS_MAX = 2;
/** No stamp may end a read: a row from the future is a row too. */
const FUTURE_MS = 366 * DAY_MS;

/** The venue takes an omitted beginning for a day ago, whatever `after` is. */
const EVER = instant(1);

/** One whole read of the account: every page arrived, and each fits the previous one. */
export interface AccountRead {
  readonly startedAt: Monotonic;
  readonly at: Instant;
  readonly reach: Reach;
  readonly rows: readonly Transaction[];
}

/** A trade with one of our ids that the journal does not know. */
export interface Strange {
  readonly trade: Trade;
  /** Its pair, as far as its currencies show. */
  readonly pair: Pair | undefined;
}

/** A whole read, with each row attributed. */
export interface WholeAccount extends AccountRead, WholeRead {
  /** The trades of orders that the journal knows, by client id. */
  readonly trades: ReadonlyMap<string, Trade>;
  /** The trades of orders that it does not know. */
  readonly strange: readonly Strange[];
}

interface Progress {
  readonly rows: readonly Transaction[];
  readonly restarts: number;
  readonly isWhole: boolean;
}

/**
 * Reads all pages of everything that may have changed since the last read. Consecutive pages share a row; if that row
 * has moved between two requests, the read starts over.
 * - Errors: `VenueError` if a page did not arrive, or if the pages never fit together.
 */
export function readAccount(desk: Desk): Observable<AccountRead> {
  return defer(() => {
    const { clock, venue } = desk.ports;
    let at = clock.wall();
    let startedAt = clock.monotonic();
    let reach = reachOf(desk, at);
    const priority = desk.state.doubts.length > 0 ? 'doubt' : 'history';
    const ask = (have: number): Observable<readonly Transaction[]> =>
      desk.rateLimiter.through(
        { route: 'transactions', priority, key: 'account' },
        defer(() => {
          if (have === 0) {
            // The request may have waited for its turn. Attempts that came into doubt meanwhile belong to this read.
            [at, startedAt] = [clock.wall(), clock.monotonic()];
            reach = reachOf(desk, at);
            // A hint that arrives from now on may concern rows that this read does not show yet, so it counts towards
            // the next read.
            desk.account.isHinted = false;
          }
          return venue.transactions({
            ...('after' in reach ? { after: reach.after, from: EVER } : { from: reach.from }),
            to: instant(at + FUTURE_MS),
            limit: PAGE,
            ...(have === 0 ? {} : { offset: have - 1 }),
          });
        }),
      );
    const next = ({ rows: before, restarts }: Progress): Observable<Progress> =>
      ask(before.length).pipe(
        map((page): Progress => {
          // It would prove every order absent whose rows it does not hold.
          if (page.length > 0 && page.every(isNoRow)) throw unreadable('the list holds no transaction');
          const rows = joinPages(before, page);
          const isStuck = rows !== undefined && page.length === PAGE && rows.length === before.length;
          if (rows !== undefined && !isStuck) return { rows, restarts, isWhole: page.length < PAGE };
          if (restarts >= RESTARTS_MAX) throw unreadable('pages of the account do not fit together');
          return { rows: [], restarts: restarts + 1, isWhole: false };
        }),
      );
    // Processes pages one by one, so that a long read stores its rows only once, not once per page.
    return next({ rows: [], restarts: 0, isWhole: false }).pipe(
      expand((progress) => (progress.isWhole ? EMPTY : next(progress))),
      last(),
      map(({ rows }): AccountRead => ({ startedAt, at, reach, rows })),
    );
  });
}

/**
 * Appends the next page. Pages overlap: the new page must contain the last known row. Otherwise, rows moved between the
 * two requests, and one may have been skipped; the result is then `undefined`.
 */
export function joinPages(
  before: readonly Transaction[],
  page: readonly Transaction[],
): readonly Transaction[] | undefined {
  const known = before.at(-1);
  if (known === undefined) return page;
  const at = page.findIndex(({ id }) => id === known.id);
  return at < 0 ? undefined : [...before, ...page.slice(at + 1)];
}

/** Neither what it is nor how much: an odd row among others is one, a whole list of such is the answer to another request. */
const isNoRow = ({ action, spoiled = [] }: Transaction): boolean =>
  action === 'other' && (spoiled.includes('row') || spoiled.includes('amount'));

const unreadable = (said: string): VenueError =>
  new VenueError({
    code: 'unreadable',
    applied: 'no',
    attempt: 'GET /v1/account/transactions',
    said,
  });

/**
 * Where a read begins. It goes by ids: everything newer than the last row that whole reads had shown before the oldest
 * attempt or fill that is not settled. Stamps bound only the reads of a journal that knows no row yet, or of
 * a venue whose ids cannot be ordered.
 */
function reachOf(desk: Desk, at: Instant): Reach {
  const { state, account } = desk;
  // By the clock that fills are stamped by, because a clock that is set forward makes no fill older. The first read looks at
  // what nobody has looked at since the last fill of an earlier process.
  const lastFilledAt = account.lastReadAt === undefined ? state.recent.at(-1)?.executed_at : undefined;
  const now = lastFilledAt ?? desk.limitDay.now();
  const young = [
    ...[...state.unshown.values()]
      .filter(({ fill }) => fill.executed_at > now - HOUR_MS)
      .map(({ fill }) => fill),
    // The missing part of a fill may be booked late, until a person has had time to close it.
    ...[...state.lacking.values()].filter(({ executed_at: executedAt }) => executedAt > now - DAY_MS),
    ...state.recentFills(now),
  ];
  const needs = [
    state.rows.known,
    ...state.attempts.values().map(({ rowBefore }) => rowBefore),
    ...young.map(({ client_order_id: id }) => state.filledIds.get(id)?.rowBefore ?? ''),
    ...(account.rereadAfter === undefined ? [] : [account.rereadAfter]),
    ...gapsIn(account.books),
  ];
  const after = needs.reduce((oldest, id) => (compareRowIds(id, oldest) < 0 ? id : oldest));
  return after === '' ? { from: beginning(desk, { at, young }) } : { after };
}

/** How far a clock may be off when only stamps bound a read: a date that is wrong, and some minutes. */
const SKEW_MAX_MS = 2 * DAY_MS;

/** Without ids: two days before the last read, or before whatever is not settled. */
function beginning(
  { state, policy, account }: Desk,
  { at, young }: { readonly at: Instant; readonly young: readonly FillRecord[] },
): Instant {
  const known = account.readUntil ?? state.balancesReadAt ?? instant(at - policy.historyMs);
  const oldest = [
    ...state.attempts.values().map(({ since }) => since),
    ...young.map(({ executed_at: executedAt }) => executedAt),
  ];
  return instant(Math.min(known, at, account.newestRowAt ?? at, ...oldest) - SKEW_MAX_MS);
}
