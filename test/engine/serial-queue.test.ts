import { isDeepStrictEqual } from 'node:util';
import { Subject, merge, observeOn, queueScheduler, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/internal/testing/TestScheduler';
import { describe, expect, it } from 'vitest';
import { SerialQueue } from '../../src/engine/serial-queue.ts';

type Run = (helpers: RunHelpers, scheduler: TestScheduler) => void;

/** Differences from the expectations, in frames. */
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

describe('the serial queue', () => {
  it('behaves like observeOn(queueScheduler) for one source', () => {
    const found = differences(({ cold, expectObservable }) => {
      for (const source of SOURCES.filter((one) => !one.includes('#'))) {
        const known = cold(source).pipe(observeOn(queueScheduler));
        expectObservable(cold(source).pipe(new SerialQueue().observe)).toEqual(known);
      }
    });
    expect(found).toEqual([]);
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
