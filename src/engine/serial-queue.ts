import { Observable } from 'rxjs';

/**
 * Runs nested notifications after the current one, in order, regardless of their source: no code is re-entered, and
 * an endless chain does not grow the stack. Equals `observeOn(queueScheduler)` with a separate queue.
 */
export class SerialQueue {
  readonly #waiting: (() => void)[] = [];
  #isBusy = false;

  /** An operator that delivers the notifications of its source one after another. */
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
