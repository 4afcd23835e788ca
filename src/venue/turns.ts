import { concatMap, map, Observable, of, range, reduce } from 'rxjs';
import type { OperatorFunction } from 'rxjs';

/** Runs a function soon, in the order of the calls. */
export type Turns = (run: () => void) => void;

/**
 * Runs each function in its own turn of the event loop, after all input that had arrived by then. A commit and an order
 * follow the response to a quote request. If many responses that arrive together were processed one after another, a
 * signal or a command that arrived with them would wait until after their last order.
 */
export function turnByTurn(): Turns {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    const run = waiting.shift();
    // `setImmediate` inside an immediate runs one turn later.
    if (waiting.length > 0) setImmediate(next);
    run?.();
  };
  return (run) => {
    waiting.push(run);
    if (waiting.length === 1) setImmediate(next);
  };
}

/** Runs immediately, for virtual time, in which no other input can arrive. */
export const atOnce: Turns = (run) => {
  run();
};

/** Number of rows that are read in one turn. */
const ROWS = 100;

/** Reads the rows of a list, some in each turn: those of a page of a thousand would delay an order. */
export const inParts = <A, B>(
  turns: Turns,
  read: (row: A) => B,
): OperatorFunction<readonly A[], readonly B[]> =>
  concatMap((rows) =>
    range(0, Math.ceil(rows.length / ROWS)).pipe(
      concatMap((part) =>
        part === 0
          ? of(part)
          : new Observable<number>((subscriber) => {
              turns(() => {
                subscriber.next(part);
                subscriber.complete();
              });
            }),
      ),
      map((part) => rows.slice(part * ROWS, (part + 1) * ROWS).map((row) => read(row))),
      reduce((all: readonly B[], part) => [...all, ...part], []),
    ),
  );
