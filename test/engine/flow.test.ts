import {
  EMPTY,
  NEVER,
  Observable,
  Subject,
  defaultIfEmpty,
  defer,
  expand,
  filter,
  forkJoin,
  last,
  map,
  merge,
  of,
  startWith,
  take,
  timeout,
} from 'rxjs';
import { isDeepStrictEqual } from 'node:util';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { RunHelpers } from 'rxjs/internal/testing/TestScheduler';
import { instant } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/clock.ts';
import { firstOf, firstWithin, lastState, looking, mapOr, once } from '../../src/engine/flow.ts';

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

describe('a stage written as one Observable does what its operators do', () => {
  it('mapOr is map and defaultIfEmpty', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES) {
        const known = cold(source).pipe(
          map((value) => `${value}!`),
          defaultIfEmpty('none'),
        );
        const own = mapOr(cold(source), { to: (value) => `${value}!`, otherwise: () => 'none' });
        expectObservable(own).toEqual(known);
      }
    });
    expect(found).toEqual([]);
  });

  it('once is forkJoin of two, of which the first counts', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const a of SOURCES.filter((source) => !['|', '--|'].includes(source)))
        for (const b of ['(x|)', '--x|', '----(x|)', '-#', '-']) {
          const known = forkJoin([cold(a), cold(b)]).pipe(map(([value]) => value));
          expectObservable(once<string>(cold(a), { and: cold(b) })).toEqual(known);
        }
    });
    expect(found).toEqual([]);
  });

  it('firstOf is merge and take(1)', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const a of SOURCES)
        for (const b of SOURCES) {
          const known = merge(cold(a), cold(b)).pipe(
            take(1),
            map((value) => `${value}!`),
          );
          expectObservable(firstOf([cold(a), cold(b)], (value) => `${value}!`)).toEqual(known);
        }
      expectObservable(firstOf<string, string>([], String)).toEqual(EMPTY);
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

  it('firstWithin is timeout, take(1) and defaultIfEmpty', () => {
    const found = differences(({ cold, expectObservable }, scheduler) => {
      for (const source of [...SOURCES, '9ms a|', '11ms a|', '10ms a|']) {
        const known = cold(source).pipe(
          timeout({ first: 10, scheduler, with: () => of('late') }),
          take(1),
          defaultIfEmpty('none'),
        );
        const own = firstWithin(cold(source), { ms: 10, scheduler, late: 'late', none: 'none' });
        expectObservable(own).toEqual(known);
      }
    });
    expect(found).toEqual([]);
  });

  it('lastState is expand and last', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const [one, two] of SOURCES.flatMap((a) => SOURCES.map((b) => [a, b] as const))) {
        const effect = (state: string): Observable<string> | undefined =>
          [cold(one), cold(two)][state.length];
        const known = of<string>('').pipe(
          expand((state) => (effect(state) ?? EMPTY).pipe(map((event) => state + event))),
          last(),
        );
        expectObservable(lastState<string, string>('', effect, (state, event) => state + event)).toEqual(
          known,
        );
      }
    });
    expect(found).toEqual([]);
  });
});

describe('a stage written as one Observable', () => {
  const failing = (): never => {
    throw new Error('a bug');
  };
  const stages: readonly (readonly [string, (source: Observable<unknown>) => Observable<unknown>])[] = [
    ['mapOr', (source) => mapOr(source, { to: failing, otherwise: failing })],
    ['looking', (source) => looking(source, throwingLater())],
    ['firstOf', (source) => firstOf([source], failing)],
    ['lastState', (source) => lastState<unknown, unknown>(0, () => source, failing)],
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

  it('closes an exchange before it says that no answer came', () => {
    const clock = new VirtualClock(instant(0));
    const said: string[] = [];
    const exchange = new Observable<string>(() => () => said.push('closed'));
    firstWithin(exchange, { ms: 5, scheduler: clock, late: 'lost', none: 'none' }).subscribe((answer) => {
      said.push(answer);
    });
    clock.run();
    expect(said).toEqual(['closed', 'lost']);
  });

  it('sets no alarm for an answer that is there at once', () => {
    const clock = new VirtualClock(instant(0));
    firstWithin(of('answer'), { ms: 5, scheduler: clock, late: 'lost', none: 'none' }).subscribe();
    expect(clock.pending).toBe(0);
    firstWithin(NEVER, { ms: 5, scheduler: clock, late: 'lost', none: 'none' }).subscribe();
    expect(clock.pending).toBe(1);
  });
});
