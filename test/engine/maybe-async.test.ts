import {
  Subject,
  finalize,
  mergeAll,
  mergeMap,
  of,
  range,
  take,
  takeUntil,
  merge,
  observeOn,
  queueScheduler,
  NEVER,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/internal/testing/TestScheduler';
import { andThen, mergeLists, mergeMapMaybe, toObservable } from '../../src/engine/maybe-async.ts';
import type { MaybeAsync } from '../../src/engine/maybe-async.ts';
import { SerialQueue } from '../../src/engine/serial-queue.ts';
import type { ControlRecord } from '../../src/core/record.ts';
import { Desk } from '../../src/engine/desk.ts';
import { noObserver } from '../../src/engine/observer.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { backtestJournal } from '../../src/journal/backtest-journal.ts';
import { frozen } from '../journal/frozen.ts';
import { aBench, aPolicy } from './harness.ts';

/** Sources with values, ends and errors at every place that matters to a stage. */
const SOURCES = [
  'a',
  'ab|',
  '-a--b--|',
  '--a-#',
  '#',
  '|',
  '--|',
  '(a|)',
  '(ab|)',
  '(a#)',
  '---a---(b|)',
  '-',
];

/** Draws `run` in marbles, one frame a millisecond. */
function expectDrawn(run: (helpers: RunHelpers) => void): void {
  new TestScheduler((actual: unknown, expected: unknown) => {
    expect(actual).toEqual(expected);
  }).run(run);
}

describe('mergeMapMaybe', () => {
  it('behaves like mergeMap for every concurrency limit', () => {
    expectDrawn(({ cold, expectObservable }) => {
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
  });

  it('turns an exception of the projection into an error of the stage', () => {
    expectDrawn(({ cold, expectObservable }) => {
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
    expectDrawn(({ cold, expectObservable }) => {
      const lists: Record<string, readonly string[]> = { a: ['1', '2'], b: [], c: ['3'] };
      for (const marble of ['-a-b-c|', '-a-b-#', '-(abc)-'])
        for (const count of [1, 2, 9])
          expectObservable(cold(marble, lists).pipe(mergeLists(), take(count))).toEqual(
            cold(marble, lists).pipe(mergeAll(), take(count)),
          );
    });
  });
});

describe('andThen', () => {
  it('returns synchronously if both answers are known', () => {
    expect(andThen(1, (value) => value + 1)).toBe(2);
  });

  it('waits if either answer is asynchronous', () => {
    expectDrawn(({ cold, expectObservable }) => {
      const slow = (value: string): Observable<string> => cold(`--${value}|`);
      const later = cold('-a|');
      expectObservable(toObservable(andThen('a', slow))).toBe('--a|');
      expectObservable(toObservable(andThen(later, (value) => value))).toBe('-a|');
      expectObservable(toObservable(andThen(later, slow))).toBe('---a|');
    });
  });
});

describe('the serial queue', () => {
  it('behaves like observeOn(queueScheduler) for one source', () => {
    expectDrawn(({ cold, expectObservable }) => {
      for (const source of SOURCES.filter((one) => !one.includes('#'))) {
        const known = cold(source).pipe(observeOn(queueScheduler));
        expectObservable(cold(source).pipe(new SerialQueue().observe)).toEqual(known);
      }
    });
  });

  it('keeps the order of queueScheduler across several sources until it is unsubscribed', () => {
    const stories = [true, false].map((isOwn) => {
      const told: string[] = [];
      const turns = new SerialQueue();
      const inTurns = <T>(source: Observable<T>): Observable<T> =>
        isOwn ? source.pipe(turns.observe) : source.pipe(observeOn(queueScheduler));
      const [a, b] = [new Subject<number>(), new Subject<number>()];
      const both = merge(inTurns(a), inTurns(b).pipe(take(5))).subscribe((value) => {
        told.push(`in ${value}`);
        if (value < 30) {
          a.next(value + 10);
          b.next(value + 20);
        }
        if (value === 33) both.unsubscribe();
        told.push(`out ${value}`);
      });
      for (const value of [1, 2, 3, 4]) a.next(value);
      a.complete();
      return told;
    });
    expect(stories[0]).toContain('in 33');
    expect(stories[0]).not.toContain('in 4');
    expect(stories[0]).toEqual(stories[1]);
  });

  it('does not grow the stack with waiting values', () => {
    const source = new Subject<number>();
    const begun = new Subject<number>();
    let last = 0;
    merge(source.pipe(new SerialQueue().observe), begun).subscribe((value) => {
      last = value;
      if (value === 0) for (let i = 1; i <= 20_000; i++) source.next(i);
    });
    source.next(0);
    expect(last).toBe(20_000);
  });
});

const PAUSE: ControlRecord = { kind: 'control', state: 'paused', by: 'ann', why: 'a look' };

/** The same journal, synchronous and asynchronous. */
const journals: readonly (readonly [string, () => Journal])[] = [
  ['returns stored records', () => frozen(backtestJournal())],
  [
    'emits stored records',
    () => {
      const journal = frozen(backtestJournal());
      return {
        ...journal,
        append: (bodies, at) => of(bodies).pipe(mergeMap((all) => toObservable(journal.append(all, at)))),
      };
    },
  ],
];

interface Written {
  readonly desk: Desk;
  readonly events: readonly string[];
}

/** Runs a stage that writes a pause, then does `next`; it may be left as soon as the pause is part of the state. */
function written(
  journal: Journal,
  next: () => void,
  { isLeft = false }: { readonly isLeft?: boolean } = {},
): Written {
  const desk = new Desk({ ...aBench({ strategies: [] }).desk.ports, journal }, aPolicy(), noObserver, []);
  const events: string[] = [];
  of(PAUSE)
    .pipe(
      mergeMapMaybe((record) => desk.journal.write([record])),
      mergeMapMaybe((stored) => {
        events.push(`${desk.state.control} by ${stored.length}`);
        next();
        return undefined;
      }),
      takeUntil(isLeft ? desk.changed$ : NEVER),
    )
    .subscribe({
      error: (error: unknown) => events.push(String(error)),
      complete: () => events.push('complete'),
    });
  return { desk, events };
}

describe.each(journals)('a record that a desk writes to a journal that %s', (_, journalOf) => {
  it('is part of the state when the stage continues', () => {
    const { events } = written(journalOf(), () => undefined);
    expect(events).toEqual(['paused by 1', 'complete']);
  });

  it('causes an error of the stage if it cannot be stored, and does not change the state', () => {
    const journal = journalOf();
    journal.close();
    const { desk, events } = written(journal, () => undefined);
    expect(events).toEqual([expect.stringContaining('is closed')]);
    expect(desk.state.control).toBe('active');
  });

  it('is part of the state even if its stage has been unsubscribed by then', () => {
    const { desk, events } = written(journalOf(), () => undefined, { isLeft: true });
    expect(events).toEqual(['complete']);
    expect(desk.state.control).toBe('paused');
  });

  it('does not hide an error that the stage throws afterwards', () => {
    const { events } = written(journalOf(), () => {
      throw new Error('a bug');
    });
    expect(events).toEqual(['paused by 1', 'Error: a bug']);
  });
});
