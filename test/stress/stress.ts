import { inspect } from 'node:util';
import { catchError, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { VenueError } from '../../src/core/errors.ts';
import { MINUTE_MS, SECOND_MS, after, isoOf } from '../../src/core/time.ts';
import type { StrategySource } from '../../src/engine/desk.ts';
import type { VenuePort } from '../../src/engine/ports.ts';
import { START, aBench, aTwap } from '../engine/harness.ts';
import { books, overExecuted } from '../engine/oracle.ts';
import { toObservable } from '../../src/engine/maybe-async.ts';

/**
 * Twice the peak that a desk has seen (RTS 6 Art. 10), through the whole engine on virtual time, against an exchange that keeps
 * its limits: what can be traded is traded in its time, and what cannot is left out with its reason. The exchange's ledger judges.
 */
export interface Peaks {
  /** Most orders in one second. */
  readonly second: number;
  /** Most orders in one minute, not less than in a second. */
  readonly minute: number;
}

export interface Outcome {
  readonly slices: number;
  readonly filled: number;
  /** Slices that were not filled, by reason. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Requests that the exchange refused for its limits. */
  readonly tooMany: number;
  /** Most quote requests that reached the exchange in any second. */
  readonly quotesInSecond: number;
  /** `active`, or how the desk stopped itself and why. */
  readonly control: string;
  /** How the promise was broken, in words: empty when it was kept. */
  readonly faults: readonly string[];
}

const PAIRS = ['btcusd', 'ethusd'] as const;

/**
 * Parents with one slice a minute: the first `2 × second` of them all at the same instant, the others spread over the minute. No two are
 * alike, so that none is taken for the repetition of another.
 */
function parents({ second, minute }: Peaks, minutes: number): readonly StrategySource[] {
  const [burst, all] = [2 * second, Math.max(2 * second, 2 * minute)];
  const spreadMs = MINUTE_MS / Math.max(1, all - burst);
  return Array.from({ length: all }, (_, n) => {
    const pair = PAIRS[n % PAIRS.length] ?? PAIRS[0];
    const offsetMs = n < burst ? 0 : Math.floor((n - burst) * spreadMs);
    const each = (pair === 'btcusd' ? 1_000 : 20_000) + Math.floor(n / PAIRS.length);
    return aTwap(`parent-${n}`, {
      pair,
      side: Math.floor(n / PAIRS.length) % 2 === 0 ? 'buy' : 'sell',
      total_quantity: { amount: ((each * minutes) / 1_000_000).toFixed(6), currency: pair.slice(0, 3) },
      start_time: isoOf(after(START, MINUTE_MS + offsetMs)),
      duration: `PT${minutes}M`,
      slices: minutes,
    });
  });
}

/** Counts what reaches the exchange, and what it refuses. */
class Wire {
  tooMany = 0;
  quotesInSecond = 0;
  readonly #quotes: number[] = [];

  watch(venue: VenuePort, now: () => number): VenuePort {
    const told = <T>(answer: Observable<T>): Observable<T> =>
      answer.pipe(
        catchError((error: unknown) => {
          if (error instanceof VenueError && error.code === 'rate_limited') this.tooMany += 1;
          return throwError(() => error);
        }),
      );
    return {
      ...venue,
      quote: (request) => {
        const at = now();
        this.#quotes.push(at);
        while ((this.#quotes[0] ?? at) <= at - SECOND_MS) this.#quotes.shift();
        this.quotesInSecond = Math.max(this.quotesInSecond, this.#quotes.length);
        return told(toObservable(venue.quote(request)));
      },
      order: (request) => told(toObservable(venue.order(request))),
      transactions: (query) => told(venue.transactions(query)),
    };
  }
}

/** Drives twice the peaks for so many minutes of virtual time. */
export function stress(peaks: Peaks, minutes: number): Outcome {
  const wire = new Wire();
  const bench = aBench({
    strategies: parents(peaks, minutes),
    venue: { accounts: [{ balances: { usd: '100000000', btc: '1000', eth: '20000' } }] },
    wrap: (venue, clock) => wire.watch(venue, () => clock.monotonic()),
  });
  bench.start({ isUntilDone: true });
  // What is still under way ends within its own minute; a doubt would be proven within the next.
  bench.clock.run(after(START, (minutes + 5) * MINUTE_MS));
  const records = bench.records();
  const leftOut: Record<string, number> = {};
  let [slices, filled] = [0, 0];
  for (const { body } of records) {
    if (body.kind !== 'slice') continue;
    slices += 1;
    if (body.result === 'filled') filled += 1;
    else leftOut[body.reason ?? '?'] = (leftOut[body.reason ?? '?'] ?? 0) + 1;
  }
  const { ledger, journal } = books(bench.exchange, records);
  const faults = [
    ...[...new Set(ledger).difference(new Set(journal))].map((trade) => `not in the journal: ${trade}`),
    ...[...new Set(journal).difference(new Set(ledger))].map((fill) => `not in the ledger: ${fill}`),
    ...(ledger.length === journal.length ? [] : [`${ledger.length} trades, ${journal.length} fills`]),
    ...overExecuted(bench.exchange, records),
    ...(bench.seen.error === undefined ? [] : [`the desk ended with ${inspect(bench.seen.error)}`]),
    ...(bench.desk.state.attempts.size === 0 ? [] : [`${bench.desk.state.attempts.size} attempts are open`]),
  ];
  const { control, controlWhy } = bench.desk.state;
  return {
    slices,
    filled,
    leftOut,
    tooMany: wire.tooMany,
    quotesInSecond: wire.quotesInSecond,
    control: control === 'active' ? control : `${control}: ${controlWhy}`,
    faults,
  };
}
