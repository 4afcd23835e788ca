import { defaultIfEmpty, map } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { MINUTE_MS } from '../../core/time.ts';
import { controlled } from './control.ts';
import type { Desk } from '../desk.ts';
import { stopped } from '../stage-types.ts';
import type { Paced, Sized, Stopped } from '../stage-types.ts';
import { mergeMapMaybe } from '../maybe-async.ts';
import { deadlineOf } from '../rate-limit/rate-limiter.ts';
import type { Permit, PermitRequest } from '../rate-limit/rate-limiter.ts';
import { sizeNow } from './size.ts';

/** A request that waits longer than this behind other requests pauses the desk. */
export const MESSAGE_WAIT_MAX_MS = MINUTE_MS;

/**
 * Delays each item until one quote request may leave. Grants nothing after the slice's deadline or once the desk
 * drains. An item that had to wait is sized and checked again, because prices, funds and limits may have changed.
 */
export function pace(
  desk: Desk,
  drain$: Observable<unknown>,
): OperatorFunction<Sized | Stopped, Paced | Stopped> {
  const until = { isOver: () => desk.isStopping, over$: drain$ };
  return mergeMapMaybe((item) => {
    if (item.stage === 'stopped') return item;
    const { strategy, intent } = item.slice;
    const deadline = deadlineOf(desk.ports.clock, intent.deadline);
    const request: PermitRequest = { route: 'quote', priority: 'quote', key: strategy, deadline, until };
    const permit = desk.rateLimiter.takeAtOnce(request);
    if (permit !== undefined) return permitted(desk, item, permit);
    return desk.rateLimiter.take(request).pipe(
      defaultIfEmpty(undefined),
      map((later) => (later === undefined ? refused(desk, item) : permitted(desk, item, later))),
    );
  });
}

const refused = (desk: Desk, { slice }: Sized): Stopped =>
  stopped(slice, desk.isStopping ? 'shutdown' : 'deadline', 'no quote request could leave in time', {
    do: 'again',
  });

function permitted(desk: Desk, item: Sized, permit: Permit): Paced | Stopped {
  if (permit.queuedMs > MESSAGE_WAIT_MAX_MS) {
    permit.giveBack();
    const detail = `limit=${MESSAGE_WAIT_MAX_MS} ms value=${Math.round(permit.queuedMs)} ms`;
    return stopped(item.slice, 'message_throttle', detail, { do: 'again' });
  }
  const now = permit.waitedMs > 0 ? controlled(desk, sizeNow(desk, item.slice, { isFinal: true })) : item;
  if (now.stage === 'stopped') {
    permit.giveBack();
    return now;
  }
  desk.observer.paced('quote', 'quote', permit.waitedMs);
  return { stage: 'paced', item: now, permit };
}
