import { NEVER, concat, ignoreElements, map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import { SECOND_MS, after } from '../../src/core/time.ts';
import type { Order, OrderAnswer } from '../../src/core/venue.ts';
import { START, aTwap, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

/** A desk whose first answer is lost, and which may look its order up; the account shows nothing for a while. */
function aDesk(share: string): Bench {
  let told: Order | undefined;
  const bench = started({
    strategies: [aTwap('t', { slices: 1, duration: 'PT4M' })],
    wrap: (venue, clock) => ({
      ...venue,
      order: (request) =>
        told === undefined
          ? concat(
              toObservable(venue.order(request)).pipe(
                map((answer: OrderAnswer) => {
                  if (answer.kind === 'order') told = answer.order;
                }),
                ignoreElements(),
              ),
              NEVER,
            )
          : venue.order(request),
      lookup: () =>
        of(
          told === undefined
            ? undefined
            : {
                ...told,
                filled: quantity(told.filled.times(share).toFixed()),
                filledAmount: money(told.filledAmount.times(share).toFixed(2)),
              },
        ),
      transactions: (query) =>
        venue
          .transactions(query)
          .pipe(
            map((rows) =>
              rows.filter(({ clientId }) => clientId === undefined || clock.wall() >= after(START, 120_000)),
            ),
          ),
    }),
  });
  return bench;
}

describe('an order in doubt that is looked up', () => {
  it('is booked at once if the lookup equals the quote', () => {
    const bench = aDesk('1');
    bench.until(30 * SECOND_MS);
    expect(bench.bodies('fill')).toMatchObject([{ source: 'lookup', quantity: '1' }]);
  });

  it('is known to have traded if the lookup shows slightly less, and waits for the account', () => {
    const bench = aDesk('0.9995');
    bench.until(110 * SECOND_MS);
    expect(bench.desk.state.fills).toBe(0);
    expect(bench.desk.state.doubts).toMatchObject([{ doubt: { reason: 'certainly_traded' } }]);
    bench.until(200 * SECOND_MS);
    expect(bench.bodies('fill')).toMatchObject([{ source: 'transactions', quantity: '1' }]);
  });
});
