import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, after, instant, monotonic } from '../../src/core/time.ts';
import { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { RateLimiter, priorities } from '../../src/engine/rate-limit/rate-limiter.ts';
import type { PaceOptions, Permit, Route, PermitRequest } from '../../src/engine/rate-limit/rate-limiter.ts';
import { seededRandom } from '../../src/simulator/market/random.ts';
import { START } from './harness.ts';

const windows = (over: Partial<PaceOptions['windows']> = {}): PaceOptions => ({
  windows: {
    quote: { max: 10, perMs: 1_000 },
    order: undefined,
    transactions: undefined,
    read: undefined,
    all: undefined,
    ...over,
  },
  guardMs: 5,
});

const aWish = (over: Partial<PermitRequest> = {}): PermitRequest => ({
  route: 'quote',
  priority: 'quote',
  key: 'a',
  ...over,
});

/** Requests that settle themselves after a round trip, and the order in which they were granted. */
class Traffic {
  readonly clock = new VirtualClock(START);
  readonly rateLimiter: RateLimiter;
  readonly went: { readonly name: string; readonly at: number }[] = [];

  constructor(options: PaceOptions = windows()) {
    this.rateLimiter = new RateLimiter(this.clock, options);
  }

  /** Takes a permit; settles it `roundTripMs` after the grant, or never. Returns a function that cancels the request. */
  ask(name: string, wish: Partial<PermitRequest> = {}, roundTripMs: number | 'never' = 20): () => void {
    const subscription = this.rateLimiter.take(aWish(wish)).subscribe({
      next: (permit) => {
        this.went.push({ name, at: this.clock.now() - START });
        if (roundTripMs !== 'never')
          this.clock.schedule(() => {
            permit.settle();
          }, roundTripMs);
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }

  run(untilMs: number): void {
    this.clock.run(instant(START + untilMs));
  }

  names(): readonly string[] {
    return this.went.map(({ name }) => name);
  }
}

/** Most arrivals in any window of `perMs`. */
function densest(arrivals: readonly number[], perMs: number): number {
  const sorted = arrivals.toSorted((a, b) => a - b);
  let from = 0;
  let most = 0;
  for (const [to, at] of sorted.entries()) {
    while (at - (sorted[from] ?? 0) >= perMs) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

interface Network {
  readonly baseMs: number;
  readonly jitterMs: number;
  readonly seed: number;
}

/** A saturated rate limiter on a network that delays each way at random. Arrivals at the venue, ms. */
function saturate({ baseMs, jitterMs, seed }: Network, forMs: number): readonly number[] {
  const clock = new VirtualClock(START);
  const rateLimiter = new RateLimiter(clock, windows());
  const random = seededRandom(`network ${seed}`);
  const arrivals: number[] = [];
  const way = (): number => baseMs + random.next() * jitterMs;
  const go = (permit: Permit): void => {
    const there = way();
    arrivals.push(clock.now() + there);
    clock.schedule(() => {
      permit.settle();
    }, there + way());
  };
  const next = (): void => {
    rateLimiter.take(aWish()).subscribe((permit) => {
      go(permit);
      clock.schedule(next);
    });
  };
  for (let i = 0; i < 3; i++) next();
  clock.run(instant(START + forMs));
  return arrivals;
}

describe('the rate limiter', () => {
  it('never lets more requests arrive at the venue in any window than it allows, whatever the delays', () => {
    fc.assert(
      fc.property(
        fc.record({
          baseMs: fc.integer({ min: 0, max: 150 }),
          jitterMs: fc.integer({ min: 0, max: 120 }),
          seed: fc.integer({ min: 0, max: 1_000_000 }),
        }),
        (network) => {
          expect(densest(saturate(network, 30 * SECOND_MS), 1_000)).toBeLessThanOrEqual(10);
        },
      ),
      {
        numRuns: 150,
        // Networks whose first twenty round trips underestimate the delays.
        examples: [
          [{ baseMs: 62, jitterMs: 95, seed: 9_761 }],
          [{ baseMs: 97, jitterMs: 118, seed: 16_269 }],
          [{ baseMs: 61, jitterMs: 73, seed: 16_546 }],
        ],
      },
    );
  });

  it('keeps counting a request that is never answered', () => {
    const traffic = new Traffic();
    for (let i = 0; i < 20; i++) traffic.ask(`n${i}`, {}, i < 4 ? 'never' : 20);
    traffic.run(10 * MINUTE_MS);
    const arrivals = traffic.went.map(({ at }) => at);
    expect(arrivals.filter((at) => at === 0)).toHaveLength(10);
    expect(arrivals).toHaveLength(20);
    expect(traffic.rateLimiter.utilisation('quote')).toBe(0.4);
  });

  it('frees the place of a permit at once if nothing was sent', () => {
    const { rateLimiter } = new Traffic();
    let waiting = 0;
    for (let i = 0; i < 10; i++) rateLimiter.take(aWish()).subscribe();
    rateLimiter.take(aWish()).subscribe(() => waiting++);
    expect(waiting).toBe(0);
    const other = new Traffic();
    const permits: Permit[] = [];
    for (let i = 0; i < 10; i++) other.rateLimiter.take(aWish()).subscribe((permit) => permits.push(permit));
    other.ask('next');
    permits[0]?.giveBack();
    expect(other.names()).toEqual(['next']);
    permits[0]?.settle();
    permits[0]?.giveBack();
    expect(other.rateLimiter.utilisation('quote')).toBe(1);
  });

  it.each([1, 10])('drops a request cancelled while another is granted, with a limit of %s', (max) => {
    const { rateLimiter, clock } = new Traffic(windows({ quote: { max, perMs: 1_000 } }));
    const told: string[] = [];
    rateLimiter.take(aWish()).subscribe(() => {
      const asking = rateLimiter.take(aWish()).subscribe({
        next: () => told.push('granted'),
        complete: () => told.push('refused'),
      });
      expect(rateLimiter.waiting).toBe(1);
      asking.unsubscribe();
    });
    expect(told).toEqual([]);
    expect(rateLimiter.waiting).toBe(0);
    expect(rateLimiter.utilisation('quote')).toBe(1 / max);
    expect(clock.pending).toBe(0);
  });

  it('serves more urgent requests first, whatever their order of arrival', () => {
    const traffic = new Traffic(windows({ quote: { max: 1, perMs: 1_000 } }));
    traffic.ask('now');
    for (const priority of priorities.toReversed()) traffic.ask(priority, { priority });
    traffic.run(10 * SECOND_MS);
    expect(traffic.names()).toEqual(['now', ...priorities]);
  });

  it('gives all keys of the same priority an equal share', () => {
    const traffic = new Traffic();
    const again = (key: string): void => {
      traffic.rateLimiter.take(aWish({ key })).subscribe((permit) => {
        traffic.went.push({ name: key, at: traffic.clock.now() - START });
        traffic.clock.schedule(() => {
          permit.settle();
          again(key);
        }, 20);
      });
    };
    for (let i = 0; i < 37; i++) again(`k${i}`);
    traffic.run(5 * MINUTE_MS);
    const counts = Map.groupBy(traffic.went, ({ name }) => name);
    const sizes = [...counts.values()].map((list) => list.length);
    expect(counts.size).toBe(37);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it('serves the earlier deadline first within a key', () => {
    const traffic = new Traffic(windows({ quote: { max: 1, perMs: 1_000 } }));
    traffic.ask('now');
    const at = (ms: number): Partial<PermitRequest> => ({ deadline: monotonic(START + ms) });
    traffic.ask('none');
    traffic.ask('late', at(HOUR_MS));
    traffic.ask('soon', at(MINUTE_MS));
    traffic.run(10 * SECOND_MS);
    expect(traffic.names()).toEqual(['now', 'soon', 'late', 'none']);
  });

  it('completes a request without a permit at its deadline and never grants it afterwards', () => {
    const traffic = new Traffic(windows({ quote: { max: 1, perMs: 10_000 } }));
    traffic.ask('now');
    const events: string[] = [];
    traffic.rateLimiter.take(aWish({ deadline: monotonic(START + 500) })).subscribe({
      next: () => events.push('granted'),
      complete: () => events.push(`completed at ${traffic.clock.now() - START}`),
    });
    traffic.run(MINUTE_MS);
    expect(events).toEqual(['completed at 500']);
    expect(traffic.rateLimiter.waiting).toBe(0);
  });

  it('uses no place for a request that expires in the tick in which a place becomes free', () => {
    const traffic = new Traffic({ ...windows({ quote: { max: 1, perMs: 1_000 } }), guardMs: 0 });
    traffic.ask('now', {}, 0);
    // The next request is made on completion, while the rate limiter goes through the waiting requests.
    traffic.rateLimiter.take(aWish({ deadline: monotonic(START + 1_000) })).subscribe({
      next: () => traffic.went.push({ name: 'too late', at: 0 }),
      complete: () => traffic.ask('next', {}, 0),
    });
    traffic.run(MINUTE_MS);
    expect(traffic.names()).toEqual(['now', 'next']);
    expect([traffic.rateLimiter.waiting, traffic.rateLimiter.utilisation('quote')]).toEqual([0, 0]);
  });

  it('grants an order, but no less urgent request, within the grant of its quote', () => {
    const { rateLimiter } = new Traffic(windows({ order: { max: 2, perMs: 1_000 } }));
    const order = aWish({ route: 'order', priority: 'execute' });
    const went: string[] = [];
    rateLimiter.take(aWish()).subscribe(() => {
      if (rateLimiter.takeAtOnce(aWish()) !== undefined) went.push('quote');
      if (rateLimiter.takeAtOnce(order) !== undefined) went.push('order');
      rateLimiter.take(aWish({ route: 'read', priority: 'doubt' })).subscribe(() => went.push('doubt'));
      if (rateLimiter.takeAtOnce(order) !== undefined) went.push('order before a doubt');
    });
    expect(went).toEqual(['order', 'doubt']);
  });

  it('waits for deadlines further away than a timer of Node allows', () => {
    const traffic = new Traffic(windows({ quote: { max: 1, perMs: 1_000 } }));
    const delays: number[] = [];
    const schedule = traffic.clock.push.bind(traffic.clock);
    traffic.clock.push = (delayMs, run) => (delays.push(delayMs), schedule(delayMs, run));
    traffic.ask('now', {}, 'never');
    let isOver = false;
    traffic.rateLimiter
      .take(aWish({ deadline: monotonic(START + 40 * DAY_MS) }))
      .subscribe({ complete: () => (isOver = true) });
    traffic.run(39 * DAY_MS);
    expect(isOver).toBe(false);
    traffic.run(40 * DAY_MS);
    expect(isOver).toBe(true);
    expect(Math.max(...delays)).toBeLessThanOrEqual(HOUR_MS);
  });

  it('drops a cancelled request', () => {
    const traffic = new Traffic(windows({ quote: { max: 1, perMs: 1_000 } }));
    traffic.ask('now');
    const takeBack = traffic.ask('changed my mind');
    traffic.ask('next');
    takeBack();
    expect(traffic.rateLimiter.waiting).toBe(1);
    traffic.run(10 * SECOND_MS);
    expect(traffic.names()).toEqual(['now', 'next']);
  });

  it('leaves no timer for a cancelled request, which would keep a process from ending', () => {
    const traffic = new Traffic(windows({ quote: { max: 1, perMs: 1_000 } }));
    traffic.rateLimiter.block('quote', 300_000);
    const takeBack = [traffic.ask('one'), traffic.ask('two', { deadline: after(monotonic(START), DAY_MS) })];
    expect(traffic.clock.pending).toBeGreaterThan(0);
    for (const each of takeBack) each();
    expect(traffic.clock.pending).toBe(0);
  });

  it('delays only requests on a blocked route', () => {
    const traffic = new Traffic(windows({ read: { max: 5, perMs: 1_000 } }));
    traffic.rateLimiter.block('quote', 2_000);
    traffic.ask('quote');
    traffic.ask('read', { route: 'read' as Route });
    traffic.run(10 * SECOND_MS);
    expect(traffic.went).toEqual([
      { name: 'read', at: 0 },
      { name: 'quote', at: 2_000 },
    ]);
  });

  it('counts every request towards the overall limit', () => {
    const traffic = new Traffic(windows({ all: { max: 4, perMs: 10_000 } }));
    for (let i = 0; i < 4; i++) traffic.ask(`q${i}`);
    traffic.ask('read', { route: 'read', priority: 'doubt' });
    traffic.run(9_999);
    expect(traffic.names()).toHaveLength(4);
    traffic.run(11_000);
    expect(traffic.names()).toHaveLength(5);
  });
});
