import {
  defer,
  distinctUntilChanged,
  ignoreElements,
  repeat,
  startWith,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { Instant } from '../../core/time.ts';
import type { Desk } from '../desk.ts';
import { skewTeller } from './clock-skew.ts';
import { waitUntil } from './virtual-clock.ts';

/**
 * Watches the clocks while subscribed, and everything that takes too long by them. After a jump, the desk reads the
 * account soon and recomputes every wait for a wall-clock time. Never emits.
 */
export function watchClocks(desk: Desk): Observable<never> {
  return defer(() => {
    let known = desk.continuity.look();
    const tellSkew = skewTeller(desk);
    return timer(desk.policy.continuity.everyMs, desk.ports.clock.scheduler).pipe(
      tap(() => {
        tellSkew();
        desk.venueHealth.look();
        const count = desk.continuity.look();
        if (count === known) return;
        known = count;
        desk.account.isHinted = true;
        desk.changed$.next();
      }),
      repeat(),
      ignoreElements(),
    );
  });
}

/** Emits once the wall clock shows `at` or a later time, even if it was set forward or the machine slept. */
export function untilTime(desk: Desk, at: Instant): Observable<void> {
  const wait$ = waitUntil(desk.ports.clock, at);
  if (desk.breaks$ === undefined) return wait$;
  const breaks$ = desk.breaks$;
  return defer(() => breaks$.pipe(startWith(desk.continuity.count))).pipe(
    distinctUntilChanged(),
    switchMap(() => wait$),
    take(1),
  );
}
