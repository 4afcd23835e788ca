import { Subject, merge, observeOn, queueScheduler, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { SerialQueue } from '../../src/engine/serial-queue.ts';
import { SOURCES, differences } from './marbles.ts';

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
