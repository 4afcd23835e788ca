import { exhaustMap, ignoreElements, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import { exchange, whyUnanswered } from '../daemon/post-outside.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { Secret } from '../config/secret.ts';

export interface HeartbeatParts {
  readonly clock: Pick<Clock, 'scheduler'>;
  /** Called before each heartbeat. While it returns false, no heartbeat is sent, so that the external service raises an alarm. */
  readonly isWell: () => boolean;
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

/** Sends a heartbeat each minute. Never emits and never errors; logs one warning for each outage. */
export function heartbeat(url: Secret, { clock, isWell, warn }: HeartbeatParts): Observable<never> {
  let isTold = false;
  const call = async (): Promise<void> => {
    if (!isWell()) return;
    try {
      await exchange(url.reveal(), { method: 'GET', timeoutMs: 10_000 });
      isTold = false;
    } catch (cause) {
      if (!isTold) warn('the heartbeat could not be sent', { why: whyUnanswered(cause) });
      isTold = true;
    }
  };
  return timer(0, MINUTE_MS, clock.scheduler).pipe(exhaustMap(call), ignoreElements());
}
