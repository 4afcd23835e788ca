import { DAY_MS, instant } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';

/** Local times in time zones. A local time is a number of ms, written as if it were UTC. */

export const zoned = (at: Instant, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone);

/** Returns the local time of `zone`. */
export function wallTimeOf(at: Instant, zone: string): number {
  if (zone === 'UTC') return Math.floor(at);
  const local = zoned(at, zone);
  return local.epochMilliseconds + Math.round(local.offsetNanoseconds / 1e6);
}

/** Converts a plain date and time to a local time. */
export const plainWallTimeOf = (plain: Temporal.PlainDateTime): number =>
  plain.toZonedDateTime('UTC').epochMilliseconds;

/**
 * Returns the instants at which the local time of `zone` is `wall`: one, or two in a repeated hour. For a skipped time, returns the
 * end of the gap.
 */
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

/** Returns the instants after `from` and before `to` at which the clock of `zone` changes. */
export function changesOf(zone: string, from: Instant, to: Instant): readonly Instant[] {
  if (zone === 'UTC') return [];
  const local = zoned(from, zone);
  // Finding a clock change is slow, and no zone changes its clock and reverts the change within a few days.
  if (to - from < DAYS_MS && local.offsetNanoseconds === zoned(to, zone).offsetNanoseconds) return [];
  const changes: Instant[] = [];
  for (let next = local.getTimeZoneTransition('next'); next !== null && next.epochMilliseconds < to;) {
    changes.push(instant(next.epochMilliseconds));
    next = next.getTimeZoneTransition('next');
  }
  return changes;
}

const DAYS_MS = 7 * DAY_MS;
