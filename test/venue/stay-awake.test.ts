import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { stayAwake } from '../../src/venue/stay-awake.ts';

describe('stayAwake', () => {
  it('wakes each millisecond while subscribed, emits nothing, and leaves no timer behind', () => {
    const scheduler = new VirtualTimeScheduler(VirtualAction, 5);
    const woke = vi.spyOn(VirtualAction.prototype, 'execute');
    const seen = vi.fn<() => void>();
    const awake = stayAwake(scheduler).subscribe({ next: seen, complete: seen });
    scheduler.flush();
    expect(woke).toHaveBeenCalledTimes(5);
    awake.unsubscribe();
    scheduler.maxFrames = 100;
    scheduler.flush();
    expect(woke).toHaveBeenCalledTimes(5);
    expect(seen).not.toHaveBeenCalled();
    woke.mockRestore();
  });
});
