import { NEVER, ReplaySubject, defer, mergeMap, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Journal } from '../../src/journal/journal.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { VenuePort } from '../../src/engine/ports.ts';

/**
 * A process that can die: once it is dead nothing that it still computes reaches the journal or the venue. What it had
 * sent before may still arrive there.
 */
export class Life {
  isOver = false;
  readonly #onDeath: (() => void)[] = [];

  die(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const act of this.#onDeath) act();
  }

  /** Acts at death, or at once if the process is already dead. */
  onDeath(act: () => void): void {
    if (this.isOver) act();
    else this.#onDeath.push(act);
  }
}

export interface Death {
  /** At which append, counted from 1. */
  readonly at: number;
  /** Whether the records of that append became durable before the process died. */
  readonly records: 'lost' | 'durable';
}

/** The journal as a process sees it that dies at one of its appends. Counts appends in `counter`. */
export function mortalJournal(
  journal: Journal,
  life: Life,
  counter: { appends: number },
  death?: Death,
): Journal {
  return {
    ...journal,
    get isSpent() {
      return journal.isSpent;
    },
    append: (bodies, at) =>
      defer(() => {
        if (life.isOver) return NEVER;
        counter.appends++;
        if (death?.at !== counter.appends) return toObservable(journal.append(bodies, at));
        if (death.records === 'lost') {
          life.die();
          return NEVER;
        }
        // Durable, but the process dies before it learns that.
        return toObservable(journal.append(bodies, at)).pipe(
          tap(() => {
            life.die();
          }),
          mergeMap(() => NEVER),
        );
      }),
  };
}

/**
 * The venue as a mortal process reaches it: a request that has left either arrives although the process does not live
 * to see the answer, or is lost on its way.
 */
export function mortalVenue(venue: VenuePort, life: Life, inFlight: 'arrives' | 'lost'): VenuePort {
  const sent = <T>(call: Observable<T>): Observable<T> =>
    defer(() => {
      if (life.isOver) return NEVER;
      if (inFlight === 'lost') return call;
      const answers = new ReplaySubject<T>();
      call.subscribe(answers);
      return answers;
    });
  return {
    ...venue,
    quote: (request) => sent(toObservable(venue.quote(request))),
    order: (request) => sent(toObservable(venue.order(request))),
    transactions: (query) => sent(venue.transactions(query)),
  };
}
