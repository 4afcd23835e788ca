import { EMPTY, catchError, concatMap, defer, filter, from, mergeMap, of, repeat, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { feesFault } from '../../core/cycle/answer.ts';
import { certain } from '../../core/cycle/proof.ts';
import { VenueError } from '../../core/errors.ts';
import { extentOf, quotedIn } from '../../core/cycle/order-extent.ts';
import type { Order } from '../../core/venue.ts';
import { fillFromLookup } from '../attempt/booking.ts';
import type { Desk } from '../desk.ts';
import type { OpenAttempt } from '../state/engine-state.ts';
import type { AttemptEnd } from '../attempt/execute.ts';

/** Interval between rounds of lookups while any attempt is in doubt. */
const LOOKUP_MS = 2_000;

/**
 * Looks up the orders of attempts in doubt, if the venue has a route for it. Only a fill counts. An unknown or canceled
 * order proves nothing; the account's transactions decide.
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
  return desk.rateLimiter.through({ route: 'read', priority: 'doubt', key: 'lookup' }, asked).pipe(
    filter((order) => order !== undefined),
    filter(
      (order) =>
        order.clientId === intent.client_order_id &&
        order.pair === intent.pair &&
        order.side === intent.side &&
        order.status.toLowerCase() === 'done' &&
        order.filled.gt(0) &&
        order.filledAmount.gt(0) &&
        feesFault(order) === undefined,
    ),
    mergeMap((order) => {
      const phase = desk.account.doubts.get(intent.client_order_id);
      // A read of the account may have shown the trade meanwhile.
      if (phase === undefined || !desk.state.attempts.has(intent.client_order_id)) return EMPTY;
      if (!isWhole(desk, open, order)) {
        // It traded, so nothing may prove its absence any longer. The account's rows will give its complete figures.
        if (phase.proof.proves === 'nothing') return EMPTY;
        return of<AttemptEnd>({
          end: 'doubt',
          intent,
          phase: certain(phase),
          orderIds: [order.orderId],
        });
      }
      return of<AttemptEnd>({
        end: 'filled',
        intent,
        fill: fillFromLookup(open, order, {
          now: desk.limitDay.now(),
          decisionPrice: desk.state.decisionPrice(intent),
        }),
      });
    }),
    catchError((error: unknown) => {
      if (!(error instanceof VenueError)) throw error;
      desk.observer.warn('the lookup of an order in doubt failed', { error: error.message });
      return EMPTY;
    }),
  );
}

const isWhole = (desk: Desk, { intent, quote }: OpenAttempt, { filled, filledAmount }: Order): boolean =>
  extentOf(
    { intent, quoted: quotedIn(quote), precisions: desk.instruments.precisions(intent.pair) },
    { quantity: filled, amount: filledAmount },
  ) === 'whole';
