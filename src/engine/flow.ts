import { Observable } from 'rxjs';
import type { OperatorFunction, SchedulerLike, Subscriber, Subscription } from 'rxjs';
import { invariant } from '../core/errors.ts';

/**
 * Observables that would each be a handful of operators, written as one: what is traded passes through them many times, and
 * every operator costs a subscription.
 */

interface Heard<T> {
  readonly next: (value: T) => void;
  /** Left out: the end of `source` is that of who hears it. */
  readonly complete?: (() => void) | undefined;
}

/** Does `work` for an Observable written by hand: what it throws is an error of it, as with operators. */
export function guard(by: Subscriber<never>, work: () => void): void {
  try {
    work();
  } catch (error) {
    by.error(error);
  }
}

/** Listens to `source` for an Observable written by hand, under the same guard. */
export function hear<T>(
  source: Observable<T>,
  by: Subscriber<never>,
  { next, complete }: Heard<T>,
): Subscription {
  const heard = source.subscribe({
    next: (value) => {
      try {
        next(value);
      } catch (error) {
        by.error(error);
      }
    },
    error: (error: unknown) => {
      by.error(error);
    },
    complete: () => {
      if (complete === undefined) by.complete();
      else guard(by, complete);
    },
  });
  by.add(heard);
  return heard;
}

/**
 * What `to` makes of each value: the value itself where it is there at once, an Observable where something waits. At most
 * `concurrent` values are on their way at a time; later ones wait for their turn. Stands for `mergeMap`.
 */
export function soon<T, R>(
  to: (value: T) => R | Observable<R>,
  concurrent = Number.POSITIVE_INFINITY,
): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting: (() => void)[] = [];
      let active = 0;
      let isLast = false;
      let isGoingOn = false;
      const canBegin = (): boolean => active < concurrent && waiting.length > 0 && !subscriber.closed;
      const next = (value: R): void => {
        subscriber.next(value);
      };
      const end = (): void => {
        active--;
        // One that ends while it begins only says so: the loop goes on, and the stack does not grow with what waits.
        if (isGoingOn) return;
        isGoingOn = true;
        while (canBegin()) waiting.shift()?.();
        isGoingOn = false;
        if (isLast && active === 0) subscriber.complete();
      };
      const begin = (value: T): void => {
        active++;
        const made = to(value);
        if (!(made instanceof Observable)) {
          subscriber.next(made);
          end();
          return;
        }
        let isOver = false;
        const complete = (): void => {
          isOver = true;
        };
        // The next one begins once this one has torn down what it held.
        hear(made, subscriber, { next, complete }).add(() => {
          if (isOver) guard(subscriber, end);
        });
      };
      hear(source, subscriber, {
        next: (value) => {
          if (subscriber.closed) return;
          // While the loop begins those that wait there may be room for a moment: it is theirs.
          if (active < concurrent && waiting.length === 0) begin(value);
          else
            waiting.push(() => {
              begin(value);
            });
        },
        complete: () => {
          isLast = true;
          if (active === 0) subscriber.complete();
        },
      });
    });
}

/**
 * Values go through `work` one after another, in their order. It calls `done` once, now or later, with what it came to, if
 * anything; `by` is who listens to whatever it waits for. Stands for `concatMap` of an Observable of at most one value.
 */
export function inTurn<T, R>(
  work: (value: T, by: Subscriber<R>, done: (result?: R) => void) => void,
): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting: (() => void)[] = [];
      let isBusy = false;
      let isLast = false;
      let isGoingOn = false;
      const canBegin = (): boolean => !isBusy && waiting.length > 0 && !subscriber.closed;
      const goOn = (): void => {
        if (isGoingOn) return;
        isGoingOn = true;
        while (canBegin()) waiting.shift()?.();
        isGoingOn = false;
        if (isLast && !isBusy) subscriber.complete();
      };
      const done = (result?: R): void => {
        if (result !== undefined) subscriber.next(result);
        isBusy = false;
        goOn();
      };
      hear(source, subscriber, {
        next: (value) => {
          waiting.push(() => {
            isBusy = true;
            work(value, subscriber, done);
          });
          goOn();
        },
        complete: () => {
          isLast = true;
          goOn();
        },
      });
    });
}

/**
 * Values go through `work` as they come, however many are under way. It tells `by` what it came to, now or later, and calls
 * `done` once, last of all. Stands for `mergeMap`.
 */
export function atOnce<T, R>(
  work: (value: T, by: Subscriber<R>, done: () => void) => void,
): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      let active = 0;
      let isLast = false;
      const done = (): void => {
        active--;
        if (isLast && active === 0) subscriber.complete();
      };
      hear(source, subscriber, {
        next: (value) => {
          active++;
          work(value, subscriber, done);
        },
        complete: () => {
          isLast = true;
          if (active === 0) subscriber.complete();
        },
      });
    });
}

/**
 * Listens to what `to` makes of each value until the same value comes again: what it made before is left then. Stands for
 * `groupBy`, `mergeMap` and `switchMap`.
 */
export function newestOf<T, R>(to: (value: T) => Observable<R>): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      const newest = new Map<T, { listening: Subscription | undefined }>();
      let isLast = false;
      const mayEnd = (): void => {
        if (isLast && newest.size === 0) subscriber.complete();
      };
      hear(source, subscriber, {
        next: (value) => {
          newest.get(value)?.listening?.unsubscribe();
          const mine: { listening: Subscription | undefined } = { listening: undefined };
          newest.set(value, mine);
          const isMine = (): boolean => newest.get(value) === mine;
          mine.listening = hear(to(value), subscriber, {
            next: (made) => {
              if (isMine()) subscriber.next(made);
            },
            complete: () => {
              if (!isMine()) return;
              newest.delete(value);
              mayEnd();
            },
          });
          // What it emitted at once may have brought the same value again.
          if (!isMine()) mine.listening.unsubscribe();
        },
        complete: () => {
          isLast = true;
          mayEnd();
        },
      });
    });
}

/**
 * Whatever is told while something told before is still worked on is told after that, in order, however many sources it
 * comes from: nothing is entered again from within, and a chain without an end does not grow the stack. Stands for
 * `observeOn(queueScheduler)`, with a queue of its own.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** An operator: the same source, heard in its turn. */
  readonly observe = <T>(source: Observable<T>): Observable<T> =>
    new Observable((subscriber) => {
      hear(source, subscriber, {
        next: (value) => {
          this.#take(() => {
            subscriber.next(value);
          });
        },
        complete: () => {
          this.#take(() => {
            subscriber.complete();
          });
        },
      });
    });

  #take(work: () => void): void {
    this.#waiting.push(work);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next();
    } finally {
      this.#isBusy = false;
      this.#waiting.length = 0;
    }
  }
}

/** Emits what `look` finds: now, and then at each change. Nothing where it finds nothing. */
export function looking<T>(changes: Observable<unknown>, look: () => T | undefined): Observable<T> {
  return new Observable<T>((subscriber) => {
    const next = (): void => {
      const found = look();
      if (found !== undefined) subscriber.next(found);
    };
    next();
    if (!subscriber.closed) hear(changes, subscriber, { next });
  });
}

interface Within<T> {
  readonly ms: number;
  readonly scheduler: SchedulerLike;
  /** Told when nothing came in time, and when nothing came at all. */
  readonly late: () => T;
  readonly none: () => T;
  readonly heard: (value: T) => void;
}

/**
 * Hears the first value of `source` within `ms`. A source that takes longer is left before `late` is told instead. Stands
 * for `timeout`, `take(1)` and `defaultIfEmpty`.
 */
export function hearWithin<T>(
  source: Observable<T>,
  by: Subscriber<never>,
  { ms, scheduler, late, none, heard }: Within<T>,
): void {
  let isOver = false;
  let listening: Subscription | undefined;
  let alarm: Subscription | undefined;
  const end = (value: T): void => {
    isOver = true;
    alarm?.unsubscribe();
    heard(value);
    listening?.unsubscribe();
  };
  listening = hear(source, by, {
    next: (value) => {
      if (!isOver) end(value);
    },
    complete: () => {
      if (!isOver) end(none());
    },
  });
  // Most sources in this process answer at once, and need no alarm.
  if (isOver) listening.unsubscribe();
  if (isOver || by.closed) return;
  alarm = scheduler.schedule(() => {
    listening.unsubscribe();
    guard(by, () => {
      end(late());
    });
  }, ms);
  by.add(alarm);
}

/** Two that are under way at the same time, of which the first brings something. */
export interface Both<T> {
  readonly brings: (value: T) => void;
  /** Called by each of the two. */
  readonly ends: () => void;
}

/** Goes on with what the first of two has brought, once both have ended. Stands for `forkJoin`. */
export function whenBoth<T>(then: (value: T) => void): Both<T> {
  let brought: { readonly value: T } | undefined;
  let open = 2;
  return {
    brings(value) {
      brought = { value };
    },
    ends() {
      open--;
      if (open > 0) return;
      invariant(brought !== undefined, 'who brings something does so before it ends');
      then(brought.value);
    },
  };
}
