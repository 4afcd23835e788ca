import { NEVER, Observable } from 'rxjs';
import type { Bar } from '../../core/bar.ts';
import type { ReferencePrice } from '../../core/reference-price.ts';
import { quantity } from '../../core/money.ts';
import type { Price, Quantity } from '../../core/money.ts';
import { DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import type { VirtualClock } from '../../engine/time/virtual-clock.ts';
import type { Lookout, MarketPort } from '../../engine/ports.ts';
import type { PriceTape } from '../../simulator/market/price-tape.ts';
import { knownAt, lastKnownRow, priceAt } from '../tape/tape.ts';
import { TapeBars } from '../tape/tape-bars.ts';
import type { Tape } from '../tape/tape.ts';

/**
 * Returns the first instant after `from` at which the wait may be met. A result that is too early only costs time;
 * one that is too late is wrong. `undefined`: not before the tapes end.
 */
export type NextPossible = (lookout: Lookout, from: Instant) => Instant | undefined;

export interface TapeMarketOptions {
  readonly clock: VirtualClock;
  readonly tapes: readonly Tape[];
  /** Readers of the tapes by pair. */
  readonly readers: ReadonlyMap<string, TapeReader>;
  /** Time from which no rows are emitted. */
  readonly until: Instant;
  /** Default: every row of every tape is emitted. */
  readonly nextPossible?: NextPossible | undefined;
}

/**
 * Returns market history as the market of a desk. The market provides the last known close at any time. It emits each
 * row when it becomes known or, if `nextPossible` is given, only rows with which a wait may be met.
 */
export function tapeMarket(options: TapeMarketOptions): MarketPort {
  const { clock, readers } = options;
  const look = (pair: string): ReferencePrice | undefined => readers.get(pair)?.fresh(clock.wall());
  const volume = (pair: string): Quantity | undefined => readers.get(pair)?.volume(clock.wall());
  const bars = (pair: string, intervalMs: number, count: number): readonly Bar[] =>
    readers.get(pair)?.bars.newest(clock.wall(), intervalMs, count) ?? [];
  const isDelisted = (pair: string): boolean => readers.get(pair)?.isDelisted(clock.wall()) ?? false;
  const tell = (at: Instant, next: (told: ReferencePrice) => void): void => {
    for (const [pair, reader] of readers) {
      if (!reader.turnsAt(at)) continue;
      const told = look(pair);
      if (told !== undefined) next(told);
    }
  };
  const { nextPossible } = options;
  const pairs = new Set(readers.keys());
  return nextPossible === undefined
    ? { look, volume, bars, isDelisted, pairs, prices$: everyRow(options, tell), expect: () => NEVER }
    : { look, volume, bars, isDelisted, pairs, ...onDemand(options, nextPossible, tell) };
}

type Tell = (at: Instant, next: (told: ReferencePrice) => void) => void;

/** Emits every row at the instant at which it becomes known. */
function everyRow({ clock, tapes, until }: TapeMarketOptions, tell: Tell): Observable<ReferencePrice> {
  return new Observable((subscriber) => {
    const next = nextRow(tapes);
    let takeOff: (() => void) | undefined;
    const schedule = (from: Instant): void => {
      const at = next(from);
      takeOff =
        at === undefined || at >= until
          ? undefined
          : clock.pushFirst(at, () => {
              tell(at, (told) => {
                subscriber.next(told);
              });
              schedule(at);
            });
    };
    schedule(clock.wall());
    return () => takeOff?.();
  });
}

/**
 * Returns a function that gives the instant, after `from`, at which the next row of any tape becomes known. Fastest for increasing
 * times.
 */
export function nextRow(tapes: readonly Tape[]): (from: Instant) => Instant | undefined {
  const rows = tapes.map(() => 0);
  return (from) => {
    let soonest = Number.POSITIVE_INFINITY;
    tapes.forEach((tape, i) => {
      let row = rows[i] ?? 0;
      if (row > 0 && knownAt(tape, row - 1) > from) row = 0;
      if (row < tape.rows && knownAt(tape, row) <= from) row++;
      if (row < tape.rows && knownAt(tape, row) <= from) row = lastKnownRow(tape, from) + 1;
      rows[i] = row;
      if (row < tape.rows) soonest = Math.min(soonest, knownAt(tape, row));
    });
    return soonest === Number.POSITIVE_INFINITY ? undefined : instant(soonest);
  };
}

interface Expected {
  readonly lookout: Lookout;
  /** When the wait may next be met; Infinity if never. */
  next: number;
}

/** Emits the rows of an instant only if a wait may be met then. */
function onDemand(
  { clock, until }: TapeMarketOptions,
  nextPossible: NextPossible,
  tell: Tell,
): Pick<MarketPort, 'prices$' | 'expect'> {
  const expected = new Set<Expected>();
  const listeners = new Set<(told: ReferencePrice) => void>();
  let scheduledAt = Number.POSITIVE_INFINITY;
  let takeOff: (() => void) | undefined;

  const schedule = (): void => {
    let at = Number.POSITIVE_INFINITY;
    for (const { next } of expected) at = Math.min(at, next);
    if (at === scheduledAt) return;
    takeOff?.();
    takeOff = undefined;
    scheduledAt = at;
    if (at >= until) return;
    takeOff = clock.pushFirst(instant(at), () => {
      fire(instant(at));
    });
  };
  const fire = (at: Instant): void => {
    if ([...expected].some(({ next }) => next <= at))
      tell(at, (told) => {
        for (const listen of listeners) listen(told);
      });
    // The wait that came true has ended, and new waits check for themselves; the others keep waiting.
    for (const one of expected) if (one.next <= at) lookOn(one, at);
    scheduledAt = Number.NaN;
    schedule();
  };
  const lookOn = (one: Expected, from: Instant): void => {
    one.next = nextPossible(one.lookout, from) ?? Number.POSITIVE_INFINITY;
  };

  return {
    prices$: new Observable((subscriber) => {
      const listen = (told: ReferencePrice): void => {
        subscriber.next(told);
      };
      listeners.add(listen);
      return () => listeners.delete(listen);
    }),
    expect: (lookout) =>
      new Observable<never>(() => {
        const one: Expected = { lookout, next: Number.POSITIVE_INFINITY };
        lookOn(one, clock.wall());
        expected.add(one);
        schedule();
        return () => {
          expected.delete(one);
          schedule();
        };
      }),
  };
}

const NONE_TRADED = quantity('0');
/** Decimals of a volume, which a tape stores as a double. */
const VOLUME_DECIMALS = 8;

/**
 * Reads the closes of a tape as they become known. Remembers its position, because time mostly advances in
 * small steps.
 */
export class TapeReader {
  readonly bars: TapeBars;
  readonly #tape: Tape;
  readonly #gapMaxMs: number;
  /** The last row known from `#from` on, until `#until`; -1 before the first. */
  #row = -1;
  #from = Infinity;
  #until = -Infinity;
  /** Close of that row, once requested. */
  #price: Price | undefined;
  #told: ReferencePrice | undefined;
  /** Sum of the volumes of the UTC day of `row`, up to that row. */
  #day: { readonly row: number; readonly sum: number } = { row: -1, sum: 0 };

  /** @param gapMaxMs how long a price remains valid beyond its bar. */
  constructor(tape: Tape, gapMaxMs = Number.POSITIVE_INFINITY) {
    this.#tape = tape;
    this.bars = new TapeBars(tape);
    this.#gapMaxMs = gapMaxMs;
  }

  /** Returns the last close known at `at`; `undefined` before the first, or if it is too old. */
  fresh(at: Instant): ReferencePrice | undefined {
    // Cached, because one instant is queried many times.
    if (this.#told?.at === at) return this.#told;
    this.#seek(at);
    const isOld = at - this.#from > this.#tape.barMs + this.#gapMaxMs && !this.isDelisted(at);
    if (this.#row < 0 || isOld) return undefined;
    this.#told = { pair: this.#tape.pair, mid: this.#close(), at, source: 'tape' };
    return this.#told;
  }

  /** Returns the last close known at `at`, of any age; before the first, the first. */
  last(at: Instant): Price {
    this.#seek(at);
    return this.#close();
  }

  /** Returns the volume of the UTC day of the last row known at `at`, up to that row; `undefined` if the tape has none. */
  volume(at: Instant): Quantity | undefined {
    this.#seek(at);
    const { times, volume } = this.#tape;
    const dayOf = (row: number): number => Math.floor((times[row] ?? 0) / DAY_MS);
    const row = this.#row;
    if (row < 0) return NONE_TRADED;
    const known = this.#day;
    const isOnward = known.row >= 0 && known.row <= row && dayOf(known.row) === dayOf(row);
    let first = isOnward ? known.row + 1 : row;
    if (!isOnward) while (first > 0 && dayOf(first - 1) === dayOf(row)) first--;
    let sum = isOnward ? known.sum : 0;
    for (let each = first; each <= row; each++) sum += volume[each] ?? Number.NaN;
    this.#day = { row, sum };
    return Number.isNaN(sum) ? undefined : quantity(sum.toFixed(VOLUME_DECIMALS));
  }

  /** Whether the pair was delisted by `at`. No more rows follow then, and the last price remains in force. */
  isDelisted(at: Instant): boolean {
    if (this.#tape.isDelisted !== true) return false;
    this.#seek(at);
    return this.#row === this.#tape.rows - 1;
  }

  /** Whether a row becomes known at `at`. */
  turnsAt(at: Instant): boolean {
    this.#seek(at);
    return this.#from === at;
  }

  #seek(at: Instant): void {
    if (at >= this.#from && at < this.#until) return;
    // Time mostly advances by one row, or by many.
    if (at - this.#until <= this.#tape.barMs) this.#stand(this.#row + 1);
    if (!(at >= this.#from && at < this.#until)) this.#stand(lastKnownRow(this.#tape, at));
  }

  #stand(row: number): void {
    const tape = this.#tape;
    this.#row = row;
    this.#from = row < 0 ? -Infinity : knownAt(tape, row);
    this.#until = row + 1 < tape.rows ? knownAt(tape, row + 1) : Infinity;
    this.#price = undefined;
  }

  #close(): Price {
    return (this.#price ??= priceAt(this.#tape.close, Math.max(0, this.#row)));
  }
}

/** Returns a tape as price source of the simulated exchange. The exchange never requests a time before the first close is known. */
export function venueTape(tape: Tape, reader = new TapeReader(tape)): PriceTape {
  return {
    startsAt: knownAt(tape, 0),
    endsAt: knownAt(tape, tape.rows - 1),
    rows: tape.rows,
    barMs: tape.barMs,
    midAt: (market) => reader.last(market),
  };
}
