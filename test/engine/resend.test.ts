import { EMPTY, NEVER, concat, defer, finalize, mergeMap, of, tap, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { text } from '../../src/core/money.ts';
import { SECOND_MS, MINUTE_MS, after } from '../../src/core/time.ts';
import type { OrderAnswer, OrderRequest } from '../../src/core/venue.ts';
import { START, aBench, aPolicy, aTwap } from './harness.ts';
import type { Bench } from './harness.ts';
import { executedTotal, faultsOf } from './oracle.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

const twap = aTwap('t', { slices: 1, duration: 'PT10M' });
const RESENDS = { inDoubt: { ...aPolicy().inDoubt, resend: 'same_quote' } } as const;
const RESET: OrderAnswer = { kind: 'lost', sent: true, why: 'connection reset' };

interface Copy {
  readonly at: number;
  readonly request: OrderRequest;
}

/** A desk whose orders are answered as `answer` says; `copies` are the orders as they left. */
function aSender(
  answer: (nth: number, real: Observable<OrderAnswer>, bench: () => Bench) => Observable<OrderAnswer>,
  policy: NonNullable<Parameters<typeof aBench>[0]['policy']> = RESENDS,
): { readonly bench: Bench; readonly copies: Copy[]; readonly flights: { now: number; most: number } } {
  const copies: Copy[] = [];
  const flights = { now: 0, most: 0 };
  const bench: Bench = aBench({
    strategies: [twap],
    policy,
    venue: { quoteLifeMs: 15_000 },
    wrap: (venue, clock) => ({
      ...venue,
      order: (request) =>
        defer(() => {
          copies.push({ at: clock.now(), request });
          flights.most = Math.max(flights.most, ++flights.now);
          return answer(copies.length, toObservable(venue.order(request)), () => bench);
        }).pipe(finalize(() => flights.now--)),
    }),
  });
  bench.start({ isUntilDone: true });
  return { bench, copies, flights };
}
const run = (bench: Bench, ms = 5 * MINUTE_MS): void => {
  bench.clock.run(after(START, ms));
};

describe('an order that gets no answer', () => {
  it('is not sent again unless the config allows it', () => {
    const { bench, copies } = aSender(() => of(RESET), {});
    run(bench, 20 * SECOND_MS);
    expect(copies).toHaveLength(1);
    expect(bench.desk.state.doubts).toHaveLength(1);
  });

  it('is sent again with the same bytes 300 and 600 ms after a failure, and never a fourth time', () => {
    const { bench, copies, flights } = aSender(() => timer(50, bench.clock).pipe(mergeMap(() => of(RESET))));
    run(bench, 20 * SECOND_MS);
    expect(copies).toHaveLength(3);
    const [first, second, third] = copies;
    expect([second?.request, third?.request]).toEqual([first?.request, first?.request]);
    expect([(second?.at ?? 0) - (first?.at ?? 0), (third?.at ?? 0) - (second?.at ?? 0)]).toEqual([350, 650]);
    expect(flights.most).toBe(1);
    expect(bench.desk.state.doubts).toHaveLength(1);
  });

  it('is sent again only after the previous exchange has been closed', () => {
    const { bench, copies, flights } = aSender((nth, real) => (nth === 1 ? NEVER : real));
    run(bench);
    expect(copies.length).toBe(2);
    expect(flights.most).toBe(1);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(faultsOf(bench)).toEqual([]);
  });

  it('executes once if the first copy has arrived and the second is refused', () => {
    const { bench, copies } = aSender((nth, real) =>
      nth === 1 ? concat(real.pipe(mergeMap(() => EMPTY)), of(RESET)) : real,
    );
    run(bench);
    expect(copies.length).toBe(2);
    expect(text(executedTotal(bench.exchange))).toBe('1');
    expect(faultsOf(bench)).toEqual([]);
    const fill = bench.records().find(({ body }) => body.kind === 'fill')?.body;
    expect(fill?.kind === 'fill' ? fill.source : '').toBe('transactions');
  });

  it.each<readonly [string, (bench: Bench) => void]>([
    ['halted', (bench) => bench.operator$.next({ do: 'halt', by: 'ann', why: 'stop' })],
    ['paused', (bench) => bench.operator$.next({ do: 'pause', by: 'ann', why: 'stop' })],
    ['stopping', (bench) => bench.operator$.next({ do: 'drain', why: 'SIGTERM' })],
  ])('is not sent again once the desk is %s', (_, act) => {
    const { bench, copies } = aSender((_nth, _real, running) =>
      timer(50, running().clock).pipe(
        tap(() => {
          act(running());
        }),
        mergeMap(() => of(RESET)),
      ),
    );
    run(bench, 20 * SECOND_MS);
    expect(copies).toHaveLength(1);
  });

  it('is not sent again after a restart', () => {
    const { bench, copies } = aSender(() => NEVER);
    run(bench, 4 * SECOND_MS);
    expect(copies).toHaveLength(1);
    bench.kill();
    const again: Copy[] = [];
    const next = aBench({
      strategies: [twap],
      policy: RESENDS,
      journal: bench.journal,
      clock: bench.clock,
      exchange: bench.exchange,
      wrap: (venue, clock) => ({
        ...venue,
        order: (request) =>
          defer(() => {
            again.push({ at: clock.now(), request });
            return toObservable(venue.order(request));
          }),
      }),
    });
    next.start({ isUntilDone: true });
    next.clock.run(after(START, 9 * MINUTE_MS));
    expect(faultsOf(next)).toEqual([]);
    expect(again.map(({ request }) => request.clientId)).not.toContain(copies[0]?.request.clientId);
  });
});
