import { Observable, Subject, distinctUntilChanged, filter, map, startWith, take } from 'rxjs';
import type { Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Changes } from '../../src/engine/changes.ts';

/** What is told in which order when listeners come, go and cause changes while others are told. */
function story(changed$: Subject<void> | Changes): readonly string[] {
  const told: string[] = [];
  const listening = new Map<string, Subscription>();
  let left = 6;
  const listen = (name: string, work: () => void = () => undefined): void => {
    const tell = (): void => {
      told.push(`${name} begins`);
      work();
      told.push(`${name} ends`);
    };
    const heard =
      changed$ instanceof Changes
        ? new Observable((by) => {
            changed$.listen(by, tell);
          }).subscribe()
        : changed$.subscribe(tell);
    listening.set(name, heard);
  };
  listen('first');
  listen('again', () => {
    if (left-- > 0) changed$.next();
  });
  listen('leaves the next one', () => {
    listening.get('next')?.unsubscribe();
  });
  listen('next');
  listen('leaves the first', () => {
    listening.get('first')?.unsubscribe();
  });
  listen('brings another', () => {
    listen(`another ${left}`);
  });
  listen('leaves itself', () => {
    listening.get('leaves itself')?.unsubscribe();
  });
  for (let i = 0; i < 3; i++) changed$.next();
  return told;
}

describe('changes', () => {
  it('are told in the order of a Subject, whoever comes, goes or causes another one meanwhile', () => {
    const stories = [story(new Changes()), story(new Subject<void>())];
    expect(stories[0]).toContain('another -1 ends');
    expect(stories[0]).toEqual(stories[1]);
  });

  it('are told to who listens with operators as well', () => {
    const changed$ = new Changes();
    const told: number[] = [];
    changed$
      .pipe(
        map((_, i) => i),
        take(2),
      )
      .subscribe((i) => told.push(i));
    for (let i = 0; i < 3; i++) changed$.next();
    expect(told).toEqual([0, 1]);
  });

  it('are seen as with startWith, map and distinctUntilChanged', () => {
    const values = [1, 1, 2, 2, 2, 1, 3, 3];
    const stories = [new Changes(), new Subject<void>()].map((changed$) => {
      let value = 0;
      const told: string[] = [];
      const look = (): number => value;
      const seen$ =
        changed$ instanceof Changes
          ? changed$.seen(look)
          : changed$.pipe(startWith(undefined), map(look), distinctUntilChanged());
      seen$.pipe(take(4)).subscribe({
        next: (one) => {
          told.push(String(one));
          if (one === 2) changed$.next();
        },
        complete: () => told.push('complete'),
      });
      for (const next of values) {
        value = next;
        changed$.next();
      }
      return told;
    });
    expect(stories[0]).toEqual(['0', '1', '2', '1', 'complete']);
    expect(stories[0]).toEqual(stories[1]);
  });

  it('are awaited as with filter, and each of them has its work', () => {
    const stories = [new Changes(), new Subject<void>()].map((changed$) => {
      let n = 0;
      const told: number[] = [];
      const isSo = (): boolean => n % 2 === 0;
      const even$ = changed$ instanceof Changes ? changed$.when(isSo) : changed$.pipe(filter(isSo));
      even$.pipe(take(2)).subscribe(() => told.push(n));
      for (; n < 6; n++) changed$.next();
      return told;
    });
    expect(stories).toEqual([
      [0, 2],
      [0, 2],
    ]);
    const changed$ = new Changes();
    let worked = 0;
    const working = changed$
      .each(() => {
        worked++;
      })
      .subscribe();
    changed$.next();
    working.unsubscribe();
    changed$.next();
    expect(worked).toBe(1);
  });

  it('are an error of the one who throws at them, and the others hear of them all the same', () => {
    const changed$ = new Changes();
    const told: unknown[] = [];
    const failing = (): never => {
      throw new Error('a bug');
    };
    changed$.each(failing).subscribe({ error: (error: unknown) => told.push(error) });
    changed$.when(failing).subscribe({ error: (error: unknown) => told.push(error) });
    changed$.subscribe(() => told.push('heard'));
    for (let i = 0; i < 2; i++) changed$.next();
    expect(told).toEqual([new Error('a bug'), new Error('a bug'), 'heard', 'heard']);
  });

  it('do not remember those who are gone, whether or not anything changes', () => {
    const changed$ = new Changes();
    const told: string[] = [];
    for (let i = 0; i < 20; i++) changed$.subscribe(() => told.push('stays'));
    for (let i = 0; i < 1_000; i++) changed$.subscribe(() => told.push('gone')).unsubscribe();
    expect(changed$.remembered).toBeLessThan(50);
    changed$.next();
    expect(changed$.remembered).toBe(20);
    expect(told).toEqual(Array.from({ length: 20 }, () => 'stays'));
  });
});
