import { NEVER, Observable } from 'rxjs';
import type { ReferencePrice } from '../core/market.ts';
import type { Price } from '../core/money.ts';
import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';
import type { VirtualClock } from '../engine/clock.ts';
import type { Lookout, MarketPort } from '../engine/ports.ts';
import type { PriceTape } from '../simulator/tape.ts';
import { knownAt, lastKnownRow, priceAt } from './tape.ts';
import type { Tape } from './tape.ts';

/**
 * The first instant after `from` at which what is waited for may come true; too early is only slow, too late is wrong.
 * `undefined`: not as long as the tapes last.
 */
export type NextPossible = (lookout: Lookout, from: Instant) => Instant | LookedUntil | undefined;

/** It cannot come true until then, and nobody has looked any further: to be asked again there. */
export interface LookedUntil {
  readonly lookedUntil: Instant;
}

export interface TapeMarketOptions {
  readonly clock: VirtualClock;
  readonly tapes: readonly Tape[];
  /** Nothing is told from then on. */
  readonly until: Instant;
  /** A price that is older than its bar by more than this is none, ms. */
  readonly gapMaxMs: number;
  /** Left out: every row of every tape is told. */
  readonly nextPossible?: NextPossible | undefined;
}

/**
 * Market history as the market of a desk. It can be asked at any time and answers with the last close that is known then.
 * Of itself it tells of every row when that becomes known; or, where it is known what can come true, only then.
 */
export function tapeMarket(options: TapeMarketOptions): MarketPort {
  const { clock, tapes, gapMaxMs } = options;
  const readers = new Map(tapes.map((tape) => [tape.pair, new TapeReader(tape)]));
  const look = (pair: string): ReferencePrice | undefined => {
    const at = clock.wall();
    const mid = readers.get(pair)?.fresh(at, gapMaxMs);
    return mid === undefined ? undefined : { pair, mid, at, source: 'tape' };
  };
  const tell = (at: Instant, next: (told: ReferencePrice) => void): void => {
    for (const [pair, reader] of readers) {
      if (!reader.turnsAt(at)) continue;
      const told = look(pair);
      if (told !== undefined) next(told);
    }
  };
  const { nextPossible } = options;
  return nextPossible === undefined
    ? { look, prices$: everyRow(options, tell), expect: () => NEVER }
    : { look, ...onDemand(options, nextPossible, tell) };
}

type Tell = (at: Instant, next: (told: ReferencePrice) => void) => void;

/** Tells of every row, at the instant at which it becomes known. */
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

/** When the next row of any of the tapes becomes known, after `from`. Quickest when times only go on. */
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
  /** When to look again, and whether it may come true there. */
  next: number;
  isPossible: boolean;
}

/** Tells of the rows of an instant only where something that is waited for may come true then. */
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
    let isPossible = false;
    for (const one of expected) if (one.next <= at && one.isPossible) isPossible = true;
    if (isPossible)
      tell(at, (told) => {
        for (const listen of listeners) listen(told);
      });
    // Who was woken has gone, and who has come since looked for itself: the rest waits on.
    for (const one of expected) if (one.next <= at) lookOn(one, at);
    scheduledAt = Number.NaN;
    schedule();
  };
  const lookOn = (one: Expected, from: Instant): void => {
    const found = nextPossible(one.lookout, from);
    one.isPossible = typeof found !== 'object';
    one.next = typeof found === 'object' ? found.lookedUntil : (found ?? Number.POSITIVE_INFINITY);
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
        const one: Expected = { lookout, next: Number.POSITIVE_INFINITY, isPossible: false };
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

/** Reads the closes of a tape as they become known. Remembers where it is: time mostly goes on by a little. */
export class TapeReader {
  readonly #tape: Tape;
  #row = -1;
  #price: { readonly row: number; readonly price: Price } | undefined;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  /** The last close that is known at `at`; `undefined` before the first, and when it is too old. */
  fresh(at: Instant, gapMaxMs: number): Price | undefined {
    const row = this.#seek(at);
    if (row < 0 || at - knownAt(this.#tape, row) > this.#tape.barMs + gapMaxMs) return undefined;
    return this.#priceOf(row);
  }

  /** The last close that is known at `at`, however old; the first one before that. */
  last(at: Instant): Price {
    return this.#priceOf(Math.max(0, this.#seek(at)));
  }

  /** Whether a row becomes known at `at`. */
  turnsAt(at: Instant): boolean {
    const row = this.#seek(at);
    return row >= 0 && knownAt(this.#tape, row) === at;
  }

  #seek(at: Instant): number {
    const tape = this.#tape;
    const isKnown = (row: number): boolean => row < 0 || knownAt(tape, row) <= at;
    const isLast = (row: number): boolean => row + 1 >= tape.rows || !isKnown(row + 1);
    const row = this.#row;
    if (isKnown(row) && isLast(row)) return row;
    this.#row = isKnown(row + 1) && isLast(row + 1) ? row + 1 : lastKnownRow(tape, at);
    return this.#row;
  }

  #priceOf(row: number): Price {
    if (this.#price?.row !== row) this.#price = { row, price: priceAt(this.#tape.close, row) };
    return this.#price.price;
  }
}

/** A tape as the simulated exchange prices from it. Never asked for a time before its first close is known. */
export function venueTape(tape: Tape): PriceTape {
  const reader = new TapeReader(tape);
  return {
    startsAt: knownAt(tape, 0),
    endsAt: knownAt(tape, tape.rows - 1),
    rows: tape.rows,
    barMs: tape.barMs,
    midAt: (market) => reader.last(market),
  };
}
