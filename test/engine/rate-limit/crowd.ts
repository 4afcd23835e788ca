import { Observable, mergeMap, of, throwError, timer } from 'rxjs';
import { instant } from '../../../src/core/time.ts';
import type {
  AddressBudgetPort,
  PermitExchange,
  PermitGrant,
} from '../../../src/engine/rate-limit/address-budget.ts';
import { RateLimiter } from '../../../src/engine/rate-limit/rate-limiter.ts';
import type { Priority } from '../../../src/engine/rate-limit/rate-limiter.ts';
import { VirtualClock } from '../../../src/engine/time/virtual-clock.ts';
import { seededRandom } from '../../../src/simulator/market/random.ts';
import { START } from '../harness.ts';

export const PER_MS = 10_000;
export const GUARD_MS = 5;

export interface CrowdSetting {
  readonly seed: number;
  readonly desks: number;
  /** Requests that each desk always wants to send at once. */
  readonly eager: number;
  /** Of each way between a desk and the venue, milliseconds. */
  readonly wayMs: number;
  readonly jitterMs: number;
  /** Most time that the store takes for an answer, milliseconds. */
  readonly storeMs: number;
  /** Time between deaths of a process, each of which is replaced, milliseconds; 0: no deaths. */
  readonly deathEveryMs: number;
  /** Share of answers of the store that are lost, 0 to 1: half of them after they took effect. */
  readonly lostShare: number;
  readonly priorities: readonly Priority[];
}

export interface Seen {
  readonly arrivals: readonly {
    readonly at: number;
    readonly priority: Priority;
    readonly waitedMs: number;
  }[];
}

/** Saturated desks that share one address. `exchange` is the store, at the time of the clock. */
export function crowd(
  setting: CrowdSetting,
  exchangeOf: (clock: VirtualClock) => (holder: string, exchange: PermitExchange) => PermitGrant,
  forMs: number,
): Seen {
  const clock = new VirtualClock(START);
  const random = seededRandom(`crowd ${setting.seed}`);
  const exchange = exchangeOf(clock);
  const arrivals: Seen['arrivals'][number][] = [];
  const way = (): number => setting.wayMs + random.next() * setting.jitterMs;
  let born = 0;

  /** The store behind a network: half of the delay passes before it acts. */
  const budgetOf = (holder: string, life: { readonly isOver: boolean }): AddressBudgetPort => ({
    exchange: (asked) =>
      new Observable((subscriber) => {
        if (life.isOver) return undefined;
        const takesMs = random.next() * setting.storeMs;
        const isLost = random.next() < setting.lostShare;
        const isWithoutEffect = isLost && random.next() < 0.5;
        return timer(takesMs / 2, clock)
          .pipe(
            mergeMap(() => (isWithoutEffect ? of(undefined) : of(exchange(holder, asked)))),
            mergeMap((grant) => timer(takesMs / 2, clock).pipe(mergeMap(() => of(grant)))),
            mergeMap((grant) =>
              grant === undefined || isLost ? throwError(() => new Error('the answer was lost')) : of(grant),
            ),
          )
          .subscribe(subscriber);
      }),
  });

  const desk = (): void => {
    const life = { isOver: false };
    const limiter = new RateLimiter(
      clock,
      {
        windows: {
          quote: undefined,
          order: undefined,
          transactions: undefined,
          read: undefined,
          all: { max: 250, perMs: PER_MS },
        },
        guardMs: GUARD_MS,
      },
      undefined,
      budgetOf(`p${(born += 1)}`, life),
    );
    const next = (): void => {
      const priority = setting.priorities[Math.floor(random.next() * setting.priorities.length)] ?? 'quote';
      limiter.take({ route: 'read', priority, key: 'a' }).subscribe((permit) => {
        // A process that has died sends nothing more, whatever its timers still do here.
        if (life.isOver) return;
        const there = way();
        arrivals.push({ at: clock.now() + there, priority, waitedMs: permit.waitedMs });
        clock.schedule(() => {
          if (!life.isOver) permit.settle();
        }, there + way());
        clock.schedule(next);
      });
    };
    for (let i = 0; i < setting.eager; i++) next();
    if (setting.deathEveryMs === 0) return;
    clock.schedule(
      () => {
        life.isOver = true;
        desk();
      },
      setting.deathEveryMs * setting.desks * (0.5 + random.next()),
    );
  };
  for (let i = 0; i < setting.desks; i++) desk();
  clock.run(instant(START + forMs));
  return { arrivals: arrivals.filter(({ at }) => at <= START + forMs) };
}

/** Most arrivals in any window. */
export function densest(times: readonly number[], perMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let from = 0;
  let most = 0;
  for (const [to, at] of sorted.entries()) {
    while (at - (sorted[from] ?? 0) >= perMs) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
