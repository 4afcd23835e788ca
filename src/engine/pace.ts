import { defaultIfEmpty, map, mergeMap, of, takeUntil } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { Desk } from './desk.ts';
import { stopped } from './item.ts';
import type { Paced, Sized, Stopped } from './item.ts';
import { deadlineOf } from './pacer.ts';

/** Holds each item until one quote request may go. Nothing is granted after the slice's deadline, or once draining. */
export function pace(
  desk: Desk,
  drain$: Observable<unknown>,
): OperatorFunction<Sized | Stopped, Paced | Stopped> {
  return mergeMap((item) => {
    if (item.stage === 'stopped') return of(item);
    const { slice } = item;
    const deadline = deadlineOf(desk.ports.clock, slice.intent.deadline);
    return desk.pacer.take({ route: 'quote', priority: 'quote', key: slice.strategy, deadline }).pipe(
      takeUntil(drain$),
      map((permit): Paced => {
        desk.observer.paced('quote', 'quote', permit.waitedMs);
        return { ...item, stage: 'paced', permit };
      }),
      defaultIfEmpty(
        stopped(slice, desk.isStopping ? 'shutdown' : 'deadline', 'no quote request could go in time', {
          do: 'again',
        }),
      ),
    );
  });
}
