import type { Observable, OperatorFunction } from 'rxjs';
import { MINUTE_MS } from '../core/time.ts';
import type { Monotonic } from '../core/time.ts';
import { controlled } from './control.ts';
import type { Desk } from './desk.ts';
import { soon } from './flow.ts';
import type { Listening } from './flow.ts';
import { stopped } from './item.ts';
import type { Paced, Sized, Stopped } from './item.ts';
import { deadlineOf } from './pacer.ts';
import type { Granting, Permit, Wish } from './pacer.ts';
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
  const until = { isOver: () => desk.isStopping, over$: drain$ };
  return soon((item, by, done) => {
    if (item.stage === 'stopped') {
      done(item);
      return;
    }
    const turn = new Turn(desk, item, { until, by, done });
    desk.pacer.ask(turn, turn);
  });
}

/** The wish of an item to ask for its quote, and what becomes of it. */
class Turn implements Wish, Granting {
  readonly route = 'quote';
  readonly priority = 'quote';
  readonly key: string;
  readonly deadline: Monotonic;
  readonly until: Wish['until'];
  readonly by: Listening;
  readonly #desk: Desk;
  readonly #item: Sized;
  readonly #done: (item: Paced | Stopped) => void;

  constructor(
    desk: Desk,
    item: Sized,
    { until, by, done }: Pick<Turn, 'until' | 'by'> & { readonly done: (item: Paced | Stopped) => void },
  ) {
    this.key = item.slice.strategy;
    this.deadline = deadlineOf(desk.ports.clock, item.slice.intent.deadline);
    this.until = until;
    this.by = by;
    this.#desk = desk;
    this.#item = item;
    this.#done = done;
  }

  granted(permit: Permit): void {
    this.#done(permitted(this.#desk, this.#item, permit));
  }

  refused(): void {
    const reason = this.#desk.isStopping ? 'shutdown' : 'deadline';
    this.#done(stopped(this.#item.slice, reason, 'no quote request could go in time', { do: 'again' }));
  }
}

function permitted(desk: Desk, item: Sized, permit: Permit): Paced | Stopped {
  const longestMs = desk.policy.messageWaitMaxMs ?? MESSAGE_WAIT_MS;
  if (permit.queuedMs > longestMs) {
    permit.giveBack();
    const detail = `limit=${longestMs} ms value=${Math.round(permit.queuedMs)} ms`;
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
