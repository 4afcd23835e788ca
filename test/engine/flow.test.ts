import {
  NEVER,
  Observable,
  Subject,
  concatMap,
  defer,
  filter,
  finalize,
  groupBy,
  map,
  merge,
  mergeMap,
  observeOn,
  of,
  queueScheduler,
  startWith,
  switchMap,
  take,
} from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { isDeepStrictEqual } from 'node:util';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { RunHelpers } from 'rxjs/internal/testing/TestScheduler';
import { hear, looking, newestOf, passOn, soon, Turns } from '../../src/engine/flow.ts';
import type { Arming, Work } from '../../src/engine/flow.ts';

type Run = (helpers: RunHelpers, scheduler: TestScheduler) => void;

/** What was not as expected, drawn in frames. */
function differences(run: Run): readonly unknown[] {
  const found: unknown[] = [];
  const scheduler = new TestScheduler((actual: unknown, expected: unknown) => {
    if (!isDeepStrictEqual(actual, expected)) found.push({ actual, expected });
  });
  scheduler.run((helpers) => {
    run(helpers, scheduler);
  });
  return found;
}

/** The work of a stage: a value that is there at once is passed on by `done`, whatever waits as it comes. */
const workOf =
  <T, R extends string | number>(made: (value: T) => R | Observable<R>): Work<T, R> =>
  (value, by, done) => {
    const one = made(value);
    if (one instanceof Observable) passOn(one, by, done);
    else done(one);
  };

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

/** Arms what an Observable emits. */
const armed =
  <T, R>(to: (value: T) => Observable<R>) =>
  (value: T, arming: Arming<R>): void => {
    const next = (made: R): void => {
      arming.tell(made);
    };
    const complete = (): void => {
      arming.end();
    };
    hear(to(value), arming, { next, complete });
  };

describe('a stage written as one Observable does what its operators do', () => {
  it('soon is mergeMap, also where fewer may be on their way than there are', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES)
        for (const inner of SOURCES)
          for (const most of [1, 2, undefined]) {
            // What one of them makes of its value is there at once.
            const made = (value: string): string | Observable<string> =>
              value === 'b' ? 'now' : cold(inner);
            const known = cold(source).pipe(
              mergeMap((value) => {
                const one = made(value);
                return typeof one === 'string' ? of(one) : one;
              }, most),
            );
            expectObservable(cold(source).pipe(soon(workOf(made), most))).toEqual(known);
            expectObservable(cold(source).pipe(soon(workOf(made), most), take(1))).toEqual(
              known.pipe(take(1)),
            );
          }
    });
    expect(found).toEqual([]);
  });

  it('soon with one at a time is concatMap of at most one value', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES)
        for (const inner of ['|', '--|', '#', '--#', '(x|)', '--(x|)', '-'])
          for (const isNow of [true, false]) {
            const isThere = (value: string): boolean => isNow && value === 'b';
            const known = cold(source).pipe(concatMap((value) => (isThere(value) ? of('now') : cold(inner))));
            const own = cold(source).pipe(
              soon<string, string>((value, by, done) => {
                if (isThere(value)) {
                  done('now');
                  return;
                }
                let last: string | undefined;
                hear(cold(inner), by, {
                  next: (one) => {
                    last = one;
                  },
                  complete: () => {
                    done(last);
                  },
                });
              }, 1),
            );
            expectObservable(own).toEqual(known);
          }
    });
    expect(found).toEqual([]);
  });

  it('soon is mergeMap also for work that tells its subscriber by itself', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES)
        for (const inner of SOURCES)
          for (const isNow of [true, false]) {
            const isThere = (value: string): boolean => isNow && value === 'b';
            const known = cold(source).pipe(mergeMap((value) => (isThere(value) ? of('now') : cold(inner))));
            const own = cold(source).pipe(
              soon<string, string>((value, by, done) => {
                if (!isThere(value)) {
                  const next = (one: string): void => {
                    by.next(one);
                  };
                  hear<string>(cold(inner), by, { next, complete: done });
                  return;
                }
                by.next('now');
                done();
              }),
            );
            expectObservable(own).toEqual(known);
            expectObservable(own.pipe(take(1))).toEqual(known.pipe(take(1)));
          }
    });
    expect(found).toEqual([]);
  });

  it('newestOf is groupBy, mergeMap and switchMap', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of ['-a-b-a--b-|', '(aba)-b-|', ...SOURCES])
        for (const inner of ['(x|)', '-x-y-|', '--x', '-#', '|', '-'])
          for (const other of ['--z|', '(z|)']) {
            const to = (value: string): Observable<string> => cold(value === 'a' ? inner : other);
            const known = cold(source).pipe(
              groupBy((value) => value),
              mergeMap((group) => group.pipe(switchMap(to))),
            );
            expectObservable(cold(source).pipe(newestOf(armed(to)))).toEqual(known);
          }
    });
    expect(found).toEqual([]);
  });

  it('one of Turns is observeOn(queueScheduler)', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES.filter((one) => !one.includes('#'))) {
        const known = cold(source).pipe(observeOn(queueScheduler));
        expectObservable(cold(source).pipe(new Turns().observe)).toEqual(known);
      }
    });
    expect(found).toEqual([]);
  });

  it('looking is startWith, map and filter', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES) {
        const counter = (): (() => number | undefined) => {
          let n = 0;
          return () => (n++ % 2 === 0 ? n : undefined);
        };
        const known: Observable<number> = defer(() => {
          const look = counter();
          return cold(source).pipe(
            startWith(''),
            map(look),
            filter((one) => one !== undefined),
          );
        });
        expectObservable(defer(() => looking(cold(source), counter()))).toEqual(known);
      }
    });
    expect(found).toEqual([]);
  });
});

/** What happens in which order when each value that comes out puts another one in, and some take their time. */
function story(stage: OperatorFunction<number, number>, source: Subject<number>, told: string[]): void {
  source.pipe(stage).subscribe({
    next(value) {
      told.push(`out ${value}`);
      if (value < 40) source.next(value + 10);
      told.push(`after ${value}`);
    },
    error: (error: unknown) => told.push(String(error)),
    complete: () => told.push('complete'),
  });
  for (const value of [1, 2, 3, 4]) source.next(value);
  source.complete();
}

describe('a stage that is entered again by what it has let out', () => {
  const slowly = (value: number, told: string[], later: Subject<void>): Observable<number> =>
    later.pipe(
      take(1),
      map(() => value),
      finalize(() => told.push(`torn down ${value}`)),
    );

  it.each([1, 2, undefined])('goes on in the order of mergeMap, %s at a time', (most) => {
    const stories = [true, false].map((isOwn) => {
      const told: string[] = [];
      const later = new Subject<void>();
      const made = (value: number): number | Observable<number> => {
        told.push(`in ${value}`);
        return value % 2 === 0 ? slowly(value, told, later) : value;
      };
      const known = mergeMap((value: number) => {
        const one = made(value);
        return typeof one === 'number' ? of(one) : one;
      }, most);
      story(isOwn ? soon(workOf(made), most) : known, new Subject<number>(), told);
      for (let i = 0; i < 10; i++) later.next();
      return told;
    });
    expect(stories[0]).toContain('complete');
    expect(stories[0]).toEqual(stories[1]);
  });

  it('lets nobody overtake those that wait while the next of them begins', () => {
    const orders = [true, false].map((isOwn) => {
      const source = new Subject<string>();
      const ends = new Map([
        ['a', new Subject<string>()],
        ['b', new Subject<string>()],
        ['first', of('at once')],
      ]);
      const began: string[] = [];
      const made = (value: string): Observable<string> => {
        began.push(value);
        return ends.get(value) ?? NEVER;
      };
      const operator = isOwn ? soon(workOf(made), 2) : mergeMap(made, 2);
      source.pipe(operator).subscribe(() => {
        const b = ends.get('b');
        if (b instanceof Subject) b.complete();
        source.next('new');
      });
      for (const value of ['a', 'b', 'first', 'second', 'third']) source.next(value);
      const a = ends.get('a');
      if (a instanceof Subject) a.complete();
      return began;
    });
    expect(orders[0]).toEqual(['a', 'b', 'first', 'second', 'third']);
    expect(orders[0]).toEqual(orders[1]);
  });

  it('goes on in the order of concatMap', () => {
    const stories = [true, false].map((isOwn) => {
      const told: string[] = [];
      const later = new Subject<void>();
      const slow = (value: number): Observable<number> => slowly(value, told, later);
      const own = soon<number, number>((value, by, done) => {
        told.push(`in ${value}`);
        if (value % 2 !== 0) done(value);
        else hear(slow(value), by, { next: done, complete: () => undefined });
      }, 1);
      const known = concatMap((value: number) => {
        told.push(`in ${value}`);
        return value % 2 === 0 ? slow(value) : of(value);
      });
      story(isOwn ? own : known, new Subject<number>(), told);
      for (let i = 0; i < 10; i++) later.next();
      return told.filter((one) => !one.startsWith('torn down'));
    });
    expect(stories[0]).toContain('complete');
    expect(stories[0]).toEqual(stories[1]);
  });

  it('goes on in the order of queueScheduler, from however many sources, until nobody listens', () => {
    const stories = [true, false].map((isOwn) => {
      const told: string[] = [];
      const turns = new Turns();
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

  it.each([
    [
      'soon',
      soon<number, number>((value, _, done) => {
        done(value);
      }, 1),
    ],
    ['a turn', new Turns().observe<number>],
  ] as const)('%s does not grow the stack with what waits', (_, stage) => {
    const source = new Subject<number>();
    const begun = new Subject<number>();
    let last = 0;
    merge(source.pipe(stage), begun).subscribe((value) => {
      last = value;
      if (value === 0) for (let i = 1; i <= 20_000; i++) source.next(i);
    });
    source.next(0);
    expect(last).toBe(20_000);
  });
});

describe('a stage written as one Observable', () => {
  const failing = (): never => {
    throw new Error('a bug');
  };
  const stages: readonly (readonly [string, (source: Observable<unknown>) => Observable<unknown>])[] = [
    ['soon', (source) => source.pipe(soon(failing))],
    ['soon, one at a time', (source) => source.pipe(soon(failing, 1))],
    ['looking', (source) => looking(source, throwingLater())],
    ['newestOf', (source) => source.pipe(newestOf(failing))],
  ];
  /** Finds nothing the first time, so that it is the change that throws. */
  function throwingLater(): () => undefined {
    let looks = 0;
    return () => (looks++ === 0 ? undefined : failing());
  }

  it.each(stages)('%s passes on what is thrown while a value goes through it', (_, stage) => {
    const source = new Subject<unknown>();
    const errors: unknown[] = [];
    stage(source).subscribe({ error: (error: unknown) => errors.push(error) });
    source.next(1);
    expect(errors).toEqual([new Error('a bug')]);
    expect(source.observed).toBe(false);
  });

  it.each(stages)('%s leaves its source when nobody listens any more', (_, stage) => {
    const source = new Subject<unknown>();
    const listening = stage(source).subscribe();
    expect(source.observed).toBe(true);
    listening.unsubscribe();
    expect(source.observed).toBe(false);
  });
});
