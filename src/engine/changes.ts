import { Observable } from 'rxjs';
import { guard } from './flow.ts';
import type { Listening } from './flow.ts';

interface Listener {
  readonly by: Listening;
  readonly tell: () => void;
}

/** So many are remembered before anybody looks who of them is gone; twice as many as there are, where that is more. */
const LOOK_FROM = 16;

/**
 * Says that something may have changed, to everybody who listened before that, in the order in which they began to. It is
 * what a Subject would be; whoever listens by a callback needs no subscription of its own for it.
 */
export class Changes extends Observable<void> {
  #listeners: Listener[] = [];
  #under = 0;
  #lookAt = LOOK_FROM;

  constructor() {
    super((subscriber) => {
      this.listen(subscriber, () => {
        subscriber.next();
      });
    });
  }

  next(): void {
    const listeners = this.#listeners;
    // Whoever comes meanwhile hears of the next one.
    const { length } = listeners;
    let isAnyGone = false;
    this.#under++;
    try {
      for (let i = 0; i < length; i++) {
        const one = listeners[i];
        if (one === undefined || one.by.closed) isAnyGone = true;
        else guard(one.by, one.tell);
      }
    } finally {
      this.#under--;
    }
    if (isAnyGone) this.#forget();
  }

  /** Tells of every change until `by` is gone. What it throws is an error of `by`. */
  listen(by: Listening, tell: () => void): void {
    if (this.#listeners.length >= this.#lookAt) this.#forget();
    this.#listeners.push({ by, tell });
  }

  /** Does `work` at every change. Never emits. */
  each(work: () => void): Observable<never> {
    return new Observable<never>((by) => {
      this.listen(by, work);
    });
  }

  /** Emits at every change after which `isSo` holds. Stands for `filter`. */
  when(isSo: () => boolean): Observable<void> {
    return new Observable<void>((by) => {
      this.listen(by, () => {
        if (isSo()) by.next();
      });
    });
  }

  /** What `look` sees: now, and whenever it sees something else. Stands for `startWith`, `map` and `distinctUntilChanged`. */
  seen<T>(look: () => T): Observable<T> {
    return new Observable<T>((by) => {
      let known = look();
      by.next(known);
      this.listen(by, () => {
        const now = look();
        if (now === known) return;
        known = now;
        by.next(now);
      });
    });
  }

  /** How many are remembered, some of whom may be gone. */
  get remembered(): number {
    return this.#listeners.length;
  }

  /** Not while anybody is told: the places of the others stay what they are. */
  #forget(): void {
    if (this.#under > 0) return;
    this.#listeners = this.#listeners.filter(({ by }) => !by.closed);
    this.#lookAt = Math.max(LOOK_FROM, 2 * this.#listeners.length);
  }
}
