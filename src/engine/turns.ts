import { Observable } from 'rxjs';

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
    new Observable((subscriber) =>
      source.subscribe({
        next: (value) => {
          this.#take(() => {
            subscriber.next(value);
          });
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
        complete: () => {
          this.#take(() => {
            subscriber.complete();
          });
        },
      }),
    );

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
