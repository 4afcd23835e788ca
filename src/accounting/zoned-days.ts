import { DAY_MS, instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';

/** Length of the intervals in which a time zone's offset changes at most once, at their boundary. */
const STEP_MS = 900_000;

/** The days of a time zone as numbers; day 0 is 1970-01-01. */
export class ZonedDays {
  readonly #zone: string;
  #step = Number.NaN;
  #offsetMs = 0;

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Returns the day of an instant. Caches one offset, because events mostly come in order. */
  dayOf(at: Instant): number {
    const step = Math.floor(at / STEP_MS);
    if (step !== this.#step) {
      this.#step = step;
      this.#offsetMs =
        Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.#zone).offsetNanoseconds / 1e6;
    }
    return Math.floor((at + this.#offsetMs) / DAY_MS);
  }

  /** Returns the first instant after a day. */
  endOf(day: number): Instant {
    const next = Temporal.PlainDate.from(dateText(day + 1));
    return instant(next.toZonedDateTime({ timeZone: this.#zone }).epochMilliseconds);
  }
}

/** Returns a date such as `2026-01-31`. */
export const dateText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
