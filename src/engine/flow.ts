import { Observable } from 'rxjs';
import type { SchedulerLike, Subscriber, Subscription } from 'rxjs';

/**
 * Observables that would each be a handful of operators, written as one: what is traded passes through them many times, and
 * every operator costs a subscription.
 */

interface Heard<T> {
  readonly next: (value: T) => void;
  /** Left out: the end of `source` is that of who hears it. */
  readonly complete?: (() => void) | undefined;
}

/** Listens to `source` for an Observable written by hand: what a callback throws is an error of it, as with operators. */
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
      else
        try {
          complete();
        } catch (error) {
          by.error(error);
        }
    },
  });
  by.add(heard);
  return heard;
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

/** The last value of `wanted`, once `other` is complete as well. Empty when `wanted` is. */
export function once<T>(
  wanted: Observable<T>,
  { and }: { readonly and: Observable<unknown> },
): Observable<T> {
  return new Observable<T>((subscriber) => {
    let last: { readonly value: T } | undefined;
    let open = 2;
    const complete = (): void => {
      open--;
      if (open > 0) return;
      if (last !== undefined) subscriber.next(last.value);
      subscriber.complete();
    };
    hear(wanted, subscriber, {
      next: (value) => {
        last = { value };
      },
      complete,
    });
    if (!subscriber.closed) hear(and, subscriber, { next: () => undefined, complete });
  });
}

/** What `to` makes of each value; what `otherwise` says when there is none. */
export function mapOr<T, R>(
  source: Observable<T>,
  { to, otherwise }: { readonly to: (value: T) => R; readonly otherwise: () => R },
): Observable<R> {
  return new Observable<R>((subscriber) => {
    let isEmpty = true;
    hear(source, subscriber, {
      next: (value) => {
        isEmpty = false;
        subscriber.next(to(value));
      },
      complete: () => {
        if (isEmpty) subscriber.next(otherwise());
        subscriber.complete();
      },
    });
  });
}

/**
 * A machine that is moved by what its states do: `effect` emits events, each leads to the next state, whose effect begins
 * in the same tick. Emits the state that came last once no effect is under way.
 */
export function lastState<State, Event>(
  begin: State,
  effect: (state: State) => Observable<Event> | undefined,
  follow: (state: State, event: Event) => State,
): Observable<State> {
  return new Observable<State>((subscriber) => {
    let last = begin;
    let active = 0;
    const enter = (state: State): void => {
      last = state;
      const events = effect(state);
      if (events === undefined) return; // the effect that led here is still under way
      active++;
      hear(events, subscriber, {
        next: (event) => {
          enter(follow(state, event));
        },
        complete: () => {
          active--;
          if (active > 0) return;
          subscriber.next(last);
          subscriber.complete();
        },
      });
    };
    enter(begin);
  });
}

/** The first value of any of these, as `to` makes it; whoever else is listened to is left then. */
export function firstOf<T, R>(sources: readonly Observable<T>[], to: (value: T) => R): Observable<R> {
  return new Observable<R>((subscriber) => {
    let open = sources.length;
    let isFound = false;
    const heard: Heard<T> = {
      next: (value) => {
        if (isFound) return;
        isFound = true;
        subscriber.next(to(value));
        subscriber.complete();
      },
      complete: () => {
        open--;
        if (open === 0) subscriber.complete();
      },
    };
    for (const source of sources) if (!subscriber.closed) hear(source, subscriber, heard);
    if (sources.length === 0) subscriber.complete();
  });
}

/** The first value within `ms`. A source that takes longer is left before `late` is emitted instead, as is one that has none. */
export function firstWithin<T>(
  source: Observable<T>,
  {
    ms,
    scheduler,
    late,
    none,
  }: { readonly ms: number; readonly scheduler: SchedulerLike; readonly late: T; readonly none: T },
): Observable<T> {
  return new Observable<T>((subscriber) => {
    const end = (value: T): void => {
      subscriber.next(value);
      subscriber.complete();
    };
    const heard = hear(source, subscriber, {
      next: end,
      complete: () => {
        end(none);
      },
    });
    // Most sources in this process answer at once, and need no alarm.
    if (subscriber.closed) return;
    const alarm = scheduler.schedule(() => {
      heard.unsubscribe();
      end(late);
    }, ms);
    subscriber.add(alarm);
  });
}
