import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Observer } from '../observer.ts';
import type { Clock } from '../ports.ts';

/** Purpose of a quote. Quotes of a size ladder count separately, so that they never slow down a slice. */
export type Purpose = 'slice' | 'reference' | 'ladder';

interface Minute {
  asked: number;
  ladder: number;
  /** Firm quotes received, for any purpose. */
  quotes: number;
  fills: number;
}

/** Period over which quotes and fills are counted. */
const WINDOW_MS = HOUR_MS;
/** Largest factor by which waits between quotes grow. */
const SLOWDOWN_MAX = 64;

/**
 * Counts the quotes and fills of each pair per minute, and derives a factor for waits from them: dealers widen their prices for
 * clients who request quotes and do not trade, or stop responding to them.
 */
export class Footprint {
  readonly #clock: Clock;
  /** Above this number of quotes per fill, the desk requests quotes more slowly. */
  readonly #quotesPerFillMax: number;
  readonly #observer: Observer;
  readonly #pairs = new Map<string, Map<number, Minute>>();
  readonly #slowed = new Set<string>();

  constructor(clock: Clock, quotesPerFillMax: number, observer: Observer) {
    this.#clock = clock;
    this.#quotesPerFillMax = quotesPerFillMax;
    this.#observer = observer;
  }

  /** Notes that the desk requested a quote, with or without success. */
  asked(pair: string, purpose: Purpose, isQuote: boolean): void {
    const minute = this.#now(pair);
    if (purpose === 'ladder') minute.ladder++;
    else minute.asked++;
    if (isQuote) minute.quotes++;
    this.#tell(pair);
  }

  filled(pair: string): void {
    this.#now(pair).fills++;
    this.#tell(pair);
  }

  /** Factor for the wait before the next quote of the pair: 1, or a power of two up to 64. */
  slowdown(pair: string): number {
    return this.#slowdownOf(this.#sum(pair));
  }

  #slowdownOf({ asked, fills }: Readonly<Minute>): number {
    const over = asked / (this.#quotesPerFillMax * Math.max(1, fills));
    return over <= 1 ? 1 : Math.min(SLOWDOWN_MAX, 2 ** Math.ceil(Math.log2(over)));
  }

  /**
   * Whether size probes are allowed, which they are only while all quotes together use at most half of the number that
   * the fills allow.
   */
  allowsLadder(pair: string): boolean {
    const sum = this.#sum(pair);
    const { asked, ladder, fills } = sum;
    return this.#slowdownOf(sum) === 1 && asked + ladder < (this.#quotesPerFillMax * Math.max(1, fills)) / 2;
  }

  #now(pair: string): Minute {
    let minutes = this.#pairs.get(pair);
    if (minutes === undefined) {
      minutes = new Map();
      this.#pairs.set(pair, minutes);
    }
    const number = Math.floor(this.#clock.monotonic() / MINUTE_MS);
    let known = minutes.get(number);
    if (known === undefined) {
      known = { asked: 0, ladder: 0, quotes: 0, fills: 0 };
      minutes.set(number, known);
    }
    return known;
  }

  #sum(pair: string): Readonly<Minute> {
    const sum = { asked: 0, ladder: 0, quotes: 0, fills: 0 };
    const minutes = this.#pairs.get(pair);
    const oldest = Math.floor((this.#clock.monotonic() - WINDOW_MS) / MINUTE_MS);
    if (minutes === undefined) return sum;
    for (const [number, minute] of minutes) {
      if (number <= oldest) minutes.delete(number);
      else {
        sum.asked += minute.asked;
        sum.ladder += minute.ladder;
        sum.quotes += minute.quotes;
        sum.fills += minute.fills;
      }
    }
    return sum;
  }

  #tell(pair: string): void {
    const sum = this.#sum(pair);
    const { asked, ladder, quotes, fills } = sum;
    const slowdown = this.#slowdownOf(sum);
    this.#observer.footprint(pair, {
      quotesPerFill: (asked + ladder) / Math.max(1, fills),
      hitRatio: quotes === 0 ? undefined : fills / quotes,
      slowdown,
    });
    if (slowdown === 1) this.#slowed.delete(pair);
    else if (!this.#slowed.has(pair)) {
      this.#slowed.add(pair);
      this.#observer.warn('too many quotes per fill; requesting quotes more slowly', {
        pair,
        quotes: asked,
        fills,
      });
    }
  }
}
