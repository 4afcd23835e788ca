import { NEVER, concat, defer, delay, ignoreElements, map, mergeMap, of, throwError, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { compareRowIds } from '../../src/core/ids.ts';
import { VenueError } from '../../src/core/errors.ts';
import { NO_MONEY, NO_QUANTITY } from '../../src/core/money.ts';
import { instant } from '../../src/core/time.ts';
import type {
  OrderAnswer,
  OrderRequest,
  QuoteAnswer,
  QuoteRequest,
  Transaction,
} from '../../src/core/venue.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import type { VirtualClock } from '../../src/engine/time/virtual-clock.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

/** Faults of an order between the engine and the exchange, and whether it executes. */
export const orderFaults = {
  /** Executed; the answer never comes. */
  'answer lost': 'executes',
  /** The request never arrives; no answer comes. */
  'request lost': 'nothing',
  /** Executed; the connection breaks instead of the answer. */
  'connection reset after': 'executes',
  'connection reset before': 'nothing',
  'gateway error after': 'executes',
  'gateway error before': 'nothing',
  'rate limited': 'nothing',
  /** Executed; half a JSON comes back. */
  garbled: 'executes',
  /** A proxy sends it twice; the answer to the second copy is seen. */
  duplicated: 'executes',
  /** A proxy sends it twice, and the second is answered `Canceled`. */
  'hidden by a cancel': 'executes',
  /** A proxy sends it twice, and the second is answered 400. */
  'hidden by a refusal': 'executes',
  /** Arrives shortly before the quote expires, long after we gave up. */
  late: 'executes',
  /** Executed; the answer names another order. */
  'answer of another': 'executes',
  /** Executed; the answer has an unknown status. */
  'unknown status': 'executes',
  'bad request': 'nothing',
  'certainly unsent': 'nothing',
} as const;
export type OrderFault = keyof typeof orderFaults;
export const allOrderFaults = Object.keys(orderFaults) as readonly OrderFault[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the keys of a constant

export interface Faults {
  order?(request: OrderRequest): OrderFault | undefined;
  /** The answer to a quote request instead of the exchange's. */
  quote?(request: QuoteRequest): QuoteAnswer | undefined;
  transactions?(rows: readonly Transaction[]): readonly Transaction[] | VenueError;
}

/** Rows of the account as changed by `shown`; the query chooses among the changed rows. */
export const showing =
  (shown: (rows: readonly Transaction[]) => readonly Transaction[]) =>
  (venue: VenuePort): VenuePort => ({
    ...venue,
    transactions: (query) =>
      venue.transactions({ ...query, from: instant(0), after: undefined, pending: true }).pipe(
        map((rows) =>
          shown(rows).filter(({ id, at, status }) => {
            if (query.pending !== true && !/^done$/iu.test(status)) return false;
            // A row that shows no stamp has one at the venue.
            return query.after === undefined
              ? at === 0 || at >= query.from
              : compareRowIds(id, query.after) > 0;
          }),
        ),
      ),
  });

/** The account cannot be read. */
export const DOWN = new VenueError({
  code: 'unavailable',
  applied: 'no',
  attempt: 'transactions',
  status: 503,
});

/** The venue gives no quotes for now. */
export const NO_QUOTES: QuoteAnswer = {
  kind: 'error',
  status: 503,
  error: 'quotes temporarily unavailable. please try again later.',
};

type Seen = (rows: readonly Transaction[]) => readonly Transaction[] | VenueError;

/** This fault happens to the nth order, from 1, and from then on a read of the account gives what `seen` makes of its rows. */
export function faultAt(
  fault: OrderFault,
  nth = 1,
  seen: Seen = (rows) => rows,
): ReturnType<typeof faultyVenue> {
  let orders = 0;
  return faultyVenue({
    order: () => (++orders === nth ? fault : undefined),
    transactions: (rows) => (orders < nth ? rows : seen(rows)),
  });
}

/** A venue between the engine and the exchange that injects faults. */
export const faultyVenue =
  (faults: Faults) =>
  (venue: VenuePort, clock: VirtualClock): VenuePort => ({
    ...venue,
    quote: (request) =>
      defer(() => {
        const instead = faults.quote?.(request);
        return instead === undefined
          ? toObservable(venue.quote(request))
          : of(instead).pipe(delay(10, clock));
      }),
    order: (request) =>
      defer(() => {
        const fault = faults.order?.(request);
        const answer$ = defer(() => toObservable(venue.order(request)));
        return fault === undefined ? answer$ : faulty(fault, answer$, clock);
      }),
    transactions: (query) =>
      venue.transactions(query).pipe(
        mergeMap((rows) => {
          const seen = faults.transactions?.(rows) ?? rows;
          return seen instanceof VenueError ? throwError(() => seen) : of(seen);
        }),
      ),
  });

function faulty(
  fault: OrderFault,
  order: Observable<OrderAnswer>,
  clock: VirtualClock,
): Observable<OrderAnswer> {
  const answer = (given: OrderAnswer): Observable<OrderAnswer> => of(given).pipe(delay(20, clock));
  const executed = (given: OrderAnswer): Observable<OrderAnswer> => order.pipe(map(() => given));
  const lost: OrderAnswer = { kind: 'lost', sent: true, why: 'connection reset' };
  switch (fault) {
    case 'answer lost':
      return concat(order.pipe(ignoreElements()), NEVER);
    case 'request lost':
      return NEVER;
    case 'connection reset after':
      return executed(lost);
    case 'connection reset before':
      return answer(lost);
    case 'gateway error after':
      return executed({ kind: 'error', status: 502, error: 'bad gateway' });
    case 'gateway error before':
      return answer({ kind: 'error', status: 504, error: 'gateway timeout' });
    case 'rate limited':
      return answer({ kind: 'error', status: 429, error: 'too many requests', retryAfterMs: 1_000 });
    case 'garbled':
      return executed({ kind: 'garbled', status: 201, why: 'unexpected end of JSON input' });
    case 'duplicated':
      return concat(order.pipe(ignoreElements()), order);
    case 'hidden by a cancel':
      return altered(order, { status: 'Canceled', filled: NO_QUANTITY, filledAmount: NO_MONEY });
    case 'hidden by a refusal':
      return executed({ kind: 'error', status: 400, error: 'unknown quote' });
    case 'late':
      // Outlives the subscription, as a packet does.
      timer(9_900, clock)
        .pipe(mergeMap(() => order))
        .subscribe();
      return NEVER;
    case 'answer of another':
      return altered(order, { clientId: 'somebody-else' });
    case 'unknown status':
      return altered(order, { status: 'Pending Review' });
    case 'bad request':
      return answer({ kind: 'error', status: 400, error: 'no' });
    case 'certainly unsent':
      return answer({ kind: 'lost', sent: false, why: 'connection refused' });
  }
}

const altered = (
  order: Observable<OrderAnswer>,
  over: Partial<Extract<OrderAnswer, { kind: 'order' }>['order']>,
): Observable<OrderAnswer> =>
  order.pipe(
    map((given) => (given.kind === 'order' ? { ...given, order: { ...given.order, ...over } } : given)),
  );
