import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { money, quantity } from '../../src/core/money.ts';
import { SECOND_MS, after } from '../../src/core/time.ts';
import type { Order, Transaction } from '../../src/core/venue.ts';
import { START, aTwap, started } from './harness.ts';
import type { Bench } from './harness.ts';
import { andThen } from '../../src/engine/maybe-async.ts';
import { faultAt } from './faulty-venue.ts';
import type { Money, Quantity } from '../../src/core/money.ts';
import type { VenuePort } from '../../src/engine/ports.ts';

/** A desk whose first answer is lost, and which may look its order up; the account shows nothing for a while. */
function aDesk(share: string): Bench {
  let told: Order | undefined;
  return started({
    strategies: [aTwap('t', { slices: 1, duration: 'PT4M' })],
    wrap: (venue, clock) => {
      const noted: VenuePort = {
        ...venue,
        order: (request) =>
          andThen(venue.order(request), (answer) => {
            if (answer.kind === 'order') told ??= answer.order;
            return answer;
          }),
      };
      const shown = (rows: readonly Transaction[]): readonly Transaction[] =>
        clock.wall() < after(START, 120_000) ? rows.filter(({ clientId }) => clientId === undefined) : rows;
      const part = (amount: Quantity | Money, digits?: number): string => amount.times(share).toFixed(digits);
      return {
        ...faultAt('answer lost', 1, shown)(noted, clock),
        lookup: () =>
          of(
            told && {
              ...told,
              filled: quantity(part(told.filled)),
              filledAmount: money(part(told.filledAmount, 2)),
            },
          ),
      };
    },
  });
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
