import { EMPTY, catchError, concatMap, defer, filter, from, map, repeat, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { coversIntent } from '../core/doubts.ts';
import { VenueError } from '../core/errors.ts';
import { fillFromLookup } from './booking.ts';
import type { Desk } from './desk.ts';
import type { OpenAttempt } from './desk-state.ts';
import type { AttemptEnd } from './execute.ts';

/** Between two rounds of look-ups while something is in doubt. */
const LOOKUP_MS = 2_000;

/**
 * Asks the venue for the orders of attempts in doubt, where it has that route. Only a fill counts: that the venue knows no
 * such order, or calls it canceled, proves nothing by itself, and leaves the proof to the account's transactions.
 */
export function watchLookups(desk: Desk): Observable<AttemptEnd> {
  if (desk.ports.venue.lookup === undefined) return EMPTY;
  return timer(LOOKUP_MS, desk.ports.clock.scheduler).pipe(
    concatMap(() => from(desk.state.doubts)),
    concatMap((open) => lookUp(desk, open)),
    repeat(),
  );
}

function lookUp(desk: Desk, open: OpenAttempt): Observable<AttemptEnd> {
  const { lookup } = desk.ports.venue;
  const { intent } = open;
  if (lookup === undefined) return EMPTY;
  const asked = defer(() => lookup(intent.client_order_id));
  return desk.pacer.through({ route: 'read', priority: 'doubt', key: 'lookup' }, asked).pipe(
    filter((order) => order !== undefined),
    filter(
      (order) =>
        order.clientId === intent.client_order_id &&
        order.pair === intent.pair &&
        order.side === intent.side &&
        order.status.toLowerCase() === 'done' &&
        order.filled.gt(0) &&
        order.filledAmount.gt(0) &&
        coversIntent(intent, { quantity: order.filled, amount: order.filledAmount }),
    ),
    // The account may have told in the meantime.
    filter(() => desk.state.attempts.has(intent.client_order_id)),
    map((order): AttemptEnd => ({
      end: 'filled',
      intent,
      fill: fillFromLookup(open, order, {
        now: desk.limitDay.now(),
        decisionPrice: desk.decisionPrice(intent),
      }),
    })),
    catchError((error: unknown) => {
      if (!(error instanceof VenueError)) throw error;
      desk.observer.warn('an order in doubt could not be looked up', { error: error.message });
      return EMPTY;
    }),
  );
}
