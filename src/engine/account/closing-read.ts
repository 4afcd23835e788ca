import type { Desk } from '../desk.ts';
import { EMPTY, concat, defer, ignoreElements, of, repeat, takeUntil, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { after } from '../../core/time.ts';
import type { Monotonic } from '../../core/time.ts';
import { readOnce } from './watch-account.ts';
import { record } from '../stages/record.ts';
import { learnVenue } from '../operator/recover.ts';

/** How long the desk retries the closing read after the earliest time at which such a read counts. */
const TRIED_FOR_MS = 60_000;

/**
 * The earliest time at which a whole read of the account can start and show all of the last fills; `undefined` if a
 * read has shown them, or if nothing was filled.
 */
export function closingReadDue({ account }: Pick<Desk, 'account'>): Monotonic | undefined {
  const { bookedBy, wholeReadAt } = account;
  return bookedBy === undefined || (wholeReadAt !== undefined && wholeReadAt >= bookedBy)
    ? undefined
    : bookedBy;
}

/**
 * The last step before a desk stops: one whole read of the account, started at the time by which the venue must have
 * booked the last fills. The desk processes its rows as in any read. Emits `closing` when it has to wait. Also
 * completes if `stop$` emits or the read cannot succeed in time; `closingReadDue` then still returns the time at which
 * it was due.
 */
export function closingRead(desk: Desk, stop$: Observable<unknown>): Observable<'closing'> {
  return defer(() => {
    const { clock, journal } = desk.ports;
    const due = closingReadDue(desk);
    // A full disk cannot store what the read shows.
    if (due === undefined || journal.isSpent === true) return EMPTY;
    const until = after(due, TRIED_FOR_MS);
    const left = (at: Monotonic): number => Math.max(0, Math.ceil(at - clock.monotonic()));
    const over$ = of(undefined);
    const read = defer(() => readOnce(desk)).pipe(
      record(desk, over$),
      ignoreElements(),
      repeat({
        delay: () =>
          closingReadDue(desk) === undefined || left(until) === 0 ? EMPTY : timer(0, clock.scheduler),
      }),
    );
    // A desk that had nothing to recover has not loaded the venue's currencies yet.
    const learnt = desk.account.lastReadAt === undefined ? learnVenue(desk) : EMPTY;
    desk.account.isClosing = true;
    return concat(
      of('closing' as const),
      timer(left(due), clock.scheduler).pipe(ignoreElements()),
      learnt.pipe(takeUntil(timer(left(until), clock.scheduler))),
      read,
    ).pipe(takeUntil(stop$));
  });
}

/** Describes, for people, what the desk waits for before it stops. */
export function closingWords(desk: Desk): readonly string[] {
  const due = desk.account.isClosing ? closingReadDue(desk) : undefined;
  if (due === undefined) return [];
  const seconds = Math.ceil((due - desk.ports.clock.monotonic()) / 1_000);
  const left = seconds > 0 ? `${seconds} s left` : 'reading it';
  return [`Waiting for the account to confirm the last fills (${left})`];
}

/** Why the closing read failed or is still missing; `undefined` if it succeeded or the desk needs none. */
export const unconfirmedWords = (desk: Desk): string | undefined =>
  !desk.account.isClosing || closingReadDue(desk) === undefined
    ? undefined
    : `the account did not confirm the last fills: ${desk.account.readFault ?? 'no read finished in time'}; the next start reads it again`;
