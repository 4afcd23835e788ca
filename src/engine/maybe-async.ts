import { Observable, Subscriber, of } from 'rxjs';
import type { Observer, OperatorFunction } from 'rxjs';

/** An answer: a plain value if it is known at once, an Observable if it takes time. */
export type MaybeAsync<T> = T | Observable<T>;

export const isAsync = <T>(answer: MaybeAsync<T>): answer is Observable<T> => answer instanceof Observable;

export const toObservable = <T>(answer: MaybeAsync<T>): Observable<T> =>
  isAsync(answer) ? answer : of(answer);

/** Passes the answer to `project`: immediately if it is known, otherwise when it arrives. */
export const andThen = <T, R>(answer: MaybeAsync<T>, project: (value: T) => MaybeAsync<R>): MaybeAsync<R> =>
  isAsync(answer) ? answer.pipe(mergeMapMaybe(project)) : project(answer);

/**
 * RxJS' `mergeMap` for a `project` that returns a `MaybeAsync`: emits a value as it is, and subscribes only to an Observable. An
 * error that `project` throws is an error of the stage. Values that wait for `concurrent` start in a loop, so that the stack does
 * not grow while answers come immediately.
 */
export function mergeMapMaybe<T, R>(
  project: (value: T) => MaybeAsync<R>,
  concurrent = Number.POSITIVE_INFINITY,
): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      const waiting: (() => void)[] = [];
      let active = 0;
      let isSourceComplete = false;
      let isStarting = false;
      const canStart = (): boolean => active < concurrent && waiting.length > 0 && !subscriber.closed;
      const next = (value: R): void => {
        subscriber.next(value);
      };
      const error = (reason: unknown): void => {
        subscriber.error(reason);
      };
      const finish = (): void => {
        active--;
        if (isStarting) return;
        isStarting = true;
        while (canStart()) waiting.shift()?.();
        isStarting = false;
        if (isSourceComplete && active === 0) subscriber.complete();
      };
      const start = (value: T): void => {
        active++;
        let answer: MaybeAsync<R>;
        try {
          answer = project(value);
        } catch (reason) {
          error(reason);
          return;
        }
        if (!isAsync(answer)) {
          next(answer);
          finish();
          return;
        }
        // The write or request behind the answer may have ended the stage; then nothing follows.
        if (subscriber.closed) return;
        let isComplete = false;
        const complete = (): void => {
          isComplete = true;
        };
        const inner = linkedTo<R>(subscriber, { next, error, complete });
        answer.subscribe(inner);
        // Added last: as in `mergeMap`, the resources of `answer` are released before the next value starts.
        inner.add(() => {
          if (isComplete) finish();
        });
      };
      const outer = linkedTo<T>(subscriber, {
        next: (value) => {
          if (active < concurrent && waiting.length === 0) start(value);
          else
            waiting.push(() => {
              start(value);
            });
        },
        error,
        complete: () => {
          isSourceComplete = true;
          if (active === 0) subscriber.complete();
        },
      });
      source.subscribe(outer);
    });
}

/** RxJS' `mergeAll` for lists: emits their members, and subscribes to none of them. */
export const mergeLists =
  <T>(): OperatorFunction<readonly T[], T> =>
  (lists$) =>
    new Observable((subscriber) => {
      const lists = linkedTo<readonly T[]>(subscriber, {
        next: (list) => {
          for (const member of list) subscriber.next(member);
        },
        error: (reason) => {
          subscriber.error(reason);
        },
        complete: () => {
          subscriber.complete();
        },
      });
      lists$.subscribe(lists);
    });

/**
 * A subscriber that closes together with `destination`, even while subscribing, because no synchronous result may continue
 * after the stage has ended.
 */
function linkedTo<T>(destination: Subscriber<never>, observer: Observer<T>): Subscriber<T> {
  // oxlint-disable-next-line typescript/no-deprecated -- RxJS 7 exports nothing else for it; in RxJS 8 it is `operate`
  const subscriber = new Subscriber<T>(observer);
  destination.add(subscriber);
  return subscriber;
}
