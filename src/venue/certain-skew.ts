import type { Instant } from '../core/time.ts';

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/u;

/**
 * How far the venue's clock is certainly ahead of ours, in milliseconds; a negative value means behind. Subtracts the
 * uncertainty, because the `date` of a response is truncated to seconds, and the venue wrote it at an unknown time
 * during the round trip. `undefined` if the response has no readable date.
 */
export function certainSkew(
  date: unknown,
  { wall, roundTripMs }: { readonly wall: Instant; readonly roundTripMs: number },
): number | undefined {
  if (typeof date !== 'string' || !HTTP_DATE.test(date)) return undefined;
  const stated = Date.parse(date);
  if (!Number.isFinite(stated)) return undefined;
  const [earliest, latest] = [stated - wall, stated + 1_000 + roundTripMs - wall];
  if (earliest > 0) return earliest;
  return latest < 0 ? latest : 0;
}
