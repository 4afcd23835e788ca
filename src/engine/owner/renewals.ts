import { catchError, exhaustMap, filter, map, of, take, timeout, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { FencedOut } from '../../core/errors.ts';
import type { Clock } from '../ports.ts';
import type { Lease, LeasePort } from './lease-port.ts';

export interface RenewalOptions {
  readonly clock: Pick<Clock, 'scheduler'>;
  readonly leaseMs: number;
  /** Interval between renewals; default: a third of the lease. */
  readonly everyMs?: number | undefined;
}

/**
 * Renews the lease again and again while subscribed. Emits once another owner has taken over. A failed
 * renewal proves nothing, because the next one may succeed.
 */
export const renewals = (
  store: Pick<LeasePort, 'renew'>,
  lease: Lease,
  { clock: { scheduler }, leaseMs, everyMs = leaseMs / 3 }: RenewalOptions,
): Observable<FencedOut> =>
  timer(everyMs, everyMs, scheduler).pipe(
    exhaustMap(() =>
      store.renew(lease, leaseMs).pipe(
        timeout({ first: leaseMs, scheduler }),
        catchError(() => of(lease)),
      ),
    ),
    filter((renewed) => renewed === undefined),
    take(1),
    map(() => new FencedOut(lease.desk)),
  );
