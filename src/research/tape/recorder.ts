import { greatest, least, text } from '../../core/money.ts';
import type { Price } from '../../core/money.ts';
import { instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

/** A bar of prices that were seen. */
export interface SeenBar {
  /** Its start, a whole number of bars since 1970. */
  readonly at: Instant;
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

/**
 * Makes bars of prices as they arrive. A bar counts when the recorder has seen its beginning and the next bar has begun: the first piece
 * of a bar and the last one are never given out, and where no price came there is no bar.
 */
export class BarRecorder {
  readonly #barMs: number;
  readonly #from: number;
  #bar: SeenBar | undefined;

  /** Bars before `begunAt` are not whole. `after`: the start of the last bar that is written already. */
  constructor(barMs: number, begunAt: Instant, after?: Instant) {
    this.#barMs = barMs;
    this.#from = Math.max(Math.ceil(begunAt / barMs) * barMs, (after ?? -barMs) + barMs);
  }

  /** Takes a price; returns the bar that it ends, if any. Prices of a bar that is over are passed by. */
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

/** A bar as a line of a recorded file, with every digit. */
export const seenLine = ({ at, open, high, low, close }: SeenBar): string =>
  [String(at), ...[open, high, low, close].map((each) => text(each))].join(',');
