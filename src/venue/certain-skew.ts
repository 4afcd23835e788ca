import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/u;

/** The `date` of a response, which is truncated to seconds; `undefined` if it is not readable. */
export function httpDate(date: unknown): Instant | undefined {
  if (typeof date !== 'string' || !HTTP_DATE.test(date)) return undefined;
  const stated = Date.parse(date);
  return Number.isFinite(stated) ? instant(stated) : undefined;
}

/**
 * How far the venue's clock is certainly ahead of ours, in milliseconds; a negative value means behind. Subtracts the
 * uncertainty, because the `date` of a response is truncated to seconds, and the venue wrote it at an unknown time
 * during the round trip. `undefined` if the response has no readable date.
 */
export function certainSkew(
  date: unknown,
  { wall, roundTripMs }: { readonly wall: Instant; readonly roundTripMs: number },
): number | undefined {
  const stated = httpDate(date);
  if (stated === undefined) return undefined;
  const [earliest, latest] = [stated - wall, stated + 1_000 + roundTripMs - wall];
  if (earliest > 0) return earliest;
  return latest < 0 ? latest : 0;
}
