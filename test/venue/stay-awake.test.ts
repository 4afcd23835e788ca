import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { stayAwake } from '../../src/venue/stay-awake.ts';

describe('stayAwake', () => {
  it('wakes each millisecond while subscribed, emits nothing, and leaves no timer behind', () => {
    const scheduler = new VirtualTimeScheduler(VirtualAction, 5);
    const seen: unknown[] = [];
    const awake = stayAwake(scheduler).subscribe({
      next: (value) => seen.push(value),
      complete: () => seen.push('end'),
    });
    const scheduled = (): number => scheduler.index + 1;
    scheduler.flush();
    // Five wakes, and the one that waits.
    expect([scheduler.now(), scheduled()]).toEqual([5, 6]);
    awake.unsubscribe();
    scheduler.maxFrames = 100;
    scheduler.flush();
    expect([scheduled(), seen]).toEqual([6, []]);
  });
});
