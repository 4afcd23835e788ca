import { Subject, finalize, mergeAll, mergeMap, of, range, take, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { andThen, mergeLists, mergeMapMaybe, toObservable } from '../../src/engine/maybe-async.ts';
import type { MaybeAsync } from '../../src/engine/maybe-async.ts';
import { SOURCES, differences } from './marbles.ts';

describe('mergeMapMaybe', () => {
  it('behaves like mergeMap for every concurrency limit', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES)
        for (const inner of SOURCES)
          for (const concurrent of [1, 2, undefined]) {
            const answer = (value: string): MaybeAsync<string> => (value === 'b' ? 'now' : cold(inner));
            const own = cold(source).pipe(mergeMapMaybe(answer, concurrent));
            const known = cold(source).pipe(mergeMap((value) => toObservable(answer(value)), concurrent));
            expectObservable(own).toEqual(known);
            expectObservable(own.pipe(take(1))).toEqual(known.pipe(take(1)));
          }
    });
    expect(found).toEqual([]);
  });

  it('turns an exception of the projection into an error of the stage', () => {
    const found = differences(({ cold, expectObservable }) => {
      const answer = (value: string): MaybeAsync<string> => {
        if (value === 'b') throw new Error('b is not known');
        return value;
      };
      expectObservable(cold('-a-b-a|').pipe(mergeMapMaybe(answer))).toBe(
        '-a-#',
        { a: 'a' },
        new Error('b is not known'),
      );
    });
    expect(found).toEqual([]);
  });

  it('delays a value that arrives while another is emitted', () => {
    const values = new Subject<number>();
    const order: string[] = [];
    values.pipe(mergeMapMaybe((value) => value, 1)).subscribe((value) => {
      order.push(`begin ${value}`);
      if (value === 1) values.next(2);
      order.push(`end ${value}`);
    });
    values.next(1);
    expect(order).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']);
  });

  it('tears down an answer before the next value starts', () => {
    const order: string[] = [];
    const later = new Subject<void>();
    of('a', 'b')
      .pipe(
        mergeMapMaybe((value) => {
          order.push(`start ${value}`);
          return later.pipe(
            take(1),
            finalize(() => order.push(`end ${value}`)),
          );
        }, 1),
      )
      .subscribe();
    later.next();
    later.next();
    expect(order).toEqual(['start a', 'end a', 'start b', 'end b']);
  });

  it('starts no value after its subscriber has unsubscribed', () => {
    const started: number[] = [];
    const first = new Subject<number>();
    const subscription = of(1, 2)
      .pipe(
        mergeMapMaybe((value) => {
          started.push(value);
          return first;
        }, 1),
      )
      .subscribe();
    subscription.unsubscribe();
    first.complete();
    expect(started).toEqual([1]);
  });

  it('calls no further projection in the tick in which its subscriber unsubscribes', () => {
    const asked: string[] = [];
    const left = new Subject<void>();
    const ask = (what: string) => (): MaybeAsync<string> => {
      asked.push(what);
      if (what === 'first') left.next();
      return of(what);
    };
    of('')
      .pipe(
        mergeMapMaybe(() => of('').pipe(mergeMapMaybe(ask('first')), mergeMapMaybe(ask('second')))),
        takeUntil(left),
      )
      .subscribe();
    expect(asked).toEqual(['first']);
  });

  it('does not grow the stack while 20,000 values wait', () => {
    const gate = new Subject<number>();
    let emitted = 0;
    range(0, 20_000)
      .pipe(
        mergeMapMaybe(
          (value): MaybeAsync<number> => (value === 0 ? gate : value % 2 === 0 ? of(value) : value),
          1,
        ),
      )
      .subscribe(() => emitted++);
    gate.complete();
    expect(emitted).toBe(19_999);
  });
});

describe('mergeLists', () => {
  it('behaves like mergeAll for lists, including errors and a subscriber that leaves within a list', () => {
    const found = differences(({ cold, expectObservable }) => {
      const lists: Record<string, readonly string[]> = { a: ['1', '2'], b: [], c: ['3'] };
      for (const marble of ['-a-b-c|', '-a-b-#', '-(abc)-'])
        for (const count of [1, 2, 9])
          expectObservable(cold(marble, lists).pipe(mergeLists(), take(count))).toEqual(
            cold(marble, lists).pipe(mergeAll(), take(count)),
          );
    });
    expect(found).toEqual([]);
  });
});

describe('andThen', () => {
  it('returns synchronously if both answers are known', () => {
    expect(andThen(1, (value) => value + 1)).toBe(2);
  });

  it('waits if either answer is asynchronous', () => {
    const found = differences(({ cold, expectObservable }) => {
      const slow = (value: string): Observable<string> => cold(`--${value}|`);
      const later = cold('-a|');
      expectObservable(toObservable(andThen('a', slow))).toBe('--a|');
      expectObservable(toObservable(andThen(later, (value) => value))).toBe('-a|');
      expectObservable(toObservable(andThen(later, slow))).toBe('---a|');
    });
    expect(found).toEqual([]);
  });
});
