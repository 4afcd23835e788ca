import { greatest, least, text } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

/** A bar of observed prices. */
export interface SeenBar {
  /** Its start, a whole number of bars since 1970. */
  readonly at: Instant;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

/**
 * Builds bars from arriving prices. A bar is complete if the recorder saw its start and the next bar has started. The partial first
 * and last bars are therefore never returned, and an interval without prices has no bar.
 */
export class BarRecorder {
  readonly #barMs: number;
  readonly #from: number;
  #bar: SeenBar | undefined;

  /** Bars that began before `begunAt` are incomplete. `after` is the start of the last recorded bar. */
  constructor(barMs: number, begunAt: Instant, after?: Instant) {
    this.#barMs = barMs;
    this.#from = Math.max(Math.ceil(begunAt / barMs) * barMs, (after ?? -barMs) + barMs);
  }

  /** Adds a price; returns the bar that it ends, if any. Late prices of a finished bar are ignored. */
  take(mid: Price, at: Instant): SeenBar | undefined {
    const start = Math.floor(at / this.#barMs) * this.#barMs;
    const bar = this.#bar;
    if (start < this.#from || (bar !== undefined && start < bar.at)) return undefined;
    if (bar?.at === start) {
      this.#bar = { ...bar, high: greatest(bar.high, mid), low: least(bar.low, mid), close: mid };
      return undefined;
    }
    this.#bar = { at: instant(start), open: mid, high: mid, low: mid, close: mid };
    return bar;
  }
}

/** Header of a recorded file: `data import` reads it. There is no volume: reference prices are not trades. */
export const SEEN_HEADER = 'timestamp_ms,open,high,low,close';

/** Returns a bar as a line of a recorded file, with all digits. */
export const seenLine = ({ at, open, high, low, close }: SeenBar): string =>
  [String(at), ...[open, high, low, close].map((each) => text(each))].join(',');
