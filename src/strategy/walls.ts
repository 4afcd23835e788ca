import { instant } from '../core/time.ts';
import type { Instant } from '../core/time.ts';

/** What clocks on a wall show, and when. A reading is written as if it were UTC, ms. */

export const zoned = (at: Instant, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone);

/** What the clock of `zone` shows. */
export function wallOf(at: Instant, zone: string): number {
  if (zone === 'UTC') return Math.floor(at);
  const local = zoned(at, zone);
  return local.epochMilliseconds + Math.round(local.offsetNanoseconds / 1e6);
}

/** The reading that a plain date and time is. */
export const wallOfPlain = (plain: Temporal.PlainDateTime): number =>
  plain.toZonedDateTime('UTC').epochMilliseconds;

/** The moments at which the clock of `zone` shows `wall`: one, or two in a repeated hour. A skipped time has the end of its gap. */
export function instantsOf(
  wall: number,
  zone: string,
): { readonly passes: readonly [Instant, ...Instant[]]; readonly isSkipped: boolean } {
  if (zone === 'UTC') return { passes: [instant(wall)], isSkipped: false };
  const plain = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime();
  const first = plain.toZonedDateTime(zone, { disambiguation: 'earlier' });
  const second = plain.toZonedDateTime(zone, { disambiguation: 'later' });
  const isSkipped = !first.toPlainDateTime().equals(plain);
  const earlier = isSkipped ? (first.getTimeZoneTransition('next') ?? second) : first;
  const [from, to] = [instant(earlier.epochMilliseconds), instant(second.epochMilliseconds)];
  return { passes: isSkipped || from === to ? [from] : [from, to], isSkipped };
}
