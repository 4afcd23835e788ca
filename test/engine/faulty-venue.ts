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

type Order$ = Observable<OrderAnswer>;

const answered = (given: OrderAnswer, clock: VirtualClock): Order$ => of(given).pipe(delay(20, clock));
const error = (status: number, text: string): OrderAnswer => ({ kind: 'error', status, error: text });
const RESET: OrderAnswer = { kind: 'lost', sent: true, why: 'connection reset' };
const [BAD_GATEWAY, TIMEOUT] = [error(502, 'bad gateway'), error(504, 'gateway timeout')];
const CANCELED = { status: 'Canceled', filled: NO_QUANTITY, filledAmount: NO_MONEY };

/** An order that arrives at the exchange although another answer comes back. */
const executed = (given: OrderAnswer) => (order: Order$) => order.pipe(map(() => given));
const altered = (over: Partial<Extract<OrderAnswer, { kind: 'order' }>['order']>) => (order: Order$) =>
  order.pipe(
    map((given) => (given.kind === 'order' ? { ...given, order: { ...given.order, ...over } } : given)),
  );
const unsent = (given: OrderAnswer) => (_: Order$, clock: VirtualClock) => answered(given, clock);

/** Faults of an order between the engine and the exchange: what happens to it, and the answer that comes back. */
const faults = {
  'answer lost': (order: Order$) => concat(order.pipe(ignoreElements()), NEVER),
  'request lost': () => NEVER,
  'connection reset after': executed(RESET),
  'connection reset before': unsent(RESET),
  'gateway error after': executed(BAD_GATEWAY),
  'gateway error before': unsent(TIMEOUT),
  'rate limited': unsent({ kind: 'error', status: 429, error: 'too many requests', retryAfterMs: 1_000 }),
  /** Half a JSON comes back. */
  garbled: executed({ kind: 'garbled', status: 201, why: 'unexpected end of JSON input' }),
  /** A proxy sends it twice; the answer to the second copy is seen. */
  duplicated: (order: Order$) => concat(order.pipe(ignoreElements()), order),
  'hidden by a cancel': altered(CANCELED),
  'hidden by a refusal': executed(error(400, 'unknown quote')),
  /** Arrives shortly before the quote expires, long after we gave up, and outlives the subscription, as a packet does. */
  late: (order: Order$, clock: VirtualClock) => {
    timer(9_900, clock)
      .pipe(mergeMap(() => order))
      .subscribe();
    return NEVER;
  },
  'answer of another': altered({ clientId: 'somebody-else' }),
  'unknown status': altered({ status: 'Pending Review' }),
  'bad request': unsent(error(400, 'no')),
  'certainly unsent': unsent({ kind: 'lost', sent: false, why: 'connection refused' }),
} satisfies Readonly<Record<string, (order: Order$, clock: VirtualClock) => Order$>>;
export type OrderFault = keyof typeof faults;
export const allOrderFaults = Object.keys(faults) as readonly OrderFault[]; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the keys of a constant

const UNEXECUTED: ReadonlySet<OrderFault> = new Set<OrderFault>([
  'request lost',
  'connection reset before',
  'gateway error before',
  'rate limited',
  'bad request',
  'certainly unsent',
]);
export const isExecuted = (fault: OrderFault): boolean => !UNEXECUTED.has(fault);

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
  (given: Faults) =>
  (venue: VenuePort, clock: VirtualClock): VenuePort => ({
    ...venue,
    quote: (request) =>
      defer(() => {
        const instead = given.quote?.(request);
        return instead === undefined
          ? toObservable(venue.quote(request))
          : of(instead).pipe(delay(10, clock));
      }),
    order: (request) =>
      defer(() => {
        const fault = given.order?.(request);
        const answer$ = defer(() => toObservable(venue.order(request)));
        return fault === undefined ? answer$ : faults[fault](answer$, clock);
      }),
    transactions: (query) =>
      venue.transactions(query).pipe(
        mergeMap((rows) => {
          const seen = given.transactions?.(rows) ?? rows;
          return seen instanceof VenueError ? throwError(() => seen) : of(seen);
        }),
      ),
  });
