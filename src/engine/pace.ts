import { defaultIfEmpty, map, mergeMap, of, takeUntil } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { MINUTE_MS } from '../core/time.ts';
import { controlled } from './control.ts';
import type { Desk } from './desk.ts';
import { stopped } from './item.ts';
import type { Paced, Sized, Stopped } from './item.ts';
import { deadlineOf } from './pacer.ts';
import { sizeNow } from './size.ts';

/** Requests that wait longer than this for other requests pause the desk. */
const MESSAGE_WAIT_MS = MINUTE_MS;

/**
 * Holds each item until one quote request may go. Nothing is granted after the slice's deadline, or once draining. What had
 * to wait is sized and checked anew: prices, funds and limits may have changed meanwhile.
 */
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
      map((permit): Paced | Stopped => {
        const longestMs = desk.policy.messageWaitMaxMs ?? MESSAGE_WAIT_MS;
        if (permit.queuedMs > longestMs) {
          permit.giveBack();
          const detail = `limit=${longestMs} ms value=${Math.round(permit.queuedMs)} ms`;
          return stopped(slice, 'message_throttle', detail, { do: 'again' });
        }
        const now = permit.waitedMs > 0 ? controlled(desk, sizeNow(desk, slice)) : item;
        if (now.stage === 'stopped') {
          permit.giveBack();
          return now;
        }
        desk.observer.paced('quote', 'quote', permit.waitedMs);
        return { ...now, stage: 'paced', permit };
      }),
      defaultIfEmpty<Paced | Stopped | undefined, undefined>(undefined),
      map((granted) => {
        const reason = desk.isStopping ? 'shutdown' : 'deadline';
        return granted ?? stopped(slice, reason, 'no quote request could go in time', { do: 'again' });
      }),
    );
  });
}
