import { OperatorError } from '../../core/errors.ts';
import { after, checkZone, instant, parseDuration, parseTime } from '../../core/time.ts';
import type { Instant } from '../../core/time.ts';
import { isRecord } from '../../core/text/json.ts';

/** Times for people: in the zone of a strategy, or in the zone of this machine. */

/** Returns the zone that `--zone` names. @throws OperatorError `usage` for an unknown zone. */
export function namedZone(zone: string): string {
  try {
    checkZone(zone);
    return zone;
  } catch (cause) {
    throw new OperatorError('usage', `--zone: ${cause instanceof Error ? cause.message : 'unknown'}`, cause);
  }
}

/** Returns the IANA time zone of this machine; UTC where none is known, as with an empty TZ. */
export function zoneHere(): string {
  const zone = Temporal.Now.timeZoneId();
  return zone === 'Etc/Unknown' ? 'UTC' : zone;
}

/** Returns the zone of a strategy document: of its schedule, its volume profile, or its times; else `undefined`. */
export function zoneOf(document: unknown): string | undefined {
  if (!isRecord(document)) return undefined;
  for (const key of ['schedule', 'profile']) {
    const part = document[key];
    if (isRecord(part)) return typeof part['time_zone'] === 'string' ? part['time_zone'] : 'UTC';
  }
  for (const key of ['start_time', 'end_time']) {
    const zone = /\[(?<zone>[^\]]+)\]$/u.exec(String(document[key]))?.groups?.['zone'];
    if (zone !== undefined) return zone;
  }
  return undefined;
}

/** Formats a time as `2026-12-01 09:00:00` on the clock of `zone`; with milliseconds unless they are zero. */
export function localText(at: Instant, zone: string): string {
  const plain = zoned(at, zone).toPlainDateTime();
  const smallestUnit = plain.millisecond === 0 ? 'second' : 'millisecond';
  return plain.toString({ smallestUnit }).replace('T', ' ');
}

export const zoned = (at: Instant, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone);

/**
 * Parses a time from the command line: as `readMoment`, or a duration before now such as PT4H.
 *
 * @throws OperatorError `usage`, naming `option`.
 */
export function readSince(
  text: string,
  { now, ...how }: { readonly option: string; readonly now: Instant; readonly zone: string },
): Instant {
  try {
    if (text.startsWith('P')) return after(now, -parseDuration(text));
    return readMoment(text, how);
  } catch (cause) {
    const forms =
      'a day such as 2026-12-01, a time such as 2026-12-01T09:00:00Z, or a duration before now such as PT4H';
    throw new OperatorError('usage', `${how.option}: expected ${forms}, got "${text}"`, cause);
  }
}

/**
 * Parses a moment with its zone, or a day or time on the clock of `zone`.
 *
 * @throws OperatorError `usage`, naming `option`.
 */
export function readMoment(
  text: string,
  { option, zone }: { readonly option: string; readonly zone: string },
): Instant {
  try {
    if (!/^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?$/u.test(text)) return parseTime(text);
    const plain = Temporal.PlainDateTime.from(text.replace(' ', 'T'), { overflow: 'reject' });
    return instant(plain.toZonedDateTime(zone).epochMilliseconds);
  } catch (cause) {
    const forms = 'a day such as 2026-12-01 or a time such as 2026-12-01T09:00:00Z';
    throw new OperatorError('usage', `${option}: expected ${forms}, got "${text}"`, cause);
  }
}
