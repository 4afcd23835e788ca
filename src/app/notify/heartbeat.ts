import { EMPTY, catchError, defer, exhaustMap, from, ignoreElements, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Clock } from '../../engine/ports.ts';
import { exchange, whyUnanswered } from '../daemon/post-outside.ts';
import type { HeartbeatConfig } from './notify-config.ts';

export interface HeartbeatParts {
  readonly clock: Pick<Clock, 'scheduler'>;
  /** Called before each heartbeat. While it returns false, no heartbeat is sent, so that the external service raises an alarm. */
  readonly isWell: () => boolean;
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

/** Sends heartbeats. Never emits and never errors; logs one warning for each outage. */
export function heartbeat(
  { url, everyMs }: HeartbeatConfig,
  { clock, isWell, warn }: HeartbeatParts,
): Observable<never> {
  let isTold = false;
  const call = async (): Promise<void> => {
    const { status } = await exchange(url.reveal(), { method: 'GET', timeoutMs: Math.min(10_000, everyMs) });
    if (status < 200 || status > 299) throw new HeartbeatRefused(`status ${status}`);
    isTold = false;
  };
  return timer(0, everyMs, clock.scheduler).pipe(
    exhaustMap(() =>
      isWell()
        ? defer(() => from(call())).pipe(
            catchError((cause: unknown) => {
              const why = cause instanceof HeartbeatRefused ? cause.message : whyUnanswered(cause);
              if (!isTold) warn('the heartbeat could not be sent', { why });
              isTold = true;
              return EMPTY;
            }),
          )
        : EMPTY,
    ),
    ignoreElements(),
  );
}

class HeartbeatRefused extends Error {}
