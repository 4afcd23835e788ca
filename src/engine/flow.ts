import { Observable, Subscription } from 'rxjs';
import type { OperatorFunction, Subscriber, TeardownLogic } from 'rxjs';

/**
 * Observables that would each be a handful of operators, written as one: what is traded passes through them many times, and
 * every operator costs a subscription.
 */

/** Who listens, as far as what is written by hand looks at it: the subscriber of a stage, or a part of it. */
export type Listening = Pick<Subscriber<never>, 'closed' | 'add' | 'error'>;

export interface Heard<T> {
  next(value: T): void;
  complete(): void;
}

/** Does `work` for an Observable written by hand: what it throws is an error of it, as with operators. */
export function guard(by: Listening, work: () => void): void {
  try {
    work();
  } catch (error) {
    by.error(error);
  }
}

/** Listens to `source` for an Observable written by hand, under the same guard. */
export function hear<T>(source: Observable<T>, by: Listening, heard: Heard<T>): Subscription {
  const listening = source.subscribe({
    next: (value) => {
      try {
        heard.next(value);
      } catch (error) {
        by.error(error);
      }
    },
    error: (error: unknown) => {
      by.error(error);
    },
    complete: () => {
      try {
        heard.complete();
      } catch (error) {
        by.error(error);
      }
    },
  });
  by.add(listening);
  return listening;
}

/** Does what has to be done for a value, and calls `done` once, now or later, with what came of it, if anything. */
export type Work<T, R> = (value: T, by: Subscriber<R>, done: (result?: R) => void) => void;

/**
 * Does `work` for each value; `by` is who listens to whatever that waits for. At most `concurrent` values are on their way at
 * a time; later ones wait for their turn. Stands for `mergeMap`, and with one at a time for `concatMap`.
 */
export function soon<T, R>(work: Work<T, R>, concurrent = Number.POSITIVE_INFINITY): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting: (() => void)[] = [];
      let active = 0;
      let isLast = false;
      let isGoingOn = false;
      const canBegin = (): boolean => active < concurrent && waiting.length > 0 && !subscriber.closed;
      const done = (result?: R): void => {
        if (result !== undefined) subscriber.next(result);
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
        work(value, subscriber, done);
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

/** For work that waits: passes on what `source` emits. It is done once that has ended, and torn down what it held. */
export function passOn<R>(source: Observable<R>, by: Subscriber<R>, done: () => void): void {
  let isOver = false;
  const next = (value: R): void => {
    by.next(value);
  };
  const complete = (): void => {
    isOver = true;
  };
  hear(source, by, { next, complete }).add(() => {
    if (isOver) guard(by, done);
  });
}

/** What is armed for a value until the same value comes again. */
export class Arming<R> implements Listening {
  closed = false;
  #held: Subscription | undefined;
  readonly #out: Subscriber<R>;
  readonly #onEnd: () => void;

  constructor(out: Subscriber<R>, onEnd: () => void) {
    this.#out = out;
    this.#onEnd = onEnd;
  }

  /** Lets something out. */
  tell(made: R): void {
    if (!this.closed) this.#out.next(made);
  }

  /** Nothing comes of it any more. */
  end(): void {
    if (this.closed) return;
    this.leave();
    this.#onEnd();
  }

  leave(): void {
    this.closed = true;
    this.#held?.unsubscribe();
  }

  add(teardown: TeardownLogic): void {
    // What comes too late is torn down at once.
    if (this.closed) Subscription.EMPTY.add(teardown);
    else (this.#held ??= new Subscription()).add(teardown);
  }

  error(error: unknown): void {
    // Who was left is told nothing any more: what it had asked for may still fail.
    if (!this.closed) this.#out.error(error);
  }
}

/** Arms each value; what was armed before for the same value is left then. Stands for `groupBy`, `mergeMap` and `switchMap`. */
export function newestOf<T, R>(arm: (value: T, arming: Arming<R>) => void): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      // One that is over stays until its value comes again: a map from which much is taken is made anew all the time.
      const newest = new Map<T, Arming<R>>();
      let active = 0;
      let isLast = false;
      const onEnd = (): void => {
        active--;
        if (isLast && active === 0) subscriber.complete();
      };
      subscriber.add(() => {
        const all = new Subscription();
        // One that cannot be left keeps no other.
        for (const arming of newest.values())
          all.add(() => {
            arming.leave();
          });
        all.unsubscribe();
      });
      hear(source, subscriber, {
        next: (value) => {
          if (subscriber.closed) return;
          const before = newest.get(value);
          if (before?.closed === false) before.leave();
          else active++;
          const arming = new Arming(subscriber, onEnd);
          newest.set(value, arming);
          arm(value, arming);
        },
        complete: () => {
          isLast = true;
          if (active === 0) subscriber.complete();
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
    if (this.#isBusy) {
      this.#waiting.push(work);
      return;
    }
    this.#isBusy = true;
    try {
      work();
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next();
    } finally {
      this.#isBusy = false;
      if (this.#waiting.length > 0) this.#waiting.length = 0;
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
    if (subscriber.closed) return;
    hear(changes, subscriber, {
      next,
      complete: () => {
        subscriber.complete();
      },
    });
  });
}
