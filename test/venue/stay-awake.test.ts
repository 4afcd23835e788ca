import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import type { SchedulerAction, SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { stayAwake } from '../../src/venue/stay-awake.ts';

describe('stayAwake', () => {
  it('schedules a task every millisecond while subscribed, emits nothing, and leaves no timer behind', () => {
    const virtual = new VirtualTimeScheduler(VirtualAction, 5);
    const woken: number[] = [];
    const noted: SchedulerLike = {
      now: () => virtual.now(),
      schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T) =>
        virtual.schedule(
          function (this: SchedulerAction<T>, given?: T) {
            woken.push(virtual.now());
            work.call(this, given);
          },
          delay,
          state,
        ),
    };
    const seen: unknown[] = [];
    const awake = stayAwake(noted).subscribe({
      next: (value) => seen.push(value),
      complete: () => seen.push('end'),
    });
    virtual.flush();
    expect(woken).toEqual([1, 2, 3, 4, 5]);
    awake.unsubscribe();
    virtual.maxFrames = 100;
    virtual.flush();
    expect([woken.length, seen]).toEqual([5, []]);
  });
});
