import { map, of, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { whileWriting as writing } from '../../src/engine/attempt/send-order.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';
import type { MaybeAsync } from '../../src/engine/maybe-async.ts';
import { differences } from './marbles.ts';

const whileWriting = <T>(request: MaybeAsync<T>, write: () => MaybeAsync<unknown>): Observable<T> =>
  toObservable(writing(request, write));

describe('a request whose record is written while it is in flight', () => {
  it('emits its answer once it has arrived and the record is durable, whichever takes longer', () => {
    const found = differences(({ cold, expectObservable }) => {
      expectObservable(whileWriting(cold('---a|'), () => undefined)).toBe('----(a|)');
      expectObservable(whileWriting(cold('---a|'), () => cold('-w|'))).toBe('----(a|)');
      expectObservable(whileWriting(cold('-a|'), () => cold('-----w|'))).toBe('------(a|)');
      expectObservable(whileWriting(of('a'), () => 'written')).toBe('(a|)');
      expectObservable(whileWriting('a', () => cold('---w|'))).toBe('---a|');
      expect(writing('a', () => 'written')).toBe('a');
    });
    expect(found).toEqual([]);
  });

  it('is sent before its record is written, and is cancelled when it is unsubscribed', () => {
    const found = differences(({ cold, expectObservable, expectSubscriptions }) => {
      const left = cold('-----a|');
      expectObservable(
        whileWriting(left, () => cold('---w|')),
        '--^--!',
      ).toBe('--');
      expectSubscriptions(left.subscriptions).toBe('--^--!');
      const answered = cold('-----a|');
      let isUnderWay = false;
      const answer = whileWriting(answered, () => {
        isUnderWay = answered.subscriptions.length === 1;
        return cold('---w|');
      });
      expectObservable(answer.pipe(map(() => isUnderWay))).toBe('------(a|)', { a: true });
    });
    expect(found).toEqual([]);
  });

  it('fails if the record cannot be written, or if either ends without an answer', () => {
    const found = differences(({ cold, expectObservable }) => {
      expectObservable(whileWriting(cold('---a|'), () => cold('-#'))).toBe('-#');
      expectObservable(
        whileWriting(cold('---a|'), () => {
          throw new Error('the disk is full');
        }),
      ).toBe('#', undefined, new Error('the disk is full'));
      const empty = new Error('invariant broken: a request or a write ended without an answer');
      expectObservable(whileWriting(cold('---|'), () => undefined)).toBe('---#', undefined, empty);
      expectObservable(whileWriting(of('a').pipe(toArray()), () => cold('-|'))).toBe('-#', undefined, empty);
    });
    expect(found).toEqual([]);
  });
});
