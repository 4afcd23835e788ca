import { EMPTY, concat, concatMap, delay, interval, merge, of, repeat, take, timeout, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, after, instant } from '../../src/core/time.ts';
import { VirtualClock, pause, waitUntil } from '../../src/engine/time/virtual-clock.ts';
import { START } from './harness.ts';

const aClock = (): VirtualClock => new VirtualClock(instant(0));

interface Seen {
  readonly at: number;
  readonly what: unknown;
}

/** What a source does on a scheduler, with the times. */
function seenOn(scheduler: SchedulerLike, source: (scheduler: SchedulerLike) => Observable<unknown>): Seen[] {
  const seen: Seen[] = [];
  const see = (what: unknown): void => {
    seen.push({ at: scheduler.now(), what });
  };
  source(scheduler).subscribe({
    next: see,
    error: (error: unknown) => {
      see(error instanceof Error ? error.name : error);
    },
    complete: () => {
      see('complete');
    },
  });
  return seen;
}

describe('the virtual clock', () => {
  it('runs work in order of time, and work due at the same time in the order of scheduling', () => {
    const clock = aClock();
    const ran: string[] = [];
    for (const [name, delayMs] of [
      ['c', 30],
      ['a1', 10],
      ['b', 20],
      ['a2', 10],
      ['now', 0],
      ['a3', 10],
    ] as const)
      clock.schedule(() => ran.push(name), delayMs);
    expect(clock.run()).toBe(6);
    expect(ran).toEqual(['now', 'a1', 'a2', 'a3', 'b', 'c']);
  });

  it('runs 10,000 timers in order, including timers scheduled during the run', () => {
    const clock = aClock();
    const ran: number[] = [];
    for (let i = 0; i < 10_000; i++) {
      const dueMs = (i * 7_919) % 10_007;
      clock.schedule(() => {
        ran.push(clock.now());
        if (i % 10 === 0) clock.schedule(() => ran.push(clock.now()), 5);
      }, dueMs);
    }
    clock.run();
    expect(ran).toHaveLength(11_000);
    expect(ran).toEqual(ran.toSorted((a, b) => a - b));
    expect(clock.pending).toBe(0);
  });

  it('stops at the requested time and shows that time', () => {
    const clock = aClock();
    const ran: number[] = [];
    for (const ms of [10, 20, 20.5, 30]) clock.schedule(() => ran.push(ms), ms);
    expect(clock.run(instant(20))).toBe(2);
    expect([clock.now(), clock.pending]).toEqual([20, 2]);
    clock.run(instant(100));
    expect([clock.now(), ran]).toEqual([100, [10, 20, 20.5, 30]]);
  });

  it('shows wall time in whole milliseconds and monotonic time with fractions', () => {
    const clock = aClock();
    clock.schedule(() => undefined, 12.75);
    clock.run();
    expect([clock.wall(), clock.monotonic()]).toEqual([12, 12.75]);
  });

  it('never runs cancelled work, even if work of the same instant cancelled it', () => {
    const clock = aClock();
    const ran: string[] = [];
    const later = clock.schedule(() => ran.push('later'), 20);
    clock.schedule(() => {
      second.unsubscribe();
      ran.push('first');
    }, 10);
    const second = clock.schedule(() => ran.push('second'), 10);
    later.unsubscribe();
    clock.run();
    expect(ran).toEqual(['first']);
    expect(clock.pending).toBe(0);
  });

  const sources: Readonly<Record<string, (scheduler: SchedulerLike) => Observable<unknown>>> = {
    timer: (scheduler) => timer(7, scheduler),
    'timer with a period': (scheduler) => timer(3, 10, scheduler).pipe(take(4)),
    interval: (scheduler) => interval(10, scheduler).pipe(take(3)),
    delay: (scheduler) => of('a', 'b').pipe(delay(5, scheduler)),
    timeout: (scheduler) => timer(50, scheduler).pipe(timeout({ first: 20, scheduler })),
    'timeout in time': (scheduler) => timer(10, scheduler).pipe(timeout({ first: 20, scheduler })),
    repeat: (scheduler) => timer(4, scheduler).pipe(repeat({ count: 3, delay: () => timer(2, scheduler) })),
    merge: (scheduler) => merge(interval(3, scheduler).pipe(take(3)), interval(2, scheduler).pipe(take(4))),
    concatMap: (scheduler) => of(3, 1, 2).pipe(concatMap((ms) => timer(ms, scheduler))),
    'take ends an interval': (scheduler) => concat(interval(1, scheduler).pipe(take(2)), EMPTY),
  };
  it.each(Object.keys(sources))('behaves like the test scheduler of RxJS for %s', (name) => {
    const source = sources[name] ?? (() => EMPTY);
    const clock = aClock();
    const seen = seenOn(clock, source);
    clock.run(instant(1_000));
    const rxjs = new TestScheduler(() => true);
    rxjs.maxFrames = 1_000;
    const known = seenOn(rxjs, source);
    rxjs.flush();
    expect(seen).toEqual(known);
    expect(seen.length).toBeGreaterThan(0);
  });
});

describe('a wait on a clock', () => {
  it('ends at its instant, split into timers of at most one hour', () => {
    const clock = new VirtualClock(START);
    const delays: number[] = [];
    const push = clock.push.bind(clock);
    clock.push = (delayMs, run) => (delays.push(delayMs), push(delayMs, run));
    const ended: number[] = [];
    waitUntil(clock, after(START, 60 * DAY_MS)).subscribe(() => ended.push(clock.now()));
    clock.run();
    expect(ended).toEqual([START + 60 * DAY_MS]);
    expect(Math.max(...delays)).toBe(HOUR_MS);
  });

  it('uses a single timer if the clock has no maximum timer length', () => {
    const clock = new VirtualClock(START, { pieceMs: Number.POSITIVE_INFINITY });
    const ended: number[] = [];
    waitUntil(clock, after(START, 60 * DAY_MS)).subscribe(() => ended.push(clock.now()));
    expect(clock.run()).toBe(1);
    expect(ended).toEqual([START + 60 * DAY_MS]);
  });

  it('schedules no timer if it is infinite', () => {
    const clock = new VirtualClock(START);
    pause(clock, Number.POSITIVE_INFINITY).subscribe();
    expect([clock.pending, clock.run()]).toEqual([0, 0]);
  });

  it('ends after all pushFirst work of the same instant, whenever either was scheduled', () => {
    const clock = new VirtualClock(START);
    const order: string[] = [];
    clock.push(1_000, () => order.push('a wait'));
    clock.pushFirst(after(START, 1_000), () => order.push('the world'));
    const takeOff = clock.pushFirst(after(START, 500), () => order.push('taken off'));
    takeOff();
    clock.run();
    expect(order).toEqual(['the world', 'a wait']);
  });

  it('ends immediately, without a timer, if its instant has passed', () => {
    const clock = new VirtualClock(START);
    let ended = 0;
    waitUntil(clock, after(START, -1)).subscribe(() => ended++);
    expect([ended, clock.pending]).toEqual([1, 0]);
  });

  it('is cancelled when it is unsubscribed', () => {
    const clock = new VirtualClock(START);
    let ended = 0;
    const waiting = waitUntil(clock, after(START, 3 * HOUR_MS)).subscribe(() => ended++);
    clock.run(after(START, 2 * HOUR_MS));
    waiting.unsubscribe();
    expect([clock.run(), ended]).toEqual([0, 0]);
  });

  it('can complete without emitting a value', () => {
    const clock = new VirtualClock(START);
    const events: string[] = [];
    pause(clock, 50).subscribe({
      next: () => events.push('next'),
      complete: () => events.push(`complete ${clock.now() - START}`),
    });
    clock.run();
    expect(events).toEqual(['complete 50']);
  });
});
