import {
  EMPTY,
  catchError,
  concat,
  defer,
  ignoreElements,
  map,
  mergeMap,
  repeat,
  retry,
  shareReplay,
  take,
  takeUntil,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { FencedOut } from '../../../src/core/errors.ts';
import type { Clock, JournalPort } from '../../../src/engine/ports.ts';
import type { Lease, LeaseRequest } from '../../../src/engine/owner/lease-port.ts';
import { renewals } from '../../../src/engine/owner/renewals.ts';
import type { DeskStore } from '../../journal/desk-store.ts';

export interface OwnerOptions extends LeaseRequest {
  readonly clock: Pick<Clock, 'scheduler'>;
  /** Interval between attempts to acquire the desk, milliseconds. */
  readonly retryMs: number;
}

/** A desk that this process owns. */
export interface Owned<J extends JournalPort> {
  readonly lease: Lease;
  /** Read after the epoch was raised, so that no earlier owner can append to it. */
  readonly journal: J;
  /** Emits once another owner has taken over. A write to the journal may detect that earlier. */
  readonly lost$: Observable<FencedOut>;
}

/**
 * Runs a desk for as long as this process owns it: waits for the lease, opens the journal, renews the lease while
 * `run` runs, and releases it at the end. A failed renewal does not stop the desk: only the fence of the journal
 * decides whether an order may leave.
 */
export function ownDesk<J extends JournalPort, T>(
  store: DeskStore<J>,
  options: OwnerOptions,
  run: (owned: Owned<J>) => Observable<T>,
): Observable<T> {
  const { scheduler } = options.clock;
  const pause = (): Observable<unknown> => timer(options.retryMs, scheduler);
  const opened = defer(() => store.acquire(options)).pipe(
    mergeMap((lease) =>
      lease === undefined ? EMPTY : store.open(lease).pipe(map((journal) => ({ lease, journal }))),
    ),
    retry({ delay: pause }),
    repeat({ delay: pause }),
    take(1),
  );
  return opened.pipe(
    mergeMap(({ lease, journal }) => {
      if (journal === undefined) return throwError(() => new FencedOut(lease.desk));
      const lost$ = renewals(store, lease, options).pipe(shareReplay({ bufferSize: 1, refCount: true }));
      // Renews while `run` runs, whether or not `run` subscribes.
      const running = defer(() => run({ lease, journal, lost$ })).pipe(
        takeUntil(lost$.pipe(ignoreElements())),
      );
      // A failed release makes the next owner wait for the rest of the lease.
      const released = store.release(lease).pipe(
        timeout({ first: RELEASE_MS, scheduler }),
        catchError(() => EMPTY),
        ignoreElements(),
      );
      return concat(running, released).pipe(
        catchError((error: unknown) =>
          concat(
            released,
            throwError(() => error),
          ),
        ),
      );
    }),
  );
}

const RELEASE_MS = 2_000;
